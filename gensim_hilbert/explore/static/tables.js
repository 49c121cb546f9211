// Tables of words, and the small pictures in them.

import { bdi, h, hash, number, svg, timesByChance, wordLink } from "./dom.js";

let identifiers = 0;

// A heading, a line that explains it, and a table. `kind` is "like" or "with": the colour of its mark.
export function panel(title, explanation, kind, heads, rows, more = null) {
  const id = `panel-${++identifiers}`;
  return h("section", { class: `panel ${kind}`, "aria-labelledby": id },
    h("div", { class: "heading" }, h("h3", { id }, title), more),
    h("p", { class: "note" }, explanation),
    h("table", { "aria-labelledby": id, class: kind },
      h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, rows)));
}

export const row = (first, ...rest) =>
  h("tr", {}, h("th", { scope: "row" }, first), rest.map((cell) => h("td", {}, cell)));

// A bar behind a number, which it does not say more than.
export function share(value, text = number(value), most = 1) {
  const width = 100 * Math.max(0, Math.min(1, value / most));
  return h("span", { class: "share" },
    svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { x: 100 - width, y: 0, width, height: 10 })),
    h("span", {}, text));
}

export const likeRows = (items, state) => items.map((item) => row(wordLink(item.word, state), share(item.cosine)));

// The scale of the intervals of a table, with its axis for the head and a bar for each row.
export class Intervals {
  constructor(items) {
    const ends = items.flatMap((item) => [item.pmi, item.low, item.high]).filter((value) => value !== null);
    this.low = Math.min(0, ...ends);
    this.high = Math.max(1, ...ends);
  }

  x(value) { return 3 + (94 * (Math.min(Math.max(value, this.low), this.high) - this.low)) / (this.high - this.low); }

  picture(label, ...parts) {
    const chance = svg("line", { x1: this.x(0), x2: this.x(0), y1: 0, y2: 14, class: "chance" });
    const all = [svg("title", {}, label), chance, ...parts];
    return svg("svg", { viewBox: "0 0 100 14", class: "bar", role: "img", "aria-label": label }, ...all);
  }

  // The bar is the 95% interval of the counted PMI, the dot the fitted one.
  bar(item) {
    if (item.count === null) return "";
    const label = item.low === null ? `at most ${number(item.high)}` : `from ${number(item.low)} to ${number(item.high)}`;
    return this.picture(`95% interval of the counted PMI ${label}`,
      svg("line", { x1: this.x(item.low ?? this.low), x2: this.x(item.high ?? this.high), y1: 7, y2: 7, class: "interval" }),
      svg("circle", { cx: this.x(item.pmi), cy: 7, r: 3.2, class: "fitted" }));
  }
}

// PMI as a number that tells on request how many times as often it is; other software's products are only numbers.
export const scoreCell = (value, score) =>
  value === null ? "–" : h("span", { title: score === "PMI" ? timesByChance(value) : null }, number(value));

export function form(label, value, go, button, hint = "") {
  const input = h("input", { type: "text", value, placeholder: hint, "aria-label": label, spellcheck: "false", autocapitalize: "none" });
  return h("form", { class: "line", onsubmit: (event) => { event.preventDefault(); go(input.value.trim()); } },
    input, h("button", {}, button));
}

export const stateLink = (text, state) => h("a", { href: hash(state) }, bdi(text));

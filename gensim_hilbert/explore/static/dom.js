// Elements from words: text is only ever set as text, so that no word can be markup.

const LONGEST_SHOWN = 40; // characters of a word

export const $ = (id) => document.getElementById(id);

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function number(value, digits = 2) {
  if (value === null || value === undefined) return "–";
  const text = value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return /^-[0.,]*$/.test(text) ? text.slice(1) : text.replace("-", "−");
}

// Pairs are counted with weights, so that small counts have a fraction.
export const seen = (count) => number(count, count > 0 && count < 10 ? 1 : 0);

// PMI in words.
export function timesByChance(pmi) {
  const times = Math.exp(Math.abs(pmi)), text = number(times, times < 9.95 ? 1 : 0);
  return pmi >= 0 ? `${text} times as often as by chance` : `${text} times more rarely than by chance`;
}

export function shortened(word) {
  const characters = [...word];
  return characters.length > LONGEST_SHOWN ? characters.slice(0, LONGEST_SHOWN - 1).join("") + "…" : word;
}

// A word may be written from right to left.
export const bdi = (word) => h("bdi", {}, shortened(word));

export const hash = (state) => {
  const kept = Object.entries(state).filter(([, value]) => value !== null && value !== undefined);
  return "#" + new URLSearchParams(kept).toString();
};

export const wordLink = (word, state = {}) => h("a", { href: hash({ ...state, word }) }, bdi(word));

export const note = (...text) => h("p", { class: "note" }, ...text);

export const chips = (items) => h("ul", { class: "chips" }, items.map((item) => h("li", {}, item)));

// What stands beside the map: a word, a pair, a sum, a sentence, two models.

import { bdi, h, hash, note, number, svg, wordLink } from "./dom.js";

const table = (caption, heads, rows, style = "") =>
  h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", { class: style },
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, rows)));

const row = (first, ...rest) =>
  h("tr", {}, h("th", { scope: "row" }, first), rest.map((cell) => h("td", {}, cell)));

// The 95% interval of counted PMI as a bar, with the fitted PMI as a dot.
function errorBar(item, low, high) {
  if (item.count === null) return "";
  const x = (value) => 2 + (96 * (Math.min(Math.max(value, low), high) - low)) / Math.max(high - low, 1e-9);
  const label = item.low === null ? `at most ${number(item.high)}` : `95% from ${number(item.low)} to ${number(item.high)}`;
  return svg("svg", { viewBox: "0 0 100 12", class: "bar", role: "img", "aria-label": label },
    svg("title", {}, label),
    svg("line", { x1: x(item.low ?? low), x2: x(item.high ?? high), y1: 6, y2: 6, class: "interval" }),
    svg("circle", { cx: x(item.pmi), cy: 6, r: 3, class: "fitted" }));
}

function contextTable(answer, facts, state) {
  const items = answer.with_it;
  const ends = items.flatMap((item) => [item.pmi, item.low, item.high]).filter((value) => value !== null);
  const low = Math.min(...ends), high = Math.max(...ends);
  const heads = facts.counts ? ["word", "fitted", "counted", "95%", "seen"] : ["word", facts.score, ""];
  return table(facts.counts ? "Goes with it, by PMI" : "Goes with it", heads, items.map((item) => {
    const text = facts.counts ? number(item.count, item.count < 100 ? 1 : 0) : "pair";
    const pair = h("a", { href: hash({ ...state, word: null, context: item.word, term: answer.word }),
      "aria-label": `${text}: ${item.word} with ${answer.word}` }, text);
    return facts.counts
      ? row(wordLink(item.word, state), number(item.pmi), number(item.counted), errorBar(item, low, high), pair)
      : row(wordLink(item.word, state), number(item.pmi), pair);
  }), "with");
}

const likeTable = (caption, items, state, head = "cosine") =>
  table(caption, ["word", head], items.map((item) => row(wordLink(item.word, state), number(item.cosine))), "like");

function form(label, value, go, button) {
  const input = h("input", { type: "text", value, "aria-label": label, spellcheck: "false", autocapitalize: "none" });
  return h("form", { class: "line", onsubmit: (event) => { event.preventDefault(); go(input.value.trim()); } },
    input, h("button", {}, button));
}

export async function start({ facts, state, keep }) {
  return ["Words", [
    h("p", {}, `${facts.name}: ${number(facts.words, 0)} words, ${facts.dimensions} dimensions.`),
    facts.pmi
      ? h("p", {}, "A word has words that are like it, which could stand in its place, and words that go with it, which stand beside it.")
      : note(facts.without_pmi),
    h("p", {}, "Begin with one of these:"),
    h("ul", { class: "words" }, facts.examples.map((word) => h("li", {}, wordLink(word, keep)))),
  ]];
}

export async function word({ api, facts, state, keep }) {
  const answer = await api.ask("word", { model: state.model, word: state.word });
  const often = answer.occurrences === null ? "" : `, seen ${number(answer.occurrences, 0)} times`;
  const parts = [note(`Number ${number(answer.rank, 0)} by frequency${often}.`)];
  const columns = [likeTable("Like it", answer.like, keep)];
  if (facts.pmi) columns.push(contextTable(answer, facts, keep));
  parts.push(h("div", { class: columns.length > 1 ? "columns word" : "columns" }, columns));
  if (facts.without_pmi) parts.push(note(facts.without_pmi));
  else parts.push(note("PMI is the logarithm of how much more often two words meet than by chance. A bar is the 95% interval that the counts imply, the dot on it the fit. Follow a number under “seen” to look at the pair."));
  return [answer.word, parts];
}

export async function pair({ api, facts, state, keep, go }) {
  const context = state.context ?? "", term = state.term ?? "";
  const one = h("input", { type: "text", value: context, "aria-label": "Context", spellcheck: "false", autocapitalize: "none" });
  const other = h("input", { type: "text", value: term, "aria-label": "Term", spellcheck: "false", autocapitalize: "none" });
  const parts = [h("form", { class: "line", onsubmit: (event) => {
    event.preventDefault();
    go({ context: one.value.trim(), term: other.value.trim() });
  } }, one, " with ", other, h("button", {}, "Look"))];
  if (!context || !term) return ["A pair of words", [...parts, note("Type two words to see how often they meet.")]];
  const answer = await api.ask("pair", { model: state.model, context, term });
  parts.push(h("p", { class: "sentence" }, answer.sentence));
  const facts_ = [["cosine", number(answer.cosine)]];
  if (facts.pmi) facts_.push([`${facts.score} fitted`, number(answer.pmi)], ["psi (covector · vector)", number(answer.psi)]);
  if (answer.count !== null) {
    const low = answer.low === null ? "−∞" : number(answer.low);
    facts_.push(["PMI counted", number(answer.counted)], ["its 95% interval", `${low} to ${number(answer.high)}`],
      ["seen, by weight", number(answer.count, 1)]);
  }
  parts.push(h("dl", {}, facts_.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))));
  if (answer.shared.length) {
    parts.push(table("Goes with both", ["word", answer.context, answer.term], answer.shared.map((item) =>
      row(wordLink(item.word, keep), number(item.pmi_context), number(item.pmi_term))), "with"));
  }
  parts.push(h("p", {}, "Go to ", wordLink(answer.context, keep), " or ", wordLink(answer.term, keep), "; ",
    h("a", { href: hash({ ...keep, context: answer.term, term: answer.context }) }, "turn the pair round"), "."));
  return [`${answer.context} with ${answer.term}`, parts];
}

export async function sum({ api, state, keep, go }) {
  const parts = [form("Sum of words", state.sum, (text) => go({ sum: text }), "Add up")];
  if (!state.sum?.trim()) return ["Sums of words", [...parts, note("Type a sum with spaces around its signs, such as king - man + woman.")]];
  const answer = await api.ask("sum", { model: state.model, expression: state.sum });
  parts.push(likeTable("Near the sum", answer.like, keep));
  return [state.sum, parts];
}

export async function sentence({ api, facts, state, keep, go }) {
  const parts = [form("Sentence", state.sentence, (text) => go({ sentence: text }), "Read")];
  if (!state.sentence?.trim()) return ["What could stand there", [...parts, note("Type a sentence, then choose one of its words.")]];
  const answer = await api.ask("substitute", { model: state.model, sentence: state.sentence, position: state.position });
  parts.push(h("p", { class: "tokens" }, answer.tokens.map((token, k) =>
    h("a", { href: hash({ ...keep, sentence: state.sentence, position: k }), class: answer.known[k] ? "" : "unknown",
      "aria-current": k === answer.position ? "true" : false }, bdi(token)))));
  if (answer.position === null) parts.push(note("Choose a word to see what could stand in its place. Crossed words are not in the vocabulary."));
  else if (!answer.substitutes.length) parts.push(note("None of the words around it is known."));
  else {
    const percent = answer.method === "probability";
    parts.push(table("Could stand there", ["word", percent ? "probability" : "cosine"], answer.substitutes.map((item) =>
      row(wordLink(item.word, keep), percent ? `${number(100 * item.probability)}%` : number(item.probability)))));
    if (!percent) parts.push(note(`${facts.without_pmi} These are words like the one that stands there.`));
  }
  return ["What could stand there", parts];
}

export async function compare({ api, models, state, keep, go }) {
  const one = Number(state.model ?? 0), other = Number(state.other ?? (one ? 0 : 1));
  const names = [models[one].name, models[other].name];
  const query = { model: one, other, word: state.compare || null };
  const title = state.compare ? `${state.compare} in two models` : "Two models side by side";
  const parts = [form("Word to compare", state.compare, (text) => go({ compare: text, other }), "Compare")];
  if (models.length > 2) {
    parts.push(h("label", {}, "With ", h("select", { onchange: (event) => go({ compare: state.compare, other: event.target.value }) },
      models.map((model, k) => h("option", { value: k, selected: k === other }, model.name)))));
  }
  const answer = await api.ask("compare", query);
  parts.push(note(`${names[0]} and ${names[1]} share ${number(answer.shared, 0)} words.`));
  const link = (text) => h("a", { href: hash({ ...keep, compare: text, other }) }, bdi(text));
  const list = (caption, items, head) =>
    table(caption, ["word", head], items.map((item) => row(link(item.word), number(item.cosine))));
  if (!state.compare) {
    parts.push(table("Words that differ most", ["word", "neighbours that differ"], answer.changed.map((item) =>
      row(link(item.word), `${number(100 * item.difference, 0)}%`))));
    return [title, parts];
  }
  const columns = [list(`Like it only in ${names[0]}`, answer.lost.like, "cosine"), list(`Like it only in ${names[1]}`, answer.gained.like, "cosine")];
  if (answer.lost.with_it.length || answer.gained.with_it.length) {
    columns.push(list(`Goes with it only in ${names[0]}`, answer.lost.with_it, "PMI"), list(`Goes with it only in ${names[1]}`, answer.gained.with_it, "PMI"));
  }
  parts.push(h("div", { class: "columns" }, columns));
  parts.push(h("p", {}, "Like it in both: ", answer.kept.length ? answer.kept.flatMap((text, k) => [k ? ", " : "", link(text)]) : "none", "."));
  return [title, parts];
}

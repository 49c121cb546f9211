// A sentence: what could stand in the place of one of its words.

import { bdi, h, hash, note, number, wordLink } from "./dom.js";
import { form, likeRows, panel, row, share } from "./tables.js";
import { examples, SENTENCES } from "./view_start.js";

const MOST_WORDS = 20;

export async function sentence(page, around) {
  const { api, facts, state, keep, go } = around, { parts } = page;
  page.title = "What could stand there?";
  parts.push(form("Sentence", state.sentence, (text) => go({ sentence: text }), "Read", "she wrote a novel about the war"));
  if (!state.sentence?.trim()) {
    parts.push(note("Type a sentence, then choose one of its words to see what else could stand there."),
      ...await examples(SENTENCES, (text) => ({ sentence: text }), around));
    return;
  }
  const query = { model: state.model, sentence: state.sentence, position: state.position };
  const [answer, { fitting }] = await Promise.all([
    api.ask("substitute", { ...query, n: 40 }), state.position === undefined ? { fitting: [] } : api.ask("fitting", query)]);
  parts.push(h("p", { class: "tokens" }, answer.tokens.map((token, k) =>
    h("a", { href: hash({ ...keep, sentence: state.sentence, position: k }), class: answer.known[k] ? "" : "unknown",
      "aria-current": k === answer.position ? "true" : false }, bdi(token)))));
  const unknown = answer.known.includes(false) ? " Words that are struck out are not in the vocabulary, and are not looked at." : "";
  if (answer.position === null) {
    parts.push(note(`Choose one of the words to see what could stand in its place.${unknown}`));
    return;
  }
  if (unknown) parts.push(note(unknown.trim()));
  if (answer.method === "cosine") {
    parts.push(panel("Like it", "The cosine of vectors with the word that stands there.", "like", ["word", "cosine"],
      likeRows(answer.substitutes.map((item) => ({ word: item.word, cosine: item.probability })), keep)), note(facts.without_pmi));
  } else if (!answer.substitutes.length) parts.push(note("None of the words around it is known."));
  else parts.push(h("div", { class: "columns" }, probable(answer, fitting, keep)));
  page.listed = (fitting.length ? fitting : answer.substitutes.slice(0, MOST_WORDS)).map((item) => item.word);
}

function probable(answer, fitting, keep) {
  // Words of the sentence go with its words, but would not be said again.
  const said = new Set(answer.tokens.filter((_, k) => k !== answer.position).map((token) => token.toLowerCase()));
  const others = answer.substitutes.filter((item) => !said.has(item.word.toLowerCase())).slice(0, MOST_WORDS);
  const rows = (items) => items.map((item) =>
    row(wordLink(item.word, keep), share(item.probability, percent(item.probability), items[0].probability)));
  const heads = ["word", "probability"], columns = [];
  if (fitting.length) {
    columns.push(panel("Like the word, and fits here", "Of the 100 words most like the one that stands there, the most probable here; the probabilities are among those 100.",
      "like", heads, rows(fitting)));
  }
  columns.push(panel("Fits here", "The most probable words here, whatever stands there now.", "with", heads, rows(others)));
  return columns;
}

const percent = (part) => (part < 0.0005 ? "<0.1%" : `${number(100 * part, 1)}%`);

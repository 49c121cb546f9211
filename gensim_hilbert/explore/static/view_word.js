// One word: the words like it, and the words that go with it.

import { h, hash, note, number, seen, wordLink } from "./dom.js";
import { Intervals, likeRows, panel, row, scoreCell } from "./tables.js";

export async function word(page, { api, facts, models, state, keep }) {
  page.title = state.word;
  const answer = await api.ask("word", { model: state.model, word: state.word });
  const often = answer.occurrences === null ? "" : `Seen ${number(answer.occurrences, 0)} times. `;
  const about = [`${often}Number ${number(answer.rank, 0)} of ${number(facts.words, 0)} words by frequency.`];
  if (models.length > 1) about.push(" ", h("a", { href: hash({ ...keep, compare: answer.word }) }, "Compare it in two models"), ".");
  const paint = (by, name) => h("a", { class: "on-map", href: hash({ ...state, paint: by }), "aria-label": `on the map: ${name}` }, "on the map");
  const columns = [panel("Like it", "Could stand in its place (cosine).", "like", ["word", "cosine"], likeRows(answer.like, keep), paint("similarity", "what is like it"))];
  if (facts.pmi) columns.push(contexts(answer, facts, keep, paint("pmi", "what goes with it")));
  page.title = answer.word;
  page.parts.push(note(...about), h("div", { class: columns.length > 1 ? "columns word" : "columns" }, columns));
  if (facts.without_pmi) page.parts.push(note(facts.without_pmi));
  if (facts.counts) page.parts.push(reading());
}

function contexts(answer, facts, keep, paint) {
  const items = answer.with_it, scale = new Intervals(items);
  const meaning = facts.score === "PMI" ? "Stands near it more often than by chance (PMI)."
    : "Has the highest product of covector and vector with it.";
  const heads = facts.counts ? ["word", "fitted", "counted", "interval", "seen"] : ["word", facts.score, "pair"];
  return panel("Goes with it", meaning, "with", heads, items.map((item) => {
    const text = facts.counts ? seen(item.count) : "look";
    const pair = h("a", { href: hash({ ...keep, context: item.word, term: answer.word }),
      "aria-label": `${text}: ${item.word} with ${answer.word}` }, text);
    const found = facts.counts
      ? row(wordLink(item.word, keep), scoreCell(item.pmi, facts.score), scoreCell(item.counted, facts.score), scale.bar(item), pair)
      : row(wordLink(item.word, keep), scoreCell(item.pmi, facts.score), pair);
    if (item.word === answer.word) found.classList.add("itself");
    return found;
  }), paint);
}

const reading = () => h("details", {}, h("summary", {}, "How to read these numbers"),
  h("ul", {},
    h("li", {}, "PMI is the natural logarithm of how much more often two words meet than by chance: 0 is chance, 2.3 is 10 times, 4.6 is 100 times as often."),
    h("li", {}, "“Fitted” is what the vectors say, “counted” what the text says, and – a pair that was never seen."),
    h("li", {}, "The bar is the 95% interval that the counts allow for the true PMI, the dot the fit, the thin line chance."),
    h("li", {}, "“Seen” is how often the two stand near each other; if windows shrink, as they do by default, words farther apart count less than 1. It leads to the pair.")));

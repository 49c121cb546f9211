// What stands there before anything is asked for: what the page is about, on words that the model has.

import { bdi, chips, h, hash, note, number, wordLink } from "./dom.js";

const WORDS = ["yale", "piano", "coffee", "paris", "winter", "doctor", "football"];
export const SUMS = ["king - man + woman", "berlin - germany + japan", "paris - france + italy", "walking - walk + swim"];
export const PAIRS = ["cup coffee", "prime minister", "rock band", "new york", "ice cream"];
export const SENTENCES = ["she wrote a novel about the war", "the radio station plays music", "she drank a cup of coffee in the morning"];
const MOST_WORDS = 10;

// Examples whose words the model has, as links.
export async function examples(texts, stateOf, { keep, vocabulary }) {
  const knows = await vocabulary(), some = texts.filter((text) => allKnown(knows, text));
  return some.length ? [chips(some.map((text) => h("a", { href: hash({ ...keep, ...stateOf(text) }) }, bdi(text))))] : [];
}

const allKnown = (knows, text) => text.split(" ").every((part) => "+-".includes(part) || knows(part));

export const pairState = (text) => ({ context: text.split(" ")[0], term: text.split(" ")[1] });

export async function start(page, { api, facts, models, state, keep, vocabulary }) {
  page.title = "What is a word like, and what goes with it?";
  const knows = await vocabulary();
  const words = [...new Set([...WORDS.filter(knows).slice(0, 5), ...facts.examples])].slice(0, MOST_WORDS);
  const link = (text, change) => h("a", { href: hash({ ...keep, ...change }) }, bdi(text));
  const find = (texts) => texts.filter((text) => allKnown(knows, text)).slice(0, 2);
  const asked = [
    ["Two words: how often do they meet?", find(PAIRS).map((text) => link(text.replace(" ", " near "), pairState(text)))],
    ["A sum of words: what is near it?", find(SUMS).map((text) => link(text, { sum: text }))],
    ["A sentence: what else could stand there?", find(SENTENCES).map((text) => link(text, { sentence: text }))],
    ["Two models: which words differ most?", models.length > 1 ? [h("a", { href: hash({ ...keep, compare: "" }) }, "compare them")] : []],
  ].filter(([, links]) => links.length);
  const { parts } = page;
  parts.push(h("p", { class: "lead" },
    `${number(facts.words, 0)} words, each with a ${facts.pmi ? "vector and a covector" : "vector"} of ${facts.dimensions} numbers.`));
  if (words.length) parts.push(await introduction(api, facts, state, keep, words[0]));
  if (facts.without_pmi) parts.push(note(facts.without_pmi));
  parts.push(h("h3", {}, "Begin with a word"), chips(words.map((word) => wordLink(word, keep))));
  if (asked.length) {
    parts.push(h("h3", {}, "Or ask about"), h("dl", { class: "asked" }, asked.map(([name, links]) =>
      h("div", {}, h("dt", {}, name), links.map((one) => h("dd", {}, one))))));
  }
  parts.push(note("Type into the box above, or choose a word on the map. The key / leads to the box."));
}

async function introduction(api, facts, state, keep, word) {
  const answer = await api.ask("word", { model: state.model, word, n: 6 });
  const some = (items) => items.filter((item) => item.word !== answer.word).slice(0, 4)
    .flatMap((item, k) => [k ? ", " : "", wordLink(item.word, keep)]);
  const card = (kind, title, meaning, items) =>
    h("section", { class: `panel card ${kind}` }, h("h3", {}, title), h("p", {}, meaning), h("p", {}, h("b", {}, bdi(answer.word)), ": ", some(items)));
  const cards = [card("like", "Like it", "Words that could stand in its place: their vectors point the same way.", answer.like)];
  if (facts.pmi) cards.push(card("with", "Goes with it", "Words that stand near it more often than chance would have it.", answer.with_it));
  return h("div", { class: "columns" }, cards);
}

// Every state of the page is the part of its address behind #, so that links, the back button and bookmarks work.

import { api, Refusal } from "./api.js";
import { $, h, hash, note, wordLink } from "./dom.js";
import { WordMap } from "./map.js";
import { search } from "./search.js";
import * as views from "./views.js";

const VIEWS = { word: "Words", context: "Pairs", sum: "Sums", sentence: "Sentences", compare: "Two models" };
const PAINTS = { pmi: "PMI with the word", similarity: "similarity to the word", frequency: "frequency", difference: "difference of two models" };
let models = [], shown = 0, focusNext = false, mapModel = null;
const map = new WordMap(api, (word) => go({ word }));

function read() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

function kept(state = read()) {
  return { model: state.model, paint: state.paint };
}

function go(change) {
  location.hash = hash({ ...kept(), ...change });
}

function viewOf(state) {
  const found = Object.keys(VIEWS).find((name) => name in state);
  return found === "context" || "term" in state ? "context" : found;
}

async function render() {
  const number = ++shown, state = read(), model = Number(state.model ?? 0) || 0;
  const facts = models[model] ?? models[0], view = viewOf(state);
  const show = { word: views.word, context: views.pair, sum: views.sum, sentence: views.sentence, compare: views.compare }[view] ?? views.start;
  let title, parts, refused = false;
  try {
    [title, parts] = await show({ api, facts, models, state, keep: kept(state), go });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refused = true;
    [title, parts] = [state.word ?? VIEWS[view] ?? "Words", await refusal(error, state)];
  }
  if (number !== shown) return; // another state has been asked for since
  $("view-title").textContent = title;
  $("view-body").replaceChildren(...parts);
  document.title = `${title} – ${facts.name}`;
  $("status").textContent = title;
  if (focusNext) $("main").focus({ preventScroll: true });
  focusNext = true;
  $("model").value = String(models.indexOf(facts));
  if (state.word) $("query").value = state.word;
  else if (state.sum) $("query").value = state.sum;
  $("views").replaceChildren(...Object.entries(VIEWS).filter(([name]) => name !== "compare" || models.length > 1).map(([name, label]) =>
    h("a", { href: name === "word" ? hash(kept(state)) || "#" : hash(kept(state)) + `&${name}=`, "aria-current": (view ?? "word") === name ? "page" : false }, label)));
  await paint(refused ? { paint: state.paint } : state, facts, models.indexOf(facts));
}

async function refusal(error, state) {
  const parts = [h("p", { class: "error", role: "alert" }, error.message)];
  if (!state.word) return parts;
  const { words } = await api.ask("complete", { model: state.model, prefix: [...state.word].slice(0, 3).join("") });
  if (words.length) parts.push(note("Words that begin alike:"), h("ul", { class: "words" }, words.map((word) => h("li", {}, wordLink(word, kept(state))))));
  return parts;
}

async function paint(state, facts, model) {
  const word = state.word || state.term || state.compare || null;
  const able = { pmi: facts.pmi && word, similarity: word, frequency: true, difference: models.length > 1 };
  const usual = able.pmi ? "pmi" : able.similarity ? "similarity" : "frequency";
  const by = able[state.paint] ? state.paint : usual;
  $("paint").replaceChildren(...Object.entries(PAINTS).filter(([name]) => able[name]).map(([name, label]) =>
    h("option", { value: name, selected: name === by }, label)));
  if (mapModel !== model) await map.load((mapModel = model));
  await map.paint(by, word, by === "difference" ? Number(state.other ?? (model ? 0 : 1)) : null, facts.score);
}

async function begin() {
  models = (await api.ask("models")).models;
  $("model").replaceChildren(...models.map((model, k) => h("option", { value: k }, model.name)));
  $("model-choice").hidden = models.length < 2;
  $("model").addEventListener("change", (event) => { location.hash = hash({ ...read(), model: event.target.value }); });
  $("paint").addEventListener("change", (event) => { location.hash = hash({ ...read(), paint: event.target.value }); });
  $("skip").addEventListener("click", (event) => { event.preventDefault(); $("main").focus(); });
  search(async (prefix) => (await api.ask("complete", { model: read().model, prefix })).words,
    (text) => go(/\s[+−–-]\s/.test(text) ? { sum: text } : { word: text }));
  window.addEventListener("hashchange", render);
  await render();
}

begin().catch((error) => {
  $("view-body").replaceChildren(h("p", { class: "error", role: "alert" }, error.message), note("Reload the page to try again."));
});

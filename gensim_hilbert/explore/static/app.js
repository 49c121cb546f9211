// Every state of the page is the part of its address behind #, so that links, the back button and bookmarks work.

import { api, Refusal } from "./api.js";
import { $, bdi, chips, h, hash, note } from "./dom.js";
import { WordMap } from "./map.js";
import { search } from "./search.js";
import { compare } from "./view_compare.js";
import { pair } from "./view_pair.js";
import { sentence } from "./view_sentence.js";
import { start } from "./view_start.js";
import { sum } from "./view_sum.js";
import { word } from "./view_word.js";

const VIEWS = { word, context: pair, sum, sentence, compare };
const NAMES = { word: "Words", context: "Pairs", sum: "Sums", sentence: "Sentences", compare: "Two models" };
const PAINTS = {
  pmi: "what goes with the word", similarity: "likeness to the word", listed: "the words listed",
  frequency: "frequency", difference: "difference of two models",
};
const LONG_TITLE = 60; // characters
const BUSY_MS = 250; // after which the page shows that an answer is awaited
let models = [], rendered = 0, mapModel = null, mapLoading = null, leadsOn = false;
const map = new WordMap(api, (text) => go({ word: text }));

const sentenceCase = (text) => text.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase()).replace(/([^.!?])$/, "$1.");

function read() {
  const state = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  for (const name of ["model", "other"]) if (!/^\d+$/.test(state[name]) || !models[state[name]]) delete state[name];
  if (!Object.hasOwn(PAINTS, state.paint ?? "")) delete state.paint;
  return state;
}

const kept = (state) => ({ model: state.model, paint: state.paint });

function go(change) {
  location.hash = hash({ ...kept(read()), ...change });
}

function viewOf(state) {
  if ("term" in state) return "context";
  return Object.keys(VIEWS).find((name) => name in state && (name !== "word" || state.word));
}

function loadMap(model) {
  if (mapModel !== model) {
    mapModel = model;
    mapLoading = map.load(model);
  }
  return mapLoading;
}

async function render() {
  const number = ++rendered, state = read(), model = Number(state.model ?? 0), facts = models[model], view = viewOf(state);
  const fresh = leadsOn;
  leadsOn = false;
  const busy = setTimeout(() => $("view").setAttribute("aria-busy", "true"), BUSY_MS);
  const vocabulary = () => loadMap(model).then(() => (text) => map.places.has(text));
  const page = { title: "Words", parts: [], listed: null };
  let refused = false;
  try {
    await (VIEWS[view] ?? start)(page, { api, facts, models, model, state, keep: kept(state), go, vocabulary });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refused = true;
    page.parts.push(...await refusal(error, state));
  } finally {
    clearTimeout(busy);
    if (number === rendered) $("view").removeAttribute("aria-busy");
  }
  if (number !== rendered) return; // another state has been asked for since
  show(page, state, view, facts, fresh);
  try {
    await loadMap(model);
    await paint(refused ? { paint: state.paint } : state, page.listed, facts, model);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    mapModel = null; // so that the next state tries again
    $("map-note").textContent = error.message;
  }
}

function show(page, state, view, facts, fresh) {
  const focused = document.activeElement;
  $("view-title").replaceChildren(h("bdi", {}, page.title));
  $("view-title").classList.toggle("long", page.title.length > LONG_TITLE);
  $("view-body").replaceChildren(...page.parts);
  document.title = `${page.title} – ${facts.name}`;
  $("status").textContent = page.title;
  $("home").href = hash(kept(state));
  $("model").value = String(models.indexOf(facts));
  $("model-name").textContent = facts.name;
  $("query").value = state.word ?? state.sum ?? "";
  const about = state.word ?? state.term ?? state.compare ?? "";
  const carried = { word: { word: about || null }, context: { context: "", term: about }, sum: { sum: "" }, sentence: { sentence: "" }, compare: { compare: about } };
  $("views").replaceChildren(...Object.keys(VIEWS).filter((name) => name !== "compare" || models.length > 1).map((name) =>
    h("a", { href: hash({ ...kept(state), ...carried[name] }), "aria-current": (view ?? "word") === name ? "page" : false }, NAMES[name])));
  if (fresh) scrollTo(0, 0);
  // Readers go on with the new content, unless they are at a control that is still there.
  if (rendered > 1 && (!focused?.isConnected || focused === document.body || focused === $("query"))) $("main").focus({ preventScroll: true });
}

// Says what is wrong, and offers words that are spelt much like those that the model does not have.
async function refusal(error, state) {
  const parts = [h("p", { class: "error", role: "alert" }, sentenceCase(error.message))];
  const { word: one, context, term, compare: both, sum: expression = "" } = state;
  const named = new Set([one, context, term, both, ...expression.split(/\s+/)].filter((text) => text && !/^[+−–-]$/.test(text)));
  try {
    const answers = await Promise.all([...named].map((text) => api.ask("spelling", { model: state.model, word: text })));
    for (const { word: unknown, near } of answers.filter((answer) => answer.near.length)) {
      const link = (text) => h("a", { href: hash(mended(state, unknown, text)) }, bdi(text));
      parts.push(note("Spelt much like ", bdi(unknown), ":"), chips(near.map(link)));
    }
  } catch (again) {
    if (!(again instanceof Refusal)) throw again; // the first message says it all
  }
  return parts;
}

function mended(state, unknown, near) {
  const mend = (text) => (text === unknown ? near : text);
  return Object.fromEntries(Object.entries(state).map(([name, text]) =>
    [name, name === "sum" ? text.split(/\s+/).map(mend).join(" ") : mend(text)]));
}

async function paint(state, listed, facts, model) {
  const text = state.word || state.term || state.compare || null;
  const able = { pmi: facts.pmi && text, similarity: text, listed: listed?.length, frequency: true, difference: models.length > 1 };
  const usual = ["pmi", "similarity", "listed", "frequency"].find((name) => able[name]);
  const by = able[state.paint] ? state.paint : usual;
  $("paint").replaceChildren(...Object.entries(PAINTS).filter(([name]) => able[name]).map(([name, label]) =>
    h("option", { value: name, selected: name === by }, label)));
  const other = by === "difference" ? Number(state.other ?? (model ? 0 : 1)) : null;
  await map.paint(by, text, { other, listed, score: facts.score });
}

// A word, a phrase that the model has as one word, two words, a sum, or a sentence.
async function answerTo(text) {
  const words = text.split(/\s+/);
  if (/\s[+−–-]\s/.test(` ${text}`)) return go({ sum: text });
  if (words.length > 1) {
    const found = await api.ask("complete", { model: read().model, prefix: text }).catch(() => ({ words: [] }));
    if (!found.words.includes(text)) return go(words.length === 2 ? { context: words[0], term: words[1] } : { sentence: text });
  }
  return go({ word: text });
}

async function begin() {
  models = (await api.ask("models")).models;
  $("model").replaceChildren(...models.map((model, k) => h("option", { value: k }, model.name)));
  $("model-choice").hidden = models.length < 2;
  $("model-name").hidden = models.length > 1;
  $("model").addEventListener("change", (event) => { location.hash = hash({ ...read(), model: event.target.value }); });
  $("paint").addEventListener("change", (event) => { location.hash = hash({ ...read(), paint: event.target.value }); });
  $("to-map").addEventListener("click", () => { $("map").scrollIntoView(); $("canvas").focus({ preventScroll: true }); });
  new IntersectionObserver(([entry]) => { $("to-map").hidden = entry.isIntersecting; }).observe($("plane"));
  $("skip").addEventListener("click", (event) => { event.preventDefault(); $("main").focus(); });
  // What is followed begins at its top; what the back button finds again, where it was.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    if (link?.classList.contains("on-map")) $("map").scrollIntoView({ block: "nearest" });
    else if (link) leadsOn = true;
  });
  document.addEventListener("submit", () => { leadsOn = true; });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    event.preventDefault();
    $("query").focus();
    $("query").select();
  });
  search(async (prefix) => (await api.ask("complete", { model: read().model, prefix })).words, answerTo);
  window.addEventListener("hashchange", render);
  await render();
}

begin().catch((error) => {
  $("view-body").replaceChildren(h("p", { class: "error", role: "alert" }, error.message), note("Reload the page to try again."));
});

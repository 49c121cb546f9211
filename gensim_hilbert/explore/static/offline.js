// The answers of an exported explorer: computed on this page, from vectors in files beside it.

import { number, timesByChance } from "./dom.js";
import { nearSpellings } from "./spelling.js";

const NEIGHBOURS = 20;
const LIKE_WORDS = 100; // among which a word that fits is looked for
const SHARED_CONTEXTS = 12;
const TOKENS = /[\p{L}\p{N}_]+(?:['’-][\p{L}\p{N}_]+)*|[^\p{L}\p{N}_\s]/gu;
const RAREST = 1e-30;

export class Offline {
  constructor(Refusal) {
    this.Refusal = Refusal;
    this.loaded = new Map();
  }

  async ask(name, query = {}) {
    if (name === "models") return this.json("data/models.json");
    return this[name](await this.model(query.model ?? 0), query);
  }

  async file(path) {
    const response = await fetch(path).catch(() => ({ ok: false }));
    if (!response.ok) throw new this.Refusal(`${path} is missing on this web server.`);
    return response;
  }

  async json(path) { return (await this.file(path)).json(); }

  async matrix(path) { return new Float32Array(await (await this.file(path)).arrayBuffer()); }

  model(name) {
    const key = String(name);
    if (!this.loaded.has(key)) this.loaded.set(key, this.load(key));
    return this.loaded.get(key);
  }

  async load(key) {
    const model = await this.json(`data/${key}/words.json`);
    model.rows = new Map(model.words.map((word, k) => [word, k]));
    model.vectors = await this.matrix(`data/${key}/vectors.bin`);
    if (model.pmi) model.covectors = await this.matrix(`data/${key}/covectors.bin`);
    model.norms = model.words.map((_, k) => Math.sqrt(this.dot(model, model.vectors, k, this.vector(model, k))) || RAREST);
    return model;
  }

  vector(model, k) { return model.vectors.subarray(k * model.size, (k + 1) * model.size); }

  dot(model, matrix, k, vector) {
    let sum = 0;
    for (let d = 0, start = k * model.size; d < model.size; d++) sum += matrix[start + d] * vector[d];
    return sum;
  }

  find(model, word) { return model.rows.get(word) ?? model.rows.get(word.toLowerCase()); }

  row(model, word) {
    const found = this.find(model, word);
    if (found === undefined) throw new this.Refusal(`'${word}' is not among the ${number(model.words.length, 0)} words of this page.`);
    return found;
  }

  best(scores, count, wanted = () => true) {
    return [...scores.keys()].filter(wanted).sort((a, b) => scores[b] - scores[a]).slice(0, count);
  }

  cosines(model, vector) {
    const length = Math.hypot(...vector) || RAREST;
    return model.words.map((_, k) => this.dot(model, model.vectors, k, vector) / model.norms[k] / length);
  }

  pmis(model, term) {
    const vector = this.vector(model, term);
    return model.words.map((_, k) =>
      this.dot(model, model.covectors, k, vector) - model.context_offsets[k] - model.term_offsets[term]);
  }

  like(model, scores, count, wanted) {
    return this.best(scores, Number(count ?? NEIGHBOURS), wanted).map((k) => ({ word: model.words[k], cosine: scores[k] }));
  }

  evidence(model, context, term) {
    const found = model.evidence?.[term].find((facts) => facts[0] === context) ?? [];
    const [count = null, counted = null, low = null, high = null] = found.slice(1);
    return { count, counted, low, high };
  }

  complete(model, { prefix }) {
    const begun = prefix.toLowerCase();
    return { words: model.words.filter((word) => word.toLowerCase().startsWith(begun)).slice(0, 12) };
  }

  spelling(model, { word }) {
    const known = this.find(model, word) !== undefined;
    return { word, known, near: known ? [] : nearSpellings(word, model.words) };
  }

  word(model, query) {
    const row = this.row(model, query.word), pmis = model.pmi ? this.pmis(model, row) : [];
    return {
      word: model.words[row], rank: row + 1, occurrences: model.occurrences?.[row] ?? null,
      like: this.like(model, this.cosines(model, this.vector(model, row)), query.n, (k) => k !== row),
      with_it: this.best(pmis, Number(query.n ?? NEIGHBOURS)).map((k) => ({ word: model.words[k], pmi: pmis[k], ...this.evidence(model, k, row) })),
    };
  }

  pair(model, query) {
    const context = this.row(model, query.context), term = this.row(model, query.term);
    const facts = this.evidence(model, context, term);
    const names = { context: model.words[context], term: model.words[term] };
    const cosine = this.cosines(model, this.vector(model, term))[context];
    if (!model.pmi) {
      const sentence = "These vectors do not tell how often words meet, because they have no covectors.";
      return { ...names, ...facts, cosine, pmi: null, psi: null, times: null, shared: [], sentence };
    }
    const [one, other] = [this.pmis(model, context), this.pmis(model, term)], pmi = other[context];
    const both = one.map((value, k) => Math.min(value, other[k]));
    return {
      ...names, ...facts, cosine, pmi,
      psi: this.dot(model, model.covectors, context, this.vector(model, term)),
      times: facts.count === 0 ? null : Math.exp(facts.counted ?? pmi),
      sentence: this.sentence(model, names, facts, pmi),
      shared: this.best(both, SHARED_CONTEXTS, (k) => k !== context && k !== term)
        .map((k) => ({ word: model.words[k], pmi_context: one[k], pmi_term: other[k] })),
    };
  }

  sentence(model, { context, term }, facts, pmi) {
    if (model.score !== "PMI") return `The vectors of ${model.name} do not tell how often words meet: their products are no PMI.`;
    if (facts.count === 0) return `${context} was never seen near ${term}.`;
    return `${facts.count === null ? "By the fit, " : ""}${context} is near ${term} ${timesByChance(facts.counted ?? pmi)}.`;
  }

  sum(model, { expression, n }) {
    const parts = { "+": [], "-": [] };
    let sign = "+", expectsWord = true;
    for (const part of expression.trim().split(/\s+/)) {
      if (/^[+−–-]$/.test(part)) {
        if (expectsWord && parts["+"].length + parts["-"].length) throw new this.Refusal(`a word must stand between the signs of '${expression}'`);
        [sign, expectsWord] = [part === "+" ? "+" : "-", true];
      } else if (!expectsWord) throw new this.Refusal(`write + or - between the words of '${expression}', such as king - man + woman`);
      else {
        parts[sign].push(this.row(model, part));
        expectsWord = false;
      }
    }
    if (expectsWord) throw new this.Refusal(`'${expression}' has no word at its end; write a sum such as king - man + woman`);
    const total = new Float64Array(model.size);
    for (const [name, factor] of [["+", 1], ["-", -1]]) {
      for (const k of parts[name]) this.vector(model, k).forEach((value, d) => { total[d] += (factor * value) / model.norms[k]; });
    }
    const rows = [...parts["+"], ...parts["-"]];
    return { positive: parts["+"].map((k) => model.words[k]), negative: parts["-"].map((k) => model.words[k]),
      like: this.like(model, this.cosines(model, total), n, (k) => !rows.includes(k)) };
  }

  // The words of a sentence, and those that are known within the window around a place.
  place(model, sentence, position) {
    const tokens = sentence.match(TOKENS) ?? [], rows = tokens.map((token) => this.find(model, token));
    const place = position === undefined || position === null ? null : Number(position);
    if (place !== null && !(place >= 0 && place < tokens.length)) throw new this.Refusal(`position must be from 0 to ${tokens.length - 1}, got ${position}`);
    const around = rows.filter((row, k) => place !== null && row !== undefined && k !== place && Math.abs(k - place) <= model.window);
    return { tokens, rows, place, around };
  }

  // p_j exp(sum of PMI_ij) of some words j among contexts i, normalised.
  probabilities(model, words, around) {
    const logits = words.map((j) => Math.log(Math.max(model.frequencies[j], RAREST)) +
      around.reduce((sum, i) => sum + this.dot(model, model.covectors, i, this.vector(model, j)) - model.own_term_offsets[j], 0));
    const most = logits.reduce((one, other) => Math.max(one, other), -Infinity), weights = logits.map((value) => Math.exp(value - most));
    const total = weights.reduce((sum, value) => sum + value, 0);
    return weights.map((weight) => weight / total);
  }

  probable(model, words, around, count) {
    const found = this.probabilities(model, words, around);
    return this.best(found, Number(count ?? NEIGHBOURS)).map((k) => ({ word: model.words[words[k]], probability: found[k] }));
  }

  substitute(model, { sentence, position, n }) {
    const { tokens, rows, place, around } = this.place(model, sentence, position);
    const answer = { tokens, known: rows.map((row) => row !== undefined), position: place, substitutes: [],
      method: model.pmi ? "probability" : "cosine" };
    if (place === null) return answer;
    const own = rows[place];
    if (model.pmi) answer.substitutes = around.length ? this.probable(model, [...model.words.keys()], around, n) : [];
    else if (own !== undefined) {
      answer.substitutes = this.like(model, this.cosines(model, this.vector(model, own)), n, (k) => k !== own)
        .map((item) => ({ word: item.word, probability: item.cosine }));
    }
    return answer;
  }

  fitting(model, { sentence, position, n }) {
    const { rows, place, around } = this.place(model, sentence, position), own = rows[place];
    if (own === undefined || !model.pmi || !around.length) return { fitting: [] };
    const like = this.best(this.cosines(model, this.vector(model, own)), LIKE_WORDS, (k) => k !== own);
    return { fitting: this.probable(model, like.filter((k) => !around.includes(k)), around, n) };
  }

  map(model) { return { words: model.words.slice(0, model.map.x.length), ...model.map, final: true }; }

  async paint(model, { by, word, model: one, other }) {
    const values = {
      frequency: () => (model.occurrences ?? model.words.map((_, k) => 1 / (k + 1))).map((count) => Math.log(count || 1)),
      similarity: () => this.cosines(model, this.vector(model, this.row(model, word))),
      pmi: () => this.pmis(model, this.row(model, word)),
      difference: async () => (await this.json(`data/compare-${one ?? 0}-${other}.json`)).differences,
    };
    return { by, word: word ?? null, values: (await values[by]()).slice(0, model.map.x.length) };
  }

  async compare(model, { model: one, other, word }) {
    const facts = await this.json(`data/compare-${one ?? 0}-${other}.json`);
    const nothing = { like: [], with_it: [] };
    if (!word) return { word: null, shared: facts.shared, lost: nothing, gained: nothing, kept: [], changed: facts.changed };
    const both = [model, await this.model(other)];
    const found = both.map((here, k) => this.sharedNeighbours(here, both[1 - k], word));
    const only = (here, kind) => found[here][kind].filter((item) => !found[1 - here][kind].some((near) => near.word === item.word));
    const names = new Set(found[1].like.map((item) => item.word));
    return {
      word, shared: facts.shared, changed: [],
      lost: { like: only(0, "like"), with_it: only(0, "with_it") }, gained: { like: only(1, "like"), with_it: only(1, "with_it") },
      kept: found[0].like.map((item) => item.word).filter((name) => names.has(name)),
    };
  }

  // The neighbours of a word among the words that another model has too.
  sharedNeighbours(model, other, word) {
    const row = this.row(model, word), isShared = (k) => other.rows.has(model.words[k]);
    return {
      like: this.like(model, this.cosines(model, this.vector(model, row)), NEIGHBOURS, (k) => k !== row && isShared(k)),
      with_it: model.pmi ? this.like(model, this.pmis(model, row), NEIGHBOURS, isShared) : [],
    };
  }
}

// The answers of an exported explorer: computed on this page, from vectors in files beside it.

const NEIGHBOURS = 20;

export class Offline {
  constructor(Refusal) {
    this.Refusal = Refusal;
    this.loaded = new Map();
  }

  async ask(name, query = {}) {
    if (name === "models") return this.json("data/models.json");
    if (!this[name]) throw new this.Refusal(`An exported explorer does not answer ${name}.`);
    return this[name](await this.model(query.model ?? 0), query);
  }

  async file(path) {
    const response = await fetch(path).catch(() => ({ ok: false }));
    if (!response.ok) throw new this.Refusal(`${path} is missing.`);
    return response;
  }

  async json(path) { return (await this.file(path)).json(); }

  async matrix(path) { return new Float32Array(await (await this.file(path)).arrayBuffer()); }

  model(number) {
    if (!this.loaded.has(String(number))) this.loaded.set(String(number), this.load(number));
    return this.loaded.get(String(number));
  }

  async load(number) {
    const model = await this.json(`data/${number}/words.json`);
    model.rows = new Map(model.words.map((word, k) => [word, k]));
    model.vectors = await this.matrix(`data/${number}/vectors.bin`);
    if (model.pmi) model.covectors = await this.matrix(`data/${number}/covectors.bin`);
    model.norms = model.words.map((_, k) => Math.sqrt(this.dot(model, model.vectors, k, this.vector(model, k))) || 1e-30);
    return model;
  }

  vector(model, k) { return model.vectors.subarray(k * model.size, (k + 1) * model.size); }

  dot(model, matrix, k, vector) {
    let sum = 0;
    for (let d = 0, start = k * model.size; d < model.size; d++) sum += matrix[start + d] * vector[d];
    return sum;
  }

  row(model, word) {
    const found = model.rows.get(word) ?? model.rows.get(word.toLowerCase());
    if (found === undefined) throw new this.Refusal(`${word} is not among the ${model.words.length} words of this page.`);
    return found;
  }

  best(scores, count, without = []) {
    const rows = [...scores.keys()].filter((k) => !without.includes(k));
    return rows.sort((a, b) => scores[b] - scores[a]).slice(0, count);
  }

  cosines(model, vector) {
    const length = Math.hypot(...vector) || 1e-30;
    return model.words.map((_, k) => this.dot(model, model.vectors, k, vector) / model.norms[k] / length);
  }

  pmis(model, term) {
    const vector = this.vector(model, term);
    return model.words.map((_, k) =>
      this.dot(model, model.covectors, k, vector) - model.context_offsets[k] - model.term_offsets[term]);
  }

  like(model, scores, without) {
    return this.best(scores, NEIGHBOURS, without).map((k) => ({ word: model.words[k], cosine: scores[k] }));
  }

  evidence(model, context, term) {
    return model.evidence?.[term]?.[context] ?? { count: null, counted: null, low: null, high: null };
  }

  complete(model, { prefix }) {
    const begun = prefix.toLowerCase();
    return { words: model.words.filter((word) => word.toLowerCase().startsWith(begun)).slice(0, 12) };
  }

  word(model, query) {
    const row = this.row(model, query.word);
    const pmis = model.pmi ? this.pmis(model, row) : [];
    return {
      word: model.words[row], rank: row + 1, occurrences: model.occurrences?.[row] ?? null,
      like: this.like(model, this.cosines(model, this.vector(model, row)), [row]),
      with_it: this.best(pmis, NEIGHBOURS).map((k) => ({ word: model.words[k], pmi: pmis[k], ...this.evidence(model, k, row) })),
    };
  }

  pair(model, query) {
    const context = this.row(model, query.context), term = this.row(model, query.term);
    const facts = this.evidence(model, context, term);
    const names = { context: model.words[context], term: model.words[term] };
    const cosine = this.cosines(model, this.vector(model, term))[context];
    if (!model.pmi) return { ...names, ...facts, cosine, pmi: null, psi: null, shared: [], sentence: model.without_pmi };
    const [one, other] = [this.pmis(model, context), this.pmis(model, term)];
    const both = one.map((value, k) => Math.min(value, other[k]));
    const pmi = other[context], times = Math.exp(facts.counted ?? pmi);
    const often = times >= 1 ? `${times.toFixed(1)} times as often as by chance` : `${(1 / times).toFixed(1)} times more rarely than by chance`;
    const sentence = model.score !== "PMI" ? "The products of these vectors are no PMI."
      : `${facts.counted === null ? "By the fit, " : ""}${names.context} is near ${names.term} ${often}.`;
    return {
      ...names, ...facts, cosine, pmi, times, sentence,
      psi: this.dot(model, model.covectors, context, this.vector(model, term)),
      shared: this.best(both, 12, [context, term]).map((k) => ({ word: model.words[k], pmi_context: one[k], pmi_term: other[k] })),
    };
  }

  sum(model, { expression }) {
    const parts = { "+": [], "-": [] };
    let sign = "+";
    for (const part of expression.trim().split(/\s+/)) {
      if (/^[+−–-]$/.test(part)) sign = part === "+" ? "+" : "-";
      else parts[sign].push(this.row(model, part));
    }
    const total = new Float64Array(model.size);
    for (const [name, factor] of [["+", 1], ["-", -1]]) {
      for (const k of parts[name]) this.vector(model, k).forEach((value, d) => { total[d] += (factor * value) / model.norms[k]; });
    }
    const rows = [...parts["+"], ...parts["-"]];
    if (!rows.length) throw new this.Refusal("Write a sum such as king - man + woman.");
    return { positive: parts["+"].map((k) => model.words[k]), negative: parts["-"].map((k) => model.words[k]),
      like: this.like(model, this.cosines(model, total), rows) };
  }

  substitute(model, { sentence, position }) {
    const tokens = sentence.match(/[\p{L}\p{N}_]+(?:['’-][\p{L}\p{N}_]+)*|[^\p{L}\p{N}_\s]/gu) ?? [];
    const rows = tokens.map((token) => model.rows.get(token) ?? model.rows.get(token.toLowerCase()));
    const place = position === undefined || position === null ? null : Number(position);
    const answer = { tokens, known: rows.map((row) => row !== undefined), position: place, substitutes: [],
      method: model.pmi ? "probability" : "cosine" };
    if (place === null) return answer;
    if (!model.pmi) {
      const found = rows[place] === undefined ? [] : this.like(model, this.cosines(model, this.vector(model, rows[place])), [rows[place]]);
      answer.substitutes = found.map((item) => ({ word: item.word, probability: item.cosine }));
      return answer;
    }
    const around = rows.filter((row, k) => row !== undefined && k !== place && Math.abs(k - place) <= model.window);
    if (!around.length) return answer;
    const logits = model.words.map((_, j) => Math.log(Math.max(model.frequencies[j], 1e-30)) +
      around.reduce((sum, i) => sum + this.dot(model, model.covectors, i, this.vector(model, j)) - model.own_term_offsets[j], 0));
    const most = Math.max(...logits), weights = logits.map((value) => Math.exp(value - most));
    const total = weights.reduce((sum, value) => sum + value, 0);
    answer.substitutes = this.best(weights, NEIGHBOURS).map((k) => ({ word: model.words[k], probability: weights[k] / total }));
    return answer;
  }

  map(model) { return { words: model.words, ...model.map, final: true }; }

  async paint(model, { by, word, model: one, other }) {
    const values = {
      frequency: () => (model.occurrences ?? model.words.map((_, k) => 1 / (k + 1))).map((count) => Math.log(count)),
      similarity: () => this.cosines(model, this.vector(model, this.row(model, word))),
      pmi: () => this.pmis(model, this.row(model, word)),
      difference: async () => (await this.json(`data/compare-${one ?? 0}-${other}.json`)).differences,
    };
    return { by, word, values: await values[by]() };
  }

  async compare(model, { model: one, other, word }) {
    const facts = await this.json(`data/compare-${one ?? 0}-${other}.json`);
    const nothing = { like: [], with_it: [] };
    if (!word) return { word: null, shared: facts.shared, lost: nothing, gained: nothing, kept: [], changed: facts.changed };
    const second = await this.model(other);
    const found = [this.word(model, { word }), this.word(second, { word })].map((answer) => ({
      like: answer.like, with_it: answer.with_it.map((item) => ({ word: item.word, cosine: item.pmi })) }));
    const only = (here, kind) => found[here][kind].filter((item) => !found[1 - here][kind].some((near) => near.word === item.word));
    const names = new Set(found[1].like.map((item) => item.word));
    return {
      word, shared: facts.shared, changed: [],
      lost: { like: only(0, "like"), with_it: only(0, "with_it") }, gained: { like: only(1, "like"), with_it: only(1, "with_it") },
      kept: found[0].like.map((item) => item.word).filter((name) => names.has(name)),
    };
  }
}

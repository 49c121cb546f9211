// The map: words as points on a plane that can be moved and zoomed, painted by what they have to do with a word.

import { readPalette, Scale } from "./colours.js";
import { $, h, number, shortened } from "./dom.js";
import { steer } from "./gestures.js";
import { Labels } from "./labels.js";
import { Points } from "./points.js";

const MOST_LABELS = 180;
const PIXELS_PER_LABEL = 2800;
const STRONG = 0.5; // strength from which a label stands out
const NEAR_PIXELS = 14;
const SMALLEST_ZOOM = 0.6, LARGEST_ZOOM = 200;
const MARGIN = 0.92; // share of the window that the words take
const MOST_DISTORTION = 1.5; // of one axis against the other
const OUTLIERS = 0.002; // share of words at each end that need not be seen at first
const LOOK_AGAIN_MS = 2500; // for a layout that is being computed

export class WordMap {
  constructor(api, choose) {
    this.api = api;
    this.choose = (k) => choose(this.words[k]);
    this.points = new Points($("points"));
    this.labels = new Labels($("canvas"));
    this.words = [];
    this.places = new Map();
    this.view = { x: 0, y: 0, zoom: 1, width: 0, height: 0, scaleX: 1, scaleY: 1 };
    this.hovered = -1;
    this.extent = { x: { size: 2, middle: 0 }, y: { size: 2, middle: 0 } };
    new ResizeObserver(() => this.resize()).observe($("plane"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.readColours());
    steer(this, $("canvas"));
    this.readColours();
  }

  async load(model) {
    this.model = model;
    const answer = await this.api.ask("map", { model });
    if (this.model !== model) return;
    const sameWords = answer.words.length === this.words.length && answer.words.every((word, k) => word === this.words[k]);
    Object.assign(this, { words: answer.words, x: Float32Array.from(answer.x), y: Float32Array.from(answer.y) });
    this.places = new Map(this.words.map((word, k) => [word, k]));
    if (!sameWords || answer.method !== this.method) {
      this.extent = { x: extent(this.x), y: extent(this.y) };
      this.showAll();
    }
    this.method = answer.method;
    if (!sameWords) this.values = null; // colours of other words
    this.hovered = -1;
    // If this fails, the server has ended: the next question tells that.
    if (!answer.final) setTimeout(() => this.model === model && this.load(model).catch(() => {}), LOOK_AGAIN_MS);
    const making = answer.final ? "" : " A better layout is being computed, once for this model.";
    $("map-note").textContent = `${this.words.length < 20000 ? "" : "The 20,000 most frequent words. "}Words with like vectors lie near each other (${answer.method}).` +
      ` Drag the map, zoom it, and choose a word to go there.${making}`;
    this.draw();
  }

  async paint(by, word, { other, listed, score }) {
    const model = this.model, asked = (this.asked = Symbol(by));
    const marked = new Set(listed);
    const values = by === "listed" ? this.words.map((one) => (marked.has(one) ? 1 : 0))
      : (await this.api.ask("paint", { model, by, word, other })).values;
    if (asked !== this.asked || model !== this.model) return;
    const scale = new Scale(by, values), strengths = Float32Array.from(values, (value) => scale.strength(value));
    const order = Uint32Array.from(values.keys()).sort((a, b) => strengths[a] - strengths[b] || b - a);
    const labelled = order.slice().reverse(); // of equal ones, frequent words first
    Object.assign(this, { values, scale, strengths, order, labelled, chosen: this.places.get(word) ?? this.places.get(word?.toLowerCase()) ?? -1 });
    this.shades = Uint8Array.from(values, (value) => scale.shade(value));
    this.large = Uint8Array.from(strengths, (strength) => Number(by !== "frequency" && strength > STRONG));
    this.unit = { pmi: score, similarity: "cosine", difference: "differing" }[by];
    this.legend(word, score);
    this.draw();
  }

  legend(word, score) {
    const { low, high, ramp, by } = this.scale, plain = (value) => number(value, 1);
    const quoted = `“${shortened(word ?? "")}”`;
    // Frequencies are logarithms of counts, or where there are none, of ranks with a minus.
    const often = (value) => high > 0 ? `${number(Math.exp(value), 0)} times` : `number ${number(Math.exp(-value), 0)}`;
    const [left, right, text] = {
      pmi: [plain(low), plain(high), score === "PMI" ? `PMI with ${quoted}: orange goes with it, blue is rarer near it than by chance` : `product with ${quoted}`],
      similarity: [plain(low), plain(high), `cosine with ${quoted}: violet is like it`],
      frequency: [often(low), often(high), high > 0 ? "in the text" : "by frequency"],
      difference: [`${number(100 * low, 0)}%`, `${number(100 * high, 0)}%`, "of the nearest neighbours differ in the other model"],
      listed: ["others", "listed", "the words of the list"],
    }[by];
    $("legend").replaceChildren(h("span", {}, left), h("span", { class: `ramp ${ramp}` }), h("span", {}, right), h("span", { class: "about" }, text));
  }

  readColours() {
    this.palette = readPalette();
    this.draw();
  }

  resize() {
    const box = $("plane").getBoundingClientRect(), ratio = devicePixelRatio || 1;
    Object.assign(this.view, { width: box.width, height: box.height });
    this.ratio = ratio;
    this.points.resize(Math.round(box.width * ratio), Math.round(box.height * ratio));
    this.labels.resize(box.width, box.height, ratio);
    this.look(this.view);
    this.drawNow(); // at once: a canvas is empty after its size has changed
  }

  // Show another part of the plane.
  look({ x, y, zoom }) {
    const { view } = this, within = (value, most) => Math.max(-most, Math.min(most, value));
    view.zoom = Math.max(SMALLEST_ZOOM, Math.min(LARGEST_ZOOM, zoom));
    // Both axes fill the window, as far as that does not distort the map too much.
    const fit = [MARGIN * view.width / this.extent.x.size, MARGIN * view.height / this.extent.y.size], least = Math.min(...fit);
    view.scaleX = view.zoom * Math.min(fit[0], MOST_DISTORTION * least);
    view.scaleY = view.zoom * Math.min(fit[1], MOST_DISTORTION * least);
    view.x = within(x, 1.2);
    view.y = within(y, 1.2);
    this.draw();
  }

  screenX(k) { return this.view.width / 2 + (this.x[k] - this.view.x) * this.view.scaleX; }
  screenY(k) { return this.view.height / 2 - (this.y[k] - this.view.y) * this.view.scaleY; }

  move(right, down) {
    const { x, y, zoom, scaleX, scaleY } = this.view;
    this.look({ x: x - right / scaleX, y: y + down / scaleY, zoom });
  }

  // Zoom so that the point under (left, top) stays where it is.
  zoom(factor, left = this.view.width / 2, top = this.view.height / 2) {
    const { x, y, zoom, scaleX, scaleY, width, height } = this.view;
    const reached = Math.max(SMALLEST_ZOOM, Math.min(LARGEST_ZOOM, zoom * factor)), gain = 1 - zoom / reached;
    this.look({ x: x + (left - width / 2) * gain / scaleX, y: y - (top - height / 2) * gain / scaleY, zoom: reached });
  }

  showAll() { this.look({ x: this.extent.x.middle, y: this.extent.y.middle, zoom: 1 }); }

  nearest(left, top, within = NEAR_PIXELS) {
    const labelled = this.labels.at(left, top);
    if (labelled >= 0) return labelled;
    let best = -1, least = within ** 2;
    for (let k = 0; k < this.words.length; k++) {
      const distance = (this.screenX(k) - left) ** 2 + (this.screenY(k) - top) ** 2;
      if (distance < least) [best, least] = [k, distance];
    }
    return best;
  }

  hover(k) {
    if (k === this.hovered) return;
    this.hovered = k;
    this.draw(false);
  }

  // The word nearest to the middle, for those who steer by keyboard.
  aim() {
    this.hover(this.nearest(this.view.width / 2, this.view.height / 2, Infinity));
    if (this.hovered >= 0) $("status").textContent = this.described(this.hovered);
  }

  described(k) {
    const value = this.values?.[k], word = shortened(this.words[k]);
    return this.unit && value !== null && value !== undefined ? `${word} · ${this.unit} ${number(value)}` : word;
  }

  draw(points = true) {
    this.stale ||= points;
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.drawNow(); });
  }

  drawNow() {
    const { view, values, words } = this;
    if (!view.width || !values || values.length !== words.length) return;
    if (this.stale) {
      const radius = Math.max(1.2, Math.min(4, 75 / Math.sqrt(words.length))) * view.zoom ** 0.25;
      this.points.draw({ ...this, colours: this.palette[this.scale.ramp], radius });
      this.stale = false;
    }
    this.drawLabels();
  }

  drawLabels() {
    const { labels, view, palette, strengths, chosen, hovered } = this;
    labels.clear(palette.paper);
    if (chosen >= 0) {
      labels.ring(this.screenX(chosen), this.screenY(chosen), palette.ink);
      labels.add(chosen, shortened(this.words[chosen]), this.screenX(chosen), this.screenY(chosen), "chosen", palette.accent);
    }
    if (hovered >= 0) {
      labels.ring(this.screenX(hovered), this.screenY(hovered), palette.ink);
      if (hovered !== chosen) labels.add(hovered, this.described(hovered), this.screenX(hovered), this.screenY(hovered), "strong", palette.ink);
    }
    const most = Math.min(MOST_LABELS, (view.width * view.height) / PIXELS_PER_LABEL);
    for (const k of this.labelled) {
      if (labels.boxes.length >= most) break;
      const x = this.screenX(k), y = this.screenY(k);
      if (x < 0 || y < 0 || x > view.width || y > view.height || k === chosen || k === hovered) continue;
      const strong = this.large[k] === 1 || (this.scale.by === "frequency" && labels.boxes.length < most / 3);
      labels.add(k, shortened(this.words[k]), x, y, strong ? "strong" : "plain", strong ? palette.ink : palette.muted);
    }
  }
}

// The middle and the size of what most of some numbers lie in.
function extent(numbers) {
  const sorted = numbers.slice().sort(), skipped = Math.floor(OUTLIERS * sorted.length);
  const low = sorted[skipped], high = sorted[sorted.length - 1 - skipped];
  return { middle: (low + high) / 2, size: Math.max(high - low, 1e-3) };
}

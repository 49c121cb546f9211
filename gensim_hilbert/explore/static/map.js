// The map: points on a canvas that can be moved and zoomed, with as many labels as find room.

import { $, h, note, number } from "./dom.js";

const SHADES = 24; // colours of points; all points of one shade are drawn together
const MOST_LABELS = 220;
const CLICK_PIXELS = 14;
const FARTHEST_ZOOM = 200;
const LOOK_AGAIN_MS = 1500; // for a layout that is being computed

export class WordMap {
  constructor(api, choose) {
    this.api = api;
    this.choose = choose;
    this.canvas = $("canvas");
    this.pen = this.canvas.getContext("2d");
    this.words = [];
    this.values = [];
    this.widths = new Map();
    this.view = { x: 0, y: 0, zoom: 1 };
    this.pointers = new Map();
    this.hovered = -1;
    this.listen();
  }

  listen() {
    const canvas = this.canvas;
    new ResizeObserver(() => this.resize()).observe($("plane"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.readColours());
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 300), event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      this.moved = 0;
    });
    canvas.addEventListener("pointermove", (event) => this.pointerMoved(event));
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, (event) => {
        const alone = this.pointers.size === 1;
        this.pointers.delete(event.pointerId);
        if (name === "pointerup" && alone && this.moved < 5) {
          const found = this.nearest(event.offsetX, event.offsetY);
          if (found >= 0) this.choose(this.words[found]);
        }
      });
    }
    canvas.addEventListener("keydown", (event) => {
      const step = 60;
      const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (moves[event.key]) this.move(...moves[event.key]);
      else if (event.key === "+" || event.key === "=") this.zoom(1.5);
      else if (event.key === "-") this.zoom(1 / 1.5);
      else if (event.key === "0") this.showAll();
      else return;
      event.preventDefault();
    });
    $("zoom-in").addEventListener("click", () => this.zoom(1.5));
    $("zoom-out").addEventListener("click", () => this.zoom(1 / 1.5));
    $("zoom-all").addEventListener("click", () => this.showAll());
  }

  pointerMoved(event) {
    const before = this.pointers.get(event.pointerId), now = { x: event.offsetX, y: event.offsetY };
    if (!before) {
      const found = this.nearest(now.x, now.y);
      this.canvas.style.cursor = found >= 0 ? "pointer" : "grab";
      if (found !== this.hovered) { this.hovered = found; this.draw(); }
      return;
    }
    this.moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (this.pointers.size === 1) this.move(now.x - before.x, now.y - before.y);
    else {
      const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
      const apart = (point) => Math.hypot(point.x - other.x, point.y - other.y);
      if (apart(before) > 1) this.zoom(apart(now) / apart(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
    }
    this.pointers.set(event.pointerId, now);
  }

  async load(model) {
    this.model = model;
    const answer = await this.api.ask("map", { model });
    if (this.model !== model) return;
    Object.assign(this, { words: answer.words, x: answer.x, y: answer.y, method: answer.method });
    this.places = new Map(this.words.map((word, k) => [word, k]));
    if (!answer.final) setTimeout(() => this.model === model && this.load(model).catch(() => {}), LOOK_AGAIN_MS);
    const making = answer.final ? "" : " A better layout is being computed, once for this model.";
    $("map-note").textContent =
      `The ${number(this.words.length, 0)} most frequent words; near each other are words with like vectors (${this.method}).${making}`;
    this.readColours();
  }

  async paint(by, word, other, score) {
    const answer = await this.api.ask("paint", { model: this.model, by, word, other });
    this.chosen = word;
    this.by = by;
    this.values = answer.values;
    const known = answer.values.filter((value) => value !== null).sort((a, b) => a - b);
    const at = (share) => known[Math.min(known.length - 1, Math.floor(share * known.length))] ?? 0;
    if (by === "pmi") {
      const far = Math.max(at(0.995), -at(0.005), 0.1);
      [this.low, this.high] = [-far, far];
    } else [this.low, this.high] = [at(0.02), Math.max(at(0.998), at(0.02) + 1e-6)];
    const span = this.high - this.low;
    this.shades = this.values.map((value) => value === null ? 0
      : Math.max(0, Math.min(SHADES - 1, Math.floor((SHADES * (value - this.low)) / span))));
    // Labels: the strongest colours first, as far as there are any, then frequent words.
    const order = [...this.words.keys()];
    this.order = by === "frequency" ? order : order.sort((a, b) => (this.values[b] ?? -1e9) - (this.values[a] ?? -1e9));
    this.legend(by, word, score);
    this.draw();
  }

  legend(by, word, score) {
    const texts = {
      pmi: `${score} of each word with “${word}”`, similarity: `cosine with “${word}”`,
      frequency: "frequency (logarithm)", difference: "share of neighbours that differ",
    };
    $("legend").replaceChildren(
      h("span", { class: "ends" }, number(this.low, 1)),
      h("span", { class: by === "pmi" ? "ramp both" : "ramp" }),
      h("span", { class: "ends" }, number(this.high, 1)), note(texts[by]));
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    const parse = (name) => style.getPropertyValue(name).trim().match(/[\da-f]{2}/gi).map((part) => parseInt(part, 16));
    const mix = (one, two, share) => `rgb(${one.map((part, k) => Math.round(part + (two[k] - part) * share)).join(",")})`;
    const [cold, middle, warm] = ["--cold", "--middle", "--warm"].map(parse);
    this.ink = style.getPropertyValue("--ink");
    this.paper = style.getPropertyValue("--paper");
    this.accent = style.getPropertyValue("--warm");
    const share = (k) => k / (SHADES - 1);
    this.colours = {
      both: [...Array(SHADES).keys()].map((k) => share(k) < 0.5 ? mix(cold, middle, 2 * share(k)) : mix(middle, warm, 2 * share(k) - 1)),
      one: [...Array(SHADES).keys()].map((k) => mix(middle, warm, share(k))),
    };
    this.draw();
  }

  resize() {
    const box = $("plane").getBoundingClientRect(), scale = devicePixelRatio || 1;
    this.width = box.width;
    this.height = box.height;
    this.canvas.width = Math.round(box.width * scale);
    this.canvas.height = Math.round(box.height * scale);
    this.pen.setTransform(scale, 0, 0, scale, 0, 0);
    this.draw();
  }

  get scale() { return 0.45 * Math.min(this.width, this.height) * this.view.zoom; }
  screenX(k) { return this.width / 2 + (this.x[k] - this.view.x) * this.scale; }
  screenY(k) { return this.height / 2 - (this.y[k] - this.view.y) * this.scale; }

  move(right, down) {
    this.view.x = Math.max(-1.2, Math.min(1.2, this.view.x - right / this.scale));
    this.view.y = Math.max(-1.2, Math.min(1.2, this.view.y + down / this.scale));
    this.draw();
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const before = this.scale;
    this.view.zoom = Math.max(0.8, Math.min(FARTHEST_ZOOM, this.view.zoom * factor));
    const gain = 1 / before - 1 / this.scale;
    this.view.x += (x - this.width / 2) * gain;
    this.view.y -= (y - this.height / 2) * gain;
    this.draw();
  }

  showAll() {
    this.view = { x: 0, y: 0, zoom: 1 };
    this.draw();
  }

  nearest(x, y) {
    let best = -1, least = CLICK_PIXELS ** 2;
    for (const [word, box] of this.boxes ?? []) {
      if (x >= box[0] && x <= box[2] && y >= box[1] && y <= box[3]) return word;
    }
    for (let k = 0; k < this.words.length; k++) {
      const distance = (this.screenX(k) - x) ** 2 + (this.screenY(k) - y) ** 2;
      if (distance < least) [best, least] = [k, distance];
    }
    return best;
  }

  draw() {
    if (this.waiting || !this.colours || !this.order) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.drawNow(); });
  }

  drawNow() {
    const { pen, width, height } = this;
    if (!width) return;
    const colours = this.by === "pmi" ? this.colours.both : this.colours.one;
    const size = Math.min(7, 1.6 + 0.5 * Math.log2(this.view.zoom + 1));
    const groups = Array.from({ length: SHADES }, () => []);
    for (let k = 0; k < this.words.length; k++) {
      const x = this.screenX(k), y = this.screenY(k);
      if (x > -5 && y > -5 && x < width + 5 && y < height + 5) groups[this.shades[k]].push(x, y);
    }
    pen.clearRect(0, 0, width, height);
    const middle = (SHADES - 1) / 2;
    const strength = this.by === "pmi" ? (k) => Math.abs(k - middle) : (k) => k;
    // Strong colours lie over weak ones.
    for (const shade of [...groups.keys()].sort((a, b) => strength(a) - strength(b))) {
      const points = groups[shade], side = size + (strength(shade) > 0.7 * middle ? 1.2 : 0);
      pen.fillStyle = colours[shade];
      for (let k = 0; k < points.length; k += 2) pen.fillRect(points[k] - side / 2, points[k + 1] - side / 2, side, side);
    }
    this.drawLabels();
  }

  drawLabels() {
    const { pen, width, height } = this;
    this.boxes = [];
    const cells = new Map(), cell = 90;
    const fits = (box) => {
      if (box[0] < 0 || box[1] < 0 || box[2] > width || box[3] > height) return false;
      const keys = [];
      for (let i = Math.floor(box[0] / cell); i <= Math.floor(box[2] / cell); i++) {
        for (let j = Math.floor(box[1] / cell); j <= Math.floor(box[3] / cell); j++) keys.push(`${i},${j}`);
      }
      for (const key of keys) {
        for (const other of cells.get(key) ?? []) {
          if (box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]) return false;
        }
      }
      for (const key of keys) cells.has(key) ? cells.get(key).push(box) : cells.set(key, [box]);
      return true;
    };
    const label = (k, style) => {
      const word = this.words[k].length > 40 ? this.words[k].slice(0, 39) + "…" : this.words[k];
      pen.font = style.font;
      const key = style.font + word;
      if (!this.widths.has(key)) this.widths.set(key, pen.measureText(word).width);
      const x = this.screenX(k), y = this.screenY(k), half = this.widths.get(key) / 2 + 2;
      const box = [x - half, y - 19, x + half, y - 3];
      if (!fits(box)) return;
      this.boxes.push([k, box]);
      pen.textAlign = "center";
      pen.lineWidth = 3;
      pen.lineJoin = "round";
      pen.strokeStyle = this.paper;
      pen.strokeText(word, x, y - 7);
      pen.fillStyle = style.colour;
      pen.fillText(word, x, y - 7);
    };
    const strong = { font: "bold 14px system-ui, sans-serif", colour: this.accent };
    const plain = { font: "12px system-ui, sans-serif", colour: this.ink };
    const chosen = this.places.get(this.chosen);
    if (chosen !== undefined) {
      this.pen.strokeStyle = this.ink;
      this.pen.lineWidth = 2;
      this.pen.beginPath();
      this.pen.arc(this.screenX(chosen), this.screenY(chosen), 6, 0, 7);
      this.pen.stroke();
      label(chosen, strong);
    }
    if (this.hovered >= 0) label(this.hovered, { ...strong, colour: this.ink });
    const most = Math.min(MOST_LABELS, (width * height) / 2600);
    for (const k of this.order) {
      if (this.boxes.length >= most) break;
      const x = this.screenX(k), y = this.screenY(k);
      if (k !== chosen && k !== this.hovered && x > 0 && y > 0 && x < width && y < height) label(k, plain);
    }
  }
}

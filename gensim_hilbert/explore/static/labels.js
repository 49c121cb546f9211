// Labels of the map: as many as find room, the most important ones first, none over another.

const CELL = 5; // pixels of the grid that remembers where there is no room left
const ABOVE = 19, BELOW = 3; // where a label lies over its point
const FONTS = { plain: "11px system-ui, sans-serif", strong: "13px system-ui, sans-serif", chosen: "bold 15px system-ui, sans-serif" };

export class Labels {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.widths = { plain: new Map(), strong: new Map(), chosen: new Map() };
    this.boxes = []; // of the labels that are shown: number of the word, left, top, right, bottom
  }

  resize(width, height, ratio) {
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.pen.textAlign = "center";
    this.pen.lineJoin = "round";
    this.width = width;
    this.height = height;
    this.columns = Math.ceil(width / CELL) + 1;
    this.taken = new Uint8Array(this.columns * (Math.ceil(height / CELL) + 1));
  }

  clear(paper) {
    this.pen.clearRect(0, 0, this.width, this.height);
    this.boxes = [];
    this.taken.fill(0);
    this.pen.strokeStyle = paper;
    this.pen.lineWidth = 3;
  }

  // Write a label above a point if there is room for it.
  add(k, text, x, y, kind, colour) {
    const up = y - ABOVE, down = y - BELOW;
    if (up < 0 || down > this.height) return;
    // Most labels find no room; the middle tells that without measuring them.
    if (kind !== "chosen" && x >= 0 && x <= this.width && this.taken[Math.floor((y - 10) / CELL) * this.columns + Math.floor(x / CELL)]) return;
    const half = this.widthOf(text, kind) / 2 + 2, middle = kind === "plain" ? x : Math.max(half, Math.min(this.width - half, x));
    if (middle < half || middle > this.width - half || !this.reserve(middle - half, up, middle + half, down)) return;
    this.boxes.push([k, middle - half, up, middle + half, down]);
    this.pen.font = FONTS[kind];
    this.pen.strokeText(text, middle, y - 7);
    this.pen.fillStyle = colour;
    this.pen.fillText(text, middle, y - 7);
  }

  widthOf(text, kind) {
    const known = this.widths[kind];
    if (!known.has(text)) {
      this.pen.font = FONTS[kind];
      known.set(text, this.pen.measureText(text).width);
    }
    return known.get(text);
  }

  reserve(left, up, right, down) {
    const { taken, columns } = this;
    const [first, last, top, bottom] = [left, right, up, down].map((place) => Math.floor(place / CELL));
    for (let row = top; row <= bottom; row++) {
      for (let column = first; column <= last; column++) if (taken[row * columns + column]) return false;
    }
    for (let row = top; row <= bottom; row++) taken.fill(1, row * columns + first, row * columns + last + 1);
    return true;
  }

  // A ring round a point.
  ring(x, y, colour) {
    const { pen } = this;
    pen.save();
    pen.strokeStyle = colour;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(x, y, 6, 0, 7);
    pen.stroke();
    pen.restore();
  }

  // The word whose label lies there, or -1.
  at(x, y) {
    const found = this.boxes.find((box) => x >= box[1] && x <= box[3] && y >= box[2] && y <= box[4]);
    return found ? found[0] : -1;
  }
}

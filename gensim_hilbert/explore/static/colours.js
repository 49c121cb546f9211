// Colours of the map: blue and orange, which people who are colour-blind can tell apart; likeness is violet.

export const SHADES = 32;

// The scale of what the map is painted by: its ends, and which shade a value has.
export class Scale {
  constructor(by, values) {
    this.by = by;
    const known = values.filter((value) => value !== null).sort((a, b) => a - b);
    const at = (part) => known[Math.min(known.length - 1, Math.floor(part * known.length))] ?? 0;
    if (by === "pmi") {
      this.high = Math.max(at(0.995), 0.5);
      this.low = -this.high;
    } else if (by === "listed") [this.low, this.high] = [0, 1];
    else {
      this.low = at(by === "similarity" ? 0.5 : 0.02); // what is less like it than most is not like it at all
      this.high = Math.max(at(0.998), this.low + 1e-6);
    }
  }

  get ramp() { return { pmi: "both", similarity: "likeness" }[this.by] ?? "one"; }

  part(value) { return value === null ? 0 : Math.max(0, Math.min(1, (value - this.low) / (this.high - this.low))); }

  shade(value) { return Math.min(SHADES - 1, Math.floor(SHADES * this.part(value))); }

  // How much a point is to be seen, from 0 to 1.
  strength(value) { return this.by === "pmi" ? Math.max(0, 2 * this.part(value) - 1) : this.part(value); }
}

// The colours of the style sheet, as the canvas needs them; they differ in light and dark.
export function readPalette() {
  const style = getComputedStyle(document.documentElement);
  const text = (name) => style.getPropertyValue(name).trim();
  const parse = (name) => text(name).match(/[\da-f]{2}/gi).map((part) => parseInt(part, 16));
  const mix = (one, two, part) => one.map((value, k) => Math.round(value + (two[k] - value) * part));
  const [rare, middle, warm, violet] = ["--rare", "--middle", "--warm", "--violet"].map(parse);
  // Bytes of a pixel in memory are red, green, blue, alpha.
  const pixel = ([red, green, blue]) => ((blue << 16) | (green << 8) | red) >>> 0;
  const shades = (colour) => Uint32Array.from({ length: SHADES }, (_, k) => pixel(colour(k / (SHADES - 1))));
  return {
    ink: text("--ink"), muted: text("--muted"), paper: text("--paper"), accent: text("--warm"),
    both: shades((part) => part < 0.5 ? mix(rare, middle, 2 * part) : mix(middle, warm, 2 * part - 1)),
    likeness: shades((part) => mix(middle, violet, part)),
    one: shades((part) => mix(middle, warm, part)),
  };
}

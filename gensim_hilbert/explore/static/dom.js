// Elements from words: text is only ever set as text, so that no word can be markup.

export const $ = (id) => document.getElementById(id);

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function number(value, digits = 2) {
  if (value === null || value === undefined) return "–";
  const text = value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return text.replace("-", "−");
}

// A word may be written from right to left.
export const bdi = (word) => h("bdi", {}, word.length > 40 ? word.slice(0, 39) + "…" : word);

export const hash = (state) => {
  const kept = Object.entries(state).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return "#" + new URLSearchParams(kept).toString();
};

export const wordLink = (word, state = {}) => h("a", { href: hash({ ...state, word }) }, bdi(word));

export const note = (text) => h("p", { class: "note" }, text);

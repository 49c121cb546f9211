// Moves the map by mouse, wheel, fingers, keys and buttons.

import { $ } from "./dom.js";

const STEP = 60; // pixels that an arrow key moves
const FACTOR = 1.5; // of one zoom by key or button
const STILL = 5; // pixels within which a press is a click
const MOVES = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] };

export function steer(map, canvas) {
  const pointers = new Map();
  let moved = 0;

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const pixels = event.deltaMode === 1 ? 20 * event.deltaY : event.deltaY;
    map.zoom(Math.exp(-pixels / 300), event.offsetX, event.offsetY);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId), now = { x: event.offsetX, y: event.offsetY };
    if (!before) {
      const found = map.nearest(now.x, now.y);
      canvas.style.cursor = found >= 0 ? "pointer" : "grab";
      map.hover(found);
      return;
    }
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (pointers.size === 1) map.move(now.x - before.x, now.y - before.y);
    else {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const apart = (point) => Math.hypot(point.x - other.x, point.y - other.y);
      if (apart(before) > 1) map.zoom(apart(now) / apart(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
    }
    pointers.set(event.pointerId, now);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => {
      const alone = pointers.size === 1;
      pointers.delete(event.pointerId);
      const found = name === "pointerup" && alone && moved < STILL ? map.nearest(event.offsetX, event.offsetY) : -1;
      if (found >= 0) map.choose(found);
    });
  }
  canvas.addEventListener("pointerleave", () => map.hover(-1));
  canvas.addEventListener("blur", () => map.hover(-1));
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (MOVES[event.key]) map.move(...MOVES[event.key]);
    else if (event.key === "+" || event.key === "=") map.zoom(FACTOR);
    else if (event.key === "-") map.zoom(1 / FACTOR);
    else if (event.key === "0") map.showAll();
    else if (event.key === "Enter" && map.hovered >= 0) map.choose(map.hovered);
    else return;
    event.preventDefault();
    if (event.key !== "Enter") map.aim();
  });
  $("zoom-in").addEventListener("click", () => map.zoom(FACTOR));
  $("zoom-out").addEventListener("click", () => map.zoom(1 / FACTOR));
  $("zoom-all").addEventListener("click", () => map.showAll());
}

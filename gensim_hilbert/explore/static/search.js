// The search box: completion as the ARIA combobox pattern has it. Enter takes what is typed, or the chosen completion.

import { $, bdi, h } from "./dom.js";

export function search(complete, go) {
  const input = $("query"), list = $("completions");
  let words = [], chosen = -1, asked = 0;

  function show(found) {
    words = found;
    chosen = -1;
    list.replaceChildren(
      ...words.map((word, k) =>
        h("li", { id: `completion-${k}`, role: "option", "aria-selected": "false",
          onmousedown: (event) => { event.preventDefault(); take(word); } }, bdi(word))),
    );
    list.hidden = !words.length;
    input.setAttribute("aria-expanded", String(Boolean(words.length)));
    input.removeAttribute("aria-activedescendant");
  }

  function choose(k) {
    chosen = (k + words.length) % words.length;
    [...list.children].forEach((item, j) => item.setAttribute("aria-selected", String(j === chosen)));
    input.setAttribute("aria-activedescendant", `completion-${chosen}`);
    list.children[chosen].scrollIntoView({ block: "nearest" });
  }

  function take(word) {
    asked++;
    show([]);
    input.value = word;
    go(word);
  }

  input.addEventListener("input", async () => {
    const number = ++asked, prefix = input.value.trim();
    const found = prefix && !/\s/.test(prefix) ? await complete(prefix).catch(() => []) : [];
    if (number === asked) show(found);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") show([]);
    if (!words.length || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
    event.preventDefault();
    choose(chosen + (event.key === "ArrowDown" ? 1 : chosen < 0 ? 0 : -1));
  });
  input.addEventListener("blur", () => show([]));
  $("search").addEventListener("submit", (event) => {
    event.preventDefault();
    const word = chosen >= 0 ? words[chosen] : input.value.trim();
    if (word) take(word);
  });
}

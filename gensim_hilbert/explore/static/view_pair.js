// Two words: how often they meet, and what goes with both.

import { bdi, h, hash, note, number, seen, timesByChance, wordLink } from "./dom.js";
import { Intervals, panel, row, scoreCell } from "./tables.js";
import { examples, PAIRS, pairState } from "./view_start.js";

function pairForm(context, term, go) {
  const input = (value, label) => h("input", { type: "text", value, "aria-label": label, spellcheck: "false", autocapitalize: "none" });
  const one = input(context, "One word"), other = input(term, "The other word");
  const submit = (event) => {
    event.preventDefault();
    go({ context: one.value.trim(), term: other.value.trim() });
  };
  return h("form", { class: "line", onsubmit: submit }, one, h("span", {}, "near"), other, h("button", {}, "Look"));
}

export async function pair(page, around) {
  const { api, facts, state, keep, go } = around, { parts } = page;
  const context = state.context ?? "", term = state.term ?? "";
  page.title = "A pair of words";
  parts.push(pairForm(context, term, go));
  if (!context || !term) {
    parts.push(note("Type two words to see how often they meet, and what goes with both."), ...await examples(PAIRS, pairState, around));
    return;
  }
  const answer = await api.ask("pair", { model: state.model, context, term });
  parts.push(h("p", { class: "sentence" }, answer.sentence));
  const isPmi = facts.score === "PMI" && answer.pmi !== null;
  if (isPmi && answer.count !== null) parts.push(note(`By the fit, ${timesByChance(answer.pmi)}.`));
  const cards = [];
  if (answer.count !== null) {
    const low = answer.low === null ? "−∞" : number(answer.low);
    const interval = h("span", {}, `${low} to ${number(answer.high)} `, new Intervals([answer]).bar(answer));
    cards.push(["seen together", seen(answer.count)], ["PMI counted", answer.counted === null ? "– (never seen)" : number(answer.counted)],
      ["its 95% interval", interval]);
  }
  if (facts.pmi) cards.push([`${facts.score} fitted`, number(answer.pmi)], ["psi, covector · vector", number(answer.psi)]);
  cards.push(["cosine, likeness", number(answer.cosine)]);
  parts.push(h("dl", { class: "facts" }, cards.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))));
  parts.push(h("p", {}, "Go to ", wordLink(answer.context, keep), " or ", wordLink(answer.term, keep), ", or ",
    h("a", { href: hash({ ...keep, context: answer.term, term: answer.context }) }, "turn the pair round"), "."));
  if (answer.shared.length) {
    parts.push(panel("Goes with both", `By its ${facts.score} with each of the two; the lower one decides.`, "with",
      ["word", bdi(answer.context), bdi(answer.term)],
      answer.shared.map((item) => row(wordLink(item.word, keep), scoreCell(item.pmi_context, facts.score), scoreCell(item.pmi_term, facts.score)))));
  }
  page.title = `${answer.context} near ${answer.term}`;
  page.listed = [answer.context, answer.term, ...answer.shared.map((item) => item.word)];
}

// Two models side by side: neighbours lost and gained, and the words that differ most.

import { chips, h, note, number } from "./dom.js";
import { form, panel, row, scoreCell, share, stateLink } from "./tables.js";

export async function compare(page, { api, models, model, state, keep, go }) {
  const { parts } = page;
  page.title = "Two models side by side";
  const other = Number(state.other ?? (model ? 0 : 1)), names = [models[model].name, models[other]?.name];
  parts.push(form("Word to compare", state.compare, (text) => go({ compare: text, other: state.other }), "Compare", "a word that both have"));
  if (models.length > 2) {
    parts.push(h("p", {}, h("label", {}, `${names[0]} and `, h("select", { onchange: (event) => go({ compare: state.compare, other: event.target.value }) },
      models.map((one, k) => h("option", { value: k, selected: k === other, disabled: k === model }, one.name))))));
  }
  const answer = await api.ask("compare", { model, other, word: state.compare || null });
  const about = note(`${names[0]} and ${names[1]} share ${number(answer.shared, 0)} words; only those are compared.`);
  const link = (text) => stateLink(text, { ...keep, compare: text, other: state.other });
  if (!state.compare) {
    parts.push(about);
    if (!answer.changed.length) parts.push(note("There is nothing to compare."));
    else {
      parts.push(panel("Words that differ most", "How many of their 25 nearest neighbours are others in the second model. Of equal ones, those with near neighbours in both come first.", "like",
        ["word", "other neighbours"], answer.changed.map((item) => row(link(item.word), share(item.difference, `${number(100 * item.difference, 0)}%`)))));
    }
    page.listed = answer.changed.map((item) => item.word);
    return;
  }
  const likeList = (name, items) => panel(`Like it only in ${name}`, "Cosine of vectors.", "like", ["word", "cosine"],
    items.map((item) => row(link(item.word), share(item.cosine))));
  const withList = ({ name, score }, items) => panel(`Goes with it only in ${name}`, score === "PMI" ? "PMI as fitted." : "Product of covector and vector.", "with", ["word", score],
    items.map((item) => row(link(item.word), scoreCell(item.cosine, score))));
  const columns = [likeList(names[0], answer.lost.like), likeList(names[1], answer.gained.like)];
  if (models[model].pmi && models[other].pmi) {
    columns.push(withList(models[model], answer.lost.with_it), withList(models[other], answer.gained.with_it));
  }
  parts.push(about, h("h3", {}, "Like it in both"));
  parts.push(answer.kept.length ? chips(answer.kept.map(link)) : note("None of the 20 nearest words."));
  parts.push(h("div", { class: "columns two" }, columns));
  page.title = `${answer.word} in two models`;
  page.listed = answer.kept;
}

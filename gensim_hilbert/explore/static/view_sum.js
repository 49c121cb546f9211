// Sums of words, such as king - man + woman.

import { note } from "./dom.js";
import { form, likeRows, panel } from "./tables.js";
import { examples, SUMS } from "./view_start.js";

export async function sum(page, around) {
  const { api, state, keep, go } = around, { parts } = page;
  page.title = "Sums of words";
  parts.push(form("Sum of words", state.sum, (text) => go({ sum: text }), "Add up", "king - man + woman"));
  if (!state.sum?.trim()) {
    parts.push(note("Add and subtract vectors of words; signs stand between spaces. “king - man + woman” asks what is to woman as king is to man."),
      ...await examples(SUMS, (text) => ({ sum: text }), around));
    return;
  }
  const answer = await api.ask("sum", { model: state.model, expression: state.sum });
  page.title = state.sum;
  page.listed = answer.like.map((item) => item.word);
  parts.push(panel("Near the sum", "The cosine of vectors with the sum, without the words of the sum itself.", "like",
    ["word", "cosine"], likeRows(answer.like, keep)));
}

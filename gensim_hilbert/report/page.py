"""The page around the sections: one file, nothing to load, nothing to run."""

from __future__ import annotations

from typing import Any

from gensim_hilbert import __version__
from gensim_hilbert.markup import number, safe
from gensim_hilbert.report.sections.pmi import biases, density, histogram
from gensim_hilbert.report.sections.scores import scores
from gensim_hilbert.report.sections.settings import settings
from gensim_hilbert.report.sections.training import training
from gensim_hilbert.report.sections.words import neighbours, word_map
from gensim_hilbert.report.subject import Subject
from gensim_hilbert.report.svg import style_sheet

# In the order of the page; each returns None if there is nothing to say.
SECTIONS = (training, histogram, density, biases, neighbours, scores, word_map, settings)


def page(subject: Subject) -> str:
    """Return a report as HTML that is also well-formed XML."""
    parts = [section for make in SECTIONS if (section := make(subject)) is not None]
    title = safe(subject.title)
    links = "".join(f'<a href="#{part.name.lower()}">{part.name}</a>' for part in parts)
    body = "".join(
        f'<section id="{part.name.lower()}"><p class="eyebrow">{part.name}</p><h2>{part.title}</h2>'
        f"{part.body}</section>"
        for part in parts
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f"<title>{title}</title><style>\n{style_sheet('colours', 'pictures', 'page')}</style></head><body>"
        f'<header><h1>{title}</h1><p class="lede">{safe(kind_of(subject))}</p>{figures(subject)}'
        f'<nav aria-label="Sections">{links}</nav></header><main>{body}</main>'
        f"<footer>Written by gensim_hilbert {safe(__version__)}. The page loads nothing and runs nothing.</footer>"
        "</body></html>\n"
    )


def kind_of(subject: Subject) -> str:
    """Return one line on what the report is about."""
    model = subject.model
    if model is subject.vectors:
        return "Word vectors"
    solver, objective = getattr(model, "solver", None), getattr(model, "objective", None)
    how = {"factorization": ", fitted to pair counts", "gibbs": ", learnt from the stream"}.get(str(solver), "")
    what = f" of the objective {objective!r}" if objective is not None else ""
    return f"A {type(model).__name__} model{what}{how}"


def figures(subject: Subject) -> str:
    """Return the sizes of everything, in large type."""
    model, vectors, counts = subject.model, subject.vectors, subject.counts
    found: list[tuple[str, Any]] = [("words", len(vectors)), ("dimensions", vectors.vector_size)]
    tokens = getattr(model, "corpus_total_words", 0) or 0
    occurrences = vectors.expandos.get("count")
    found += [("tokens of text", tokens), ("sentences", getattr(model, "corpus_count", 0))]
    if counts is not None:
        found.append(("distinct pairs counted", counts.manifest["entries"]))
    cells = [(name, f"{value:,}") for name, value in found if value]
    if tokens and occurrences is not None:
        cells.append(("of the text is in the vocabulary", f"{number(100 * float(occurrences.sum()) / tokens, 1)}%"))
    rows = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in cells)
    return f'<dl class="figures">{rows}</dl>'

"""The sections on words: their neighbours, and a map of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gensim_hilbert.markup import cut, in_html, number, safe
from gensim_hilbert.model import HilbertMLE
from gensim_hilbert.queries import similar
from gensim_hilbert.report.layout import place
from gensim_hilbert.report.sections import Section, missing
from gensim_hilbert.report.subject import Subject
from gensim_hilbert.report.svg import Picture, text_width

TOPN = 8
MAP_MARGIN = 6.0  # some fonts are higher than others


def neighbours(subject: Subject) -> Section:
    """Show words like a word beside those that go with it: the paper's last table."""
    queries = subject.queries
    score = "PMI" if isinstance(subject.model, HilbertMLE) else "product"
    like = similar(subject.vectors, subject.chosen, TOPN)
    with_it = [] if queries is None else queries.cooccurring(subject.chosen, TOPN)
    cards = []
    for number_of_word, word in enumerate(subject.chosen):
        lists = neighbour_list("like", "like it", "cosine", like[number_of_word])
        if with_it:
            lists += neighbour_list("with", "goes with it", score, with_it[number_of_word])
        cards.append(f'<article><h3>{in_html(word)}</h3><div class="pair">{lists}</div></article>')
    if queries is None:
        title, text = "Words with like vectors are like words", missing(subject.without_covectors)
    else:
        title = "Vectors find words that are alike, covectors words that go together"
        text = (
            "<p>Left, the vectors with the highest cosine to a word’s own: words that could stand in its place. Right, "
            "the covectors with the highest product with its vector: words that stand beside it.</p>"
        )
    if not subject.asked:
        text += "<p>The words were chosen to stand for groups of frequent ones.</p>"
    return Section("Neighbours", title, f'{text}<div class="cards">{"".join(cards)}</div>')


def neighbour_list(style: str, heading: str, score: str, found: list[tuple[Any, float]]) -> str:
    """Return one column of a card."""
    items = "".join(f"<li>{in_html(word)}<span>{number(value)}</span></li>" for word, value in found)
    return f'<div><p class="{style}">{heading} <span>{score}</span></p><ol>{items}</ol></div>'


def word_map(subject: Subject) -> Section:
    """Show frequent words on a plane."""
    names = [cut(subject.vectors.index_to_key[k]) for k in subject.content]
    width, height, small, large = 900, 720, 10.0, 16.0
    fonts = large - (large - small) * np.sqrt(np.arange(len(names)) / max(1, len(names) - 1))
    sizes = np.array([(text_width(name, size) + 4, 1.2 * size) for name, size in zip(names, fonts, strict=True)])
    plane = subject.plane
    middles, found = place(plane.places, sizes, width - 2 * MAP_MARGIN, height - 2 * MAP_MARGIN)
    middles += MAP_MARGIN
    chosen = set(subject.chosen)
    picture = Picture(width, height, f"A map of {len(names)} frequent words")
    for name, key, size, (x, y), fits in zip(names, subject.content, fonts, middles, found, strict=True):
        style = "fitted" if subject.vectors.index_to_key[key] in chosen else None
        if fits:
            picture.text(x, y + 0.35 * size, name, anchor="middle", font_size=size, class_=style)
        else:
            picture.add("circle", f"<title>{safe(name)}</title>", cx=x, cy=y, r=2, class_="muted")
    text = (
        "<p>Words are near each other where their vectors point the same way; how groups lie to each other means "
        "little, for want of room on a plane. Larger words are more frequent, coloured ones have their neighbours "
        "above.</p>"
    )
    hidden = len(names) - int(found.sum())
    dots = f" {hidden} words that found no room are dots." if hidden else ""
    caption = (
        f"The {len(names)} most frequent words that have a meaning of their own, going by the length of their vectors; "
        f"{plane.method} of {subject.vectors.vector_size} dimensions, then moved apart so as to be read.{dots}"
    )
    scroll = f'<div class="scroll map" role="region" tabindex="0" aria-label="Map of words">{picture}</div>'
    body = f'{text}<figure class="wide">{scroll}<figcaption>{caption}</figcaption></figure>'
    return Section("Map", f"A map of {len(names)} frequent words", body)

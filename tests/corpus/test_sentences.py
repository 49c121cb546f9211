"""Sentences that end in punctuation, against a slow oracle."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference import split_sentences

from gensim_hilbert.corpus.sentences import ABBREVIATIONS, breaks_in, ends_sentence, refuse_sentences
from gensim_hilbert.corpus.token_lists import decode_lists
from gensim_hilbert.corpus.words import WhiteSpace

PIECES = [
    *("Hello", "a", "É", "Mr", "mr", "éMr", "xMr", "Mr1", "e.g", "3.14", "日本", "²", "e\u0301", "Incorporated"),
    *(".", "?", "!", "…", "。", "？", "！", "...", "?!", ")", '"', "'", "”", "」", " ", " ", "\u3000", "\n", "\t"),
]
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(st.characters(exclude_categories=["Cs"]), max_size=2))).map(
    "".join
)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text by the kernel."""
    data = text.encode()
    line_ends = {k + 1 for k, c in enumerate(data) if c == ord("\n")}
    ends = sorted({0, len(data), *breaks_in(data, "punctuation").tolist(), *line_ends})
    pieces = [data[start:stop].decode() for start, stop in pairwise(ends)]
    return [piece.removesuffix("\n") for piece in pieces if piece.strip()]


@given(text=texts)
@example(text="Dr. Who? Yes! He said “no.” Then… 日本。日本 e.g. this, 3.14 and U.S. law. End.")
def test_sentences_are_those_of_the_oracle(text):
    expected = split_sentences(text, ABBREVIATIONS)
    assert sentences_of(text) == expected
    prepared = WhiteSpace().prepare(text.encode(), errors="strict", sentences="punctuation")
    assert decode_lists(prepared.data) == [sentence.split() for sentence in expected]


@given(text=texts.map(lambda text: text.replace("\n", "")).filter(str.strip))
def test_whether_a_sentence_has_ended_is_known_at_every_cut(text):
    last = split_sentences(text + " x", ABBREVIATIONS)[-1].strip()
    assert ends_sentence(text.encode() + b" ", "punctuation") == (last == "x")
    assert not ends_sentence(text.encode(), "lines")


@given(data=st.binary())
def test_any_bytes_are_taken(data):
    breaks = breaks_in(data, "punctuation").tolist()
    assert breaks == sorted(set(breaks))


def test_other_ways_are_refused():
    with pytest.raises(ValueError, match="sentence_ends must be one of lines, punctuation, got 'words'"):
        refuse_sentences("words")

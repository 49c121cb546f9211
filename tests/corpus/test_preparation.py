"""Prepared text is counted as the same words are when they come as token lists, wherever it is cut."""

import gzip

import pytest
from helpers import table_of
from hypothesis import given
from hypothesis import strategies as st
from reference import pairs_of, split_sentences

from gensim_hilbert import PairCounts, Vocabulary
from gensim_hilbert.corpus import blocks
from gensim_hilbert.corpus.preparation import Preparation
from gensim_hilbert.corpus.sentences import ABBREVIATIONS
from gensim_hilbert.corpus.sources import as_corpus
from gensim_hilbert.corpus.texts import texts as texts_of
from gensim_hilbert.corpus.token_lists import decode_lists
from gensim_hilbert.corpus.tokenizers import Tokenizer
from gensim_hilbert.corpus.words import Words
from gensim_hilbert.counting import plan as plan_module
from gensim_hilbert.word_scan import NothingToCount

SPACES = [" ", "  ", "\t", "\u00a0", "\u3000", "\n", "\r\n", "\n\n", " \n "]


class Letters(Tokenizer):
    """Drops words with a dash, and makes many words of all others: an expansion that no byte offset could follow."""

    def tokenize(self, texts):
        return [
            [word[k : k + n] for word in text.split() if "-" not in word for n in (1, 2) for k in range(len(word))]
            for text in texts
        ]

    def describe(self):
        return {"kind": "letters"}


texts = st.lists(
    st.tuples(st.sampled_from(["-", "ab", "cab", "日本", "-\u0301", "c"]), st.sampled_from(SPACES)), max_size=30
).map(lambda parts: "".join(word + gap for word, gap in parts))


@given(
    text=texts,
    block=st.sampled_from([1, 7, 64, 1 << 20]),
    suffix=st.sampled_from([".txt", ".txt.gz"]),
    capacity=st.sampled_from([70, 1 << 16]),
)
def test_cuts_and_kinds_of_files_do_not_matter(text, block, suffix, capacity, tmp_path_factory):
    lines = [line for line in text.split("\n") if line.strip()]
    sentences = Letters().tokenize(lines)
    path = tmp_path_factory.mktemp("text") / f"corpus{suffix}"
    path.write_bytes(gzip.compress(text.encode()) if suffix.endswith("gz") else text.encode())
    corpus = as_corpus(path, None, Preparation(Letters()))
    lists = as_corpus(sentences, None, Preparation(Letters()))
    if not any(sentences):
        with pytest.raises(ValueError, match="empty"):
            Vocabulary.from_corpus(corpus, min_count=1)
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", block)
        patch.setattr(plan_module, "MOST_IDS", capacity)
        patch.setattr(plan_module, "LEAST_IDS", 32)
        words = Vocabulary.from_corpus(corpus, min_count=1, workers=2)
        of_lists = Vocabulary.from_corpus(lists, min_count=1)
        assert words.words == of_lists.words
        assert words.counts.tolist() == of_lists.counts.tolist()
        assert (words.tokens, words.sentences) == (of_lists.tokens, len(sentences))
        expected = pairs_of(sentences, words.words, 3, 3, "dynamic")
        if expected:
            counts = PairCounts.from_corpus(corpus, window=3, min_count=1, workers=2)
            assert table_of(counts) == expected


def test_stretches_are_ordered_by_their_starts_even_without_words(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("- - ab - - cab - c")
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1)
    corpus = as_corpus(path, None, Preparation(Letters()))
    starts = [text.start for text in texts_of(corpus.blocks(streams=True), "strict")]
    assert len(starts) == 8
    assert starts == sorted(set(starts))


class Capitals:
    """A joiner that replaces every word."""

    def __call__(self, prepared):
        return prepared._replace(data=prepared.data.upper())

    def describe(self):
        return {"kind": "capitals"}


def test_a_joiner_sees_the_words_of_text_and_of_token_lists(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a b\nc\n")
    preparation = Preparation(joiner=Capitals())
    for corpus in (path, [["a", "b"], ["c"]]):
        assert sorted(Vocabulary.from_corpus(as_corpus(corpus, None, preparation), min_count=1).words) == list("ABC")
    assert preparation.describe() == {
        "tokenizer": None,
        "sentence_ends": "lines",
        "joiner": {"kind": "capitals"},
    }


def test_the_draws_of_subsampling_depend_on_the_text_alone(tmp_path, block_bytes):
    text = "ab cab\nab c\n\nab ab ab c\n" * 40
    plain, packed = tmp_path / "a.txt", tmp_path / "a.txt.gz"
    plain.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    preparation = Preparation(Letters())
    tables = [
        table_of(PairCounts.from_corpus(as_corpus(source, None, preparation), sample=0.05, min_count=1, workers=2))
        for source in (plain, packed)
    ]
    assert tables[0] == tables[1]


def test_token_lists_pass_unchanged_and_texts_are_tokenised():
    sentences = [["-", "ab"], "ab\n- c", ["x y"], [], "z"]
    corpus = as_corpus(sentences, None, Preparation(Letters()))
    words = Vocabulary.from_corpus(corpus, min_count=1)
    assert dict(zip(words.words, words.counts.tolist(), strict=True)) == {
        "-": 1, "ab": 2, "a": 1, "b": 2, "c": 2, "x y": 1, "z": 2
    }  # fmt: skip
    assert words.sentences == 6


def test_the_listed_form_is_read_back():
    prepared = Preparation().of_text("a b\n\nü\n".encode())
    assert decode_lists(prepared.data) == [["a", "b"], ["ü"]]
    assert Preparation().of_text(b"a b\n\n c").data == b"a\xffb\xff\xfec\xff\xfe"
    assert Preparation().of_text(b" \nc", inside=True, is_open=True).data == b"\xfec\xff"
    assert Preparation().of_lists(prepared.data).places.tolist() == [0, 32, 80]


RAW = st.lists(
    st.tuples(
        st.sampled_from(["-", "Ab", "cab.", "Dr.", "¿ΑΣ?", "…", "日。本", "İ½", "x!", "B."]), st.sampled_from(SPACES)
    )
).map(lambda parts: "".join(word + gap for word, gap in parts))


@given(
    text=RAW,
    block=st.sampled_from([1, 7, 64]),
    suffix=st.sampled_from([".txt", ".txt.gz"]),
    tokenizer=st.sampled_from([None, Words(), Words("lower", nfkc=True)]),
)
def test_sentences_that_end_in_punctuation_are_the_same_wherever_text_is_cut(
    text, block, suffix, tokenizer, tmp_path_factory
):
    sentences = split_sentences(text, ABBREVIATIONS)
    words = [one.split() for one in sentences] if tokenizer is None else tokenizer.tokenize(sentences)
    path = tmp_path_factory.mktemp("text") / f"corpus{suffix}"
    path.write_bytes(gzip.compress(text.encode()) if suffix.endswith("gz") else text.encode())
    corpus = as_corpus(path, None, Preparation(tokenizer, "punctuation"))
    expected = {}
    if any(words):
        vocabulary = Vocabulary.from_corpus(words, min_count=1)
        expected = pairs_of(words, vocabulary.words, 3, 3, "dynamic")
    if not expected:
        return
    whole = sampled_table(corpus)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", block)
        counts = PairCounts.from_corpus(corpus, window=3, min_count=1, workers=2)
        sampled = sampled_table(corpus)
    assert counts.vocabulary.words == vocabulary.words
    assert counts.vocabulary.sentences == len(sentences)
    assert table_of(counts) == expected
    if tokenizer is None or not tokenizer.nfkc:  # The places in normalised text depend on where it is cut.
        assert sampled == whole


def sampled_table(corpus):
    """The pairs that are left by subsampling, if any."""
    try:
        return table_of(PairCounts.from_corpus(corpus, window=3, min_count=1, workers=2, sample=0.2))
    except NothingToCount:
        return {}

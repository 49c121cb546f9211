"""Prepared text is counted as the same words are when they come as token lists, wherever it is cut."""

import gzip

import pytest
from helpers import table_of
from hypothesis import given
from hypothesis import strategies as st
from reference import pairs_of

from gensim_hilbert import PairCounts, Vocabulary
from gensim_hilbert.corpus import blocks
from gensim_hilbert.corpus.preparation import Preparation
from gensim_hilbert.corpus.sources import as_corpus
from gensim_hilbert.corpus.token_lists import decode_lists
from gensim_hilbert.corpus.tokenizers import Tokenizer
from gensim_hilbert.counting import plan as plan_module

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
    assert preparation.describe() == {"tokenizer": None, "joiner": {"kind": "capitals"}}


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

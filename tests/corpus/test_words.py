"""The tokenizer "words", against a slow oracle, against gensim, and as counts see it."""

import pickle
import sys
import unicodedata

import numpy as np
import pytest
from gensim.utils import simple_preprocess, tokenize
from hypothesis import example, given
from hypothesis import strategies as st
from reference import words_of

from gensim_hilbert._tokens import InvalidUTF8
from gensim_hilbert._words import marked_positions
from gensim_hilbert.corpus.characters import DIGIT, LETTER, MARK, kinds, rewritten_tables
from gensim_hilbert.corpus.token_lists import decode_lists
from gensim_hilbert.corpus.words import WhiteSpace, Words

NASTY = [
    *("ΑΣ", "ΑΣ.Β", "Σ", "ΑΣ' Σ", "ὈΔΥΣΣΕΎΣ", "Straße", "ẞ", "İstanbul", "ıI", "ﬁn", "ŉ", "ΐ", "ǰ", "Ⅷ", "²½"),
    *("e\u0301", "\u0301a", "é", "日本語", "한국어", "हिन्दी", "می\u200cخواهم", "\x00a\x00", "𝒳𝔘", "𐐀", "٣٤"),
    *("0１", "1\ufe0f\u20e3", "_a_", "__", "don't"),
    *("K", "Å", "ﷺ", "\u00ad", "\ufeff", "\ufffd", "a_b", "b2b", "4th", "x" * 20, " ", "\u3000", "\t", ".", "\u2028"),
]  # fmt: skip
texts = st.lists(st.one_of(st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"]), max_size=4))).map(
    "".join
)
settings = st.sampled_from(
    [
        Words(),
        Words(nfkc=True),
        Words(case="lower"),
        Words(case="lower", nfkc=True, numbers="fold"),
        Words(case="keep", marks=False),
        Words(numbers="drop", min_length=2, max_length=5),
        Words(numbers="fold", underscores=True, min_length=1),
        Words("lower", True, "drop", False, True, 2, 15),
    ]
)


def settings_of(words: Words) -> dict:
    return {name: value for name, value in words.describe().items() if name != "kind"}


@given(text=texts, words=settings)
@example(text="ΑΣ ΑΣ.Β İΣ", words=Words(case="lower"))
@example(text="½ﷺ", words=Words(nfkc=True))
def test_words_are_those_of_the_oracle(text, words):
    assert words.tokenize([text]) == [words_of(text, **settings_of(words))]


@given(text=texts, words=settings)
def test_places_ascend_and_lie_within_their_lines(text, words):
    data = (text + "\n").encode() * 2
    prepared = words.prepare(data, errors="strict")
    lines = data.split(b"\n")[:-1]
    expected = [line for line in map(bytes.decode, lines) if line.strip()]
    assert decode_lists(prepared.data) == [words_of(line, **settings_of(words)) for line in expected]
    assert (np.diff(prepared.places.astype(np.int64)) > 0).all()
    start, k = 0, 0
    for line in lines:
        for _ in words_of(line.decode(), **settings_of(words)):
            assert start <= prepared.places[k] / 16 < start + len(line) + 1
            k += 1
        start += len(line) + 1


@given(text=st.one_of(texts, st.text()))
def test_simple_preprocess_is_gensims(text):
    text = text.encode("utf-8", "ignore").decode()  # which is what gensim does not do with surrogates
    assert Words.simple_preprocess().tokenize([text]) == [simple_preprocess(text)]
    assert Words.simple_preprocess(1, 3).tokenize([text]) == [simple_preprocess(text, min_len=1, max_len=3)]


@given(text=texts)
def test_without_limits_words_are_those_of_gensims_tokenize(text):
    ours = Words(case="lower", numbers="drop", marks=False, underscores=True).tokenize([text])[0]
    assert ours == [word for word in tokenize(text, lower=True) if not word.startswith("_")]


def test_every_character_is_what_unicode_says():
    characters = [chr(code) for code in range(sys.maxunicode + 1)]
    categories = list(map(unicodedata.category, characters))
    found = kinds()
    for kind, wanted in (
        (DIGIT, {"Nd"}),
        (LETTER, {"Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "No"}),
        (MARK, {"Mn", "Mc", "Me"}),
    ):
        expected = {c for c, category in zip(characters, categories, strict=True) if category in wanted}
        assert {chr(code) for code in np.flatnonzero(found == kind).tolist()} - set("\u200c\u200d") == expected
    alone = [c for c, category in zip(characters, categories, strict=True) if category not in ("Cs", "Cn", "Co")]
    assert Words().tokenize([" ".join(alone)]) == [words_of(" ".join(alone))]


SOME_BYTES = [b"a", b"B", b" ", b"\n", b"\xff", b"\xe2\x82", b"\xc3\xa9", b"\xed\xa0\x80", b"\x80"]


@given(
    data=st.lists(st.sampled_from(SOME_BYTES)).map(b"".join), errors=st.sampled_from(["replace", "ignore", "strict"])
)
def test_malformed_bytes_are_handled_as_errors_says(data, errors):
    for words, oracle in ((Words(), words_of), (WhiteSpace(), str.split)):
        wrong = None
        try:
            lines = data.decode("utf-8", errors).split("\n")
        except UnicodeDecodeError as error:
            wrong = error.start
        if wrong is None:
            found = decode_lists(words.prepare(data, errors=errors).data)
            assert found == [oracle(line) for line in lines if line.strip()]
        else:
            with pytest.raises(InvalidUTF8) as caught:
                words.prepare(data, errors=errors)
            assert caught.value.position == wrong


@given(text=texts)
def test_white_space_is_that_of_str_split(text):
    assert WhiteSpace().tokenize([text]) == [text.split()]


def test_a_line_may_begin_and_end_in_other_blocks():
    assert Words().prepare(b"a b", errors="strict", is_open=True).data == b"a\xffb\xff"
    assert Words().prepare(b" - ", errors="strict", inside=True).data == b"\xfe"
    assert Words().prepare(b"\n\n-\n", errors="strict", inside=True).data == b"\xfe\xfe"
    assert Words().prepare(b"", errors="strict", inside=True).data == b"\xfe"
    assert Words().prepare(b"", errors="strict", inside=True, is_open=True).data == b""


def test_settings_are_checked_and_words_can_be_pickled():
    for wrong in ({"case": "upper"}, {"numbers": 1}, {"nfkc": "yes"}, {"min_length": -1}, {"max_length": 2.5}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} of Words must be"):
            Words(**wrong)
    assert pickle.loads(pickle.dumps(Words(case="lower"))) == Words(case="lower")


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_text_without_marked_characters_is_in_nfkc(text):
    pages, entries, _ = rewritten_tables(nfkc=True, sigma=False)
    marked = set(marked_positions(text.encode(), pages, entries).tolist())
    places = [len(text[:number].encode()) for number in range(len(text))]
    kept = "".join(one for one, place in zip(text, places, strict=True) if place not in marked)
    assert unicodedata.is_normalized("NFKC", kept)
    assert not any(text[places.index(place)].isascii() for place in marked)


def test_every_character_that_nfkc_changes_or_composes_is_marked():
    pages, entries, _ = rewritten_tables(nfkc=True, sigma=False)
    for code in (code for code in range(0x110000) if not 0xD800 <= code < 0xE000):
        one = chr(code)
        parts = unicodedata.normalize("NFD", one)
        if not unicodedata.is_normalized("NFKC", one) or (
            len(parts) > 1 and unicodedata.normalize("NFC", parts) == one
        ):
            assert len(marked_positions((one if len(parts) == 1 else parts).encode(), pages, entries)), hex(code)

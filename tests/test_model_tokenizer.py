"""Models of raw text: what makes its words, that it is kept with the model and its counts, and what is refused."""

import gzip
import logging
import pickle
from concurrent.futures import ProcessPoolExecutor

import pytest
from gensim.utils import simple_preprocess
from helpers import table_of

from gensim_hilbert import HilbertMLE, PairCounts, Vocabulary
from gensim_hilbert.corpus.foreign_tokenizers import MissingTokenizer
from gensim_hilbert.corpus.words import Words

TEXTS = ["The cat, the DOG. A dog!", "A cat? The Straße...", "Ein Hund\nund zwei Katzen"] * 20
LISTS = [Words().tokenize([line])[0] for text in TEXTS for line in text.split("\n")]
SMALL = {"vector_size": 4, "min_count": 1, "passes": 1, "workers": 2, "progress": False}


def by_dashes(text: str) -> list[str]:
    return text.lower().replace("-", " ").split()


def same_words_and_pairs(model, other):
    assert model.wv.index_to_key == other.wv.index_to_key
    assert table_of(model.counts) == table_of(other.counts)


@pytest.fixture
def raw(tmp_path):
    path = tmp_path / "raw.txt"
    path.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    return path


def test_texts_and_files_of_any_kind_are_trained_on_as_their_words_are(raw, tmp_path, block_bytes):
    packed = tmp_path / "raw.txt.gz"
    packed.write_bytes(gzip.compress(raw.read_bytes()))
    expected = HilbertMLE(LISTS, **SMALL)
    for corpus in ({"sentences": TEXTS}, {"corpus_file": raw}, {"corpus_file": packed}, {"sentences": LISTS}):
        same_words_and_pairs(HilbertMLE(**corpus, tokenizer="words", **SMALL), expected)
    mixed = [*LISTS[:3], *TEXTS[2:]]
    same_words_and_pairs(
        HilbertMLE(mixed, tokenizer="words", **SMALL), HilbertMLE([*LISTS[:2], *LISTS[2:3], *LISTS[2:]], **SMALL)
    )


def test_a_generator_and_the_gibbs_solver_take_texts_too():
    model = HilbertMLE(tokenizer="words", solver="gibbs", epochs=1, **SMALL | {"passes": None})
    model.build_vocab(text for text in TEXTS)
    model.train(TEXTS, total_examples=model.corpus_count, epochs=1)
    assert model.wv.get_vecattr("strasse", "count") == 20
    assert model.corpus_count == len(LISTS)


def test_sentences_may_end_in_punctuation(raw):
    counts = PairCounts.from_corpus(raw, tokenizer="words", sentence_ends="punctuation", min_count=1, window=5)
    assert counts.count("the", "a") == 0
    assert counts.vocabulary.sentences == 20 * (2 + 2 + 2 - 0)
    assert Vocabulary.from_corpus(raw, tokenizer="words", min_count=1).sentences == 80


def test_processes_count_the_same(raw):
    with ProcessPoolExecutor(2) as pool:
        for tokenizer in ("words(numbers=fold)", by_dashes):
            there = PairCounts.from_corpus(raw, tokenizer=tokenizer, min_count=1, executor=pool, sample=0.1)
            here = PairCounts.from_corpus(raw, tokenizer=tokenizer, min_count=1, sample=0.1)
            assert there.fingerprint == here.fingerprint


@pytest.mark.parametrize(
    ("tokenizer", "expected"),
    [
        ("words(case=lower, numbers=fold)", ["the", "straße", "of", "0", "0", "cats"]),
        ("simple_preprocess", ["the", "straße", "of", "cats"]),
        (None, ["The", "Straße", "of", "1,234", "cats"]),
    ],
)
def test_it_is_kept_with_counts_and_models(raw, tmp_path, tokenizer, expected):
    counts = PairCounts.from_corpus(raw, directory=tmp_path / "counts", tokenizer=tokenizer, min_count=1)
    model = HilbertMLE.from_counts(PairCounts.open(tmp_path / "counts"), **SMALL)
    model.save(str(tmp_path / "model"))
    model.save_pretrained(tmp_path / "folder")
    text = "The Straße of 1,234 cats"
    for kept in (
        model,
        HilbertMLE.load(str(tmp_path / "model")),
        HilbertMLE.from_pretrained(tmp_path / "folder"),
        HilbertMLE(tokenizer=tokenizer),
    ):
        assert kept.tokenize(text) == expected
        assert kept.tokenizer == HilbertMLE(tokenizer=tokenizer).tokenizer
    assert ("preparation" in counts.manifest) == (tokenizer is not None)


def test_the_words_of_simple_preprocess():
    assert HilbertMLE(tokenizer="simple_preprocess").tokenize("Don't PANIC: 42!") == simple_preprocess(
        "Don't PANIC: 42!"
    )


def test_of_a_function_only_the_name_is_kept(raw, tmp_path):
    model = HilbertMLE(corpus_file=raw, tokenizer=by_dashes, **SMALL)
    model.save(str(tmp_path / "model"))
    model.save_pretrained(tmp_path / "folder")
    for loaded in (
        HilbertMLE.load(str(tmp_path / "model")),
        HilbertMLE.from_pretrained(tmp_path / "folder"),
        pickle.loads(pickle.dumps(model)),
        HilbertMLE.from_counts(model.counts, **SMALL),
    ):
        assert loaded.tokenizer == MissingTokenizer(f"{__name__}.by_dashes")
        with pytest.raises(ValueError, match=r"by_dashes is a function, of which only the name was stored: give it"):
            loaded.tokenize("a-b")
        loaded.tokenizer = by_dashes
        assert loaded.tokenize("A-b") == ["a", "b"]
    loaded = HilbertMLE.from_pretrained(tmp_path / "folder")
    with pytest.raises(ValueError, match="only the name was stored"):
        loaded.train(["a-b"], total_examples=1, epochs=1)
    loaded.tokenizer = by_dashes
    loaded.train(["ein hund-ein hund"], total_examples=1, epochs=1)


def test_text_cannot_be_added_by_another_tokenizer(raw):
    model = HilbertMLE(corpus_file=raw, tokenizer="words", **SMALL)
    model.tokenizer = "words(case=keep)"
    with pytest.raises(ValueError, match=r"found by Words\(case='fold'.*and not by Words\(case='keep'"):
        model.train(corpus_file=raw, total_examples=1, epochs=1)
    model.tokenizer, model.sentence_ends = "words", "punctuation"
    with pytest.raises(ValueError, match="in sentences that end in punctuation"):
        model.train(corpus_file=raw, total_examples=1, epochs=1)
    with pytest.raises(ValueError, match="leave tokenizer and sentence_ends out, or count again"):
        HilbertMLE.from_counts(model.counts, tokenizer="simple_preprocess", **SMALL)
    other = PairCounts.from_corpus(raw, vocabulary=model.counts.vocabulary, tokenizer="words(marks=False)", window=5)
    with pytest.raises(ValueError, match=r"differs from .* in its tokenizer"):
        PairCounts.merge([model.counts, other])


def test_counting_goes_on_with_the_same_tokenizer_only(raw, tmp_path):
    counts = PairCounts.from_corpus(raw, directory=tmp_path / "counts", tokenizer="words", min_count=1)
    again = PairCounts.from_corpus(raw, directory=tmp_path / "counts", tokenizer=Words(), min_count=1)
    assert again.manifest == counts.manifest
    with pytest.raises(FileExistsError):
        PairCounts.from_corpus(raw, directory=tmp_path / "counts", tokenizer="words(nfkc=True)", min_count=1)
    settings = {**SMALL, "corpus_file": raw, "checkpoint": tmp_path / "checkpoint"}
    HilbertMLE(tokenizer="words", **settings)
    with pytest.raises(ValueError, match="holds the counts of another training"):
        HilbertMLE(tokenizer="words(case=keep)", **settings)


def test_without_a_tokenizer_a_str_is_what_it_was(caplog):
    with caplog.at_level(logging.WARNING):
        model = HilbertMLE(["ab", "ba"], **SMALL)
    assert sorted(model.wv.index_to_key) == ["a", "b"]
    assert "its characters are taken as words" in caplog.text


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("word", "tokenizer must be None, 'words', .* got 'word'"),
        ("words(x=1)", "the tokenizer words has no x; its settings are case, nfkc, numbers"),
        ("words(case=upper)", "case of Words must be one of fold, lower, keep, got 'upper'"),
        ("words(", r"tokenizer must be .* got 'words\('"),
        (3, "tokenizer must be None, .* got 3"),
        ("missing/tokenizer.json", r"no such tokenizer.json: missing/tokenizer.json"),
    ],
)
def test_what_is_no_tokenizer_is_refused(wrong, sentence):
    with pytest.raises((ValueError, TypeError, FileNotFoundError), match=sentence):
        HilbertMLE(tokenizer=wrong)


def test_wrong_functions_and_texts_are_refused():
    with pytest.raises(TypeError, match=r"must return a list of str for a str, but returned 'a-b'"):
        HilbertMLE(tokenizer=str.lower).tokenize("A-b")
    with pytest.raises(TypeError, match="must return a list of str"):
        HilbertMLE(["ab"], tokenizer=lambda text: [1], **SMALL)
    with pytest.raises(TypeError, match="a text is a str, got 3"):
        HilbertMLE().tokenize(3)
    with pytest.raises(ValueError, match="makes 100 words of 3 bytes"):
        HilbertMLE(["ab"], tokenizer=lambda text: ["x"] * 100, **SMALL)

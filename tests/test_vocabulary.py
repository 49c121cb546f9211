"""The vocabulary is the one that Gensim builds by the same rules."""

from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from gensim.models.word2vec import LineSentence
from gensim.test.utils import datapath
from gensim.utils import RULE_DEFAULT, RULE_DISCARD, RULE_KEEP
from helpers import MIN_COUNT
from reference import gensim_vocabulary
from shell import run_python
from texts import TEXT

from gensim_hilbert import Vocabulary
from gensim_hilbert.word_scan import sort_words

LEE = Path(datapath("lee_background.cor"))


def keep_some(word, number, min_count):
    if word.startswith("s"):
        return RULE_KEEP
    return RULE_DISCARD if word.startswith("t") else RULE_DEFAULT


@pytest.mark.parametrize(
    "rules",
    [
        {"min_count": 5},
        {"min_count": 1},
        {"min_count": 0},
        {"min_count": 2, "sorted_vocab": False},
        *({"min_count": 1, "max_final_vocab": n} for n in (1, 10, 100, 500, 1000, 10**6)),
        {"min_count": 20, "max_final_vocab": 1000},
        {"min_count": 1, "max_final_vocab": 100, "sorted_vocab": False},
        *({"min_count": 1, "max_vocab_size": n} for n in (1, 10, 100, 1000, 5000, 10**6)),
        {"min_count": 3, "max_vocab_size": 700, "max_final_vocab": 50},
        {"min_count": 2, "trim_rule": keep_some},
        {"min_count": 2, "max_vocab_size": 500, "trim_rule": keep_some},
        {"min_count": 2, "max_vocab_size": 500, "sorted_vocab": False},
        {"min_count": 3, "max_final_vocab": 60, "trim_rule": keep_some, "sorted_vocab": False},
    ],
    ids=lambda rules: ",".join(f"{key}={getattr(value, '__name__', value)}" for key, value in rules.items()),
)
def test_rules_are_gensims(rules, set_block_bytes):
    set_block_bytes(20_000)
    flags = {**rules, "sorted_vocab": int(rules.get("sorted_vocab", True))}
    words, numbers = gensim_vocabulary(LineSentence(str(LEE)), **flags)
    for corpus in (LEE, LineSentence(str(LEE))):
        if not words:
            with pytest.raises(ValueError, match="no word is left"):
                Vocabulary.from_corpus(corpus, **rules)
            continue
        for workers in (1, 3):
            found = Vocabulary.from_corpus(corpus, workers=workers, **rules)
            assert found.words == words
            assert found.counts.tolist() == numbers


def test_known_words_tell_the_size_of_a_text_that_has_not_been_read():
    assert Vocabulary(["a", "b"], [3, 1]).text_size == 4
    assert Vocabulary(["a", "b"], [3, 1], tokens=10).text_size == 10


def test_the_size_of_the_corpus_is_gensims():
    model = Word2Vec(vector_size=1, min_count=5)
    model.build_vocab(LineSentence(str(LEE)))
    found = Vocabulary.from_corpus(LEE)
    assert (found.sentences, found.tokens) == (model.corpus_count, model.corpus_total_words)


@pytest.mark.parametrize("size", [1, 3, 10, 40, 60])
def test_pruning_is_not_moved_by_empty_lines(size, tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.replace(b"\n", b"\n\n \n"))
    words, numbers = gensim_vocabulary(LineSentence(str(path)), min_count=1, max_vocab_size=size)
    assert words
    found = Vocabulary.from_corpus(path, min_count=1, max_vocab_size=size)
    assert (found.words, found.counts.tolist()) == (words, numbers)


def test_pruning_of_an_empty_sentence_in_a_list():
    sentences = [["a", "b", "c"], ["a", "b", "c"], [], ["d"]]  # the empty one has a, b and c pruned
    words, numbers = gensim_vocabulary(sentences, min_count=1, max_vocab_size=2)
    found = Vocabulary.from_corpus(sentences, min_count=1, max_vocab_size=2)
    assert (found.words, found.counts.tolist()) == (words, numbers)


def test_keep_probability_is_gensims(plain):
    for sample in (1e-3, 1e-2, 50.0):
        model = Word2Vec(vector_size=1, min_count=MIN_COUNT, sample=sample)
        model.build_vocab(LineSentence(str(plain)))
        found = Vocabulary.from_corpus(plain, min_count=MIN_COUNT)
        theirs = [model.wv.get_vecattr(word, "sample_int") / (2**32 - 1) for word in found.words]
        np.testing.assert_allclose(found.keep_probability(sample), theirs, rtol=1e-6)


def test_a_vocabulary_emptied_by_its_rules(plain, refused):
    refused(
        ValueError,
        r"no word is left of \d+: none occurs min_count=100000 times; lower min_count",
        plain,
        min_count=100_000,
    )
    assert "min_count" not in str(refused(ValueError, "trim_rule", plain, trim_rule=lambda *_: RULE_DISCARD))
    refused(ValueError, "max_final_vocab=1", [["a", "b"], ["b", "a"]], max_final_vocab=1)


def test_a_saved_vocabulary_holds_any_word(tmp_path):
    words = ["plain", "with space", "new\nline", 'quote"', "\ud800", "日本", "\0", "], ["]
    vocabulary = Vocabulary(words, range(len(words)))
    vocabulary.save(tmp_path / "vocabulary.jsonl")
    loaded = Vocabulary.load(tmp_path / "vocabulary.jsonl")
    assert loaded.words == words
    assert loaded.counts.tolist() == list(range(len(words)))
    with pytest.raises(ValueError, match="'twice'"):
        Vocabulary(["twice", "twice"], [1, 2])


@pytest.mark.parametrize("distinct", [1, 3, 1000])
def test_words_are_ordered_as_gensim_orders_them(distinct):
    counts = np.random.default_rng(distinct).integers(1, distinct + 1, size=500)
    words = [f"word{k}" for k in range(len(counts))]
    keyed = KeyedVectors(vector_size=0)
    keyed.index_to_key = list(words)
    keyed.expandos["count"] = counts.copy()
    keyed.sort_by_descending_frequency()
    ordered, sorted_counts = sort_words(words, counts)
    assert ordered == keyed.index_to_key
    assert sorted_counts.tolist() == keyed.expandos["count"].tolist()


LOADED = "import sys; print(sorted({'gensim', 'torch'} & sys.modules.keys()))"


@pytest.mark.parametrize(
    "script",
    [
        "import gensim_hilbert",
        "from gensim_hilbert import PairCounts; counts = PairCounts.from_corpus({corpus!r}); counts + counts",
        "from gensim_hilbert import Vocabulary; Vocabulary.from_corpus({corpus!r}, max_vocab_size=500)",
        "import sys; sys.argv[1:] = ['count', {corpus!r}, '-o', {target!r}]\n"
        "from gensim_hilbert.cli import cli; cli(standalone_mode=False)",
        "import sys; sys.argv[1:] = ['--help']\nfrom gensim_hilbert.cli import cli; cli(standalone_mode=False)",
    ],
)
def test_counting_loads_neither_gensim_nor_torch(script, tmp_path):
    """They take seconds to load."""
    script = script.format(corpus=datapath("lee_background.cor"), target=str(tmp_path / "counts"))
    done = run_python(f"{script}\n{LOADED}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"

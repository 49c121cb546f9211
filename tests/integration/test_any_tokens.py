"""Models over tokens that are no text: all that a model over words can do."""

import random
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from any_tokens import Colour, Fruit, exactly
from gensim.models import Word2Vec
from gensim.models.callbacks import CallbackAny2Vec
from helpers import table_of

from gensim_hilbert import HilbertMLE, PairCounts, Vocabulary
from gensim_hilbert.evaluation import find_data, similarity
from gensim_hilbert.export import FORMATS, export, load_vectors
from gensim_hilbert.report import report

PLAIN = [5, 1, np.int64(3), "a", ("x", (1, None)), b"\xff", 0.5, None, True, 1.0]
OTHERS = [*PLAIN, frozenset({1}), Colour.RED, Fruit.PEAR]
OPTIONS = {"vector_size": 4, "min_count": 1, "seed": 1, "workers": 1, "epochs": 2, "progress": False}


def walks(pool, number=120, seed=1):
    """Sentences in which neighbours in the pool meet."""
    source = random.Random(seed)
    starts = [source.randrange(len(pool)) for _ in range(number)]
    return [[pool[(start + source.randrange(3)) % len(pool)] for _ in range(6)] for start in starts]


@pytest.fixture(scope="module")
def plain():
    return HilbertMLE(walks(PLAIN), **OPTIONS)


@pytest.fixture(scope="module")
def other():
    return HilbertMLE(walks(OTHERS), **OPTIONS)


def same(one, two):
    assert exactly(one.wv.index_to_key) == exactly(two.wv.index_to_key)
    np.testing.assert_array_equal(one.wv.vectors, two.wv.vectors)
    np.testing.assert_array_equal(one.syn1neg, two.syn1neg)


def test_gensims_save_keeps_keys_and_counts(plain, other, tmp_path):
    for number, model in enumerate((plain, other)):
        path = str(tmp_path / f"model{number}")
        model.save(path)
        loaded = HilbertMLE.load(path)
        same(model, loaded)
        assert exactly(loaded.counts.vocabulary.words) == exactly(model.wv.index_to_key)
        assert loaded.wv.most_similar([5]) == model.wv.most_similar([5])
        assert loaded.counts.pmi(5, 1) == model.counts.pmi(5, 1)
        loaded.save(path)  # over itself
        again = HilbertMLE.load(path)
        more = walks(OTHERS if number else PLAIN, seed=2)
        for one in (again, model_copy := HilbertMLE.load(path)):
            one.build_vocab(more, update=True)
            one.train(more, total_examples=len(more), epochs=1)
        same(again, model_copy)


def test_a_model_folder_keeps_plain_keys(plain, other, tmp_path):
    plain.save_pretrained(tmp_path / "plain")
    loaded = HilbertMLE.from_pretrained(tmp_path / "plain")
    same(plain, loaded)
    assert exactly(loaded.counts.vocabulary.words) == exactly(plain.wv.index_to_key)
    assert exactly(load_vectors(tmp_path / "plain").index_to_key) == exactly(plain.wv.index_to_key)
    with pytest.raises(
        TypeError, match=r"of type (frozenset|Colour|Fruit), cannot be written to a file without pickle"
    ):
        other.save_pretrained(tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_counts_in_a_directory(tmp_path):
    text = walks(PLAIN)
    here, kept = (PairCounts.from_corpus(text, min_count=1, directory=place) for place in (None, tmp_path / "counts"))
    opened = PairCounts.open(tmp_path / "counts")
    assert exactly(opened.vocabulary.words) == exactly(here.vocabulary.words) == exactly(kept.vocabulary.words)
    assert opened.fingerprint == here.fingerprint
    with pytest.raises(TypeError, match=r"cannot be written to a file without pickle.*if directory= is left out"):
        PairCounts.from_corpus(walks(OTHERS), min_count=1, directory=tmp_path / "others")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["counts"]
    here.to_npz(tmp_path / "counts.npz")
    assert exactly(PairCounts.from_npz(tmp_path / "counts.npz").vocabulary.words) == exactly(here.vocabulary.words)
    with pytest.raises(TypeError, match="GloVe vocabulary can hold only keys that are str"):
        here.to_glove(tmp_path / "records", tmp_path / "words")
    numbers = PairCounts.from_corpus([[1, 2, 3]] * 3, min_count=1)
    numbers.to_glove(tmp_path / "records", tmp_path / "words", keys="str")
    read = PairCounts.from_glove(tmp_path / "records", tmp_path / "words")
    assert read.vocabulary.words == [str(number) for number in numbers.vocabulary.words]


def test_processes_count_the_same():
    text = walks(OTHERS)
    alone = PairCounts.from_corpus(text, min_count=2, window=2)
    with ProcessPoolExecutor(2) as executor:
        shared = PairCounts.from_corpus(text, min_count=2, window=2, executor=executor)
    assert exactly(shared.vocabulary.words) == exactly(alone.vocabulary.words)
    assert table_of(shared) == table_of(alone)
    both = PairCounts.merge([alone, shared])
    assert exactly(both.vocabulary.words) == exactly(alone.vocabulary.words)
    assert both.total == 2 * alone.total


@pytest.mark.parametrize("solver", ["factorization", "gibbs"])
def test_training_goes_on_from_a_checkpoint(solver, tmp_path):
    text = walks(OTHERS)
    options = OPTIONS | {"solver": solver}
    whole = HilbertMLE(text, **options)

    class Stop(Exception):
        pass

    class Interruption(CallbackAny2Vec):
        epochs = 0

        def on_epoch_end(self, model):
            self.epochs += 1
            if self.epochs == 2:
                raise Stop

    with pytest.raises(Stop):
        HilbertMLE(text, **options, checkpoint=tmp_path / "state", callbacks=[Interruption()])
    assert list((tmp_path / "state").rglob("checkpoint.json"))
    same(HilbertMLE(text, **options, checkpoint=tmp_path / "state"), whole)


def test_frequencies_may_have_any_keys():
    frequencies = {5: 3, (1, 2): 9, None: 1, b"x": 3, Colour.RED: 2}
    ours, gensims = (kind(vector_size=2, min_count=2) for kind in (HilbertMLE, Word2Vec))
    for model in (ours, gensims):
        model.build_vocab_from_freq(dict(frequencies), corpus_count=4)
    assert exactly(ours.wv.index_to_key) == exactly(gensims.wv.index_to_key)
    text = [[(1, 2), 5, b"x", "unknown", Colour.RED]] * 3
    ours.train(text, total_examples=3, epochs=1)
    assert ours.counts.count((1, 2), 5) > 0


def test_sentences_that_can_be_read_only_once():
    class Node:  # equal to itself alone, also after pickling
        pass

    nodes = [Node() for _ in range(5)]
    text = walks(nodes)
    model = HilbertMLE(**OPTIONS)
    model.build_vocab(iter(text))
    model.train(iter(text), total_examples=len(text), epochs=1)
    assert set(model.wv.index_to_key) == set(nodes)
    assert table_of(model.counts) == table_of(PairCounts.from_corpus(text, vocabulary=model.counts.vocabulary))


def test_questions_are_answered_with_keys(plain):
    keys = {key: None for key in plain.wv.index_to_key}
    for key in plain.wv.index_to_key:
        assert {other for other, _ in plain.most_cooccurring(key)} <= set(keys)
        near = plain.queries.similar([key], topn=20)[0]
        assert {other for other, _ in near} == set(keys) - {key}
        assert plain.pmi(key, 5) == pytest.approx(plain.pmi([key], [5])[0], abs=1e-6)
    assert len(plain.predict_output_word([5, None, ("x", (1, None))], topn=3)) == 3
    assert np.isfinite(plain.score([[5, 1, "never seen", None]])).all()


def test_exports_hold_text_or_say_so(plain, tmp_path):
    numbers = HilbertMLE([[1, 2, 3, 40]] * 5, **OPTIONS)
    for form in sorted(FORMATS):
        path = tmp_path / (f"{form}.npy" if form == "numpy" else form)
        if form == "numpy":
            export(plain, path)
            assert exactly(load_vectors(path).index_to_key) == exactly(plain.wv.index_to_key)
        else:
            with pytest.raises(TypeError, match=f"format='{form}' can hold only keys that are str, .* keys='str'"):
                export(numbers, path, form)
            assert not path.exists()
        options = {"weighting": "mean"} if form == "model2vec" else {}
        assert export(numbers, path, form, keys="str", **options) == 4
        if form != "projector":
            read = load_vectors(path)
            assert sorted(read.index_to_key) == ["1", "2", "3", "40"]
            np.testing.assert_array_equal(read["40"], numbers.wv[40])
    with pytest.raises(ValueError, match=r"the keys .* would both be written '5'"):
        export(HilbertMLE([[5, "5", 1]] * 5, **OPTIONS), tmp_path / "v.vec", keys="str")


def test_subwords_need_words():
    with pytest.raises(
        TypeError, match="subwords=True makes vectors of the n-grams of words, and the key 5, of type int"
    ):
        HilbertMLE([["a", 5]] * 3, **OPTIONS, subwords=True, bucket=50)


def test_a_report_shows_keys_and_evaluation_says_why_not(plain, tmp_path):
    report(plain, tmp_path / "report.html", words=[("x", (1, None))])
    page = (tmp_path / "report.html").read_text()
    assert "(&#x27;x&#x27;, (1, None))" in page
    assert "words must be str to be evaluated" in page
    with pytest.raises(TypeError, match="words must be str to be evaluated on data sets of words, got"):
        similarity(plain.wv, find_data())


def test_a_tokenizer_or_phrases_need_text():
    from gensim_hilbert.corpus.preparation import Preparation
    from gensim_hilbert.corpus.sources import TokenCorpus
    from gensim_hilbert.corpus.words import Words

    corpus = TokenCorpus([["a", "b"], ["a", 5]]).prepared(Preparation(Words()))
    with pytest.raises(TypeError, match=r"sentence 1 holds 5, of type int; words that are prepared, .* must be str"):
        Vocabulary.from_corpus(corpus, min_count=1)


def test_keys_of_a_script_come_back_in_another_process(tmp_path):
    """Hashes of str differ from process to process; the order of words must not depend on them."""
    script = (
        "import sys; from gensim_hilbert import PairCounts, Vocabulary\n"
        "text = [[('a', k % 3), 'b', None, frozenset({'x', 'y'})] for k in range(9)]\n"
        "print(Vocabulary.from_corpus(text, min_count=1).fingerprint)\n"
        "print(PairCounts.from_corpus(text, min_count=1).fingerprint)"
    )
    root = Path(__file__).parents[2]
    printed = [
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root), "PATH": ""},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert printed[0] == printed[1] != ""

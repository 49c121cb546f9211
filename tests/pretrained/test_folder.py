"""A model as a folder: what is loaded is what was saved, and goes on as the original would."""

from __future__ import annotations

import contextlib
import copy
import os
import random
import resource
import shutil
import signal
import time
from dataclasses import dataclass

import numpy as np
import pytest
from gensim.models import KeyedVectors
from helpers import SMALL_OPTIONS, Recorder, assert_same_vectors, contents
from shell import run_python

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.model_files import LearntFrom
from gensim_hilbert.objectives import GloVe, Hilbert, Objective, least_squares_

pytestmark = pytest.mark.usefixtures("short_training")

OPTIONS = {"vector_size": 6, "min_count": 4, "epochs": 2, "workers": 1, "compute_loss": True, "seed": 7}
SUBWORDS = {"subwords": True, "min_n": 2, "max_n": 4, "bucket": 300}
CASES = {
    "hilbert": {"comment": 'a "note"\n\ud800', "gauge": 0.4, "sample": 1e-2},
    "gibbs": {"solver": "gibbs"},
    "glove": {"objective": "glove(x_max=10)"},
    "sgns": {"objective": "sgns", "negative": 3},
    "sums": {"vectors": "v+w"},
    "subwords": SUBWORDS,
    "subwords by gibbs": {**SUBWORDS, "solver": "gibbs"},
    "lds": {"objective": "lds"},
    "swivel": {"objective": "swivel(exponent=0.25)"},
    "ppmi-svd": {"objective": "ppmi-svd"},
}
SLOW = ("sgns", "sums", "subwords", "lds", "swivel", "ppmi-svd")


@pytest.fixture(scope="module")
def train(news):
    """A function that trains a model of one of the cases, once."""
    trained = {}

    def train(case):
        if case not in trained:
            trained[case] = HilbertMLE(news[:60], **OPTIONS, **CASES[case])
        return copy.deepcopy(trained[case])

    return train


@pytest.fixture
def saved(train, tmp_path):
    """The folder of a model."""
    train("hilbert").save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def assert_same(one, other, where="model"):
    """The same values and bits, and of the same types, down to the last attribute."""
    assert type(one) is type(other), where
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), where
        assert one.tobytes() == other.tobytes(), where
    elif isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one:
            assert_same(one[key], other[key], f"{where}[{key!r}]")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for place, (left, right) in enumerate(zip(one, other, strict=True)):
            assert_same(left, right, f"{where}[{place}]")
    elif isinstance(one, PairCounts):
        assert one.fingerprint == other.fingerprint
        other.verify()
    elif isinstance(one, np.random.RandomState):
        assert_same(one.get_state(), other.get_state(), where)
    elif isinstance(one, HilbertMLE | KeyedVectors):
        made_when_needed = ("composition", "norms")
        assert_same(
            *(
                {name: value for name, value in vars(each).items() if name not in made_when_needed}
                for each in (one, other)
            ),
            where,
        )
    else:
        assert one == other or (one != one and other != other), where


def cases():
    return [pytest.param(case, marks=pytest.mark.slow if case in SLOW else ()) for case in CASES]


@pytest.mark.parametrize("case", cases())
def test_what_is_loaded_is_what_was_saved_and_trains_on_to_the_same_bits(case, train, news, tmp_path):
    model = train(case)
    before = copy.deepcopy(model)
    model.save_pretrained(tmp_path / "model")
    assert_same(model, before)
    loaded = HilbertMLE.from_pretrained(tmp_path / "model")
    assert_same(loaded, model)
    files = contents(tmp_path / "model")
    more = [[*sentence, "newword", "newerword"] for sentence in news[60:90]]
    recorders = Recorder(), Recorder()
    for each, recorder in zip((model, loaded), recorders, strict=True):
        each.build_vocab(more, update=True)
        each.train(more, total_examples=len(more), epochs=2, compute_loss=True, callbacks=[recorder])
    assert len(recorders[1].losses) == 2
    assert recorders[0].losses == recorders[1].losses
    for each in (model, loaded):
        each.total_train_time, each.lifecycle_events = 0.0, []
    assert_same(loaded, model)
    assert loaded.wv.key_to_index["newword"]
    assert contents(tmp_path / "model") == files, "training has changed the files"


@pytest.mark.parametrize("case", ["hilbert", "gibbs", "subwords"])
def test_a_loaded_model_answers_as_the_original(case, train, tmp_path):
    model = train(case)
    model.save_pretrained(tmp_path / "model")
    loaded = HilbertMLE.from_pretrained(str(tmp_path / "model"))
    words = model.wv.index_to_key[:6]
    for ask in (
        lambda each: each.wv.most_similar(words[3]),
        lambda each: each.wv.most_similar_cosmul(positive=words[:2], negative=words[2:3]),
        lambda each: each.most_cooccurring(words[4]),
        lambda each: each.pmi(words[0], words[1]),
        lambda each: each.score([words]).tolist(),
        lambda each: each.predict_output_word(words),
        lambda each: each.wv.get_vecattr(words[0], "count"),
        lambda each: each.wv.n_similarity(words[:2], words[2:]),
        lambda each: each.get_latest_training_loss(),
        str,
    ):
        assert ask(loaded) == ask(model)
    if case == "subwords":
        assert np.array_equal(loaded.wv["neverseen"], model.wv["neverseen"])


def test_without_its_counts_a_model_goes_on_from_its_vectors(train, news, tmp_path, caplog):
    model = train("hilbert")
    model.save_pretrained(tmp_path / "model")
    model.save_pretrained(tmp_path / "alone", counts=False)
    assert not (tmp_path / "alone" / "counts").exists()
    lost = [
        HilbertMLE.from_pretrained(tmp_path / "alone"),
        HilbertMLE.from_pretrained(tmp_path / "model", counts=False),
    ]
    shutil.rmtree(tmp_path / "model" / "counts")
    assert "without its counts" not in caplog.text
    lost.append(HilbertMLE.from_pretrained(tmp_path / "model"))
    assert "counts does not exist, so the model is without its counts" in caplog.text
    for each in lost:
        assert (each.counts, each.learnt_from) == (None, LearntFrom.LOST_COUNTS)
        each.train(news[:20], total_examples=20, epochs=1)
    assert_same(lost[0].wv.vectors, lost[1].wv.vectors)
    assert_same(lost[0].wv.vectors, lost[2].wv.vectors)


def test_a_loaded_model_is_saved_again_both_ways(train, tmp_path):
    model = train("glove")
    model.save_pretrained(tmp_path / "model")
    loaded = HilbertMLE.from_pretrained(tmp_path / "model")
    loaded.save_pretrained(tmp_path / "again")
    loaded.save_pretrained(tmp_path / "model")  # in its own place, from which it is mapped
    for name in ("model", "again"):
        assert_same(HilbertMLE.from_pretrained(tmp_path / name), model)
    HilbertMLE.from_pretrained(tmp_path / "again").save(str(tmp_path / "pickled"))
    pickled = HilbertMLE.load(str(tmp_path / "pickled"))
    assert_same_vectors(pickled, model)
    assert pickled.counts.fingerprint == model.counts.fingerprint


def test_models_without_words_and_without_training(some_news, tmp_path):
    empty, untrained = HilbertMLE(**SMALL_OPTIONS), HilbertMLE(**SMALL_OPTIONS)
    untrained.build_vocab(some_news)
    fed = HilbertMLE(**SMALL_OPTIONS, **SUBWORDS)
    for model in (empty, untrained, fed):
        model.save_pretrained(tmp_path / "model")
        loaded = HilbertMLE.from_pretrained(tmp_path / "model")
        assert_same(loaded, model)
        for each in (loaded, model):
            each.build_vocab(some_news)
            each.train(some_news, total_examples=len(some_news), epochs=1)
        assert_same_vectors(loaded, model)


ODD_WORDS = [
    "New York",
    "a\nb",
    "\0",
    "",
    " ",
    "\u202e",
    "ℵ𝔄",
    "]]>",
    "|`*_<b>",
    "'\"\\",
    "tab\t",
    "\ufeff",
    "x" * 5000,
]


def test_any_word_that_has_utf8_is_held(tmp_path):
    sentences = [ODD_WORDS[k:] + ODD_WORDS[:k] for k in range(len(ODD_WORDS))] * 2
    model = HilbertMLE(sentences, vector_size=3, min_count=1, epochs=1)
    model.save_pretrained(tmp_path / "model")
    loaded = HilbertMLE.from_pretrained(tmp_path / "model")
    assert sorted(loaded.wv.index_to_key) == sorted(ODD_WORDS)
    assert_same(loaded, model)


def test_half_of_a_surrogate_pair_is_refused(tmp_path):
    model = HilbertMLE([["a", "b\ud800", "c"]] * 9, vector_size=3, min_count=1, epochs=1)
    with pytest.raises(ValueError, match=r"cannot hold the word 'b\\ud800', which has no UTF-8"):
        model.save_pretrained(tmp_path / "model")
    assert not os.listdir(tmp_path)


def test_attributes_of_words_are_kept_or_refused(train, tmp_path):
    model = train("gibbs")
    word = model.wv.index_to_key[3]
    model.wv.set_vecattr(word, "weight", np.float64(0.25))
    model.save_pretrained(tmp_path / "model")
    assert HilbertMLE.from_pretrained(tmp_path / "model").wv.get_vecattr(word, "weight") == 0.25
    model.wv.set_vecattr(word, "tag", "noun")
    with pytest.raises(ValueError, match=r"cannot hold the attribute 'tag' .* `del model\.wv\.expandos\['tag'\]"):
        model.save_pretrained(tmp_path / "model")


# ---------------------------------------------------------------------------------------------------- objectives


@dataclass
class OwnObjective(Objective):
    exponent: float = 0.5
    has_background = False

    def phi(self, pairs):
        return (pairs.values / (pairs.a * pairs.b)).log()

    def differentiate_pairs_(self, psi, pairs):
        return least_squares_(psi, pairs.values**self.exponent, self.phi(pairs))


def test_an_objective_of_your_own_is_given_when_the_model_is_loaded(some_news, tmp_path):
    model = HilbertMLE(some_news[:40], **SMALL_OPTIONS, objective=OwnObjective(exponent=0.75))
    model.save_pretrained(tmp_path / "model")
    unknown = HilbertMLE.from_pretrained(tmp_path / "model")
    assert unknown.wv.most_similar("the") == model.wv.most_similar("the")
    assert repr(unknown.objective) == "OwnObjective(exponent=0.75)"
    with pytest.raises(ValueError, match=r"not built in, OwnObjective\(exponent=0.75\): to train it further, load it"):
        unknown.train(some_news, total_examples=len(some_news), epochs=1)
    unknown.save_pretrained(tmp_path / "model")
    with pytest.raises(ValueError, match=r"with the objective OwnObjective\(exponent=0.75\), got OwnObjective\(exp"):
        HilbertMLE.from_pretrained(tmp_path / "model", objective=OwnObjective(exponent=1))
    loaded = HilbertMLE.from_pretrained(tmp_path / "model", objective=OwnObjective(exponent=0.75))
    assert_same(loaded, model)
    assert "OwnObjective" in (tmp_path / "model" / "config.json").read_text()


def test_another_objective_than_the_model_has_is_refused(train, tmp_path):
    train("glove").save_pretrained(tmp_path / "model")
    assert HilbertMLE.from_pretrained(tmp_path / "model", objective=GloVe(x_max=10)).objective == GloVe(x_max=10)
    with pytest.raises(ValueError, match=r"with the objective GloVe\(x_max=10, alpha=0.75\), got Hilbert"):
        HilbertMLE.from_pretrained(tmp_path / "model", objective=Hilbert())


def test_a_subclass_loads_as_itself(saved):
    class Own(HilbertMLE):
        def __init__(self, needed):
            raise AssertionError("not called, as gensim does not call it")

    assert type(Own.from_pretrained(saved)) is Own


# ---------------------------------------------------------------------------------------------------- memory


def test_vectors_are_mapped_and_can_be_changed_without_the_file(saved):
    before = contents(saved)
    model = HilbertMLE.from_pretrained(saved)
    assert isinstance(model.wv.vectors.base, np.memmap)
    assert type(model.wv.vectors) is np.ndarray
    model.wv.vectors[:] = 1
    model.syn1neg[0] += 1
    assert contents(saved) == before
    assert not (HilbertMLE.from_pretrained(saved).wv.vectors == 1).any()


def test_vectors_can_be_mapped_for_reading_or_read(saved, news):
    fixed = HilbertMLE.from_pretrained(saved, mmap="r")
    with pytest.raises(ValueError, match="read-only"):
        fixed.wv.vectors[:] = 1
    fixed.train(news[:20], total_examples=20, epochs=1)
    read = HilbertMLE.from_pretrained(saved, mmap=None)
    assert not isinstance(read.wv.vectors.base, np.memmap)
    assert_same(read, HilbertMLE.from_pretrained(saved))
    with pytest.raises(ValueError, match="mmap must be 'c', 'r' or None, got 'w'"):
        HilbertMLE.from_pretrained(saved, mmap="w")


def test_a_model_is_loaded_and_asked_without_torch(saved):
    program = (
        "import sys; from gensim_hilbert import HilbertMLE; model = HilbertMLE.from_pretrained(sys.argv[1]);"
        "model.wv.most_similar(model.wv.index_to_key[0]); model.pmi(*model.wv.index_to_key[:2]);"
        "print('torch' in sys.modules, 'huggingface_hub' in sys.modules)"
    )
    done = run_python(program, saved)
    assert done.stdout == "False False\n"


# ---------------------------------------------------------------------------------------------------- writing


def test_a_model_takes_the_place_of_another_but_of_nothing_else(train, tmp_path):
    model = train("gibbs")
    (tmp_path / "empty").mkdir()
    model.save_pretrained(tmp_path / "empty")
    train("hilbert").save_pretrained(tmp_path / "empty")
    assert_same(HilbertMLE.from_pretrained(tmp_path / "empty"), train("hilbert"))
    model.save_pretrained(tmp_path / "empty")
    assert_same(HilbertMLE.from_pretrained(tmp_path / "empty"), model)
    assert not (tmp_path / "empty" / "counts").exists()
    with pytest.raises(FileExistsError, match="empty exists: choose another name, or pass overwrite=True"):
        train("hilbert").save_pretrained(tmp_path / "empty", overwrite=False)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("precious")
    (tmp_path / "file").write_text("precious")
    (tmp_path / "link").symlink_to("nowhere/else")
    counts = PairCounts.from_corpus([["a", "b"]] * 5, directory=tmp_path / "counts")
    for name in ("thesis", "file", "counts"):
        before = contents(tmp_path)
        with pytest.raises(FileExistsError, match=f"{name} exists and is not a model folder: choose another name"):
            model.save_pretrained(tmp_path / name)
        assert contents(tmp_path) == before
    counts.verify()
    model.save_pretrained(tmp_path / "link")  # the link stays, and what it points to is made
    assert (tmp_path / "link").is_symlink()
    assert_same(HilbertMLE.from_pretrained(tmp_path / "nowhere" / "else"), model)


def test_files_that_somebody_has_added_to_a_model_are_not_lost(saved, train):
    (saved / "notes.txt").write_text("precious")
    with pytest.raises(FileExistsError, match=r"holds 'notes\.txt' besides a model"):
        train("gibbs").save_pretrained(saved)
    assert (saved / "notes.txt").read_text() == "precious"
    (saved / "notes.txt").unlink()
    (saved / "README.md").write_text("my own card")
    train("gibbs").save_pretrained(saved)
    assert (saved / "README.md").read_text() == "my own card"
    assert HilbertMLE.from_pretrained(saved).solver == "gibbs"


def test_an_error_while_writing_leaves_the_old_model(saved, train, tmp_path):
    before = contents(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(OSError, match=rf"File too large: '{saved}'"):
            train("gibbs").save_pretrained(saved)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert contents(tmp_path) == before


def test_load_tells_a_model_folder(saved):
    with pytest.raises(IsADirectoryError, match="is a model folder: load it by from_pretrained, not by load"):
        HilbertMLE.load(str(saved))


def test_remote_places_are_refused(train):
    with pytest.raises(ValueError, match="a folder on this machine, got s3://bucket/model"):
        train("gibbs").save_pretrained("s3://bucket/model")


def test_counts_that_are_gone_are_not_missed(train, tmp_path, caplog):
    model = HilbertMLE([["a", "b", "c"]] * 9, vector_size=3, min_count=1, epochs=1)
    shutil.rmtree(model.counts.directory)
    model.save_pretrained(tmp_path / "model")
    assert "saved without its counts" in caplog.text
    assert_same_vectors(HilbertMLE.from_pretrained(tmp_path / "model"), model)


def test_settings_that_could_not_be_loaded_are_refused(train, tmp_path):
    model = train("gibbs")
    model.window = -3
    with pytest.raises(ValueError, match="the setting 'window' must be a whole number of 1 or more, got -3"):
        model.save_pretrained(tmp_path / "model")
    model.window, model.sg = 5, [1]
    with pytest.raises(
        ValueError, match=r"the setting 'sg' must be a number, a string, True, False or None, got \[1\]"
    ):
        model.save_pretrained(tmp_path / "model")
    model.sg, model.syn1neg = 0, model.syn1neg[:-1]
    with pytest.raises(ValueError, match="covectors should be floating-point numbers of shape"):
        model.save_pretrained(tmp_path / "model")


def test_where_files_lay_is_not_told(train, tmp_path, plain):
    model = HilbertMLE(corpus_file=str(plain), **SMALL_OPTIONS)
    model.save(str(tmp_path / "pickled"))
    model.save_pretrained(tmp_path / "model")
    for path in filter(os.path.isfile, (tmp_path / "model").rglob("*")):
        assert str(tmp_path).encode() not in path.read_bytes(), path
    assert HilbertMLE.from_pretrained(tmp_path / "model").trained_on == model.trained_on
    (record,) = model.trained_on
    assert record["names"] == ["text.txt"]
    assert len(record["fingerprint"]) == len(record["counts"]) == 64


# ---------------------------------------------------------------------------------------------------- kills and races


@contextlib.contextmanager
def saving_in_turn(models, folder):
    """A process that saves these models to one folder, one after the other, until it is killed."""
    child = os.fork()
    if child == 0:
        try:
            while True:
                for model in models:
                    model.save_pretrained(folder)
        finally:
            os._exit(1)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@pytest.mark.parametrize("kills", [25, pytest.param(300, marks=pytest.mark.slow)])
def test_a_killed_save_leaves_the_old_model_or_the_new_one(kills, train, tmp_path):
    models = [train("gibbs"), train("hilbert")]
    started = time.perf_counter()
    for model in models:
        model.save_pretrained(tmp_path / "model")
    longest = 2 * (time.perf_counter() - started)
    draw = random.Random(kills)
    found = []
    for _ in range(kills):
        with saving_in_turn(models, tmp_path / "model"):
            time.sleep(draw.uniform(0, longest))
        loaded = HilbertMLE.from_pretrained(tmp_path / "model")
        found.append(loaded.solver == "factorization")
        assert_same(loaded, models[found[-1]])
    assert set(found) == {False, True}


def test_a_model_that_is_replaced_while_it_is_loaded_is_one_or_the_other(train, tmp_path):
    models = [train("gibbs"), train("hilbert")]
    models[0].save_pretrained(tmp_path / "model")
    with saving_in_turn(models, tmp_path / "model"):
        for k in range(40):
            loaded = HilbertMLE.from_pretrained(tmp_path / "model", verify=bool(k % 2), counts=False)
            expected = models[loaded.solver == "factorization"]
            assert_same_vectors(loaded, expected)
            assert loaded.training_history == expected.training_history

"""Checkpoints: whole at any instant, and all that a fit needs to go on as if it had never stopped."""

import os
import random
import signal
import subprocess
import sys
import time
from itertools import product

import numpy as np
import pytest
from ngrams import vectors_of
from tables import random_table, store

from gensim_hilbert.objectives import Hilbert
from gensim_hilbert.training.checkpoint import Checkpoint, Saved
from gensim_hilbert.training.factorization import Diverged, Factorization
from gensim_hilbert.training.fit import Start

REQUEST = {"settings": {"vector_size": 5, "gauge": None}, "counts": "abc"}
WRITE_FOR_EVER = """
import sys
import numpy as np
from pathlib import Path
from gensim_hilbert.training.checkpoint import Checkpoint
checkpoint = Checkpoint(Path(sys.argv[1]), {"settings": {}})
saved = checkpoint.load()
print("ready", flush=True)
for epochs in range(saved.epochs + 1 if saved else 1, 10**9):
    checkpoint.write(epochs, {"epochs": epochs}, [(name, np.full(50_000, epochs)) for name in "abc"])
"""


def test_killed_at_any_instant_it_can_be_loaded(tmp_path):
    source = random.Random(1)
    before = 0
    for _ in range(5):
        process = subprocess.Popen([sys.executable, "-c", WRITE_FOR_EVER, tmp_path], stdout=subprocess.PIPE)
        assert process.stdout.readline() == b"ready\n"
        time.sleep(source.random() / 10)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        saved = Checkpoint(tmp_path, {"settings": {}}).load()
        if saved is None:
            assert before == 0
            continue
        assert saved.epochs >= before
        assert saved.facts == {"epochs": saved.epochs}
        for name in "abc":
            assert (saved.array(name) == saved.epochs).all()
        before = saved.epochs
    assert before > 1


def test_only_the_last_state_is_kept(tmp_path):
    checkpoint = Checkpoint(tmp_path, REQUEST)
    assert checkpoint.load() is None
    for epochs in (1, 2, 3):
        checkpoint.write(epochs, {}, [("x", np.arange(epochs))])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint.json", "epoch-3"]
    assert checkpoint.load().array("x").tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"settings": {"vector_size": 6, "gauge": None}}, "vector_size was 5, and is now 6"),
        ({"settings": {"vector_size": 5, "gauge": 0.5}}, "gauge was None, and is now 0.5"),
        ({"counts": "abd"}, "it differs in its counts"),
    ],
)
def test_another_training_is_refused(change, said, tmp_path):
    Checkpoint(tmp_path, REQUEST).write(1, {}, [])
    with pytest.raises(ValueError, match=f"holds a checkpoint of another training: {said}"):
        Checkpoint(tmp_path, REQUEST | change).load()


def test_damage_is_reported(tmp_path):
    checkpoint = Checkpoint(tmp_path, REQUEST)
    checkpoint.write(1, {}, [("x", np.arange(100))])
    path = tmp_path / "epoch-1" / "x.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(ValueError, match=r"x\.safetensors is damaged"):
        checkpoint.load().array("x")
    path.write_bytes(whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:])
    with pytest.raises(ValueError, match=r"x\.safetensors is damaged: its checksum does not match"):
        checkpoint.load().array("x")
    path.write_bytes(whole)
    assert checkpoint.load().array("x").tolist() == list(range(100))
    (tmp_path / "checkpoint.json").write_text("{")
    with pytest.raises(ValueError, match=r"checkpoint\.json is damaged"):
        checkpoint.load()


@pytest.fixture(scope="module")
def objective():
    table = np.random.default_rng(0).poisson(3.0, size=(60, 60))
    return Hilbert().bind(store(table))


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("diverges", [False, True])
@pytest.mark.parametrize("stops", [[0], [9], [1, 2, 40], [7, 27, 31, 80, 1000]])
@pytest.mark.parametrize("background", ["dense", "sampled"])
def test_a_fit_goes_on_as_if_it_had_never_stopped(objective, n, diverges, stops, background, tmp_path, monkeypatch):
    options = {"n": n, "passes": 16, "tolerance": 0.01, "background": background, "columns": 10}
    if diverges:
        monkeypatch.setattr(Factorization, "_learn", diverging_at(35))
    whole = Factorization(objective, 6, **options)
    for stop in [*stops, 10**6]:
        whole.run(stop - whole.steps_done)
    fit = Factorization(objective, 6, **options)
    checkpoint = Checkpoint(tmp_path, REQUEST)
    for epoch, stop in enumerate(stops):
        fit.run(stop - fit.steps_done)
        checkpoint.write(epoch, *fit.state())
        fit = Factorization(objective, 6, **options, saved=checkpoint.load())
    fit.run(10**6)
    assert fit.steps_done == whole.steps_done
    assert fit.scale == whole.scale == (0.5 if diverges else 1.0)
    for ours, expected in zip(fit.result()[:2], whole.result()[:2], strict=True):
        assert np.array_equal(ours, expected)
    assert fit.history == whole.history


def test_a_fit_from_given_and_locked_vectors_goes_on(objective, tmp_path):
    source = np.random.default_rng(1)
    covectors, vectors = (source.normal(size=(60, 6)).astype(np.float32) * 0.2 for _ in range(2))
    start = Start(5 * covectors, vectors, lock=np.linspace(0, 1, 60))
    whole, cut = (Factorization(objective, 6, n=3, passes=4, start=start) for _ in range(2))
    whole.run(whole.steps)
    cut.run(14)
    checkpoint = Checkpoint(tmp_path, REQUEST)
    checkpoint.write(1, *cut.state())
    fit = Factorization(objective, 6, n=3, passes=4, start=start, saved=checkpoint.load())
    fit.run(fit.steps)
    for ours, expected in zip(fit.result()[:2], whole.result()[:2], strict=True):
        np.testing.assert_array_equal(ours, expected)
    np.testing.assert_array_equal(fit.result().parameters[0], vectors[0])


def diverging_at(step):
    """The visit of a shard, which diverges at that step as long as the rate is whole."""
    learn = Factorization._learn

    def stand_in(self, shard, rate, number):
        passes, place = divmod(min(step, self.steps // 4), self.n**2)
        if self.scale == 1 and number == passes and self.order[place] == (shard.i, shard.j):
            raise Diverged
        return learn(self, shard, rate, number)

    return stand_in


def test_a_fit_goes_on_from_the_middle_of_a_stretch(tmp_path):
    """Where some blocks have had their visit, and others not."""
    words = [a + b for a, b in product(["run", "sun", "fun", "walk"], ["ning", "ner", "s", "ny", ""])]
    composition = vectors_of(words).composition

    def fit(saved: Saved | None = None) -> Factorization:
        objective = Hilbert().bind(store(random_table(len(words), least=1), words))
        return Factorization(objective, 5, n=4, passes=6, composition=composition, saved=saved)

    whole, cut = fit(), fit()
    whole.run(whole.steps)
    cut.run(2 * 16 + 3)
    assert cut.steps_done % cut.n == 3
    checkpoint = Checkpoint(tmp_path, {"settings": {}})
    checkpoint.write(1, *cut.state())
    again = fit(checkpoint.load())
    again.run(again.steps)
    for ours, expected in zip(again.result()[:2], whole.result()[:2], strict=True):
        np.testing.assert_array_equal(ours, expected)

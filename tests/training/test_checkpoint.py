"""Checkpoints: whole at any instant, and all that a fit needs to go on as if it had never stopped."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from itertools import product

import numpy as np
import pytest
from helpers import SMALL_OPTIONS, Stop, StopAfter, assert_same_vectors
from ngrams import vectors_of
from tables import random_table, store

from gensim_hilbert import HilbertMLE
from gensim_hilbert.files import manifest_checksum
from gensim_hilbert.objectives import Hilbert
from gensim_hilbert.training.checkpoint import Checkpoint, Saved
from gensim_hilbert.training.factorization import Diverged, Factorization
from gensim_hilbert.training.fit import Start
from gensim_hilbert.training.order import offsets_of_pass

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
    for attempt in range(50):
        if attempt >= 5 and before > 1:  # On a busy machine, a process may not come to write in time.
            break
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


def test_only_the_last_two_states_are_kept(tmp_path):
    checkpoint = Checkpoint(tmp_path, REQUEST)
    assert checkpoint.load() is None
    for epochs in (1, 2, 3):
        checkpoint.write(epochs, {}, [("x", np.arange(epochs))])
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "checkpoint-previous.json",
        "checkpoint.json",
        "epoch-2",
        "epoch-3",
    ]
    assert checkpoint.load().array("x").tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ["epoch-1/weights.pt", "epoch-7/weights.pt", "epoch-best/x.safetensors", "epoch-7"])
def test_epochs_of_other_programs_stay(name, tmp_path):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("dear")
    checkpoint = Checkpoint(tmp_path, REQUEST)
    if name == "epoch-1/weights.pt":
        with pytest.raises(FileExistsError, match=r"epoch-1 is where a checkpoint would be written, and holds"):
            checkpoint.write(1, {}, [("x", np.arange(1))])
    else:
        for epochs in (1, 2, 3):
            checkpoint.write(epochs, {}, [("x", np.arange(epochs))])
    assert path.read_text() == "dear"


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
    checkpoint.write(1, {}, [("x", np.arange(100, dtype=np.int32))])
    path = tmp_path / "epoch-1" / "x.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(ValueError, match=r"x\.safetensors is damaged"):
        checkpoint.load().array("x")
    path.write_bytes(whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:])
    with pytest.raises(ValueError, match=r"x\.safetensors is damaged: its checksum does not match"):
        checkpoint.load().array("x")
    path.write_bytes(whole.replace(b"I32", b"F32"))
    with pytest.raises(ValueError, match=r"x\.safetensors is damaged: its checksum does not match"):
        checkpoint.load()
    path.write_bytes(whole.replace(b"[100]", b"[4,25]"[:5]))
    with pytest.raises(ValueError, match=r"x\.safetensors is damaged"):
        checkpoint.load()
    path.write_bytes(whole)
    assert checkpoint.load().array("x").tolist() == list(range(100))
    path.rename(tmp_path / "x")
    for target in (tmp_path / "x", "/dev/zero"):
        path.symlink_to(target)
        with pytest.raises(ValueError, match=r"x\.safetensors is damaged: .* is not a regular file"):
            checkpoint.load()
        path.unlink()
    with pytest.raises(ValueError, match=r"x\.safetensors is damaged: .*No such file"):
        checkpoint.load()


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "null", "{}", "[" * 100_000, '{"format": "gensim_hilbert checkpoint"}', "\ud800", *map(str, range(4))],
)
def test_a_damaged_manifest_is_one_sentence(text, tmp_path):
    checkpoint = Checkpoint(tmp_path, REQUEST)
    checkpoint.write(1, {"done": 12345}, [("x", np.arange(100))])
    path = tmp_path / "checkpoint.json"
    whole = json.loads(path.read_text())
    changes = {
        "0": path.read_text().replace("12345", "12346"),
        "1": crafted(whole | {"arrays": "../epoch-1"}),
        "2": crafted(whole | {"epochs": -1}),
        "3": crafted(whole | {"checksums": {"/dev/zero": 1}}),
    }
    path.write_bytes(changes.get(text, text).encode("utf-8", "surrogatepass"))
    with pytest.raises(ValueError, match=r"checkpoint\.json is damaged: .*; remove .* and train anew") as caught:
        checkpoint.load()
    assert "\n" not in str(caught.value)


def crafted(manifest):
    """A manifest whose checksum is right."""
    return json.dumps(manifest | {"crc32": manifest_checksum(manifest)})


@pytest.mark.parametrize("name", ["checkpoint.json", "epoch-3/x.safetensors", "epoch-3/y.safetensors", "epoch-3"])
@pytest.mark.parametrize("damage", ["flip", "truncate", "remove"])
def test_the_checkpoint_before_a_damaged_one_is_used(name, damage, tmp_path, caplog):
    checkpoint = Checkpoint(tmp_path, REQUEST)
    facts = {"history": []}
    for epochs in (1, 2, 3):
        facts["history"].append(epochs)  # What a solver tells of itself may change later.
        checkpoint.write(epochs, facts, [("x", np.full(5, epochs)), ("y", np.full(5, -epochs))])
    path = tmp_path / name
    if path.is_dir():
        shutil.rmtree(path)
    elif damage == "remove":
        path.unlink()
    else:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data if damage == "flip" else data[:-1])
    again = Checkpoint(tmp_path, REQUEST)
    saved = again.load()
    assert (saved.epochs, saved.facts, saved.array("x").tolist()) == (2, {"history": [1, 2]}, [2] * 5)
    (warning,) = caplog.records
    assert str(path) in warning.getMessage()
    assert "goes on from the checkpoint before it, after epoch 2" in warning.getMessage()
    again.write(3, facts, [("x", np.full(5, 3))])
    assert Checkpoint(tmp_path, REQUEST).load().epochs == 3
    shutil.rmtree(tmp_path / "epoch-3")
    assert Checkpoint(tmp_path, REQUEST).load().epochs == 2


def test_the_checkpoint_before_is_not_used_for_another_training(tmp_path):
    checkpoint = Checkpoint(tmp_path, REQUEST)
    for epochs in (1, 2):
        checkpoint.write(epochs, {}, [])
    (tmp_path / "checkpoint.json").write_text("{")
    with pytest.raises(ValueError, match="holds a checkpoint of another training"):
        Checkpoint(tmp_path, REQUEST | {"counts": "other"}).load()


@pytest.mark.parametrize("solver", ["factorization", "gibbs"])
def test_training_goes_on_from_the_checkpoint_before(solver, some_news, tmp_path, caplog):
    options = {**SMALL_OPTIONS, "epochs": 4, "solver": solver}
    expected = HilbertMLE(some_news, **options)
    with pytest.raises(Stop):
        HilbertMLE(some_news, **options, checkpoint=tmp_path, callbacks=[StopAfter(3)])
    path = tmp_path / "training-1" / "epoch-3" / ("v-0.safetensors" if solver == "factorization" else "v.safetensors")
    data = bytearray(path.read_bytes())
    data[-5] ^= 4
    path.write_bytes(data)
    assert_same_vectors(HilbertMLE(some_news, **options, checkpoint=tmp_path), expected)
    warnings = [record.getMessage() for record in caplog.records if "is damaged" in record.getMessage()]
    assert len(warnings) == 1
    assert str(path) in warnings[0]


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

    def stand_in(self, shard, rate, row):
        passes, place = divmod(min(step, self.steps // 4), self.n**2)
        order = self.shards.latin(offsets_of_pass(self.n, self.seed, passes))
        if self.scale == 1 and row // self.n == passes and order[place] == (shard.i, shard.j):
            raise Diverged
        return learn(self, shard, rate, row)

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

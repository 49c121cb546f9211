"""A training session: epochs, callbacks, history, checkpoints."""

import json

import numpy as np
import pytest
from helpers import NEWS_OPTIONS, STREAM_OPTIONS, Recorder, Stop, StopAfter, assert_same_vectors, full_training

from gensim_hilbert import HilbertMLE
from gensim_hilbert.tensors import write_tensors
from gensim_hilbert.training.checkpoint import Checkpoint, checksum, manifest_checksum
from gensim_hilbert.training.fit import Fitted
from gensim_hilbert.training.session import Session, Watcher

pytestmark = pytest.mark.usefixtures("short_training")
SENTENCES = [[f"w{k % 7}", f"w{k % 5}", f"w{k % 3}"] for k in range(300)]
OPTIONS = {"vector_size": 4, "min_count": 1, "workers": 1}


@pytest.mark.parametrize("solver", ["factorization", "gibbs"])
def test_a_script_with_two_trainings_goes_on_in_either(solver, tmp_path):
    def script(first=(), second=(), **options):
        model = HilbertMLE(SENTENCES, **OPTIONS, solver=solver, callbacks=first, **options)
        model.train(SENTENCES[:100], total_examples=100, epochs=3, callbacks=second)
        return model

    expected = script()
    for interruption in ({"first": [StopAfter(2)]}, {"second": [StopAfter(1)]}):
        with pytest.raises(Stop):
            script(**interruption, checkpoint=tmp_path)
    model = script(checkpoint=tmp_path)
    assert_same_vectors(model, expected)
    assert model.training_history == expected.training_history
    assert {record["training"] for record in model.training_history} == {1, 2}


def test_other_settings_and_other_texts_are_refused(tmp_path):
    HilbertMLE(SENTENCES, **OPTIONS, checkpoint=tmp_path)
    with pytest.raises(ValueError, match=r"objective was .*temperature=1\.1, .*is now .*temperature=2, "):
        HilbertMLE(SENTENCES, **OPTIONS, checkpoint=tmp_path, temperature=2)
    with pytest.raises(ValueError, match="it differs in its vocabulary"):
        HilbertMLE(SENTENCES[:200], **OPTIONS, checkpoint=tmp_path)
    again = HilbertMLE(SENTENCES, **{**OPTIONS, "workers": 2}, checkpoint=tmp_path)
    assert again.train_count == 1


def test_counts_of_another_text_are_refused(tmp_path):
    text = tmp_path / "text.txt"
    for sentences in (SENTENCES, SENTENCES[:200]):
        text.write_text("\n".join(" ".join(sentence) for sentence in sentences))
        if sentences is SENTENCES:
            HilbertMLE(corpus_file=str(text), **OPTIONS, checkpoint=tmp_path / "checkpoint")
    with pytest.raises(ValueError, match="holds the counts of another training"):
        HilbertMLE(corpus_file=str(text), **OPTIONS, checkpoint=tmp_path / "checkpoint")


def test_a_saved_model_does_not_remember_its_checkpoint(tmp_path):
    model = HilbertMLE(SENTENCES, **OPTIONS, checkpoint=tmp_path / "checkpoint")
    model.save(str(tmp_path / "model"))
    assert HilbertMLE.load(str(tmp_path / "model")).checkpoint is None
    assert model.checkpoint is not None


@pytest.mark.parametrize("epochs", [2, 60])
def test_the_number_of_epochs_does_not_change_the_result(news, news_model, epochs):
    recorder = Recorder()
    with full_training():
        other = HilbertMLE(news, **NEWS_OPTIONS, epochs=epochs, compute_loss=True, callbacks=[recorder])
    assert recorder.events == ["train begins"] + ["epoch begins", "epoch ends"] * epochs + ["train ends"]
    assert recorder.losses[-1] < recorder.losses[0]
    assert np.array_equal(recorder.vectors[-1], other.wv.vectors)
    np.testing.assert_array_equal(other.wv.vectors, news_model.wv.vectors)


def test_the_history_has_one_record_per_pass_and_is_saved(news_model, tmp_path):
    history = news_model.training_history
    assert [record["passes"] for record in history] == list(range(1, len(history) + 1))
    assert history[-1]["loss"] < 0.95 * history[0]["loss"]
    assert history[-1]["unitarity"] == pytest.approx(1, abs=0.15)
    news_model.save(str(tmp_path / "m"))
    assert HilbertMLE.load(str(tmp_path / "m")).training_history == history
    news_model = HilbertMLE.load(str(tmp_path / "m"))
    news_model.init_weights()
    assert news_model.training_history == []


def test_progress_is_logged_as_often_as_asked(news, caplog):
    caplog.set_level("INFO", logger="gensim_hilbert")
    model = HilbertMLE(vector_size=10, min_count=20)
    model.build_vocab(news)

    def lines(report_delay: float) -> list[str]:
        caplog.clear()
        model.train(news, total_examples=len(news), epochs=2, report_delay=report_delay)
        return [message for message in caplog.messages if message.startswith("PROGRESS")]

    often = lines(0)
    assert len(often) >= 20
    assert often[0] == "PROGRESS: start, 1 of 4 rows of shards"
    assert all(word in often[4] for word in ("pass 1.00 of", "loss", "sum p^", "gradient"))
    assert not lines(1000)


def test_callbacks_see_every_epoch_of_the_stream(news):
    recorder = Recorder()
    model = HilbertMLE(news, **STREAM_OPTIONS, epochs=4, compute_loss=True, callbacks=[recorder])
    assert recorder.events == ["train begins"] + ["epoch begins", "epoch ends"] * 4 + ["train ends"]
    assert recorder.losses == sorted(recorder.losses, reverse=True)
    assert len({vector.tobytes() for vector in recorder.vectors}) == 4
    assert model.train_count == 1


def test_the_history_of_the_stream_is_even_and_bounded(news, stream_model):
    history = stream_model.training_history
    words = [record["words"] for record in history]
    assert words == sorted(words)
    assert words[-1] == 20 * sum(map(len, news))
    assert 20 <= len(history) <= 128 + 20
    assert history[-1]["loss"] < history[0]["loss"]
    assert history[-1]["rate"] == pytest.approx(stream_model.min_alpha)


@pytest.mark.parametrize(("guess", "most"), [(1, 128 * 4 + 20), (10**12, 20)])
def test_a_wrong_guess_of_the_words_leaves_the_history_bounded(news, guess, most):
    model = HilbertMLE(**STREAM_OPTIONS)
    model.build_vocab(news)
    model.train(news, total_words=guess, epochs=20)
    words = [record["words"] for record in model.training_history]
    assert 20 <= len(words) <= most
    assert words[-1] == 20 * sum(map(len, news)), "the end of each epoch is there"


class Steps:
    """A solver that counts."""

    def __init__(self, saved=None, fails_in=None, sound=True, turns=False):
        self.done = int(saved.array("done")[0]) if saved else 0
        self.fails_in, self.is_sound_then, self.turns = fails_in, sound, turns
        self.is_sound, self.closed, self.results = True, 0, 0

    def run_epoch(self, number):
        if number == self.fails_in:
            self.is_sound = self.is_sound_then
            raise ArithmeticError("diverged")
        assert number == self.done
        self.done += 1

    def loss(self):
        return -float(self.done)

    def result(self):
        self.results += 1
        return Fitted(np.array([self.done]), np.array([self.done]))

    def state(self):
        return {}, [("done", np.array([self.done]))]

    def finish(self):
        return self.turns

    def close(self):
        self.closed += 1


def run(epochs=3, watcher=None, checkpoint=None, **options):
    session = Session(
        lambda saved: Steps(saved, **options), epochs, watcher=watcher, checkpoint=checkpoint, compute_loss=True
    )
    try:
        session.run()
    except ArithmeticError:
        session.failed = True
    assert session.solver.closed == 1
    return session


def test_without_a_watcher_there_is_one_result():
    session = run(epochs=100)
    assert session.solver.results == 1
    assert (session.fitted.covectors[0], session.final_loss) == (100, -100)


@pytest.mark.parametrize("turns", [False, True])
def test_a_watcher_sees_each_epoch(turns):
    events = []
    watcher = Watcher(lambda: events.append("begin"), lambda fitted, loss: events.append((fitted.covectors[0], loss)))
    session = run(watcher=watcher, turns=turns)
    assert events == ["begin", (1, -1), "begin", (2, -2), "begin", (3, -3)]
    assert session.solver.results == 3 + turns, "the last one is made again only if it changes"


def test_a_checkpoint_is_gone_on_with(tmp_path):
    request = {"settings": {}}
    assert run(checkpoint=Checkpoint(tmp_path, request), fails_in=2).failed
    session = run(checkpoint=Checkpoint(tmp_path, request))
    assert (session.epochs_before, session.fitted.covectors[0]) == (2, 3)
    session = run(checkpoint=Checkpoint(tmp_path, request))
    assert (session.epochs_before, session.fitted.covectors[0]) == (3, 3), "nothing is left to do but the result"
    assert session.epochs_done == 3


def test_what_was_learnt_before_an_error_is_kept_if_it_can_be_used():
    assert run(fails_in=1).fitted.covectors[0] == 1
    assert run(fails_in=1, sound=False).fitted is None


def test_a_watcher_that_stops_before_the_first_epoch_leaves_nothing():
    def stop():
        raise ArithmeticError

    assert run(watcher=Watcher(stop, None)).fitted is None


@pytest.mark.parametrize("solver", ["factorization", "gibbs"])
def test_arrays_of_another_shape_are_one_sentence(solver, tmp_path):
    """Also if all checksums are right: somebody has crafted the checkpoint."""
    with pytest.raises(Stop):
        HilbertMLE(SENTENCES, **OPTIONS, solver=solver, callbacks=[StopAfter(1)], checkpoint=tmp_path)
    folder = tmp_path / "training-1"
    manifest = json.loads((folder / "checkpoint.json").read_text())
    for name in ("w-0", "v-0") if solver == "factorization" else ("w", "v"):
        array = np.zeros((3, 5), dtype=np.float32)
        with open(folder / manifest["arrays"] / f"{name}.safetensors", "wb") as file:
            write_tensors(file, {name: array})
        manifest["checksums"][name] = checksum(array)
    del manifest["crc32"]
    manifest["crc32"] = manifest_checksum(manifest)
    (folder / "checkpoint.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match="does not hold the state of this training"):
        HilbertMLE(SENTENCES, **OPTIONS, solver=solver, checkpoint=tmp_path)

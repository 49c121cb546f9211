"""A session runs what is left of a training, and makes results where somebody needs them."""

import numpy as np
import pytest

from gensim_hilbert.training.checkpoint import Checkpoint
from gensim_hilbert.training.fit import Fitted
from gensim_hilbert.training.session import Session, Watcher


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
    assert (session.epochs_done, session.fitted.covectors[0]) == (2, 3)
    session = run(checkpoint=Checkpoint(tmp_path, request))
    assert (session.epochs_done, session.fitted.covectors[0]) == (3, 3), "nothing is left to do but the result"


def test_what_was_learnt_before_an_error_is_kept_if_it_can_be_used():
    assert run(fails_in=1).fitted.covectors[0] == 1
    assert run(fails_in=1, sound=False).fitted is None


def test_a_watcher_that_stops_before_the_first_epoch_leaves_nothing():
    def stop():
        raise ArithmeticError

    assert run(watcher=Watcher(stop, None)).fitted is None

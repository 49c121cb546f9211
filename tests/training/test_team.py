"""Several shards at a time: in order where it matters, at once where it does not, and nothing left behind."""

import gc
import threading
import time

import numpy as np
import pytest
import torch
from ngrams import vectors_of
from tables import store

from gensim_hilbert.objectives import LDS, SGNS, GloVe, Hilbert
from gensim_hilbert.training import factorization
from gensim_hilbert.training.device import threads
from gensim_hilbert.training.factorization import Factorization
from gensim_hilbert.training.shards import Shards
from gensim_hilbert.training.team import Team

N = 4


@pytest.fixture(scope="module")
def counts():
    table = np.random.default_rng(0).poisson(0.8, size=(90, 90)) + np.eye(90, dtype=int)
    return store(table)


@pytest.fixture
def shards(counts):
    return Shards(Hilbert().bind(counts), N, torch.device("cpu"), memory_gb=1)


@pytest.fixture
def four_threads():
    with threads(4):
        yield


@pytest.mark.usefixtures("four_threads")
def test_results_come_in_order_and_take_other_arguments(shards):
    order = shards.latin()
    assert sorted(order) == [(i, j) for i in range(N) for j in range(N)]

    def tell(shard, number):
        time.sleep(0.001 * (number % 3))
        return shard.i, shard.j, number

    with Team(shards) as team:
        assert list(team.map(tell, order, range(N * N))) == [(*key, k) for k, key in enumerate(order)]
        assert list(team.map(tell, [(1, 2)], [7])) == [(1, 2, 7)]
        assert list(team.map(tell, [], [])) == []
        assert list(team.each(lambda k: k + 1, range(3))) == [1, 2, 3]


@pytest.mark.usefixtures("four_threads")
def test_full_collections_of_garbage_leave_out_what_was_there_before(shards):
    assert not gc.get_freeze_count()
    with Team(shards):
        assert gc.get_freeze_count() > 1000
        with Team(shards):
            pass
        assert gc.get_freeze_count() > 1000  # The inner team has left it to the outer one.
    assert not gc.get_freeze_count()


@pytest.mark.usefixtures("four_threads")
def test_links_of_a_chain_are_done_in_their_order_and_chains_at_once(shards):
    done, meeting = [[] for _ in range(N)], threading.Barrier(N)

    def link(k, item):
        if item == 0:
            meeting.wait(10)  # All chains are begun at the same time.
        time.sleep(0.001 * ((k + item) % 3))
        done[k].append(item)
        return k, item

    links = [(k, item) for item in range(6) for k in range(N)]
    with Team(shards) as team:
        assert list(team.chains(link, links)) == links
    assert done == [list(range(6))] * N


@pytest.mark.usefixtures("four_threads")
def test_shards_that_share_rows_or_columns_run_in_turn_and_others_at_once(shards):
    log, lock, meeting = [], threading.Lock(), threading.Barrier(N)

    def visit(shard):
        with lock:
            log.append(("from", shard.i, shard.j))
        if shard.i == shard.j:
            meeting.wait(timeout=30)  # the first four share nothing: all are here at the same time
        time.sleep(0.002)
        with lock:
            log.append(("to", shard.i, shard.j))

    order = [*shards.latin(), *((0, j) for j in range(1, N)), *((i, 1) for i in range(2, N))]
    with Team(shards) as team:
        list(team.map(visit, order))
    under_way = set()
    for what, i, j in log:
        if what == "to":
            under_way.remove((i, j))
            continue
        assert not any(i == other[0] or j == other[1] for other in under_way)
        under_way.add((i, j))
    for side in (1, 2):
        for block in range(N):
            begun = [entry[1:] for entry in log if entry[0] == "from" and entry[side] == block]
            assert begun == [key for key in order if key[side - 1] == block]


def test_threads_that_wait_for_each_other_are_woken_while_results_are_looked_at(shards):
    """Each shard waits for the one before it, and nobody waits for a whole row in the meantime."""
    results = []

    def consume():
        with threads(2), Team(shards) as team:
            for result in team.map(lambda shard: (time.sleep(0.002), shard.j)[1], [(0, k % N) for k in range(4 * N)]):
                time.sleep(0.02)
                results.append(result)

    consumer = threading.Thread(target=consume, daemon=True)
    consumer.start()
    consumer.join(timeout=30)
    assert results == [k % N for k in range(4 * N)]


@pytest.mark.usefixtures("four_threads")
def test_after_an_error_nothing_is_under_way_and_torch_is_as_it_was(shards):
    running, done = [], []

    def fail(shard):
        if (shard.i, shard.j) == (1, 1):
            raise ZeroDivisionError("somewhere")
        running.append(shard)
        time.sleep(0.02)
        done.append(shard)

    with Team(shards) as team:
        assert torch.get_num_threads() == 1
        with pytest.raises(ZeroDivisionError, match="somewhere"):
            list(team.map(fail, shards.latin()))
        assert len(running) == len(done) < N * N - 1
        assert list(team.map(lambda shard: shard.i, [(0, 0), (1, 1)])) == [0, 1]
    assert torch.get_num_threads() == 4
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("gensim_hilbert shards")]


@pytest.mark.usefixtures("four_threads")
def test_large_shards_are_worked_on_one_by_one_with_all_threads(shards):
    with Team(shards, several=False) as team:
        assert list(team.map(lambda shard: torch.get_num_threads(), shards.latin())) == [4] * N * N


@pytest.mark.usefixtures("four_threads")
def test_only_large_shards_that_are_dense_are_worked_on_one_by_one(counts, monkeypatch):
    for background, large, several in (("dense", 2048, True), ("dense", 5, False), ("sampled", 5, True)):
        monkeypatch.setattr(factorization, "LARGE_SHARD", large)
        fit = Factorization(Hilbert().bind(counts), 6, n=N, passes=1, background=background, columns=8)
        seen = []
        monkeypatch.setattr(Factorization, "_learn", watched(Factorization._learn, seen), raising=True)
        fit.run(fit.steps)
        monkeypatch.undo()
        assert set(seen) == {1 if several else 4}


def watched(call, seen):
    """The same function, which remembers how many threads torch may use in it."""

    def stand_in(*arguments):
        seen.append(torch.get_num_threads())
        return call(*arguments)

    return stand_in


WORDS = [f"{stem}{ending}" for stem in ("walk", "jump", "climb", "think", "dream") for ending in ("ing", "er", "s")]


@pytest.mark.parametrize("memory_gb", [0, 1])
@pytest.mark.parametrize("background", ["dense", "sampled"])
@pytest.mark.parametrize("objective", [Hilbert(), SGNS(), GloVe(), LDS(), "subwords"], ids=repr)
def test_the_same_bits_for_any_number_of_threads(counts, objective, background, memory_gb):
    options = {"n": N, "passes": 5, "memory_gb": memory_gb, "tolerance": 0, "background": background, "columns": 8}
    if objective == "subwords":
        objective, words = Hilbert(), [f"{word}{k}" for word in WORDS for k in range(6)]
        options["composition"] = vectors_of(words).composition
    fits = []
    for number in (1, 2, 3, 8):
        with threads(number):
            fit = Factorization(objective.bind(counts), 6, **options)
            fit.run(37)
            fit.run(fit.steps)
            fits.append((*fit.result()[:2], fit.history, fit.evaluate()))
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit[0], fits[0][0])
        np.testing.assert_array_equal(fit[1], fits[0][1])
        assert repr(fit[2:]) == repr(fits[0][2:])  # also where there are NaNs


def test_training_within_inference_mode(counts):
    """Each thread has a mode of its own, and tensors made in that mode cannot be changed out of it."""
    with threads(2):
        outside = Factorization(Hilbert().bind(counts), 6, n=N, passes=2)
        outside.run(outside.steps)
        with torch.inference_mode():
            inside = Factorization(Hilbert().bind(counts), 6, n=N, passes=2)
            inside.run(inside.steps)
            np.testing.assert_array_equal(inside.result()[1], outside.result()[1])

"""Sorted runs and whole stores are added up exactly."""

import numpy as np
import pytest
from helpers import weights_of
from texts import zipf_text

from gensim_hilbert import PairCounts, Vocabulary
from gensim_hilbert.counting import plan
from gensim_hilbert.counting.layout import classes_for
from gensim_hilbert.counting.merge import reduce_runs, write_class
from gensim_hilbert.counting.runs import write_triples

SIZE, RUNS, FAN_IN = 5, 40, 4


@pytest.mark.parametrize("stop_after", range(1, 11))
def test_merging_in_stages_goes_on_where_it_was_stopped(stop_after, tmp_path):
    runs = {}
    for k in range(RUNS):
        run = write_triples(np.array([1]), np.array([k % SIZE]), np.array([1]), SIZE, 1, tmp_path / f"{k}.run")
        runs[run.path.name] = run

    def reduce(stop: int) -> list:
        noted = 0

        def note(parts, result):
            nonlocal noted
            for part in parts:
                del runs[part.path.name]
            runs[result.path.name] = result
            noted += 1
            if noted == stop:
                raise InterruptedError

        return reduce_runs(
            list(runs.values()), SIZE, 1, tmp_path, fan_in=FAN_IN, workers=1, executor=None, journal=note
        )

    with pytest.raises(InterruptedError):
        reduce(stop_after)
    final = reduce(0)
    assert len(final) <= FAN_IN
    (tmp_path / "shards").mkdir()
    _, result = write_class(0, final, SIZE, 1, False, str(tmp_path))
    assert result.contexts.tolist() == [0, RUNS, 0, 0, 0]
    assert result.terms.tolist() == [RUNS // SIZE] * SIZE


def test_many_runs_are_merged_in_stages(counts, corpus, monkeypatch):
    monkeypatch.setattr(plan, "MOST_IDS", 500)
    monkeypatch.setattr(plan, "LEAST_IDS", 400)
    make = plan.Plan.make
    monkeypatch.setattr(plan.Plan, "make", lambda *a: plan.Plan(2, 500, make(*a).share, fan_in=3))
    window = (len(counts.window.left), len(counts.window.right))
    small = PairCounts.from_corpus(corpus, window=window, min_count=1)
    assert small.fingerprint == counts.fingerprint


def test_stores_add_up(counts, corpus, tmp_path):
    text = corpus.read_bytes()
    middle = text.index(b"\n", len(text) // 2) + 1
    parts = []
    for k, part in enumerate((text[:middle], text[middle:])):
        (tmp_path / f"{k}.txt").write_bytes(part)
        window = (len(counts.window.left), len(counts.window.right))
        parts.append(PairCounts.from_corpus(tmp_path / f"{k}.txt", vocabulary=counts.vocabulary, window=window))
    both = parts[0] + parts[1]
    assert (both.to_scipy() != counts.to_scipy()).nnz == 0
    assert both.total == counts.total
    tripled = PairCounts.merge([counts, counts, counts], directory=tmp_path / "tripled")
    assert abs(tripled.to_scipy() - 3 * counts.to_scipy()).max() < 1e-9
    other = PairCounts.from_corpus(corpus, vocabulary=counts.vocabulary, window=7)
    with pytest.raises(ValueError, match="window"):
        counts + other
    with pytest.raises(ValueError, match="vocabulary"):
        counts + PairCounts.from_corpus(corpus, max_final_vocab=100, sorted_vocab=False)
    with pytest.raises(TypeError):
        counts + 1


def test_a_store_over_the_first_words_adds_up_with_one_over_more():
    sentences = [line.split() for line in zipf_text(20_000, 2500).decode().splitlines()]
    everything = Vocabulary.from_corpus(sentences, min_count=1)
    first = Vocabulary(everything.words[:700], everything.counts[:700])
    assert classes_for(len(first)) < classes_for(len(everything))
    small, large = (PairCounts.from_corpus(sentences, vocabulary=words) for words in (first, everything))
    both = (small + large).to_scipy().toarray()
    expected = large.to_scipy().toarray()
    expected[:700, :700] += small.to_scipy().toarray()
    np.testing.assert_allclose(both, expected)


def test_stores_add_up_past_32_bits(tmp_path):
    counts = PairCounts.from_scipy(np.array([[0, 2**31], [2**31 + 1, 5]]), ["a", "b"])
    total = PairCounts.merge([counts] * 5, directory=tmp_path / "sum")
    assert weights_of(total) == {("a", "b"): 5 * 2**31, ("b", "a"): 5 * (2**31 + 1), ("b", "b"): 25}

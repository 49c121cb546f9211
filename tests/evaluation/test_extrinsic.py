"""Scores of networks trained on vectors, kept in a cache."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from gensim.models import KeyedVectors
from tagged_texts import SETTINGS, WORDS, tagged_sentences

from gensim_hilbert.evaluation import compare_extrinsic, extrinsic
from gensim_hilbert.evaluation.examples import split
from gensim_hilbert.evaluation.extrinsic import ExtrinsicScore, micro_f, prepare, score_jobs


def test_finished_scores_are_not_computed_again(ten_vectors, tmp_path, monkeypatch):
    done = []

    def run(job, seed):
        if seed == 3 and len(done) == 2:
            raise KeyboardInterrupt
        done.append(seed)
        return seed / 10

    monkeypatch.setattr(extrinsic, "run", run)
    data = split(tagged_sentences(50, 1))
    job = prepare("s", ten_vectors, data, SETTINGS, tags=True)
    with pytest.raises(KeyboardInterrupt):
        score_jobs([job], 4, 1, tmp_path, 1)
    assert done == [1, 2]
    done.append("again")
    (score,) = score_jobs([job], 4, 1, tmp_path, 1)
    assert done == [1, 2, "again", 3, 4]
    assert score.runs == (0.1, 0.2, 0.3, 0.4)
    other = KeyedVectors(12)
    other.add_vectors(WORDS, ten_vectors.vectors + np.float32(1e-6))
    keys = {job.key(1), job.key(2)}
    for changed in (
        prepare("s", other, data, SETTINGS, tags=True),
        prepare("s", ten_vectors, data, replace(SETTINGS, epochs=13), tags=True),
        prepare("s", ten_vectors, split(tagged_sentences(50, 2)), SETTINGS, tags=True),
    ):
        assert changed.key(1) not in keys
        keys.add(changed.key(1))
    assert prepare("another name", ten_vectors, data, SETTINGS, tags=True).key(1) == job.key(1)


def test_a_damaged_score_is_named(ten_vectors, tmp_path):
    job = prepare("s", ten_vectors, split(tagged_sentences(50, 1)), SETTINGS, tags=True)
    (tmp_path / f"{job.key(1)}.json").write_text("{")
    with pytest.raises(ValueError, match=r"is damaged .*: remove it"):
        score_jobs([job], 1, 1, tmp_path, 1)


def test_wrong_numbers(tmp_path):
    with pytest.raises(ValueError, match="seeds must be a positive number of runs, got 0"):
        score_jobs([], 0, 1, tmp_path, 1)


@pytest.mark.slow
def test_processes_change_nothing(ten_vectors, tmp_path):
    job = prepare("s", ten_vectors, split(tagged_sentences(100, 1)), replace(SETTINGS, epochs=2), tags=True)
    one, two = (score_jobs([job], 3, 1, tmp_path / str(workers), workers)[0] for workers in (1, 2))
    assert one.runs == pytest.approx(two.runs, abs=1e-3)


def test_f_score_is_scikit_learns():
    peer = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    random = np.random.default_rng(1)
    gold, guessed = random.integers(4, size=(2, 300))
    assert micro_f(gold, guessed, None) == pytest.approx(peer.accuracy_score(gold, guessed))
    assert micro_f(gold, guessed, 0) == pytest.approx(peer.f1_score(gold, guessed, labels=[1, 2, 3], average="micro"))


def test_a_quick_look_does_not_depend_on_the_scale_of_vectors(ten_vectors):
    longer = KeyedVectors(12)
    longer.add_vectors(WORDS, 100 * ten_vectors.vectors)
    data, quick = split(tagged_sentences(50, 1)), replace(SETTINGS, scaled=True)
    one, other = (prepare("s", v, data, quick, tags=True).matrix for v in (ten_vectors, longer))
    assert np.allclose(one, other, rtol=1e-4)
    assert np.square(one).mean() == pytest.approx(1, rel=1e-4)
    as_is = prepare("s", longer, data, SETTINGS, tags=True).matrix
    assert np.square(as_is).mean() > 100


def test_seeds_are_compared_by_welchs_test():
    from scipy.stats import ttest_ind

    def score(*runs):
        return ExtrinsicScore("s", "accuracy", np.mean(runs), np.std(runs, ddof=1), runs, 1, (1, 1, 1))

    first, second = (0.9, 0.91, 0.92), (0.85, 0.9, 0.86, 0.87)
    found = compare_extrinsic(score(*first), score(*second))
    assert found.p == pytest.approx(ttest_ind(first, second, equal_var=False).pvalue)
    assert found.value == pytest.approx(0.04)
    assert compare_extrinsic(ExtrinsicScore("s", "accuracy", 0.5, np.nan, (0.5,), 1, (1, 1, 1)), score(*first)) is None

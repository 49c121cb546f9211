"""Learning from counts: plain values in, what was learnt out, also if it is interrupted."""

import numpy as np
import pytest

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.objectives import PPMI, Hilbert
from gensim_hilbert.training.factorization import Factorization
from gensim_hilbert.training.from_counts import FromCounts, make_fit
from gensim_hilbert.training.truncated_svd import TruncatedSVD

OPTIONS = {"epochs": 4, "vector_size": 5, "alpha": 0.025, "min_alpha": 0.0001}


@pytest.fixture(scope="module")
def counts(news):
    return PairCounts.from_corpus(news[:100], min_count=5)


def test_the_objective_decides_how_it_is_fitted(counts):
    assert isinstance(make_fit(Hilbert().bind(counts), 5), Factorization)
    assert isinstance(make_fit(PPMI().bind(counts), 5), TruncatedSVD)


def test_it_needs_no_model(counts, news):
    solver = FromCounts(counts, Hilbert(), **OPTIONS)
    for epoch in range(4):
        solver.run_epoch(epoch)
    solver.close()
    fitted = solver.result()
    model = HilbertMLE.from_counts(counts, vector_size=5, epochs=4)
    np.testing.assert_array_equal(fitted.covectors, model.syn1neg)
    np.testing.assert_array_equal(fitted.parameters, model.wv.vectors)
    assert [{"training": 1, **record} for record in fitted.history] == model.training_history


@pytest.mark.parametrize(("error", "sound"), [(KeyboardInterrupt, True), (MemoryError, False)])
def test_only_after_ctrl_c_vectors_can_be_used(counts, error, sound, monkeypatch):
    solver = FromCounts(counts, Hilbert(), **OPTIONS)
    solver.run_epoch(0)

    def fail(report):
        raise error

    monkeypatch.setattr(solver, "_show", fail)
    with pytest.raises(error):
        solver.run_epoch(1)
    solver.close()
    assert solver.is_sound is sound


def test_a_model_whose_training_is_interrupted_has_what_it_learnt_by_then(counts, monkeypatch):
    model = HilbertMLE.from_counts(counts, vector_size=5)
    whole = model.syn1neg @ model.wv.vectors.T
    show = FromCounts._show

    def interrupt(self, report):
        show(self, report)
        if report.passes >= 60:
            raise KeyboardInterrupt

    monkeypatch.setattr(FromCounts, "_show", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model._train_on_counts(5, ())
    psi = model.syn1neg @ model.wv.vectors.T
    assert not np.array_equal(psi, whole)
    assert np.corrcoef(psi.ravel(), whole.ravel())[0, 1] > 0.8, "it is on its way to that of a whole training"
    assert max(record["passes"] for record in model.training_history if record["training"] == 2) <= 60

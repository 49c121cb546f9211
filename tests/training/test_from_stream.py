"""Learning from the stream: what a callback sees after an epoch is a model that can be asked."""

import numpy as np
import pytest
from helpers import Recorder

from gensim_hilbert import HilbertMLE
from gensim_hilbert.training.gibbs import log_partition


@pytest.mark.parametrize("subwords", [False, True])
def test_after_each_epoch_pmi_has_its_constant(news, subwords):
    offsets = []

    class Watch(Recorder):
        def on_epoch_end(self, model):
            super().on_epoch_end(model)
            counts = model.wv.expandos["count"].astype(float)
            offsets.append((model.psi_offset, log_partition(model.syn1neg, model.wv.vectors, counts)))

    options = {"vector_size": 10, "min_count": 10, "epochs": 3, "workers": 1, "sample": 0, "solver": "gibbs"}
    if subwords:
        options |= {"subwords": True, "bucket": 1000}
    HilbertMLE(news[:100], **options, callbacks=[Watch()])
    found, expected = np.array(offsets).T
    assert found == pytest.approx(expected, abs=1e-6)
    assert len(set(found)) == 3

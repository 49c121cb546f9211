"""What parts of reports are tested with."""

import numpy as np
import pytest

from gensim_hilbert.report.words import unit_rows


@pytest.fixture(scope="session")
def groups():
    """Six groups of thirty directions."""
    random = np.random.default_rng(0)
    middles = np.linalg.qr(random.normal(size=(20, 6)))[0].T
    return unit_rows(np.repeat(middles, 30, axis=0) + 0.1 * random.normal(size=(180, 20)))

"""What exports are tested with."""

import pytest
from consumers import LIBRARIES
from gensim.test.utils import common_texts

from gensim_hilbert import HilbertMLE
from gensim_hilbert.export import FORMATS


@pytest.fixture(params=FORMATS)
def format(request):
    """Each format whose library is installed."""
    if request.param in LIBRARIES:
        pytest.importorskip(LIBRARIES[request.param])
    return request.param


@pytest.fixture(scope="session")
def tiny_model():
    """A model of a few words."""
    return HilbertMLE(common_texts * 5, vector_size=4, min_count=1, seed=1)

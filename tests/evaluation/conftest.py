"""Vectors and data that evaluation is tested with."""

from __future__ import annotations

import numpy as np
import pytest
from embeddings import planted
from gensim.models import KeyedVectors
from helpers import keyed
from tagged_texts import WORDS


@pytest.fixture(autouse=True)
def no_folder_of_data(monkeypatch):
    """Only the data sets that come with Gensim are found."""
    monkeypatch.delenv("GENSIM_HILBERT_DATA", raising=False)


@pytest.fixture(scope="session")
def vectors() -> KeyedVectors:
    """Vectors that answer many of Google's analogies."""
    return planted(0.5)


@pytest.fixture(scope="session")
def ten_vectors() -> KeyedVectors:
    """Vectors of ten words that tagged texts are made of."""
    return keyed(WORDS, np.random.default_rng(0).normal(size=(10, 12)))

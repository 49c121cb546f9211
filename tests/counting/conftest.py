""""""

import pytest
from texts import zipf_text

from gensim_hilbert import PairCounts

WORDS = 3000  # four classes


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    path.write_bytes(zipf_text(60_000, WORDS))
    return path


@pytest.fixture(scope="module", params=[3, (3, 1)], ids=["symmetric", "asymmetric"])
def counts(request, corpus, tmp_path_factory):
    directory = tmp_path_factory.mktemp("store") / "counts"
    return PairCounts.from_corpus(corpus, window=request.param, min_count=1, directory=directory)

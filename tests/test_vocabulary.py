"""The vocabulary follows gensim's rules without loading gensim."""

import subprocess
import sys

import numpy as np
import pytest
from gensim.models import KeyedVectors
from gensim.test.utils import datapath

from gensim_hilbert.vocabulary import sort_words


@pytest.mark.parametrize("distinct", [1, 3, 1000])
def test_words_are_ordered_as_gensim_orders_them(distinct):
    counts = np.random.default_rng(distinct).integers(1, distinct + 1, size=500)
    words = [f"word{k}" for k in range(len(counts))]
    keyed = KeyedVectors(vector_size=0)
    keyed.index_to_key = list(words)
    keyed.expandos["count"] = counts.copy()
    keyed.sort_by_descending_frequency()
    ordered, sorted_counts = sort_words(words, counts)
    assert ordered == keyed.index_to_key
    assert sorted_counts.tolist() == keyed.expandos["count"].tolist()


LOADED = "import sys; print(sorted({'gensim', 'torch'} & sys.modules.keys()))"


@pytest.mark.parametrize(
    "script",
    [
        "import gensim_hilbert",
        "from gensim_hilbert import PairCounts; counts = PairCounts.from_corpus({corpus!r}); counts + counts",
        "from gensim_hilbert import Vocabulary; Vocabulary.from_corpus({corpus!r}, max_vocab_size=500)",
        "import sys; sys.argv[1:] = ['count', {corpus!r}, '-o', {target!r}]\n"
        "from gensim_hilbert.cli import cli; cli(standalone_mode=False)",
        "import sys; sys.argv[1:] = ['--help']\nfrom gensim_hilbert.cli import cli; cli(standalone_mode=False)",
    ],
)
def test_counting_loads_neither_gensim_nor_torch(script, tmp_path):
    """They take seconds to load."""
    script = script.format(corpus=datapath("lee_background.cor"), target=str(tmp_path / "counts"))
    done = subprocess.run([sys.executable, "-c", f"{script}\n{LOADED}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"

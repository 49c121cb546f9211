"""Hilbert-MLE word embeddings for Gensim: exact pair counts, and vectors and covectors whose products are the PMI."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gensim_hilbert import upper_layers

if TYPE_CHECKING:
    from gensim_hilbert.corpus.words import Words
    from gensim_hilbert.counting.pair_counts import PairCounts
    from gensim_hilbert.model import HilbertMLE
    from gensim_hilbert.phrases.table import Phrases
    from gensim_hilbert.vocabulary import Vocabulary

__all__ = ["HilbertMLE", "PairCounts", "Phrases", "Vocabulary", "Words"]
__version__ = "0.1.0"

for compiled in ("_counting", "_merge", "_phrases", "_tokens"):
    if find_spec(f"{__name__}.{compiled}") is None:
        raise ImportError(
            f"gensim_hilbert is not compiled here ({compiled} is missing): run `pip install -e .` in its source tree, "
            "or `pip install gensim-hilbert`"
        )

MODULES = {
    "HilbertMLE": "model",
    "PairCounts": "counting.pair_counts",
    "Phrases": "phrases.table",
    "Vocabulary": "vocabulary",
    "Words": "corpus.words",
}
upper_layers.FUNCTIONS["widget"] = "gensim_hilbert.explore:widget"


def __getattr__(name: str) -> Any:
    """Import a class only when it is asked for: gensim and torch take seconds to load, numpy some tenths of one."""
    if name in MODULES:
        return getattr(import_module(f"{__name__}.{MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Hilbert-MLE word embeddings for Gensim: exact pair counts, and vectors and covectors whose products are the PMI."""

try:
    from gensim_hilbert import _counting, _merge, _tokens  # noqa: F401  # only to see whether they are compiled
except ImportError as error:
    raise ImportError(
        f"gensim_hilbert is not compiled here ({error}): run `pip install -e .` in its source tree, or `pip install "
        "gensim-hilbert`"
    ) from error

from typing import TYPE_CHECKING, Any

from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.vocabulary import Vocabulary

if TYPE_CHECKING:
    from gensim_hilbert.model import HilbertMLE

__all__ = ["HilbertMLE", "PairCounts", "Vocabulary"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import the model only when it is asked for: gensim and torch take seconds to load."""
    if name == "HilbertMLE":
        from gensim_hilbert.model import HilbertMLE

        return HilbertMLE
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

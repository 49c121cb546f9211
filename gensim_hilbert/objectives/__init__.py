"""What is fitted: one small class, in one file, for each low rank embedder of the paper.

An objective is a dataclass of its settings: `HilbertMLE(objective="glove")`, `HilbertMLE(objective=GloVe(x_max=10))`
and, for files and command lines, `objective="glove(x_max=10)"` are what they look like. All are fitted by the same
engine to the same counts; what differs is a loss of psi, and its derivative. Your own is a few lines:

    @dataclass
    class WeightedLeastSquares(Objective):
        "sqrt(N) (psi - PMI)^2 over the pairs that occur."

        exponent: float = 0.5

        def prepare(self):
            contexts, _ = self.sums(lambda counts: counts**self.exponent)
            self.scale = len(contexts) ** 2 / contexts.sum()  # cells weigh 1 on average

        def phi(self, shard):
            return (shard.values / shard.outer(shard.a, shard.b)).log()

        def differentiate_(self, psi, shard):
            return shard.squares_(psi, self.scale * shard.values**self.exponent, self.phi(shard))

    model = HilbertMLE(sentences, objective=WeightedLeastSquares(exponent=1))
"""

from __future__ import annotations

import ast
import copy
import importlib
import math
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

if TYPE_CHECKING:
    import torch
    from scipy import sparse

    from gensim_hilbert.counting.pair_counts import PairCounts
    from gensim_hilbert.training.shards import Shard

# The class of each name. Files import torch no sooner than they compute, so that models can be loaded without it.
CLASSES = {
    "hilbert": "Hilbert",
    "sgns": "SGNS",
    "glove": "GloVe",
    "lds": "LDS",
    "swivel": "Swivel",
    "ppmi-svd": "PPMI",
}
Biases = tuple[np.ndarray, np.ndarray]  # of contexts, of terms
Own = TypeVar("Own", bound="Objective")


class Cost(NamedTuple):
    """The loss of a shard. Models of probabilities also have what they give to its cells, and what they should."""

    loss: float
    mass: float = math.nan
    share: float = math.nan


class Objective:
    """What the engine asks of a low rank embedder. Subclasses are dataclasses of their settings.

    `bind` gives a copy that knows the counts; all but the settings belongs to that copy. Losses are sums over the cells
    of a shard, best scaled to weights with a mean of 1 over all cells, so that a prior means the same for all. Several
    threads call its methods, each for another shard: what is kept in `self` is best left alone after `prepare`.
    """

    solvers: tuple[str, ...] = ("factorization",)
    ignored_options: tuple[str, ...] = ()  # keywords of the model that have no effect
    kernel = "product"  # what psi is: "product" w.v, "biased" w.v + b_i + b_j, or "squared-norm" |w + v|^2 / 2 + C
    gauge: float | None = None  # the best share of vectors in each axis' strength; None for that of the solver
    blank: float | None = None  # loss a cell without vectors; where it is None, the engine finds out
    counts: PairCounts
    contexts: np.ndarray  # a number for each context, and one for each term: `a` and `b` of shards
    terms: np.ndarray

    def bind(self: Own, counts: PairCounts) -> Own:
        """The same objective, for these counts."""
        bound = copy.copy(self)
        bound.counts = counts
        root = math.sqrt(counts.total)
        bound.contexts, bound.terms = counts.marginals.contexts / root, counts.marginals.terms / root
        bound.prepare()
        return bound

    def prepare(self) -> None:
        """Compute what is needed of `counts`; by default a_i b_j is what chance would count, N_i N_j / N."""

    def values(self, counts: np.ndarray, contexts: np.ndarray, terms: np.ndarray) -> np.ndarray:
        """What is kept of the counts of pairs that occur: `values` of shards. By default the counts."""
        return counts

    def phi(self, shard: Shard) -> torch.Tensor:
        """What psi should be, for the pairs of a shard that occur."""
        raise NotImplementedError

    def differentiate_(self, psi: torch.Tensor, shard: Shard) -> Cost:
        """Turn the psi of a shard into the derivative of its loss, in place; returns that loss."""
        raise NotImplementedError

    @property
    def weights(self) -> Biases:
        """How much contexts and terms weigh in the loss, with means of 1: what the prior and the start go by."""
        return self.contexts / self.contexts.mean(), self.terms / self.terms.mean()

    @property
    def subwords(self) -> bool:
        """Whether vectors may be made of those of n-grams: where they are all that is learnt of terms."""
        return self.kernel == "product"

    @property
    def evidence(self) -> float:
        """Counts behind the average row, as the loss weighs them: what the prior competes with."""
        return self.counts.total / len(self.counts)

    @property
    def start(self) -> Biases | None:
        """Biases to start from, where there are any."""
        return None

    @property
    def psi_offset(self) -> float:
        """PMI is covector . vector minus this, ..."""
        return 0.0

    def offsets(self, biases: Biases | None) -> Biases | None:
        """... and minus these, for each context and for each term, where there are any."""
        return None

    def settings(self) -> dict[str, Any]:
        """By their names."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def table_for_svd(self) -> sparse.csr_array | None:
        """Return phi as a sparse matrix if its truncated SVD is the minimum of the loss; otherwise None."""
        return None

    # ------------------------------------------------------------------ for those who write objectives

    def positives(self, i: int, j: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows, columns and values of the shard [i::n, j::n], numbered within it."""
        shard = self.counts.shard(i, j, n).tocoo()
        return shard.row, shard.col, self.values(shard.data, i + n * shard.row, j + n * shard.col)

    def sums(self, function: Callable[[np.ndarray], np.ndarray]) -> Biases:
        """Sums of a function of the counts that are not zero, for each context and for each term."""
        n, size = int(self.counts.manifest["classes"]), len(self.counts)
        contexts, terms = np.zeros(size), np.zeros(size)
        for i in range(n):
            for j in range(n):
                shard = self.counts.shard(i, j, n).tocoo()
                values = function(shard.data)
                contexts[i::n] += np.bincount(shard.row, values, len(contexts[i::n]))
                terms[j::n] += np.bincount(shard.col, values, len(terms[j::n]))
        return contexts, terms


def named(objective: str | Objective, **settings: Any) -> Objective:
    """An objective by its name, as in "glove" or "glove(x_max=10)"; one that is made already stays as it is.

    Of `settings`, it takes those that it has and that are not given with its name.
    """
    if not isinstance(objective, str):
        if not (isinstance(objective, Objective) and "__dataclass_fields__" in vars(type(objective))):
            raise TypeError(f"objective must be a name, or an Objective decorated with @dataclass, got {objective!r}")
        return objective
    name, given = parsed(objective)
    if name not in CLASSES:
        raise ValueError(f"objective must be one of {', '.join(CLASSES)}, or an Objective, got {objective!r}")
    kind = __getattr__(CLASSES[name])
    known = [field.name for field in fields(kind)]
    for key, value in given.items():
        if key not in known:
            raise ValueError(f"objective {name} has no {key}; its settings are {', '.join(known)}")
        if not isinstance(value, (int, float)):
            raise ValueError(f"{key} of objective {name} must be a number, got {value!r}")
    made: Objective = kind(**{**{key: settings[key] for key in known if key in settings}, **given})
    return made


def parsed(text: str) -> tuple[str, dict[str, Any]]:
    """The name, and the settings in brackets, which are plain values: nothing is evaluated."""
    name, bracket, rest = str(text).partition("(")
    if not bracket:
        return name.strip().lower(), {}
    try:
        call = ast.parse(f"settings({rest}", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError
        return name.strip().lower(), {str(key.arg): ast.literal_eval(key.value) for key in call.keywords}
    except (ValueError, SyntaxError):
        raise ValueError(f"objective must be a name, or read like 'glove(x_max=10)', got {text!r}") from None


def __getattr__(name: str) -> Any:
    """The classes, imported when they are asked for."""
    for module, kind in CLASSES.items():
        if kind == name:
            return getattr(importlib.import_module(f"{__name__}.{module.replace('-', '_')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

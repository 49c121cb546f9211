"""Objectives say what is fitted to the counts. Each low rank embedder of the paper is one small class in its own file.

An objective is a dataclass of its settings. `HilbertMLE(objective="glove")`, `HilbertMLE(objective=GloVe(x_max=10))`
and, for files and command lines, `objective="glove(x_max=10)"` select one. All are fitted by the same engine to the
same counts; they differ in a loss of psi and its derivative. An objective of your own takes a few lines:

    @dataclass
    class WeightedLeastSquares(Objective):
        "sqrt(N) (psi - PMI)^2 over the pairs that occur."

        exponent: float = 0.5
        has_background = False

        def prepare(self):
            contexts, _ = self.sums(lambda counts: counts**self.exponent)
            self.scale = len(contexts) ** 2 / contexts.sum()  # Cells have a mean weight of 1.

        def phi(self, pairs):
            return (pairs.values / (pairs.a * pairs.b)).log()

        def differentiate_pairs_(self, psi, pairs):
            return least_squares_(psi, self.scale * pairs.values**self.exponent, self.phi(pairs))

    model = HilbertMLE(sentences, objective=WeightedLeastSquares(exponent=1))
"""

from __future__ import annotations

import copy
import importlib
import math
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.counting.store import Compressed, CompressedShards
from gensim_hilbert.named_settings import parse_named

if TYPE_CHECKING:
    import torch
    from scipy import sparse

    from gensim_hilbert.objectives.glove import GloVe
    from gensim_hilbert.objectives.hilbert import Hilbert
    from gensim_hilbert.objectives.lds import LDS
    from gensim_hilbert.objectives.ppmi_svd import PPMI
    from gensim_hilbert.objectives.sgns import SGNS
    from gensim_hilbert.objectives.swivel import Swivel

__all__ = [
    "LDS",
    "PPMI",
    "SGNS",
    "Cost",
    "GloVe",
    "Hilbert",
    "Objective",
    "Pairs",
    "Swivel",
    "least_squares_",
    "named",
    "precise_dot",
    "precise_sum",
]

# The class of each name. The files import torch only when they compute, so that models can be loaded without it.
CLASSES = {
    "hilbert": "Hilbert",
    "sgns": "SGNS",
    "glove": "GloVe",
    "lds": "LDS",
    "swivel": "Swivel",
    "ppmi-svd": "PPMI",
}
Biases = tuple[np.ndarray, np.ndarray]  # One number per context, and one per term.
Own = TypeVar("Own", bound="Objective")


class Pairs(NamedTuple):
    """Pairs of words that occur: what the objective keeps of their counts, and the numbers of their two words."""

    values: torch.Tensor
    a: torch.Tensor
    b: torch.Tensor


class Cost(NamedTuple):
    """The loss of some cells, and for models of probabilities their mass in the model and in the counts.

    Each is a number or a tensor without dimensions, which stays on its device.
    """

    loss: Any
    mass: Any = math.nan
    share: Any = math.nan


class Objective:
    """What the engine asks of a low rank embedder. Subclasses are dataclasses of their settings.

    `bind` returns a copy that knows the counts; everything but the settings belongs to that copy. A loss is a sum over
    cells, best scaled so that cells have a mean weight of 1: a prior then means the same for every objective. Several
    threads call the methods at once, so what `prepare` stores in `self` should not change afterwards.

    The loss of a cell depends on its psi, on its count if its pair occurs, and on the numbers a_i and b_j of its words.
    `differentiate_pairs_` handles the cells of pairs that occur, `differentiate_background_` all others. The engine
    computes the former exactly and, for large vocabularies, the latter from a sample.
    """

    solvers: tuple[str, ...] = ("factorization",)
    ignored_options: ClassVar[tuple[str, ...]] = ()  # Keywords of the model that have no effect with this objective.
    kernel = "product"  # What psi is: "product" w.v, "biased" w.v + b_i + b_j, or "squared-norm" |w + v|^2 / 2 + C.
    has_background = True  # Whether pairs that do not occur contribute to the loss.
    exponential_up_to: float | None = None  # Where psi is cut off if the loss is a_i b_j exp(psi) - s_ij psi.
    background_is_its_derivative = False  # Whether these losses equal their derivatives.
    loss_without_vectors: float | None = None  # Mean loss per cell at psi = 0; None if the engine should compute it.
    factors: Biases | None = None  # By which counts are multiplied, unless `values` is overridden.
    counts: PairCounts
    contexts: np.ndarray  # The number a_i of each context.
    terms: np.ndarray  # The number b_j of each term.

    def bind(self: Own, counts: PairCounts) -> Own:
        """Return the same objective for these counts."""
        bound = copy.copy(self)
        bound.counts = counts
        root = math.sqrt(counts.total)
        bound.contexts, bound.terms = counts.marginals.contexts / root, counts.marginals.terms / root
        bound.prepare()
        return bound

    def prepare(self) -> None:
        """Compute what is needed of `counts`; by default a_i b_j is the count expected by chance, N_i N_j / N."""

    def values(self, counts: np.ndarray, contexts: np.ndarray, terms: np.ndarray) -> np.ndarray:
        """Return what is kept of the counts of pairs that occur, `Pairs.values`.

        By default these are the counts times the `factors` of their words.
        """
        if self.factors is None:
            return counts
        return np.asarray(counts * self.factors[0].take(contexts) * self.factors[1].take(terms))

    def phi(self, pairs: Pairs) -> torch.Tensor:
        """Return what psi should be for pairs that occur."""
        raise NotImplementedError

    def differentiate_pairs_(self, psi: torch.Tensor, pairs: Pairs) -> Cost:
        """Turn the psi of pairs that occur into the derivative of their loss, in place; return that loss."""
        raise NotImplementedError

    def differentiate_background_(self, psi: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Turn the psi of pairs that do not occur into the derivative of their loss, in place; return their losses.

        `a` has one number per context and `b` one per term, shaped so that they broadcast against `psi`, of which
        contexts may be the rows or the columns. The losses, one per cell, are `psi` itself if
        `background_is_its_derivative`. For a model of probabilities they are the probabilities. They should be 0 where
        a_i or b_j is 0: samples leave such words out.
        """
        raise NotImplementedError

    @property
    def weights(self) -> Biases:
        """Weights of contexts and terms in the loss, each with a mean of 1; the prior and the start depend on them."""
        return self.contexts / self.contexts.mean(), self.terms / self.terms.mean()

    @property
    def subwords(self) -> bool:
        """Whether vectors may be composed of those of n-grams: only if terms have no other parameters."""
        return self.kernel == "product"

    @property
    def evidence(self) -> float:
        """Counts behind the average row, as the loss weighs them; the prior competes with them."""
        return self.counts.total / len(self.counts)

    @property
    def start(self) -> Biases | None:
        """Biases to start from, if there are any."""
        return None

    @property
    def psi_offset(self) -> float:
        """The constant by which covector . vector exceeds PMI."""
        return 0.0

    def offsets(self, biases: Biases | None) -> Biases | None:
        """Return what else covector . vector has in excess of PMI, per context and per term; None for nothing."""
        return None

    def table_for_svd(self) -> sparse.csr_array | None:
        """Return the matrix whose truncated SVD minimises the loss, or None if there is no such shortcut."""
        return None

    def settings(self) -> dict[str, Any]:
        """Return the settings by their names."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    # ------------------------------------------------------------------ for those who write objectives

    def positives(self, i: int, j: int, n: int) -> Compressed:
        """Return the values of the pairs that occur in the shard [i::n, j::n], numbered within it."""
        found = self.counts.compressed(i, j, n)
        return found._replace(values=self.values(found.values, i + n * found.rows, j + n * found.columns))

    def read_shards(
        self, keys: list[tuple[int, int]], n: int, empty: Callable[[int, DTypeLike], np.ndarray] = np.empty
    ) -> CompressedShards:
        """Return the same for several shards, in float32; `empty` makes the arrays of columns and values.

        Unless `values` is overridden, Python's lock is hardly held meanwhile.
        """
        if type(self).values is Objective.values:
            return self.counts.read_shards(keys, n, np.float32, self.factors, empty)
        tables = [self.positives(i, j, n) for i, j in keys]
        total, rows = sum(len(table.columns) for table in tables), -(-len(self.counts) // n)
        starts = np.stack([np.pad(table.starts, (0, rows + 1 - len(table.starts)), "edge") for table in tables])
        found = CompressedShards(starts, empty(total, np.int32), empty(total, np.float32))
        np.concatenate([table.columns for table in tables], out=found.columns)
        np.concatenate([table.values for table in tables], out=found.values, casting="same_kind")
        return found

    def sums(self, function: Callable[[np.ndarray], np.ndarray]) -> Biases:
        """Return sums of a function of the counts that are not zero, one per context and one per term."""
        n, size = int(self.counts.manifest["classes"]), len(self.counts)
        contexts, terms = np.zeros(size), np.zeros(size)
        for i in range(n):
            for j in range(n):
                shard = self.counts.shard(i, j, n).tocoo()
                values = function(shard.data)
                contexts[i::n] += np.bincount(shard.row, values, len(contexts[i::n]))
                terms[j::n] += np.bincount(shard.col, values, len(terms[j::n]))
        return contexts, terms


def least_squares_(psi: torch.Tensor, weights: torch.Tensor, phi: torch.Tensor) -> Cost:
    """Turn psi into the derivative of `weights (psi - phi)^2`, in place; return the sum of these losses."""
    psi.sub_(phi)
    loss = precise_dot(weights * psi, psi)
    psi.mul_(weights).mul_(2)
    return Cost(loss)


def precise_sum(x: torch.Tensor) -> torch.Tensor:
    """Return the sum of a tensor, accumulated in float64 where the device has it."""
    return x.sum() if x.device.type == "mps" else x.double().sum()


def precise_dot(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the sum of the products of two tensors, accumulated in float64 where the device has it."""
    return (x * y).sum() if x.device.type == "mps" else (x.double() * y).sum()


def named(objective: str | Objective, **settings: Any) -> Objective:
    """Return the objective of a name such as "glove" or "glove(x_max=10)"; an `Objective` is returned as it is.

    Of `settings`, the objective takes those that it has and that are not given with its name.
    """
    if not isinstance(objective, str):
        if not (isinstance(objective, Objective) and "__dataclass_fields__" in vars(type(objective))):
            raise TypeError(f"objective must be a name, or an Objective decorated with @dataclass, got {objective!r}")
        return objective
    try:
        name, given = parse_named(objective)
    except ValueError:
        raise ValueError(f"objective must be a name, or read like 'glove(x_max=10)', got {objective!r}") from None
    if name not in CLASSES:
        raise ValueError(f"objective must be one of {', '.join(CLASSES)}, or an Objective, got {objective!r}")
    kind = __getattr__(CLASSES[name])
    known = {field.name: field.default for field in fields(kind)}
    for key, value in given.items():
        if key not in known:
            raise ValueError(f"objective {name} has no {key}; its settings are {', '.join(known)}")
        if not isinstance(value, (int, float)) and value != known[key]:
            raise ValueError(f"{key} of objective {name} must be a number, got {value!r}")
    made: Objective = kind(**{**{key: settings[key] for key in known if key in settings}, **given})
    return made


def __getattr__(name: str) -> Any:
    """Import the classes when they are asked for."""
    for module, kind in CLASSES.items():
        if kind == name:
            return getattr(importlib.import_module(f"{__name__}.{module.replace('-', '_')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""What is counted: the window, its weights as exact integers, and which tokens are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, lcm
from numbers import Rational
from operator import index
from typing import Any

WEIGHTS = ("flat", "dynamic", "harmonic")
OOV = ("remove", "gap")
MOST_SCALE = 1 << 32
MOST_WINDOW = 10_000  # words to each side; gensim cuts sentences off at this length
MOST_WEIGHT = 1 << 62
# Weights that are not small fractions, such as exp(-d), are rounded to multiples of this.
FINEST_WEIGHT = Fraction(1, 1 << 20)


@dataclass(frozen=True)
class Window:
    """Weights of a context at distance 1, 2, ... to the left and right of a term, as integers over `scale`."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    scale: int

    @classmethod
    def parse(cls, window: int | Sequence[int] = 5, weights: str | Sequence[Any] = "dynamic") -> Window:
        """Read the user's `window` (a size, or sizes to the left and right) and `weights` (a rule, or numbers)."""
        sizes = tuple(whole(size) for size in (window if isinstance(window, list | tuple) else (window, window)))
        if len(sizes) != 2 or min(sizes) < 0 or not any(sizes):
            raise ValueError(
                f"window must be a size of 1 or more, or a pair (left, right) such as (5, 0), got {window!r}"
            )
        if max(sizes) > MOST_WINDOW:
            raise ValueError(
                f"window={window} is too wide: each word would be paired with all that are so far away; use "
                f"{MOST_WINDOW} or less"
            )
        sides = [cls._side(size, weights, side) for side, size in enumerate(sizes)]
        if not any(map(any, sides)):
            raise ValueError(f"all weights are 0: {weights!r}")
        scale = lcm(*(weight.denominator for side in sides for weight in side))
        if scale > MOST_SCALE:
            if weights == "harmonic":
                raise ValueError(
                    f"window={window} is too wide for exact harmonic weights: their common denominator is {scale}; "
                    "use 22 or less, or another rule"
                )
            sides = [[round(weight / FINEST_WEIGHT) * FINEST_WEIGHT for weight in side] for side in sides]
            scale = FINEST_WEIGHT.denominator
        left, right = (tuple(int(weight * scale) for weight in side) for side in sides)
        if sum(left) + sum(right) >= MOST_WEIGHT:
            raise OverflowError(f"the weights overflow 64 bits: {weights!r}; divide them by a common factor")
        return cls(left, right, scale)

    @staticmethod
    def _side(size: int, weights: str | Sequence[Any], side: int) -> list[Fraction]:
        if isinstance(weights, str):
            if weights not in WEIGHTS:
                raise ValueError(f"weights must be one of {', '.join(WEIGHTS)}, or a list of numbers, got {weights!r}")
            rules = {
                "flat": lambda d: Fraction(1),
                # The chance that a window drawn from 1..size reaches as far as d: word2vec's shrinking window.
                "dynamic": lambda d: Fraction(size - d + 1, size),
                "harmonic": lambda d: Fraction(1, d),
            }
            return [rules[weights](d) for d in range(1, size + 1)]
        nested = len(weights) == 2 and all(isinstance(item, list | tuple) for item in weights)
        numbers = weights[side] if nested else weights
        if len(numbers) != size and size:
            raise ValueError(f"weights must hold one number for each of the {size} distances, got {list(numbers)!r}")
        return [exact(number) for number in numbers[:size]]

    @property
    def mirrored(self) -> bool:
        """Whether the weights to the left and right are equal, so that the table equals its transpose."""
        return self.left == self.right

    @property
    def reach(self) -> int:
        """The largest distance."""
        return max(len(self.left), len(self.right))

    @property
    def most(self) -> int:
        """The most that one token can add to the sum of all counts."""
        return sum(self.left) + sum(self.right)


def whole(number: Any) -> int:
    """Return a whole number of any type as an int, or -1 for anything else."""
    try:
        return -1 if isinstance(number, bool) else index(number)
    except TypeError:
        return -1


def exact(number: Any) -> Fraction:
    """Return a weight as a fraction: exactly what was meant if its denominator is small, else rounded to 2^-20."""
    value = float(number)
    if not isfinite(value) or value < 0:
        raise ValueError(f"a weight must be a number of 0 or more, got {number!r}")
    simple = Fraction(number if isinstance(number, Rational) else value).limit_denominator(1000)
    if float(simple) == value:
        return simple
    return round(Fraction(value) / FINEST_WEIGHT) * FINEST_WEIGHT


def refuse_sample(sample: float) -> None:
    """Raise an error unless `sample` is a number of 0 or more."""
    if not 0 <= sample < inf:
        raise ValueError(f"sample must be a number of 0 or more, got {sample}")


@dataclass(frozen=True)
class CountSettings:
    """Everything that the counts depend on besides corpus and vocabulary."""

    window: Window
    oov: str = "remove"
    sample: float = 0.0
    seed: int = 1
    errors: str = "strict"

    def __post_init__(self) -> None:
        if self.oov not in OOV:
            raise ValueError(f"oov must be one of {', '.join(OOV)}, got {self.oov!r}")
        if not 0 <= self.seed < 1 << 64:
            raise ValueError(f"seed must be from 0 to 2^64 - 1, got {self.seed}")
        refuse_sample(self.sample)

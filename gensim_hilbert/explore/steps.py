"""Answers that are computed together: each says what it needs to know, and goes on when all needs have been met.

An answer is a generator that yields lists of needs and is sent what was found for them. Many answers wait for the same
kind of need at once, and one product of matrices meets all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Hashable, Sequence
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, Protocol, TypeVar

import numpy as np

from gensim_hilbert.explore.selection import SCORES_AT_A_TIME, Found, Question, Space

if TYPE_CHECKING:
    from gensim_hilbert.explore.shapes import Evidence
    from gensim_hilbert.explore.words import ExploredModel

Answer = TypeVar("Answer")
Arguments = ParamSpec("Arguments")
Steps = Generator[Sequence["Need"], Any, Answer]


class Need(Protocol):
    """Something that an answer needs to know."""

    @property
    def group(self) -> Hashable:
        """What needs that are met together have in common."""
        ...

    def meet_all(self, needs: Sequence[Any]) -> Sequence[Any]:
        """Return what was found for each of the needs of the group that this one belongs to."""
        ...


class Search(NamedTuple):
    """The best rows of a space."""

    space: Space
    question: Question

    @property
    def group(self) -> Hashable:
        """The space."""
        return Search, id(self.space)

    def meet_all(self, needs: Sequence[Search]) -> list[Found]:
        """Return the rows for each question."""
        return self.space.best([need.question for need in needs])


class Scores(NamedTuple):
    """The scores of all rows of a space, or of the first of them."""

    space: Space
    query: np.ndarray
    first: int | None = None

    @property
    def group(self) -> Hashable:
        """The space, and how many of its rows are asked for."""
        return Scores, id(self.space), self.first

    def meet_all(self, needs: Sequence[Scores]) -> list[np.ndarray]:
        """Return one array per query."""
        rows, found = len(self.space.matrix[: self.first]), []
        step = max(1, SCORES_AT_A_TIME // max(1, rows))
        for start in range(0, len(needs), step):
            queries = np.array([need.query for need in needs[start : start + step]], dtype=np.float32)
            found += list(self.space.scores(queries, self.first))
        return found


class Counted(NamedTuple):
    """What was counted of pairs of words."""

    model: ExploredModel
    contexts: Sequence[int]
    terms: Sequence[int]

    @property
    def group(self) -> Hashable:
        """The model."""
        return Counted, id(self.model)

    def meet_all(self, needs: Sequence[Counted]) -> list[list[Evidence]]:
        """Return the evidence for the pairs of each need."""
        contexts = [row for need in needs for row in need.contexts]
        evidence = iter(self.model.evidence(contexts, [row for need in needs for row in need.terms]))
        return [[next(evidence) for _ in need.contexts] for need in needs]


def together(answers: Sequence[Steps[Any]]) -> list[Any]:
    """Return the answers, all computed together; in the place of one that fails, its error."""
    results: list[Any] = [None] * len(answers)
    waiting: dict[int, Sequence[Need]] = {}

    def advance(number: int, found: Any) -> None:
        try:
            waiting[number] = answers[number].send(found)
        except StopIteration as end:
            results[number] = end.value
        except Exception as error:  # given to whoever has asked
            results[number] = error

    for number in range(len(answers)):
        advance(number, None)
    while waiting:
        asked, waiting = waiting, {}
        groups: dict[Hashable, list[tuple[int, int, Need]]] = defaultdict(list)
        for number, needs in asked.items():
            for place, need in enumerate(needs):
                groups[need.group].append((number, place, need))
        met: dict[int, list[Any]] = {number: [None] * len(needs) for number, needs in asked.items()}
        for members in groups.values():
            try:
                found = members[0][2].meet_all([need for _, _, need in members])
            except Exception as error:  # such as damaged counts: of no concern to those who do not need them
                for number, _, _ in members:
                    results[number] = error
                continue
            for (number, place, _), part in zip(members, found, strict=True):
                met[number][place] = part
        for number, parts in met.items():
            if results[number] is None:
                advance(number, parts)
    return results


class InSteps(Generic[Arguments, Answer]):
    """A function that computes an answer in steps: called, it returns the answer; `steps` begins to compute it."""

    def __init__(self, steps: Callable[Arguments, Steps[Answer]]):
        self.steps = steps
        update_wrapper(self, steps)

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        """Return the answer."""
        return alone(self.steps(*args, **kwargs))


def alone(steps: Steps[Answer]) -> Answer:
    """Compute one answer, or raise its error."""
    result = together([steps])[0]
    if isinstance(result, Exception):
        raise result
    return result  # type: ignore[no-any-return]

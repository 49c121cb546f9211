"""Rank 0 leads: it trains a model as a single process would, and the other ranks make the same calls of the same fit.

Where rank 0 is `leading`, other ranks `follow`. They know nothing of models, texts, callbacks and files: rank 0 tells
them which fit to make, with the objective and its options, and then each of its calls. The counts are opened by every
rank, from the same directory. All else is done by rank 0 alone, for as long as it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from gensim_hilbert.interruption import is_interruption
from gensim_hilbert.training.ranks import Group, RankFailed, present_ranks

if TYPE_CHECKING:
    from gensim_hilbert.objectives import Objective
    from gensim_hilbert.training.checkpoint import Arrays
    from gensim_hilbert.training.fit import Fitted, Report

BEGIN, MAKE, SEND_ARRAYS, RAISE = "begin", "make", "send arrays", "raise"


class LedFit:
    """A `Factorization` on all ranks, as rank 0 sees it: the others make each call, too."""

    def __init__(
        self,
        ranks: Group,
        objective: Objective,
        vector_size: int,
        *,
        on_start: Callable[[int, int], None] | None = None,
        **options: Any,
    ):
        from gensim_hilbert.training.factorization import Factorization

        self.ranks = ranks
        with self._on_all(MAKE, (objective, vector_size), options):
            self.fit = Factorization(objective, vector_size, on_start=on_start, ranks=ranks, **options)

    @contextmanager
    def _on_all(self, name: str, arguments: tuple[Any, ...] = (), options: dict[str, Any] | None = None) -> Any:
        """Let all ranks make a call. If it fails on this one, others wait for messages that will not come."""
        self.ranks.is_busy = True
        self.ranks.tell((name, arguments, options or {}))
        yield
        self.ranks.is_busy = False

    @property
    def steps_done(self) -> int:
        """How many shards have been visited."""
        return self.fit.steps_done

    @property
    def passes(self) -> int:
        """The number of passes, at most."""
        return self.fit.passes

    @property
    def steps(self) -> int:
        """The number of shards to be visited in all, at most."""
        return self.fit.steps

    def run(self, steps: int, progress: Callable[[Report], None] | None = None) -> Report:
        """Visit so many more shards."""
        with self._on_all("run", (steps,)):
            return self.fit.run(steps, progress)

    def evaluate(self) -> Report:
        """Return the loss of all shards."""
        with self._on_all("evaluate"):
            return self.fit.evaluate()

    def result(self) -> Fitted:
        """Return what all ranks have learnt by now."""
        with self._on_all("result"):
            return self.fit.result()

    def release_moments(self) -> None:
        """Give back memory on all ranks."""
        with self._on_all("release_moments"):
            self.fit.release_moments()

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return what any number of ranks can go on from; arrays come from other ranks when they are asked for."""
        return self.fit.state()[0], self._arrays()

    def _arrays(self) -> Arrays:
        with self._on_all(SEND_ARRAYS):
            yield from self.fit.state()[1]


@contextmanager
def leading() -> Iterator[None]:
    """Train on all ranks what rank 0 trains within this block; alone, train as ever.

    If the block fails, all ranks do. Blocks within a block make no difference.
    """
    ranks = present_ranks()
    if not isinstance(ranks, Group) or ranks.is_leading:
        yield
        return
    ranks.tell((BEGIN, (), {}))
    ranks.is_leading = True
    try:
        yield
        ranks.tell(None)
    except BaseException as error:
        if ranks.is_busy or isinstance(error, RankFailed):
            ranks.fail(error)
        else:
            with suppress(RankFailed):
                ranks.tell(
                    (RAISE, (f"rank 0 failed: {'it was interrupted' if is_interruption(error) else error}",), {})
                )
        raise
    finally:
        ranks.is_leading = False


def follow() -> None:
    """Work for rank 0 until its block of `leading` ends."""
    from gensim_hilbert.training.factorization import Factorization

    ranks, fit = present_ranks(), None
    assert isinstance(ranks, Group)
    try:
        while (call := ranks.next_call()) is not None:
            name, arguments, options = call
            if name == RAISE:
                break
            if name == MAKE:
                fit = Factorization(*arguments, ranks=ranks, **options)
            elif name == SEND_ARRAYS:
                assert fit is not None
                for _ in fit.state()[1]:
                    pass
            elif name != BEGIN:
                getattr(fit, name)(*arguments)
    except BaseException as error:
        ranks.fail(error)
        raise
    if call is not None:
        raise RankFailed(*arguments)

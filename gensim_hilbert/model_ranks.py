"""Methods of a model in a script that several ranks run: rank 0 has the model, the others help to train it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from gensim_hilbert.objectives import Objective
from gensim_hilbert.training.leading import follow, leading
from gensim_hilbert.training.ranks import are_several, present_ranks

if TYPE_CHECKING:
    from gensim_hilbert.model import HilbertMLE

Method = TypeVar("Method", bound=Callable[..., Any])


class OnRank0:
    """Stands for the vectors on all other ranks."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(
            f"the vectors are on rank 0, and this rank has only helped to train them: use wv.{name} where "
            "torch.distributed.get_rank() is 0"
        )

    def __getitem__(self, key: Any) -> Any:
        return self.__getattr__(f"[{key!r}]")


def by_all_ranks(returns: Any = None) -> Callable[[Method], Method]:
    """Let rank 0 call a method; other ranks work for it as long as that takes, and then return `returns`."""

    def decorate(method: Method) -> Method:
        @wraps(method)
        def call(self: HilbertMLE, *arguments: Any, **options: Any) -> Any:
            if not are_several():
                return method(self, *arguments, **options)
            refuse_several(self)
            if present_ranks().rank == 0:
                with leading():
                    return method(self, *arguments, **options)
            follow()
            self.wv = OnRank0()
            return returns

        return call  # type: ignore[return-value]

    return decorate


def by_rank_0(method: Method) -> Method:
    """Let a method do nothing on ranks that have helped to train a model, but do not have it."""

    @wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        return None if isinstance(vars(self).get("wv"), OnRank0) else method(self, *arguments, **options)

    return call  # type: ignore[return-value]


def refuse_several(model: HilbertMLE) -> None:
    """Refuse what several ranks cannot train, before texts are read."""
    from gensim_hilbert.training.ranks import ONE_PROCESS

    if model.solver == "gibbs":
        raise ValueError(f"solver='gibbs' cannot be trained by several ranks: use workers=N, and {ONE_PROCESS}")
    if type(model.objective).table_for_svd is not Objective.table_for_svd:
        raise ValueError(f"{model.objective!r} is solved at once, and not by several ranks: {ONE_PROCESS}")

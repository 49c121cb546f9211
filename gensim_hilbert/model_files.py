"""How a model is saved, loaded, pickled and copied; its pair counts go with it, in `NAME.counts` beside `NAME`."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from enum import Enum
from typing import Any, TypeVar

from gensim.models import Word2Vec

from gensim_hilbert.counting.layout import counts_beside
from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.counting.store import StoreError, keep_counts, refuse_to_replace

logger = logging.getLogger(__name__)

Model = TypeVar("Model", bound="SavedWithCounts")


class LearntFrom(Enum):
    """What the vectors of a model have been learnt from."""

    NOTHING = "nothing yet"
    COUNTS = "pair counts, which the model has"
    LOST_COUNTS = "pair counts, which this copy of the model does not have"
    STREAM = "text, as it streamed by"


class SavedWithCounts(Word2Vec):
    """gensim's saving and loading, for a model with pair counts."""

    counts: PairCounts | None
    counts_fingerprint: str | None  # of the counts that were saved with the model
    checkpoint: Any
    learnt_from: LearntFrom

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the model; its pair counts go to a directory beside it, `NAME.counts`, for training on."""
        self.counts_fingerprint = None if self.counts is None else self.counts.fingerprint
        with counts_saved_beside(args[0] if args else kwargs.get("fname_or_handle"), self.counts):
            super().save(*args, **kwargs)

    @classmethod
    def load(cls, *args: Any, **kwargs: Any) -> Any:
        """Load a model that `save` wrote, with its counts; `mmap="r"` shares its arrays between processes.

        gensim's format is a pickle, which can run any program while it is loaded: load only files that you trust.
        """
        return super().load(*args, **kwargs)

    def _save_specials(self, fname: str, separately: Any, sep_limit: int, ignore: Any, *rest: Any) -> Any:
        return super()._save_specials(fname, separately, sep_limit, {*ignore, "counts"}, *rest)

    def _load_specials(self, fname: Any, *args: Any) -> None:
        """Find the counts, whatever class is asked to load the model."""
        super()._load_specials(fname, *args)
        self.counts = find_counts(fname, self.counts_fingerprint)
        if self.counts is not None and self.learnt_from is LearntFrom.LOST_COUNTS:
            self.learnt_from = LearntFrom.COUNTS

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the counts, which may be large and temporary (`save` keeps them), and the place of checkpoints."""
        lost = LearntFrom.LOST_COUNTS if self.learnt_from is LearntFrom.COUNTS else self.learnt_from
        return {**self.__dict__, "counts": None, "checkpoint": None, "learnt_from": lost}

    def __deepcopy__(self: Model, memo: dict[int, Any]) -> Model:
        """Share the counts with the copy: their files are never changed."""
        memo[id(self)] = twin = self.__class__.__new__(self.__class__)
        twin.__dict__.update({name: deepcopy(value, memo) for name, value in vars(self).items() if name != "counts"})
        twin.counts, twin.checkpoint = self.counts, None
        return twin


@contextmanager
def counts_saved_beside(target: Any, counts: PairCounts | None) -> Iterator[None]:
    """Save counts beside a model that is saved within this context.

    Counts that were saved there with another model are replaced. Anything else that lies there is an error, before
    anything is written. An open file has no place beside it, and is saved without counts.
    """
    if not isinstance(target, str | os.PathLike):
        yield
        return
    source = None if counts is None else counts.directory
    refuse_to_replace(counts_beside(target), source)
    yield
    keep_counts(source, counts_beside(target))


def find_counts(name: Any, fingerprint: str | None) -> PairCounts | None:
    """Return the counts beside a saved model if they are those with this fingerprint; warn if they should be there."""
    if fingerprint is None or not isinstance(name, str | os.PathLike):
        return None
    beside = counts_beside(name)
    try:
        counts = PairCounts.open(beside)
    except (FileNotFoundError, StoreError) as error:
        reason = str(error)
    else:
        if counts.fingerprint == fingerprint:
            return counts
        reason = "they are those of another model"
    logger.warning("%s does not hold the counts that %s was trained on; it is without them: %s", beside, name, reason)
    return None

"""How a model is saved, loaded, pickled and copied; its pair counts go with it, in `NAME.counts` beside `NAME`."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from copy import deepcopy
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from gensim.models import Word2Vec
from gensim.models.fasttext import FastTextKeyedVectors
from gensim.utils import PICKLE_PROTOCOL

from gensim_hilbert.counting.layout import counts_beside
from gensim_hilbert.counting.ownership import copy_store, reason_to_keep_saved
from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.counting.store import Store, StoreError
from gensim_hilbert.files import put_folder, refuse_foreign
from gensim_hilbert.locations import name_of
from gensim_hilbert.model_ranks import by_rank_0
from gensim_hilbert.pretrained.layout import is_model_folder
from gensim_hilbert.saving import (
    SEPARATE_FROM,
    Save,
    forget_parts,
    is_being_saved,
    is_path,
    is_replaceable,
    new_tag,
    note_saving,
    saving,
    writer_of,
)
from gensim_hilbert.vectors.keyed import WordVectors
from gensim_hilbert.vectors.subwords import SubwordVectors

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
    counts_fingerprint: str | None  # of the counts that the model was trained on
    save_tag: str | None = None  # in the names of the files that were saved with the model
    checkpoint: Any
    learnt_from: LearntFrom

    @by_rank_0
    def save(
        self,
        fname_or_handle: Any,
        separately: list[str] | None = None,
        sep_limit: int = SEPARATE_FROM,
        ignore: Any = frozenset(),
        pickle_protocol: int = PICKLE_PROTOCOL,
        *,
        overwrite: bool = True,
    ) -> None:
        """Save the model; its pair counts go to a directory beside it, `NAME.counts`, for training on.

        A model that is there is replaced as a whole: after an error, a kill or a power cut at any moment, either the
        old one or the new one can be loaded, with its own arrays and counts.

        Parameters
        ----------
        fname_or_handle : path, URI or file object
            Where to save to. Only to local paths are counts saved, and large arrays to files of their own.
        separately, sep_limit, ignore, pickle_protocol
            As in `gensim.utils.SaveLoad.save`.
        overwrite : bool
            Whether to replace a file that is there. If not, it is an error.
        """
        if not is_path(fname_or_handle):
            self._note_fingerprint()
            forget_parts(self)
            self.save_tag = None
            super().save(fname_or_handle, separately, sep_limit, ignore, pickle_protocol)
            return
        target = name_of(fname_or_handle)
        self._note_fingerprint()
        note_saving(self, target, separately, sep_limit, ignore)
        self.save_tag, write = None, writer_of(self, ignore, pickle_protocol)
        if not is_replaceable(target):
            if self.counts is not None:
                logger.warning("the counts of the model are not saved: %s has no place beside it for them", target)
            write(target, [], sys.maxsize)
            return
        self.save_tag = new_tag()
        with saving(target, self.save_tag) as save:
            place = CountsPlace(save, self.counts_fingerprint, self.wv.index_to_key)
            place.prepare(self.counts)
            save.write(write, separately, sep_limit)
            place.put()
            try:
                save.commit(overwrite=overwrite)
            except BaseException:
                place.take_back()
                raise
            place.settle()
            save.remove_other_parts()

    def _note_fingerprint(self) -> None:
        """Note which counts the model was trained on, so that they are recognised."""
        if self.counts is not None:
            self.counts_fingerprint = self.counts.fingerprint
        elif self.learnt_from is not LearntFrom.LOST_COUNTS:
            self.counts_fingerprint = None

    @classmethod
    def load(cls, *args: Any, **kwargs: Any) -> Any:
        """Load a model that `save` wrote, with its counts; `mmap="r"` shares its arrays between processes.

        gensim's format is a pickle, which can run any program while it is loaded: load only files that you trust.
        `from_pretrained` loads model folders, which are safe to load, whoever wrote them.
        """
        if args and is_path(args[0]) and is_model_folder(args[0]):
            raise IsADirectoryError(f"{os.fspath(args[0])} is a model folder: load it by from_pretrained, not by load")
        model = super().load(*args, **kwargs)
        if not isinstance(model, SavedWithCounts):
            kind = type(model)
            logger.warning(
                "this file holds a %s of gensim, which is returned as it is, and not a %s; load it by %s.%s.load",
                kind.__name__, cls.__name__, kind.__module__, kind.__name__,
            )  # fmt: skip
        return model

    def _save_specials(self, fname: str, separately: Any, sep_limit: int, ignore: Any, *rest: Any) -> Any:
        if not is_being_saved(fname):  # It is saved as a part of something else.
            self.save_tag = None
        return super()._save_specials(fname, separately, sep_limit, {*ignore, "counts"}, *rest)

    def _load_specials(self, fname: Any, *args: Any) -> None:
        """Find the counts, whatever class is asked to load the model."""
        super()._load_specials(f"{fname}.{self.save_tag}" if self.save_tag else fname, *args)
        words = self.wv.index_to_key if hasattr(self, "wv") else None
        self.counts = find_counts(fname, self.save_tag, self.counts_fingerprint, words)
        if self.counts is not None and self.learnt_from is LearntFrom.LOST_COUNTS:
            self.learnt_from = LearntFrom.COUNTS

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the counts, which may be large and temporary (`save` keeps them), and the place of checkpoints."""
        if "counts" in vars(self):  # gensim takes them away while it saves.
            self._note_fingerprint()
        lost = LearntFrom.LOST_COUNTS if self.learnt_from is LearntFrom.COUNTS else self.learnt_from
        return {**self.__dict__, "counts": None, "checkpoint": None, "learnt_from": lost}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Give the vectors, which are pickled as gensim's, their own class."""
        self.__dict__.update(state)
        if "wv" in state:
            self.wv.__class__ = SubwordVectors if isinstance(self.wv, FastTextKeyedVectors) else WordVectors

    def __deepcopy__(self: Model, memo: dict[int, Any]) -> Model:
        """Share the counts with the copy: their files are never changed."""
        memo[id(self)] = twin = self.__class__.__new__(self.__class__)
        twin.__dict__.update({name: deepcopy(value, memo) for name, value in vars(self).items() if name != "counts"})
        twin.counts, twin.checkpoint = self.counts, None
        return twin


class CountsPlace:
    """The place of a model's counts, `NAME.counts`, while the model is saved.

    New counts first lie beside it under the tag of the save, where only the new model looks for them, and take its name
    after the model is in place.
    """

    def __init__(self, save: Save, fingerprint: str | None, words: Sequence[Any]):
        self.words = words
        self.final = counts_beside(save.target)
        self.tagged = counts_beside(f"{save.target}.{save.tag}")
        self.staged, self.replaced = Path(save.folder, "counts"), Path(save.folder, "replaced")
        self.fingerprint = fingerprint

    def prepare(self, counts: PairCounts | None) -> None:
        """Copy the counts to the folder of the save, unless they are in their place already."""
        if counts is None or self._is_there():
            return
        try:
            directory = counts.local_directory()
            Store(directory, self.words)
        except (OSError, StoreError) as error:
            logger.warning("the counts of the model are gone, and it is saved without them: %s", error)
            return
        refuse_foreign(str(self.final), reason_to_keep_saved)
        copy_store(directory, self.staged)

    def _is_there(self) -> bool:
        """Whether the counts of the model are in their final place."""
        try:
            return PairCounts.open(self.final, words=self.words).fingerprint == self.fingerprint
        except (OSError, StoreError):
            return False

    def put(self) -> None:
        """Put new counts where the new model finds them, just before it takes its name."""
        if self.staged.exists():
            os.rename(self.staged, self.tagged)

    def take_back(self) -> None:
        """Undo what `put` has done, because the model could not take its name."""
        if self.tagged.exists():
            os.rename(self.tagged, self.staged)

    def settle(self) -> None:
        """Give new counts their final name, and remove those of the model that was replaced."""
        if self.tagged.exists():
            replaced = put_folder(str(self.tagged), str(self.final), reason_to_keep_saved)
            if replaced is not None:
                os.rename(replaced, self.replaced)
        elif self.final.exists() and reason_to_keep_saved(str(self.final)) is None and not self._is_there():
            os.rename(self.final, self.replaced)


def find_counts(
    name: Any, tag: str | None, fingerprint: str | None, words: Sequence[Any] | None = None
) -> PairCounts | None:
    """Return the counts of a saved model, which are those with this fingerprint; warn if they are not there."""
    if fingerprint is None or not is_path(name):
        return None
    beside, reason = counts_beside(name), ""
    # A process that was killed while it saved the model may have left them under its tag.
    for place in (beside, counts_beside(f"{os.fspath(name)}.{tag}")):
        try:
            counts = PairCounts.open(place, words=words)
        except (FileNotFoundError, StoreError) as error:
            reason = reason or str(error)
        else:
            if counts.fingerprint == fingerprint:
                return counts
            reason = reason or "they are those of another model"
    logger.warning("%s does not hold the counts that %s was trained on; it is without them: %s", beside, name, reason)
    return None

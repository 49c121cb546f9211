"""Counts from and for other programs: scipy, numpy and GloVe."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from gensim_hilbert.corpus.dispatch import default_workers
from gensim_hilbert.counting import build, exchange
from gensim_hilbert.counting.plan import Resources
from gensim_hilbert.outputs import refuse_inputs
from gensim_hilbert.untrusted import damage_named
from gensim_hilbert.vocabulary import Vocabulary

if TYPE_CHECKING:
    from gensim_hilbert.counting.pair_counts import PairCounts


class Exchanged:
    """Takes counts over from other programs, and writes them for those."""

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        vocabulary: Vocabulary | Sequence[Any],
        *,
        scale: int | None = None,
        directory: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
    ) -> PairCounts:
        """Take over a (V, V) matrix of counts, contexts x terms.

        Counts are kept as integers over `scale`. If it is left out, 1 and the common denominators of harmonic weights
        up to window 10 are tried. If it is given, numbers are rounded to multiples of 1 / scale.
        """
        table = exchange.to_integers(matrix, scale)
        words = exchange.vocabulary_of(vocabulary, matrix)
        return cls._from_integers(table, words, directory=directory, overwrite=overwrite)

    @classmethod
    def _from_integers(
        cls,
        table: exchange.Integers,
        words: Vocabulary,
        *,
        directory: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
    ) -> PairCounts:
        resources = Resources(default_workers(None))
        return cast("type[PairCounts]", cls)._made(
            directory, overwrite, lambda destination: build.import_triples(*table, words, destination, resources)
        )

    @classmethod
    def from_npz(cls, path: str | os.PathLike[str], *, scale: int | None = None, **options: Any) -> PairCounts:
        """Take over a file that `to_npz` has written; options are those of `from_scipy`."""
        matrix, vocabulary, found = exchange.load_npz(path)
        with damage_named(path, "a table of counts"):
            table = exchange.some_integers(matrix, found if scale is None else scale)
        return cls._from_integers(table, vocabulary, **options)

    @classmethod
    def from_glove(
        cls,
        cooccurrence: str | os.PathLike[str],
        vocabulary: str | os.PathLike[str],
        *,
        scale: int | None = None,
        **options: Any,
    ) -> PairCounts:
        """Take over the files of GloVe's `cooccur` and `vocab_count`, which may be compressed.

        Options are those of `from_scipy`.
        """
        matrix, words = exchange.load_glove(cooccurrence, vocabulary)
        with damage_named(cooccurrence, "a table of counts"):
            table = exchange.some_integers(matrix, scale)
        return cls._from_integers(table, words, **options)

    def to_npz(self, path: str | os.PathLike[str]) -> None:
        """Write one file that `scipy.sparse.load_npz` reads; it holds words and their counts as well."""
        counts = cast("PairCounts", self)
        refuse_inputs(path, [counts.directory], inside=True)
        exchange.save_npz(path, counts.to_scipy(), counts.vocabulary, counts.scale)

    def to_glove(
        self, cooccurrence: str | os.PathLike[str], vocabulary: str | os.PathLike[str], *, keys: str | None = None
    ) -> None:
        """Write records and vocabulary for GloVe's `shuffle` and `glove`; `keys="str"` writes the str of any words."""
        counts = cast("PairCounts", self)
        for path in (cooccurrence, vocabulary):
            refuse_inputs(path, [counts.directory], inside=True)
        columns = exchange.columns_of_rows(counts.compressed, counts._store.classes)
        exchange.save_glove(cooccurrence, vocabulary, counts.vocabulary, columns, keys)

"""Pair counts as users see them."""

from __future__ import annotations

import copy
import math
import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from concurrent.futures import Executor
from operator import index
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from gensim_hilbert.counting import build, exchange
from gensim_hilbert.counting.settings import CountSettings, Window, refuse_sample
from gensim_hilbert.counting.store import Store
from gensim_hilbert.vocabulary import TrimRule, Vocabulary


class Marginals(NamedTuple):
    """Sums of the table over terms and over contexts, in real weights."""

    contexts: np.ndarray
    terms: np.ndarray


class PairCounts:
    """Exact counts of the pairs of words within a window, in a directory on disk.

    Make one with `from_corpus`, or `open` one that was made before. Numbers are in real weights: the integers in the
    store divided by `scale`. Rows are contexts, columns are terms.
    """

    def __init__(self, store: Store, keep: np.ndarray | None = None):
        self._store = store
        self._keep = keep
        self._marginals: Marginals | None = None
        self._sample: float | None = None  # on average

    # ------------------------------------------------------------------ making

    @classmethod
    def open(cls, directory: str | os.PathLike[str]) -> PairCounts:
        """Open a store; its shards are mapped into memory when they are asked for."""
        return cls(Store(directory))

    @classmethod
    def from_corpus(
        cls,
        corpus: Any,
        *,
        directory: str | os.PathLike[str] | None = None,
        window: int | tuple[int, int] = 5,
        weights: str | Sequence[Any] = "dynamic",
        min_count: int = 5,
        max_vocab_size: int | None = None,
        max_final_vocab: int | None = None,
        trim_rule: TrimRule | None = None,
        sorted_vocab: bool = True,
        vocabulary: Vocabulary | None = None,
        recount: bool = True,
        oov: str = "remove",
        sample: float = 0.0,
        seed: int = 1,
        workers: int | None = None,
        memory_gb: float = 2.0,
        executor: Executor | None = None,
        errors: str = "strict",
        transport_params: dict[str, Any] | None = None,
        overwrite: bool = False,
        progress: bool = True,
    ) -> PairCounts:
        """Count the pairs of words of a corpus within a window.

        The result depends on the corpus and on the settings of the first two groups below, to the last bit; it does not
        depend on workers, memory, executor, or on whether counting was interrupted.

        Parameters
        ----------
        corpus : path, URI, glob, directory, list of those, file object, or re-iterable of token lists
            Whatever smart_open opens: plain, .gz, .bz2, .xz, .zst, s3://, gs://, http(s)://, hdfs:// and more. Text is
            UTF-8, one sentence a line, words separated by white space; lines may have any length.
        directory : path, optional
            Where the store goes. Interrupted counting goes on when called again with the same arguments. Left out, the
            store is temporary and vanishes with the object.

        window : int or (int, int)
            How many words to each side are contexts; a pair for left and right: (5, 0) takes left contexts only.
        weights : {"dynamic", "flat", "harmonic"} or list
            What a context counts by its distance d: (window - d + 1) / window, 1, 1 / d, or the d-th number of the list
            (a pair of lists for left and right).
        oov : {"remove", "gap"}
            Whether unknown words are taken out before windows are looked at, as word2vec does, or keep their place.
        sample : float
            word2vec's threshold: tokens of words more frequent than this are removed at random before windows are
            looked at. The draw is a hash of `seed` and the token's place in the corpus. See also `expected`.
        seed : int
            For `sample`.
        errors : {"strict", "replace", "ignore"}
            What to do about malformed UTF-8.

        min_count, max_vocab_size, max_final_vocab, trim_rule, sorted_vocab
            As in `gensim.models.Word2Vec`; see `Vocabulary.from_corpus`.
        vocabulary : Vocabulary, optional
            Count over these words instead. With `sample`, tokens are removed by their frequencies in this vocabulary,
            so that parts of a corpus can be counted on their own and added up. Only with it can a corpus be a pipe.
        recount : bool
            Whether to count the words of `vocabulary` in the corpus. False says that its numbers are those of this
            corpus, and saves reading it once more.

        workers : int, optional
            Threads; by default one a core.
        memory_gb : float
            Memory for counting and merging pairs, beyond 0.15 GB for the interpreter and the libraries. It does not
            bound the scan for the vocabulary, which holds every distinct word of the corpus, at 0.2 to 0.4 kB each (the
            more the more workers); `max_vocab_size` does. With an executor, each of its processes has the interpreter
            and the vocabulary for itself.
        executor : concurrent.futures.Executor, optional
            Where to run instead of threads: processes, Dask's `Client.get_executor()`, mpi4py's `MPIPoolExecutor`. All
            of them must see `directory` (or the temporary directory) and the corpus.
        transport_params : dict, optional
            Handed to smart_open.
        overwrite : bool
            Whether to replace a store of other counts that lies in `directory`.
        progress : bool
            Whether to draw a bar, if standard error is a terminal.
        """
        settings = CountSettings(Window.parse(window, weights), oov, float(sample), index(seed), errors)
        rules = dict(
            min_count=min_count,
            max_vocab_size=max_vocab_size,
            max_final_vocab=max_final_vocab,
            trim_rule=trim_rule,
            sorted_vocab=sorted_vocab,
        )
        return cls._made(
            directory,
            lambda target: build.count_corpus(
                corpus,
                target,
                settings,
                rules=rules,
                vocabulary=vocabulary,
                recount=recount,
                workers=workers,
                memory_gb=memory_gb,
                executor=executor,
                transport_params=transport_params,
                overwrite=overwrite,
                progress=progress,
            ),
        )

    @classmethod
    def merge(
        cls, stores: Sequence[PairCounts], *, directory: str | os.PathLike[str] | None = None, overwrite: bool = False
    ) -> PairCounts:
        """The sum of stores over one vocabulary, as if their corpora had been counted together.

        The vocabulary of some may be the beginning of that of others: words that came later.
        """
        for counts in stores:
            counts._refuse_expected("merge")
        return cls._made(
            directory, lambda target: build.merge_stores([counts._store for counts in stores], target, overwrite)
        )

    def __add__(self, other: PairCounts) -> PairCounts:
        return PairCounts.merge([self, other]) if isinstance(other, PairCounts) else NotImplemented

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        vocabulary: Vocabulary | Sequence[str],
        *,
        scale: int | None = None,
        directory: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
    ) -> PairCounts:
        """Take over a (V, V) matrix of counts, contexts x terms.

        Counts are kept as integers over `scale`: found where it is left out and small (1, or the common denominator of
        harmonic weights up to window 10), otherwise to be given; numbers are then rounded to multiples of 1 / scale.
        """
        rows, columns, counts, found = exchange.to_integers(matrix, scale)
        words = exchange.vocabulary_of(vocabulary, matrix)
        return cls._made(
            directory, lambda target: build.import_triples(rows, columns, counts, found, words, target, overwrite)
        )

    @classmethod
    def from_npz(cls, path: str | os.PathLike[str], **options: Any) -> PairCounts:
        """Take over a file that `to_npz` wrote; options as for `from_scipy`."""
        matrix, vocabulary, scale = exchange.load_npz(path)
        return cls.from_scipy(matrix, vocabulary, **{"scale": scale} | options)

    @classmethod
    def from_glove(
        cls, cooccurrence: str | os.PathLike[str], vocabulary: str | os.PathLike[str], **options: Any
    ) -> PairCounts:
        """Take over what GloVe's `cooccur` and `vocab_count` wrote, .gz and the like as well.

        Options as for `from_scipy`.
        """
        matrix, words = exchange.load_glove(cooccurrence, vocabulary)
        return cls.from_scipy(matrix, words, **options)

    def to_npz(self, path: str | os.PathLike[str]) -> None:
        """Write one file that `scipy.sparse.load_npz` reads; words and counts ride along."""
        exchange.save_npz(path, self.to_scipy(), self.vocabulary, self.scale)

    def to_glove(self, cooccurrence: str | os.PathLike[str], vocabulary: str | os.PathLike[str]) -> None:
        """Write records and vocabulary for GloVe's `shuffle` and `glove`."""
        exchange.save_glove(cooccurrence, vocabulary, self.vocabulary, self._columns_of_rows())

    @classmethod
    def _made(cls, directory: str | os.PathLike[str] | None, make: Any) -> PairCounts:
        if directory is not None:
            make(Path(directory))
            return cls.open(directory)
        parent = Path(tempfile.mkdtemp(prefix="gensim_hilbert-"))
        try:
            make(parent / "counts")
            counts = cls.open(parent / "counts")
        except BaseException:
            shutil.rmtree(parent, ignore_errors=True)
            raise
        weakref.finalize(counts._store, shutil.rmtree, parent, ignore_errors=True)
        return counts

    def _refuse_expected(self, what: str) -> None:
        if self._keep is not None:
            raise ValueError(
                f"cannot {what} counts in expectation: they are no integers; use the counts they come from"
            )

    # ------------------------------------------------------------------ facts

    @property
    def vocabulary(self) -> Vocabulary:
        """The words, with their numbers of occurrences."""
        return self._store.vocabulary

    @property
    def directory(self) -> Path:
        """Where the store lies."""
        return self._store.directory

    @property
    def manifest(self) -> dict[str, Any]:
        """Settings and sizes, as `manifest.json` has them."""
        return copy.deepcopy(self._store.manifest)

    @property
    def fingerprint(self) -> str:
        """A hash of vocabulary, settings and counts: equal for equal counts, however they were made."""
        return str(self._store.manifest["fingerprint"])

    @property
    def window(self) -> Window:
        """Weights by distance, as integers over `window.scale`."""
        return self._store.window

    @property
    def scale(self) -> int:
        """What the stored integers are divided by."""
        return self._store.scale

    @property
    def symmetric(self) -> bool:
        """Whether the table equals its transpose."""
        return self._store.mirrored

    @property
    def marginals(self) -> Marginals:
        """Sums over terms (one for each context) and over contexts (one for each term)."""
        if self._marginals is None:
            if self._keep is None:
                contexts, terms = self._store.marginals_scaled / self.scale
            else:
                contexts, terms = np.zeros(len(self)), np.zeros(len(self))
                for row_class in range(self._store.classes):
                    rows, columns, values = self._values(row_class, 0, self._store.classes, all_columns=True)
                    contexts += np.bincount(rows, values, len(self))
                    terms += np.bincount(columns, values, len(self))
            self._marginals = Marginals(contexts, terms)
        return self._marginals

    @property
    def total(self) -> float:
        """The sum of the whole table."""
        if self._keep is None:
            return int(self._store.marginals_scaled[0].sum()) / self.scale
        return float(self.marginals.contexts.sum())

    def __len__(self) -> int:
        return len(self.vocabulary)

    def __repr__(self) -> str:
        return f"PairCounts({len(self)} words, total {self.total:g}, in {str(self.directory)!r})"

    # ------------------------------------------------------------------ reading

    def _values(self, i: int, j: int, n: int, all_columns: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if all_columns:
            parts = [self._store.entries(i, column_class, n) for column_class in range(n)]
            rows, columns, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
        else:
            rows, columns, counts = self._store.entries(i, j, n)
        values = counts / self.scale
        return rows, columns, values if self._keep is None else values * self._keep[rows] * self._keep[columns]

    def shard(self, i: int, j: int, n: int) -> sparse.csr_array:
        """The counts `[i::n, j::n]` as CSR.

        Takes time in proportion to its entries where n is a power of two up to `manifest["classes"]`; other n read more
        than they return.
        """
        if n < 1 or not 0 <= i < n or not 0 <= j < n:
            raise ValueError(f"shard({i}, {j}, {n}): needs 0 <= i, j < n")
        rows, columns, values = self._values(i, j, n)
        shape = (len(range(i, len(self), n)), len(range(j, len(self), n)))
        return sparse.coo_array((values, (rows // n, columns // n)), shape=shape).tocsr()

    def to_scipy(self) -> sparse.csr_array:
        """The whole table as one (V, V) CSR array of float64, contexts x terms."""
        return self.shard(0, 0, 1)

    def count(self, context: str, term: str) -> float:
        """The weight with which `context` stands in the window of `term`."""
        i, j = self.vocabulary.id(context), self.vocabulary.id(term)
        n = self._store.classes
        rows, columns, values = self._values(i % n, j % n, n)
        return float(values[(rows == i) & (columns == j)].sum())

    def pmi(self, context: str, term: str) -> float:
        """Pointwise mutual information `ln(p_ij / (p_i p_j))`; minus infinity for a pair that never occurs."""
        count = self.count(context, term)
        if not count:
            return -math.inf
        i, j = self.vocabulary.id(context), self.vocabulary.id(term)
        return (
            math.log(count)
            + math.log(self.total)
            - math.log(self.marginals.contexts[i])
            - math.log(self.marginals.terms[j])
        )

    def _columns_of_rows(self) -> Any:
        """(context, terms, values) for each context that has any, class by class."""
        n = self._store.classes
        for row_class in range(n):
            rows, columns, values = self._values(row_class, 0, n, all_columns=True)
            order = np.lexsort((columns, rows))
            starts: Any = np.flatnonzero(np.r_[True, np.diff(rows[order]) > 0]) if len(order) else []
            for part in np.split(order, starts[1:]) if len(order) else []:
                yield int(rows[part[0]]), columns[part], values[part]

    def expected(self, sample: float) -> PairCounts:
        """The same counts as word2vec's subsampling would leave them on average: `N_ij keep_i keep_j`.

        Unlike `from_corpus(sample=...)`, which removes tokens before it looks at windows, this does not widen windows.
        """
        refuse_sample(sample)
        thinned = PairCounts(self._store, self.vocabulary.keep_probability(sample))
        thinned._sample = sample
        return thinned

    def as_counted(self) -> tuple[PairCounts, float, bool]:
        """The counts as they are in the store, the sample by which they are thinned, and whether only on average."""
        if self._sample is None:
            return self, float(self.manifest["sample"]), False
        return PairCounts(self._store), self._sample, True

    def verify(self) -> None:
        """Check every byte against its checksum; shards are otherwise checked as they are read."""
        self._store.verify()

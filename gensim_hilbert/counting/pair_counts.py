"""`PairCounts`: stores of pair counts as users see them."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Sequence
from itertools import product
from operator import index
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from gensim_hilbert.corpus.dispatch import default_workers
from gensim_hilbert.corpus.executors import RETRIES, as_executor
from gensim_hilbert.corpus.preparation import preparation_of
from gensim_hilbert.corpus.sources import as_corpus
from gensim_hilbert.counting import build
from gensim_hilbert.counting.association import pmi_intervals, pmi_of_rows
from gensim_hilbert.counting.bucket_store import DEFAULT_CACHE_GB
from gensim_hilbert.counting.exchanged import Exchanged
from gensim_hilbert.counting.graphs import FromGraph
from gensim_hilbert.counting.intervals import PmiInterval, refuse_level
from gensim_hilbert.counting.making import made_store, open_store
from gensim_hilbert.counting.plan import Resources
from gensim_hilbert.counting.settings import CountSettings, Window, refuse_sample
from gensim_hilbert.counting.store import Compressed, CompressedShards, Store
from gensim_hilbert.counting.workplace import AnyDestination
from gensim_hilbert.markup import notebook_table
from gensim_hilbert.objects import Place
from gensim_hilbert.phrases.applying import with_phrases
from gensim_hilbert.phrases.table import Phrases
from gensim_hilbert.vocabulary import Vocabulary
from gensim_hilbert.word_scan import TrimRule


class Marginals(NamedTuple):
    """Sums of the table in real weights, one for each context and one for each term."""

    contexts: np.ndarray
    terms: np.ndarray


class PairCounts(FromGraph, Exchanged):
    """Exact counts of the pairs of words within a window, in a directory on disk.

    Make one with `from_corpus` or `from_graph`, or `open` one that was made before. All numbers are real weights: the
    integers of the store divided by `scale`. Rows are contexts and columns are terms.
    """

    def __init__(self, store: Store, keep: np.ndarray | None = None):
        self._store = store
        self._keep = keep
        self._marginals: Marginals | None = None
        self._expected_sample: float | None = None  # by which counts in expectation are thinned out

    # ------------------------------------------------------------------ making

    @classmethod
    def open(
        cls,
        directory: str | os.PathLike[str],
        *,
        words: Sequence[Any] | None = None,
        cache_gb: float = DEFAULT_CACHE_GB,
    ) -> PairCounts:
        """Open a store; its shards are mapped into memory when they are needed.

        Parameters
        ----------
        directory : path or s3:// URI
            Where the store is.
        words : list, optional
            Needed only if some words are of a type that no file without pickle can hold: `index_to_key` of a model.
        cache_gb : float
            For a store in a bucket, how many gigabytes of its shards are kept in the folder for temporary files.
        """
        return cls(open_store(directory, words, cache_gb))

    @classmethod
    def from_corpus(
        cls,
        corpus: Any,
        *,
        directory: str | os.PathLike[str] | None = None,
        tokenizer: Any = None,
        sentence_ends: str = "lines",
        phrases: Any = None,
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
        executor: Any = None,
        retries: int = RETRIES,
        errors: str = "strict",
        transport_params: dict[str, Any] | None = None,
        column: str | None = None,
        overwrite: bool = False,
        progress: bool = True,
    ) -> PairCounts:
        """Count the pairs of words of a corpus within a window.

        The result depends on the corpus and on the settings of the first two groups below, to the last bit; it does not
        depend on workers, memory, executor, or on whether counting was interrupted.

        Parameters
        ----------
        corpus : path, URI, glob, directory, list of those, file object, table, or re-iterable of token lists
            Whatever smart_open opens: plain, .gz, .bz2, .xz, .zst, s3://, gs://, http(s)://, hdfs:// and more. Text is
            UTF-8 with one sentence per line and words separated by white space; lines may have any length. Tables are
            files (.parquet, .arrow, .feather, .jsonl, .ndjson, .csv, .tsv) and objects of pandas, polars, pyarrow and
            datasets; see docs/tables.md. Dumps of Wikipedia (.xml.bz2) are read as the text of their articles.
        column : str, optional
            The column of tables that holds the text; it may be left out if there is only one such column.
        directory : path or s3:// URI, optional
            Where the store goes. Counting that was interrupted, or failed for a reason that may pass, goes on when it
            is called again with the same arguments. If it is left out, the store is temporary and vanishes with the
            object.

        tokenizer : str, path, Tokenizer, tokenizers.Tokenizer or function, optional
            What makes words of text, as in `HilbertMLE`; by default, white space separates them. Lists of words are
            left as they are. An iterable, other than a list, may then have texts as str instead. A function must be
            one that can be pickled to run on an executor of processes, and counting with it cannot go on after an
            interruption.
        sentence_ends : {"lines", "punctuation"}
            Whether sentences end at line ends only, or also at punctuation with white space behind it.
        phrases : "auto", Phrases, path, or gensim's Phrases or FrozenPhrases, optional
            Words to join first, such as "new york" to "new_york". "auto" finds those of the corpus by the defaults of
            `Phrases.from_corpus`, which are gensim's. They are stored with the counts.
        window : int or (int, int)
            How many words to each side are contexts. A pair is for left and right: (5, 0) takes left contexts only.
        weights : {"dynamic", "flat", "harmonic"} or list
            The weight of a context at distance d: (window - d + 1) / window, 1, 1 / d, or the d-th number of the list.
            A pair of lists is for left and right.
        oov : {"remove", "gap"}
            Whether unknown words are removed before windows are formed, as word2vec does, or leave a gap.
        sample : float
            word2vec's threshold: tokens of words more frequent than this are removed at random before windows are
            formed. The draw is a hash of `seed` and of the token's place in the corpus. See also `expected`.
        seed : int
            Seed of the random draws of `sample`.
        errors : {"strict", "replace", "ignore"}
            How malformed UTF-8 is handled, as in `bytes.decode`.

        min_count, max_vocab_size, max_final_vocab, trim_rule, sorted_vocab
            As in `gensim.models.Word2Vec`; see `Vocabulary.from_corpus`.
        vocabulary : Vocabulary, optional
            Words to count over instead. With `sample`, tokens are removed by their frequencies in this vocabulary,
            so that parts of a corpus can be counted on their own and added up. Only with it can a corpus be a pipe.
        recount : bool
            Whether to count the words of `vocabulary` in the corpus. Pass False if its counts are those of this corpus
            already; this saves reading it once more.

        workers : int, optional
            Number of threads; by default one per core.
        memory_gb : float
            Memory for counting and merging pairs, beyond 0.15 GB for the interpreter and the libraries. It does not
            bound the scan for the vocabulary, which holds every distinct word of the corpus in 0.2 to 0.4 kB each, more
            with more workers; `max_vocab_size` does. With an executor, each of its processes has its own interpreter
            and its own copy of the vocabulary.
        executor : concurrent.futures.Executor or dask.distributed.Client, optional
            Where the work runs, instead of on threads: processes, a client of Dask, mpi4py's `MPIPoolExecutor`. All
            workers must see `directory` (or the temporary directory) and the corpus; in a bucket, they do.
        retries : int
            How often a task on the executor is tried again if it fails for a reason that may pass, such as the death
            of its worker.
        transport_params : dict, optional
            Passed to smart_open.
        overwrite : bool
            Whether to replace other counts that are in `directory`. Nothing but counts is ever replaced.
        progress : bool
            Whether to show a progress bar if standard error is a terminal.
        """
        settings = CountSettings(Window.parse(window, weights), oov, float(sample), index(seed), errors)
        rules = dict(
            min_count=min_count, max_vocab_size=max_vocab_size, max_final_vocab=max_final_vocab, trim_rule=trim_rule,
            sorted_vocab=sorted_vocab,
        )  # fmt: skip
        executor = as_executor(executor)
        resources = Resources(default_workers(workers, executor), memory_gb, executor, progress, retries)
        source = as_corpus(corpus, transport_params, preparation_of(tokenizer, sentence_ends), column=column)
        work = dict(workers=workers, memory_gb=memory_gb, executor=executor, errors=errors, progress=progress)
        source = with_phrases(source, phrases, **work)
        request = build.CountRequest(source, settings, rules, vocabulary, recount)
        return cls._made(
            directory, overwrite, lambda where: build.count_corpus(request, where, resources), request.corpus.names
        )

    @classmethod
    def merge(
        cls,
        stores: Sequence[PairCounts],
        *,
        directory: str | os.PathLike[str] | None = None,
        workers: int | None = None,
        memory_gb: float = 2.0,
        overwrite: bool = False,
    ) -> PairCounts:
        """Add up stores over one vocabulary, as if their corpora had been counted together.

        Parameters
        ----------
        stores : list of PairCounts
            The words of some may be the first words of others, which have more.
        directory : path, optional
            Where the sum goes. If it is left out, the store is temporary and vanishes with the object.
        workers : int, optional
            Number of threads; by default one per core.
        memory_gb : float
            Memory for sorting and merging.
        overwrite : bool
            Whether to replace other counts that are in `directory`. Nothing but counts is ever replaced.
        """
        for counts in stores:
            counts._refuse_expected("merge")
        resources = Resources(default_workers(workers), memory_gb)
        return cls._made(
            directory,
            overwrite,
            lambda destination: build.merge_stores([counts._store for counts in stores], destination, resources),
            [counts.directory for counts in stores],
            inside=True,
        )

    def __add__(self, other: PairCounts) -> PairCounts:
        return PairCounts.merge([self, other]) if isinstance(other, PairCounts) else NotImplemented

    @classmethod
    def _made(
        cls,
        directory: str | os.PathLike[str] | None,
        overwrite: bool,
        make: Callable[[AnyDestination], Vocabulary | None],
        inputs: Sequence[str | os.PathLike[str]] = (),
        *,
        inside: bool = False,
    ) -> PairCounts:
        """Open what `make` writes to a directory, or to a temporary one that vanishes with the object."""
        return cls(made_store(directory, overwrite, make, inputs, inside=inside))

    def _refuse_expected(self, what: str) -> None:
        if self._keep is not None:
            raise ValueError(
                f"cannot {what} counts in expectation: they are not integers; use the counts they come from"
            )

    # ------------------------------------------------------------------ facts

    @property
    def vocabulary(self) -> Vocabulary:
        """The words and how often each of them occurs."""
        return self._store.vocabulary

    @property
    def phrases(self) -> Phrases | None:
        """The phrases that were joined in the text; None if none were."""
        return self._store.phrases

    @property
    def directory(self) -> Place:
        """The directory of the store, or its place in a bucket."""
        return self._store.place

    def local_directory(self) -> Path:
        """Return the directory of the store, or of a copy of it on this machine if it is in a bucket."""
        return self._store.local_directory()

    @property
    def manifest(self) -> dict[str, Any]:
        """Settings and sizes, as they are in `manifest.json`."""
        return copy.deepcopy(self._store.manifest)

    @property
    def fingerprint(self) -> str:
        """A hash of vocabulary, settings and counts: equal for equal counts, however they were made."""
        return str(self._store.manifest["fingerprint"])

    @property
    def window(self) -> Window:
        """The weights by distance, as integers over `window.scale`."""
        return self._store.window

    @property
    def scale(self) -> int:
        """The number by which the stored integers are divided."""
        return self._store.scale

    @property
    def symmetric(self) -> bool:
        """Whether the table equals its transpose."""
        return self._store.mirrored

    @property
    def marginals(self) -> Marginals:
        """Sums of the table: over terms, one for each context, and over contexts, one for each term."""
        if self._marginals is None:
            if self._keep is None:
                contexts, terms = self._store.marginals_scaled / self.scale
            else:
                contexts, terms = np.zeros(len(self)), np.zeros(len(self))
                n = self._store.classes
                for i, j in product(range(n), repeat=2):
                    part = self.compressed(i, j, n)
                    contexts[i::n] += np.bincount(part.rows, part.values, len(contexts[i::n]))
                    terms[j::n] += np.bincount(part.columns, part.values, len(terms[j::n]))
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

    def _repr_html_(self) -> str:
        """Return a table of sizes and settings, for notebooks."""
        left, right = len(self.window.left), len(self.window.right)
        rows: list[tuple[str, object]] = [
            ("words", len(self)),
            ("words of text", int(self._store.manifest["tokens"])),
            ("stored pairs", int(self._store.manifest["entries"])),
            ("total weight", self.total),
            ("window", f"{left} to the left, {right} to the right" if left or right else "unknown"),
            ("directory", self.directory),
        ]
        return notebook_table("Counts of pairs", rows)

    # ------------------------------------------------------------------ reading

    def shard(self, i: int, j: int, n: int) -> sparse.csr_array:
        """Return the counts `[i::n, j::n]` in CSR format.

        This takes time in proportion to the entries if n is a power of two up to `manifest["classes"]`; for other n
        more is read than returned.
        """
        found = self.compressed(i, j, n)
        shape = (len(range(i, len(self), n)), len(range(j, len(self), n)))
        table = sparse.csr_array((found.values, found.columns, found.starts), shape=shape)
        table.sort_indices()
        return table

    def compressed(self, i: int, j: int, n: int) -> Compressed:
        """Return the arrays of `shard`, with columns in any order."""
        if n < 1 or not 0 <= i < n or not 0 <= j < n:
            raise ValueError(f"shard({i}, {j}, {n}): needs 0 <= i, j < n")
        return self._store.compressed(i, j, n, self._keep)

    def read_shards(
        self,
        keys: list[tuple[int, int]],
        n: int,
        dtype: DTypeLike = np.float64,
        factors: tuple[np.ndarray, np.ndarray] | None = None,
        empty: Callable[[int, DTypeLike], np.ndarray] = np.empty,
    ) -> CompressedShards:
        """Return the arrays of several shards, counts times one factor per context and one per term if given."""
        return self._store.read_shards(keys, n, dtype, self._keep, factors, empty)

    def to_scipy(self) -> sparse.csr_array:
        """Return the whole table as one (V, V) CSR array of float64, contexts x terms."""
        return self.shard(0, 0, 1)

    def count(self, context: Any, term: Any) -> float:
        """Return the weight with which `context` occurs in the window of `term`."""
        pair = np.array([[self.vocabulary.id(context)], [self.vocabulary.id(term)]])
        return float(self.counts_of_rows(*pair)[0])

    def map_files(self) -> None:
        """Map all files now, so that counts stay readable if the store is replaced or removed; not for buckets."""
        self._store.map_files()

    def counts_of_rows(self, contexts: np.ndarray, terms: np.ndarray) -> np.ndarray:
        """Return the weights of many pairs, given by row numbers."""
        contexts, terms = np.asarray(contexts, dtype=np.int64), np.asarray(terms, dtype=np.int64)
        found = self._store.counts_of(contexts, terms)
        if self._keep is not None:
            found *= self._keep[contexts] * self._keep[terms]
        return found

    @overload
    def pmi(self, context: Any, term: Any, interval: None = None) -> float: ...
    @overload
    def pmi(self, context: Any, term: Any, interval: float) -> PmiInterval: ...
    def pmi(self, context: Any, term: Any, interval: float | None = None) -> float | PmiInterval:
        """Return the pointwise mutual information `ln(p_ij / (p_i p_j))`, minus infinity for pairs that never occur.

        Parameters
        ----------
        context, term : key
            Two words.
        interval : float, optional
            A probability such as 0.95. Then the result is a `PmiInterval(value, low, high)`, and the true PMI is
            between the bounds with this probability, given the counts. See docs/counting.md for the assumptions.
        """
        if interval is not None:
            refuse_level(interval)
        i, j, count = self.vocabulary.id(context), self.vocabulary.id(term), self.count(context, term)
        if interval is None:
            return float(pmi_of_rows(self, i, j, count))
        return PmiInterval(*map(float, pmi_intervals(self, i, j, count, interval)))

    def expected(self, sample: float) -> PairCounts:
        """Return the counts that word2vec's subsampling would leave on average: `N_ij keep_i keep_j`.

        Unlike `from_corpus(sample=...)`, which removes tokens before windows are formed, this does not widen windows.
        """
        refuse_sample(sample)
        thinned = PairCounts(self._store, self.vocabulary.keep_probability(sample))
        thinned._expected_sample = sample
        return thinned

    def as_counted(self) -> tuple[PairCounts, float, bool]:
        """Return the counts as they are stored, the sample that thins them out, and whether it does so on average."""
        if self._expected_sample is None:
            return self, float(self.manifest["sample"]), False
        return PairCounts(self._store), self._expected_sample, True

    def verify(self) -> None:
        """Check every byte against its checksum; shards are otherwise checked as they are read."""
        self._store.verify()

"""Makes stores: counts a corpus, adds stores up, takes over tables from elsewhere.

A store is put together in NAME.partial, which is renamed when it is whole. Counting keeps a journal there, with which
it goes on after an interruption.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np

from gensim_hilbert._merge import records
from gensim_hilbert.corpus.blocks import BLOCK_BYTES
from gensim_hilbert.corpus.dispatch import in_parallel, map_blocks, reads_here
from gensim_hilbert.corpus.identity import CorpusChanged
from gensim_hilbert.corpus.sources import Corpus
from gensim_hilbert.counting.bucket import is_complete
from gensim_hilbert.counting.journal import Journal, remove_runs
from gensim_hilbert.counting.layout import KEEP_BELOW, SCAN, SHARDS, VOCABULARY, classes_for, new_run
from gensim_hilbert.counting.log import log_in
from gensim_hilbert.counting.merge import reduce_runs, write_class
from gensim_hilbert.counting.plan import Plan, Resources
from gensim_hilbert.counting.runs import Run, RunWriter, write_triples
from gensim_hilbert.counting.seams import stitch
from gensim_hilbert.counting.settings import CountSettings, Window
from gensim_hilbert.counting.store import MergedShards, Store, StoreDescription, read_manifest, write_manifest
from gensim_hilbert.counting.words import is_for_executor, scan_on_executor
from gensim_hilbert.counting.worker import CountTask, count_pairs, forget_words, load_words
from gensim_hilbert.counting.workplace import AnyDestination, building, clear
from gensim_hilbert.counting.workspace import Destination, remove_replaced
from gensim_hilbert.files import as_read_back
from gensim_hilbert.keys import same_keys
from gensim_hilbert.objects import ObjectPath, Place
from gensim_hilbert.phrases.applying import phrases_of
from gensim_hilbert.progress import Progress
from gensim_hilbert.untrusted import npy_bytes
from gensim_hilbert.vocabulary import ERRORS, Vocabulary
from gensim_hilbert.word_scan import NothingToCount, refuse_rules

logger = logging.getLogger(__name__)


# ---------------------------------------------------------------------------------------------------- counting


@dataclass(frozen=True)
class CountRequest:
    """All that the counts of a corpus depend on."""

    corpus: Corpus
    settings: CountSettings
    rules: dict[str, Any]  # for the words of the corpus, as `Vocabulary.from_corpus` takes them
    vocabulary: Vocabulary | None = None  # or these words instead
    recount: bool = True  # whether their occurrences in the corpus are counted

    def __post_init__(self) -> None:
        refuse_rules(*(self.rules[name] for name in ("min_count", "max_vocab_size", "max_final_vocab")))
        if self.settings.errors not in ERRORS:
            raise ValueError(f"errors must be one of {', '.join(ERRORS)}, got {self.settings.errors!r}")
        if self.vocabulary is None and not self.corpus.can_repeat:
            raise ValueError(
                f"{self.corpus.names[0]} can be read only once, but counting reads a corpus twice: save it to a file "
                "first, or pass vocabulary="
            )

    def describe(self) -> Any:
        """Return the request as JSON, or None if the corpus or a rule could not be recognised again."""
        if self.corpus.fingerprint is None or (self.vocabulary is None and self.rules["trim_rule"] is not None):
            return None
        words = self.rules
        if self.vocabulary is not None:
            words = {"words": self.vocabulary.fingerprint} | ({} if self.recount else {"recount": False})
        return as_read_back(
            {
                "corpus": self.corpus.fingerprint,
                "block_bytes": BLOCK_BYTES,
                "vocabulary": words,
                **asdict(self.settings),
            }
        )

    def find_vocabulary(self, work: Place, resources: Resources) -> Vocabulary:
        """Collect the words to count over, reading the corpus once if need be."""
        if self.vocabulary is None and is_for_executor(self.corpus, resources.executor, self.rules):
            return scan_on_executor(self.corpus, work, self.describe(), self.rules, self.settings.errors, resources)
        clear(work)
        scan: dict[str, Any] = {
            "workers": resources.workers,
            "executor": resources.executor,
            "errors": self.settings.errors,
            "retries": resources.retries,
            "progress": resources.progress,
        }
        if self.vocabulary is None:
            return Vocabulary.from_corpus(self.corpus, **self.rules, **scan)
        if self.recount and self.corpus.can_repeat:
            return self.vocabulary.recounted(self.corpus, **scan)
        given = self.vocabulary
        size = {} if self.recount else {"tokens": given.tokens, "sentences": given.sentences}
        return Vocabulary(given.words, given.counts, **size)


def count_corpus(request: CountRequest, destination: AnyDestination, resources: Resources) -> Vocabulary | None:
    """Count a corpus into a store, or complete what an interrupted call has begun; returns the words if it has them."""
    settings, described = request.settings, request.describe()
    if described is not None and is_answer(destination.path, described):
        logger.info("%s holds these counts already", destination.path)
        if isinstance(destination, Destination):
            remove_replaced(destination)
        return None
    with building(destination, resumable=described is not None) as work:
        if described is not None and is_answer(work, described):
            return None  # It was interrupted when only the renaming was left.
        journal = Journal.resume(work, described)
        if journal is None:
            vocabulary = request.find_vocabulary(work, resources)
            if settings.sample:
                # If a vocabulary is given, tokens are removed by the frequencies in that: parts of a corpus, counted
                # on their own, are thinned out by the frequencies in the whole.
                frequencies = vocabulary if request.vocabulary is None else request.vocabulary
                (work / KEEP_BELOW).write_bytes(npy_bytes(frequencies.keep_below(settings.sample)))
            vocabulary.save(work / VOCABULARY, any_type=destination.temporary)
            journal = Journal.start(work, described, vocabulary)
            log_in(work, SCAN).discard()
            remove_runs(work, ())
        else:
            vocabulary = journal.vocabulary
            logger.info("going on with %s: %d tokens are counted", work, journal.tokens)
        try:
            refuse_overflow(vocabulary.tokens * settings.window.most, settings.window)
            plan = Plan.make(
                len(vocabulary), settings.window, resources.workers, resources.memory_gb, vocabulary.nbytes
            )
            count_blocks(request.corpus.over(vocabulary), settings, journal, plan, resources)
            preparation = request.corpus.preparation
            description = StoreDescription(
                settings,
                vocabulary,
                settings.window.mirrored,
                described,
                preparation and preparation.describe(),
                phrases_of(request.corpus),
            )
            finish(work, list(journal.runs.values()), description, plan, resources, journal.merged)
        except (CorpusChanged, ArithmeticError, TypeError, ValueError):
            journal.discard()  # The same request would fail again, or mix two states of the corpus.
            raise
    return vocabulary


def is_answer(target: Place, described: Any) -> bool:
    """Tell whether a store with these very counts is there, undamaged: if it is not, counting again must help."""
    try:
        if read_manifest(target)["request"] != described:
            return False
        if isinstance(target, ObjectPath):
            return is_complete(target)
        Store(target).verify()
    except (OSError, ValueError):
        return False
    return True


def count_blocks(corpus: Corpus, settings: CountSettings, journal: Journal, plan: Plan, resources: Resources) -> None:
    """Count all blocks that the journal does not have yet, and the pairs across cuts."""
    if journal.stitched:
        return
    vocabulary = journal.vocabulary
    size, classes = len(vocabulary), classes_for(len(vocabulary))
    task = CountTask(str(journal.directory), journal.words_checksum(), settings, classes, plan.capacity)
    with Progress("pairs", corpus.total, show=resources.progress) as bar:
        bar.update(sum(result.cost for result in journal.results))
        live = bar.update if resources.executor is None else None
        try:
            load_words(task, vocabulary)  # Threads find them there.
            for result in map_blocks(
                partial(count_pairs, task=task, report=live),
                corpus,
                workers=plan.workers,
                executor=resources.executor,
                share=plan.share,
                streams=reads_here(corpus, plan.workers, resources.executor),
                select=journal.select,
                failure=lambda result: result.error,
                retries=resources.retries,
            ):
                if result.blocks:
                    journal.add(result)
                if not live:
                    bar.update(result.cost, result.tokens)
        finally:
            forget_words()
    tokens = journal.tokens
    if vocabulary.tokens and tokens != vocabulary.tokens:
        change = (
            f"the corpus had {vocabulary.tokens} words when its vocabulary was collected, and {tokens} when its pairs "
            "were counted"
        )
        if not corpus.may_differ:
            journal.discard()
            raise RuntimeError(f"{change}: it must not change, and must give the same sentences each time it is read")
        logger.warning("%s: if it is not meant to differ each time it is read, something is wrong with it", change)
    vocabulary.tokens = tokens
    refuse_overflow(tokens * settings.window.most, settings.window)
    seams = stitch((seam for result in journal.results for seam in result.seams), settings.window, size)
    journal.merged([], write_triples(*seams, size, classes, new_run(journal.directory)))


def refuse_overflow(total: int, window: Window) -> None:
    """Raise an error unless all sums of counts stay below 2^63."""
    if total >= 1 << 63:
        raise OverflowError(
            f"the counts may add up to {total} in units of 1/{window.scale}, and overflow 64 bits; use a smaller "
            "window, or flat weights"
        )


def finish(
    work: Place,
    runs: list[Run],
    description: StoreDescription,
    plan: Plan,
    resources: Resources,
    note_merged: Callable[[list[Run], Run], None] = lambda parts, result: None,
) -> None:
    """Merge runs into the shards of a store and write its manifest."""
    size, classes = description.size, description.classes
    workers, executor = plan.workers, resources.executor
    runs = reduce_runs(
        runs,
        size,
        classes,
        work,
        fan_in=plan.fan_in,
        workers=workers,
        executor=executor,
        retries=resources.retries,
        journal=note_merged,
    )
    (work / SHARDS).mkdir(exist_ok=True)
    marginals = np.zeros((2, size), dtype="<u8")
    parts, sizes = [], [0] * classes
    task = partial(
        write_class, runs=runs, size=size, classes=classes, mirrored=description.mirrored, directory=str(work),
        read_bytes=plan.read_bytes(len(runs)),
    )  # fmt: skip
    with Progress("merge", classes, show=resources.progress, unit=" shards") as bar:
        for row_class, result in in_parallel(task, range(classes), workers, executor, retries=resources.retries):
            parts.append(result.chunks)
            marginals[1] += result.terms
            if result.contexts is not None:
                marginals[0, row_class::classes] = result.contexts
            sizes[row_class] = result.size
            bar.update(1)
    if description.mirrored:
        marginals[0] = marginals[1]
    index = np.concatenate(parts)
    index = index[np.lexsort((index[:, 2], index[:, 1], index[:, 0]))]
    if not len(index):
        raise NothingToCount(
            "there is not a single pair to count: no sentence has two known words within a window",
            description.vocabulary.tokens,
        )
    write_manifest(work, description, MergedShards(index, marginals, sizes))


# ---------------------------------------------------------------------------------------------------- adding up


def merge_stores(stores: list[Store], destination: AnyDestination, resources: Resources) -> Vocabulary:
    """Add up stores over one vocabulary; the words of some may be the first words of it."""
    if not stores:
        raise ValueError("nothing to merge: give at least one store")
    first = max(stores, key=lambda store: store.size)
    for store in stores:
        refuse_unlike(first, store)
    refuse_overflow(sum(store.manifest["total"] for store in stores), first.window)
    sizes = [
        (int(words.counts.sum()), words.tokens, words.sentences) for words in (store.vocabulary for store in stores)
    ]
    if max(map(sum, zip(*sizes, strict=True))) >= 1 << 63:
        names = ", ".join(str(store.directory) for store in stores)
        raise ValueError(f"the sizes of {names} cannot be right: they add up to more than 64 bits can hold")
    vocabulary = Vocabulary(
        first.vocabulary.words,
        sum(np.pad(store.vocabulary.counts, (0, first.size - store.size)) for store in stores),
        tokens=sum(store.vocabulary.tokens for store in stores),
        sentences=sum(store.vocabulary.sentences for store in stores),
    )
    settings = CountSettings(first.window, first.manifest["oov"], first.manifest["sample"], first.manifest["seed"])
    plan = Plan.make(first.size, settings.window, resources.workers, resources.memory_gb, 0)
    with building(destination) as work:
        clear(work)
        vocabulary.save(work / VOCABULARY, any_type=destination.temporary)
        task = partial(write_stored, classes=classes_for(first.size), directory=work, most=plan.sorted_entries)
        runs = list(in_parallel(task, stores, plan.workers, None))
        description = StoreDescription(
            settings, vocabulary, first.mirrored, None, first.manifest.get("preparation"), first.phrases
        )
        finish(work, runs, description, plan, resources)
    return vocabulary


def refuse_unlike(first: Store, store: Store) -> None:
    """Raise an error unless the counts of two stores mean the same."""
    have_same_words = same_keys(first.vocabulary.words[: store.size], store.vocabulary.words)
    for what, mine, theirs in (
        ("vocabulary", have_same_words, True),
        ("window and weights", first.window, store.window),
        ("kind (symmetric or not)", first.mirrored, store.mirrored),
        *((key, first.manifest[key], store.manifest[key]) for key in ("oov", "sample")),
        ("tokenizer or phrases", first.manifest.get("preparation"), store.manifest.get("preparation")),
    ):
        if mine != theirs:
            raise ValueError(f"{store.directory} differs from {first.directory} in its {what}; only like stores add up")


def write_stored(store: Store, classes: int, directory: Place, most: int) -> Run:
    """Write the counts of a store as a run of so many classes."""
    with RunWriter(new_run(directory)) as writer:
        for row_class in range(classes):
            for rows, columns, counts in sorted_entries(store, row_class, classes, most):
                writer.write(
                    records(rows.astype(np.uint32), columns.astype(np.uint32), counts.astype(np.uint64), store.size)
                )
            writer.end_class()
    return writer.run


def sorted_entries(
    store: Store, row_class: int, classes: int, most: int
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield the (rows, columns, counts) of the rows of a class, by row and column, about `most` entries at a time."""
    boundaries = [0, store.size]
    step = min(classes, store.classes)  # Both are powers of two.
    row_classes = range(row_class % step, store.classes, step)  # Those of the store, in which the rows are.
    if sum(map(store.entries_of, row_classes)) > most:
        entries = np.zeros(store.size, dtype=np.int64)
        for rows, _, _ in chain.from_iterable(map(store.row_tiles, row_classes)):
            entries += np.bincount(rows[rows % classes == row_class], minlength=store.size)
        portion = np.cumsum(entries) // most
        boundaries = [0, *(np.flatnonzero(np.diff(portion)) + 1).tolist(), store.size]
    for start, stop in pairwise(boundaries):
        parts = []
        for tile in chain.from_iterable(map(store.row_tiles, row_classes)):
            mine = (tile[0] % classes == row_class) & (tile[0] >= start) & (tile[0] < stop)
            parts.append(tuple(part[mine] for part in tile))
        if parts:
            rows, columns, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
            order = np.lexsort((columns, rows))
            yield rows[order], columns[order], counts[order]


# ---------------------------------------------------------------------------------------------------- taking over


def import_triples(
    rows: np.ndarray,
    columns: np.ndarray,
    counts: np.ndarray,
    scale: int,
    vocabulary: Vocabulary,
    destination: AnyDestination,
    resources: Resources,
    window: Window | None = None,
) -> Vocabulary:
    """Make a store of (context, term, scaled count) triples; `window` tells by which weights they were counted."""
    size = len(vocabulary)
    key, mirror = rows * size + columns, columns * size + rows
    order, mirror_order = np.argsort(key, kind="stable"), np.argsort(mirror, kind="stable")
    mirrored = (
        (window is None or window.mirrored)
        and np.array_equal(key[order], mirror[mirror_order])
        and np.array_equal(counts[order], counts[mirror_order])
    )
    if mirrored:
        upper = rows <= columns
        rows, columns, counts = rows[upper], columns[upper], counts[upper]
    settings = CountSettings(window or Window((), (), scale))
    plan = Plan.make(size, settings.window, resources.workers, resources.memory_gb, 0)
    with building(destination) as work:
        clear(work)
        vocabulary.save(work / VOCABULARY, any_type=destination.temporary)
        triples = write_triples(rows, columns, counts, size, classes_for(size), new_run(work))
        finish(work, [triples], StoreDescription(settings, vocabulary, mirrored), plan, resources)
    return vocabulary

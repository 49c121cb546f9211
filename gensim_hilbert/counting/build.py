"""Makes stores: counts a corpus, adds stores up, takes over tables from elsewhere.

A store is put together in `NAME.partial` and renamed when it is whole. Counting leaves a journal there, by which it
goes on after an interruption.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gensim_hilbert._merge import records
from gensim_hilbert.corpus.blocks import BLOCK_BYTES
from gensim_hilbert.corpus.dispatch import default_workers, in_parallel, map_blocks, reads_here
from gensim_hilbert.corpus.sources import Corpus, as_corpus
from gensim_hilbert.counting.journal import JOURNAL, Journal
from gensim_hilbert.counting.merge import SHARDS, reduce_runs, write_class
from gensim_hilbert.counting.plan import Plan, classes_for
from gensim_hilbert.counting.runs import Run, RunWriter, new_run, write_triples
from gensim_hilbert.counting.seams import stitch
from gensim_hilbert.counting.settings import CountSettings, Window
from gensim_hilbert.counting.store import Store, partial_of, read_manifest, write_manifest
from gensim_hilbert.counting.worker import KEEP, VOCABULARY, CountTask, count_pairs, forget_words, words_of
from gensim_hilbert.files import LOCK, as_read_back, locked, remove_leftovers, replace_folder
from gensim_hilbert.interruption import is_interruption
from gensim_hilbert.progress import Progress
from gensim_hilbert.vocabulary import ERRORS, NothingToCount, Vocabulary

logger = logging.getLogger(__name__)


def count_corpus(
    corpus: Any,
    target: Path,
    settings: CountSettings,
    *,
    rules: dict[str, Any],
    vocabulary: Vocabulary | None,
    recount: bool,
    workers: int | None,
    memory_gb: float,
    executor: Executor | None,
    transport_params: dict[str, Any] | None,
    overwrite: bool,
    progress: bool,
) -> None:
    """Count a corpus into a store at `target`, or complete what an interrupted call has begun."""
    workers = default_workers(workers)
    if settings.errors not in ERRORS:
        raise ValueError(f"errors must be one of {', '.join(ERRORS)}, got {settings.errors!r}")
    source = as_corpus(corpus, transport_params)
    if vocabulary is None and not source.can_repeat:
        raise ValueError(
            f"{source.names[0]} can be read only once, but counting reads a corpus twice: save it to a file first, "
            "or pass vocabulary="
        )
    request = describe(source, settings, rules, vocabulary, recount)
    if target.exists() and request is not None and is_answer(target, request):
        logger.info("%s holds these counts already", target)
        return
    with building(target, overwrite, resumable=request is not None) as work:
        if request is not None and is_answer(work, request):
            return  # interrupted after all was done but the renaming
        journal = Journal.resume(work, request)
        if journal is None:
            clear(work)
            journal = Journal(work)
            scan: dict[str, Any] = dict(workers=workers, executor=executor, errors=settings.errors, progress=progress)
            given = vocabulary
            if vocabulary is None:
                vocabulary = Vocabulary.from_corpus(source, **rules, **scan)
            elif recount and source.can_repeat:
                vocabulary = vocabulary.recounted(source, **scan)
            else:
                size = {} if recount else {"tokens": vocabulary.tokens, "sentences": vocabulary.sentences}
                vocabulary = Vocabulary(vocabulary.words, vocabulary.counts, **size)
            if settings.sample:
                # Shares of a corpus are thinned by the frequencies in the whole.
                frequencies = vocabulary if given is None else given
                np.save(work / KEEP, frequencies.keep_below(settings.sample))
            vocabulary.save(work / VOCABULARY)
            journal.start(request, vocabulary, reads_here(source, workers, executor))
        else:
            vocabulary = journal.vocabulary
            logger.info(
                "going on with %s: %d tokens are counted", work, sum(record.tokens for record in journal.records)
            )
        refuse_overflow(vocabulary.tokens * settings.window.most, settings.window)
        plan = Plan.make(len(vocabulary), settings.window, workers, memory_gb, vocabulary.nbytes)
        count_blocks(source, settings, vocabulary, journal, plan, executor, progress)
        finish(
            work,
            list(journal.runs.values()),
            settings,
            vocabulary,
            request,
            plan=plan,
            executor=executor,
            journal=journal,
            progress=progress,
        )


def describe(
    corpus: Corpus, settings: CountSettings, rules: dict[str, Any], vocabulary: Vocabulary | None, recount: bool
) -> Any:
    """All that the result depends on, for JSON; None where a corpus or a rule could not be recognised again."""
    if corpus.fingerprint is None or (vocabulary is None and rules["trim_rule"] is not None):
        return None
    by = rules
    if vocabulary is not None:
        by = {"words": vocabulary.fingerprint} | ({} if recount else {"recount": False})
    request = {"corpus": corpus.fingerprint, "block_bytes": BLOCK_BYTES, "vocabulary": by, **asdict(settings)}
    return as_read_back(request)


def is_answer(target: Path, request: Any) -> bool:
    """Whether a store with these very counts lies there, undamaged: "count again" must help where it is not."""
    try:
        if read_manifest(target)["request"] != request:
            return False
        Store(target).verify()
    except (OSError, ValueError):
        return False
    return True


def count_blocks(
    corpus: Corpus,
    settings: CountSettings,
    vocabulary: Vocabulary,
    journal: Journal,
    plan: Plan,
    executor: Executor | None,
    progress: bool,
) -> None:
    """Count all blocks that the journal does not have yet, and the pairs across cuts."""
    if journal.stitched:
        return
    size, classes = len(vocabulary), classes_for(len(vocabulary))
    task = CountTask(str(journal.directory), journal.words_checksum(), settings, classes, plan.capacity)
    words_of(task, vocabulary)  # threads find it there
    done = {block for record in journal.records for block in record.blocks}
    with Progress("pairs", corpus.total, show=progress) as bar:
        bar.update(sum(record.cost for record in journal.records))
        live = bar.update if executor is None else None
        for record in map_blocks(
            partial(count_pairs, task=task, report=live),
            corpus,
            workers=plan.workers,
            executor=executor,
            share=plan.share,
            streams=journal.streams,
            wanted=lambda block: (block.source, block.start) not in done,
        ):
            journal.add(record)
            if not live:
                bar.update(record.cost, record.tokens)
    forget_words()
    tokens = sum(record.tokens for record in journal.records)
    if vocabulary.tokens and tokens != vocabulary.tokens:
        change = (
            f"the corpus had {vocabulary.tokens} words when its vocabulary was collected, and {tokens} when its pairs "
            "were counted"
        )
        if not corpus.may_differ:
            raise RuntimeError(f"{change}: it must not change, and must give the same sentences each time it is read")
        logger.warning("%s: if it is not meant to differ each time it is read, something is wrong with it", change)
    vocabulary.tokens = tokens
    refuse_overflow(tokens * settings.window.most, settings.window)
    seams = stitch((seam for record in journal.records for seam in record.seams), settings.window, size)
    journal.merged([], write_triples(*seams, size, classes, new_run(journal.directory)))


def refuse_overflow(total: int, window: Window) -> None:
    """Counts are sums below 2^63, or they could not be trusted."""
    if total >= 1 << 63:
        raise OverflowError(
            f"the counts may add up to {total} in units of 1/{window.scale}, and overflow 64 bits; use a smaller "
            "window, or flat weights"
        )


def finish(
    work: Path,
    runs: list[Run],
    settings: CountSettings,
    vocabulary: Vocabulary,
    request: Any,
    *,
    mirrored: bool | None = None,
    plan: Plan | None = None,
    executor: Executor | None = None,
    journal: Journal | None = None,
    progress: bool = False,
) -> None:
    """Merge runs into the shards of a store, write its manifest, and remove the runs."""
    size, classes = len(vocabulary), classes_for(len(vocabulary))
    mirrored = settings.window.mirrored if mirrored is None else mirrored
    plan = plan or Plan.make(size, settings.window, default_workers(None), 2.0, 0)
    note = journal.merged if journal else lambda parts, result: None
    runs = reduce_runs(
        runs, size, classes, work, fan_in=plan.fan_in, workers=plan.workers, executor=executor, journal=note
    )
    (work / SHARDS).mkdir(exist_ok=True)
    marginals = np.zeros((2, size), dtype="<u8")
    parts, sizes = [], [0] * classes
    task = partial(write_class, runs=runs, size=size, classes=classes, mirrored=mirrored, directory=str(work))
    with Progress("merge", classes, show=progress, unit=" shards") as bar:
        for row_class, result in in_parallel(task, range(classes), plan.workers, executor):
            parts.append(result.chunks)
            marginals[0] += result.contexts
            marginals[1] += result.terms
            sizes[row_class] = result.size
            bar.update(1)
    index = np.concatenate(parts)
    index = index[np.lexsort((index[:, 2], index[:, 1], index[:, 0]))]
    if not len(index):
        raise NothingToCount(
            "there is not a single pair to count: no sentence has two known words within a window", vocabulary.tokens
        )
    write_manifest(
        work,
        settings=settings,
        vocabulary=vocabulary,
        mirrored=mirrored,
        classes=classes,
        index=index,
        marginals=marginals,
        shard_sizes=sizes,
        request=request,
    )


def merge_stores(stores: list[Store], target: Path, overwrite: bool) -> None:
    """Add up stores over one vocabulary; that of some may be the beginning of it."""
    if not stores:
        raise ValueError("nothing to merge: give at least one store")
    first = max(stores, key=lambda store: store.size)
    for store in stores:
        for what, mine, theirs in (
            ("vocabulary", first.vocabulary.words[: store.size], store.vocabulary.words),
            ("window and weights", first.window, store.window),
            ("kind (symmetric or not)", first.mirrored, store.mirrored),
            *((key, first.manifest[key], store.manifest[key]) for key in ("oov", "sample")),
        ):
            if mine != theirs:
                raise ValueError(
                    f"{store.directory} differs from {first.directory} in its {what}; only like stores add up"
                )
    refuse_overflow(sum(store.manifest["total"] for store in stores), first.window)
    vocabulary = Vocabulary(
        first.vocabulary.words,
        sum(np.pad(store.vocabulary.counts, (0, first.size - store.size)) for store in stores),
        tokens=sum(store.vocabulary.tokens for store in stores),
        sentences=sum(store.vocabulary.sentences for store in stores),
    )
    settings = CountSettings(first.window, first.manifest["oov"], first.manifest["sample"], first.manifest["seed"])
    with building(target, overwrite) as work:
        clear(work)
        vocabulary.save(work / VOCABULARY)
        runs = [write_stored(store, first.classes, work / f"store-{k}.run") for k, store in enumerate(stores)]
        finish(work, runs, settings, vocabulary, request=None, mirrored=first.mirrored)


def write_stored(store: Store, classes: int, path: Path) -> Run:
    """The counts of a store as a run of so many classes, its own number or a multiple of it."""
    with RunWriter(path) as writer:
        for row_class in range(classes):
            mine = row_class % store.classes
            parts = [part for column_class in range(store.classes) for part in store.tile(mine, column_class)]
            if parts:
                rows, columns, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
                order = np.lexsort((columns, rows))
                order = order[rows[order] % classes == row_class]
                writer.write(
                    records(
                        rows[order].astype(np.uint32),
                        columns[order].astype(np.uint32),
                        counts[order].astype(np.uint64),
                        store.size,
                    )
                )
            writer.end_class()
    return writer.run


def import_triples(
    rows: np.ndarray,
    columns: np.ndarray,
    counts: np.ndarray,
    scale: int,
    vocabulary: Vocabulary,
    target: Path,
    overwrite: bool,
) -> None:
    """Make a store of (context, term, scaled count) triples."""
    size = len(vocabulary)
    key, mirror = rows * size + columns, columns * size + rows
    order, mirror_order = np.argsort(key, kind="stable"), np.argsort(mirror, kind="stable")
    mirrored = np.array_equal(key[order], mirror[mirror_order]) and np.array_equal(counts[order], counts[mirror_order])
    if mirrored:
        upper = rows <= columns
        rows, columns, counts = rows[upper], columns[upper], counts[upper]
    # The window by which these were counted is not known.
    settings = CountSettings(Window((), (), scale))
    with building(target, overwrite) as work:
        clear(work)
        vocabulary.save(work / VOCABULARY)
        triples = write_triples(rows, columns, counts, size, classes_for(size), work / "import.run")
        finish(work, [triples], settings, vocabulary, request=None, mirrored=mirrored)


# ---------------------------------------------------------------------------------------------------- directories


@contextmanager
def building(target: Path, overwrite: bool, *, resumable: bool = False) -> Iterator[Path]:
    """A directory to put a store together in; it becomes `target` at the end.

    After an error nothing is left of it. After an interruption (Ctrl-C, a kill, a power cut) it stays, to go on with;
    after Ctrl-C only where that can be done.
    """
    refuse_existing(target, overwrite)
    work = partial_of(target)
    with locked(work):
        try:
            yield work
            remove_leftovers(work)
            for path in [*work.glob("*.run"), work / JOURNAL, work / KEEP]:
                path.unlink(missing_ok=True)
            refuse_existing(target, overwrite)  # It may have appeared meanwhile.
            replace_folder(work, target)
            (target / LOCK).unlink(missing_ok=True)  # Until it had its name, nobody else was to work in it.
        except BaseException as error:
            interrupted = is_interruption(error)
            if not resumable or (isinstance(error, Exception) and not interrupted):
                discard(work)
            if interrupted and isinstance(error, Exception):
                raise KeyboardInterrupt from error
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                free = shutil.disk_usage(work.parent).free
                raise OSError(
                    errno.ENOSPC, f"the disk is full; {free >> 20} MB are free again in {work.parent}"
                ) from error
            raise


def refuse_existing(target: Path, overwrite: bool) -> None:
    """Raise an error if something is at `target` that may not be replaced."""
    if target.exists() and not overwrite:
        raise FileExistsError(
            f"{target} exists and holds something else, or damaged counts; choose another directory, or pass "
            "overwrite=True (--overwrite)"
        )


def discard(work: Path) -> None:
    """Remove a directory in which a task that nobody waits for any more may still be about to write."""
    removed = work.with_name(work.name + ".removed")
    shutil.rmtree(removed, ignore_errors=True)
    with suppress(OSError):
        os.rename(work, removed)  # nothing new can appear under this name
    for path in (removed, work):
        shutil.rmtree(path, ignore_errors=True)


def clear(work: Path) -> None:
    """Remove what an abandoned count has left."""
    for path in work.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()

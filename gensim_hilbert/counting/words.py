"""The scan for words on the user's executor: nothing but frequent words ever comes back to this process.

Each task writes the words of its share to a run that is divided into parts by the hashes of the words. Then each part
is added up by a task of its own, which returns the words that are frequent enough. A journal tells which blocks are
done, so that the scan goes on after an interruption.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from gensim_hilbert._tokens import WordTable
from gensim_hilbert.corpus.blocks import Block
from gensim_hilbert.corpus.dispatch import in_parallel, map_blocks, reads_here
from gensim_hilbert.corpus.identity import CorpusChanged
from gensim_hilbert.corpus.sources import Corpus, TokenCorpus
from gensim_hilbert.counting.journal import WordsJournal
from gensim_hilbert.counting.layout import new_run
from gensim_hilbert.counting.plan import Resources
from gensim_hilbert.counting.runs import Run, RunWriter
from gensim_hilbert.counting.worker import TaskResult
from gensim_hilbert.counting.workplace import clear
from gensim_hilbert.objects import Place, opened_at
from gensim_hilbert.progress import Progress
from gensim_hilbert.vocabulary import Vocabulary
from gensim_hilbert.word_scan import NothingToCount

PART_BYTES = 1 << 28  # of text, for each part of the words
MOST_PARTS = 64
SHARE_BYTES = 1 << 28  # of text that one task reads


def is_for_executor(corpus: Corpus, executor: Executor | None, rules: dict[str, Any]) -> bool:
    """Tell whether words are counted by this module.

    Token lists, which only this process has, and rules that need all words at once, are cared for elsewhere.
    """
    if isinstance(corpus, TokenCorpus) or executor is None or isinstance(executor, ThreadPoolExecutor):
        return False
    return rules["trim_rule"] is None and not rules["max_vocab_size"]


def scan_on_executor(
    corpus: Corpus, directory: Place, request: Any, rules: dict[str, Any], errors: str, resources: Resources
) -> Vocabulary:
    """Count the words of a corpus on the user's executor, or complete what an interrupted call has begun."""
    journal = WordsJournal.resume(directory, request)
    if journal is None:
        clear(directory)
        parts = max(1, min(MOST_PARTS, (corpus.total or MOST_PARTS * PART_BYTES) // PART_BYTES))
        journal = WordsJournal.start(directory, request, parts)
    try:
        return scanned(corpus, journal, rules, errors, resources)
    except (CorpusChanged, ArithmeticError, TypeError, ValueError):
        journal.discard()  # The same request would fail again, or mix two states of the corpus.
        raise


def scanned(
    corpus: Corpus, journal: WordsJournal, rules: dict[str, Any], errors: str, resources: Resources
) -> Vocabulary:
    """Count the words of all blocks that the journal does not have yet, and add up all parts."""
    executor, retries = resources.executor, resources.retries
    with Progress("words", corpus.total, show=resources.progress) as bar:
        bar.update(sum(result.cost for result in journal.results))
        for result in map_blocks(
            partial(count_words, directory=journal.directory, parts=journal.parts, errors=errors),
            corpus,
            workers=resources.workers,
            executor=executor,
            share=SHARE_BYTES,
            streams=reads_here(corpus, resources.workers, executor),
            select=journal.select,
            failure=lambda result: result.error,
            retries=retries,
        ):
            if result.blocks:
                journal.add(result)
            bar.update(result.cost, result.tokens)
    if not journal.tokens:
        raise NothingToCount(f"the corpus is empty: no word in {', '.join(corpus.names[:3])}")
    table, rare = WordTable(), 0
    nothing = np.zeros(0, np.uint64)
    sentences = sum(result.sentences for result in journal.results)
    table.merge((np.zeros(0, np.uint8), nothing, nothing, nothing, journal.tokens, sentences))
    add_up = partial(frequent_words, runs=list(journal.runs.values()), min_count=rules["min_count"] or 0)
    for state, others in in_parallel(add_up, range(journal.parts), resources.workers, executor, retries=retries):
        table.merge(state)
        rare += others
    kept = {name: rules[name] for name in ("min_count", "max_final_vocab", "trim_rule", "sorted_vocab")}
    return Vocabulary.from_table(table, **kept, rare=rare)


def count_words(blocks: Iterable[Block], directory: Place, parts: int, errors: str) -> TaskResult:
    """Count the words of some blocks into a run; if they cannot be read to their end, those of the blocks before."""
    table, result = WordTable(), TaskResult()
    for text in result.texts(blocks, errors):
        text.count(table)
    result.sentences = table.sentences
    text_bytes, ends, counts, places, word_starts, byte_starts = table.split(parts)
    with RunWriter(new_run(directory)) as writer:
        for part in range(parts):
            words = slice(int(word_starts[part]), int(word_starts[part + 1]))
            writer.write(np.array([words.stop - words.start], dtype="<u8").tobytes())
            for numbers in (ends, counts, places):
                writer.write(numbers[words].astype("<u8").tobytes())
            writer.write(text_bytes[int(byte_starts[part]) : int(byte_starts[part + 1])].tobytes())
            writer.end_class()
    result.runs.append(writer.run)
    return result


def frequent_words(part: int, runs: list[Run], min_count: int) -> tuple[Any, int]:
    """Add up one part of the words; returns the state of a table of the frequent ones, and how many others there are.

    Words are frequent if they occur `min_count` times. The table has no tokens or sentences.
    """
    table = WordTable()
    for run in runs:
        table.merge(read_part(run, part))
    frequent = np.flatnonzero(table.counts() >= min_count)
    return table.keep(frequent.tolist()).state(), len(table) - len(frequent)


def read_part(run: Run, part: int) -> tuple[Any, ...]:
    """Read one part of a run of words, as `WordTable.merge` takes it."""
    start, stop = run.offsets[part : part + 2]
    with opened_at(run.path, start, stop) as file:
        data = np.frombuffer(file.read(stop - start), dtype=np.uint8)
    words = int(data[:8].view("<u8")[0]) if len(data) >= 8 else 0
    fixed = 8 * (1 + 3 * words)
    if len(data) != stop - start or fixed > len(data):
        raise OSError(f"{run.path} ends too early: its {stop - start} bytes at {start} are not there")
    ends, counts, places = data[8:fixed].view("<u8").astype(np.uint64).reshape(3, words)
    text = data[fixed:]
    if words and (int(ends[-1]) != len(text) or (np.diff(ends.astype(np.int64), prepend=0) < 0).any()):
        raise ValueError(f"{run.path} is damaged: it holds words that cannot be right; remove it and count again")
    return text, ends, counts, places, 0, 0

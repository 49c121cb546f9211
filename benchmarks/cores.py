"""What keeps a machine with 64 cores from being used: the serial share of each stage.

    python benchmarks/cores.py [CORPUS] [--workers 64] [--copies 10] [--locks] [--stages STAGE ...]

Each stage runs in a process of its own, with as many threads as --workers says, however few cores there are: the
processor time of a thread does not depend on how many others wait. "directing" is the processor time of the thread that
directs the others, "lock" that of dealing out blocks under a lock, "reader" that of the thread that reads a file which
only one thread can read, "system" that of the operating system, which serialises some of it, such as giving out memory;
all relative to the time of the whole process. While the first two go on, the others may have to wait: from them follows
Amdahl's bound. A reader works at the same time as the others, who cannot be faster than it.

With --locks, the share of time in which Python's lock is held is measured as well (python_lock.py). One thread does all
tasks meanwhile: of several, one may hold the lock while it waits for a core that another uses. What is directed holds
it, too, so that the two shares overlap. Neither tells how threads wait for each other where many have little to do:
sleeping_cores.py does.

A cost that does not grow with the text is no serial share of a large one: three stages are measured for the text and
for --copies of it. Others can be measured with other --max-final-vocab and --vector-size.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from children import answer, ask_child
from inputs import corpus_parser, require
from python_lock import share_held
from speed import say
from systems import SAMPLE

MANY_FILES = 256


class Clock:
    """Processor time of the parts of a stage that only one thread can do at a time."""

    def __init__(self) -> None:
        self.lock, self.seconds = threading.Lock(), {"lock": 0.0, "reader": 0.0}

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that also notes the processor time that its thread spends in it."""

        def wrapper(*arguments: Any) -> Any:
            begun = time.thread_time()
            try:
                return function(*arguments)
            finally:
                spent = time.thread_time() - begun
                with self.lock:
                    self.seconds[part] += spent

        return wrapper

    @contextmanager
    def watching(self) -> Iterator[dict[str, float]]:
        """Measure what happens in a block; the result is there at its end."""
        from gensim_hilbert.corpus.dispatch import ReadAhead, SharedBlocks

        prepare, reading = SharedBlocks.__init__, ReadAhead._fill

        def prepare_timed(shared: SharedBlocks, blocks: Iterator[Any]) -> None:
            prepare(shared, Timed(self.timed("lock", blocks.__next__)))  # It is called under the lock.

        with (
            patch.object(SharedBlocks, "__init__", prepare_timed),
            patch.object(ReadAhead, "_fill", self.timed("reader", reading)),
        ):
            directing, process, system = time.thread_time(), time.process_time(), os.times().system
            yield self.seconds
            self.seconds["system"] = os.times().system - system
            self.seconds["directing"] = time.thread_time() - directing
            self.seconds["process"] = time.process_time() - process


class Timed:
    """An iterator over what a function returns."""

    def __init__(self, draw: Callable[[], Any]):
        self.draw = draw

    def __next__(self) -> Any:
        return self.draw()


class Stage(NamedTuple):
    """Something to measure: what it does, and into how many tasks it is divided."""

    run: Callable[[], Any]
    tasks: int


# ---------------------------------------------------------------------------------------------------- stages


class Inputs:
    """The corpus in its three forms, and the counts that later stages begin with."""

    def __init__(self, options: argparse.Namespace):
        self.options, self.folder, self.workers = options, Path(options.folder), options.workers
        names = "text", "text.gz", "parts", "copies"
        self.plain, self.one_gz, self.many_gz, self.copies = (self.folder / name for name in names)

    def write(self) -> None:
        """Write the files."""
        opener = gzip.open if self.options.corpus.suffix == ".gz" else open
        with opener(self.options.corpus, "rb") as file:
            text = file.read()
        self.plain.write_bytes(text)
        self.copies.mkdir()
        for number in range(self.options.copies):
            (self.copies / f"{number:03d}").hardlink_to(self.plain)
        self.one_gz.write_bytes(gzip.compress(text, 6))
        self.many_gz.mkdir()
        start, step = 0, len(text) // MANY_FILES + 1
        for number in range(MANY_FILES):
            stop = text.find(b" ", start + step) + 1 or len(text)
            (self.many_gz / f"{number:03d}.gz").write_bytes(gzip.compress(text[start:stop], 6))
            start = stop
        self.count(self.plain, self.folder / "counts")

    def count(self, corpus: Path, directory: Path | None = None) -> Any:
        """Count the pairs of a corpus."""
        from gensim_hilbert import PairCounts

        rules = {"max_final_vocab": self.options.max_final_vocab, "sample": SAMPLE, "workers": self.workers}
        return PairCounts.from_corpus(corpus, directory=directory, progress=False, memory_gb=4, **rules)

    @cached_property
    def counts(self) -> Any:
        """The pairs of the corpus, which have been counted."""
        from gensim_hilbert import PairCounts

        return PairCounts.open(self.folder / "counts")

    def vocabulary_of(self, path: str) -> Any:
        """The words of one of the corpora."""
        from gensim_hilbert.vocabulary import Vocabulary

        words, times = self.counts.vocabulary, self.options.copies if path == self.copies.name else 1
        sizes = {"tokens": times * words.tokens, "sentences": times * words.sentences}
        return Vocabulary(words.words, times * words.counts, **sizes)

    @property
    def blocks(self) -> int:
        """Number of blocks of the plain text."""
        from gensim_hilbert.corpus.blocks import BLOCK_BYTES

        return -(-self.plain.stat().st_size // BLOCK_BYTES)


def words_of(path: Path, tasks: Callable[[Inputs], int]) -> Callable[[Inputs], Stage]:
    """Return the stage that scans a corpus for its words."""

    def stage(inputs: Inputs) -> Stage:
        from gensim_hilbert.vocabulary import Vocabulary

        rules = {"max_final_vocab": inputs.options.max_final_vocab, "workers": inputs.workers, "progress": False}
        return Stage(partial(Vocabulary.from_corpus, inputs.folder / path, **rules), tasks(inputs))

    return stage


def in_new_folder(work: Callable[[Path], Any], folder: Path) -> None:
    """Work in a folder that is removed after the stage, so that its removal is not measured."""
    work(Path(tempfile.mkdtemp(dir=folder)))


def counting(inputs: Inputs, path: str) -> tuple[Callable[[Path], Any], Callable[[Any, Path], None], int]:
    """Return what counts pairs into a folder, what merges them, and the number of classes."""
    from gensim_hilbert.corpus.sources import as_corpus
    from gensim_hilbert.counting import build
    from gensim_hilbert.counting.layout import KEEP_BELOW, VOCABULARY, classes_for
    from gensim_hilbert.counting.plan import Plan, Resources
    from gensim_hilbert.counting.store import StoreDescription
    from gensim_hilbert.untrusted import npy_bytes

    vocabulary = inputs.vocabulary_of(path)
    settings = build.CountSettings(build.Window.parse(5), sample=SAMPLE)
    resources = Resources(inputs.workers, 4.0)
    plan = Plan.make(len(vocabulary), settings.window, inputs.workers, resources.memory_gb, vocabulary.nbytes)

    words = inputs.folder / VOCABULARY
    vocabulary.save(words)
    thresholds = npy_bytes(vocabulary.keep_below(SAMPLE))

    def count(folder: Path) -> Any:
        (folder / KEEP_BELOW).write_bytes(thresholds)
        (folder / VOCABULARY).hardlink_to(words)
        journal = build.Journal.start(folder, None, vocabulary)
        build.count_blocks(as_corpus(inputs.folder / path).over(vocabulary), settings, journal, plan, resources)
        return journal

    def merge(journal: Any, folder: Path) -> None:
        description = StoreDescription(settings, vocabulary, settings.window.mirrored)
        (folder / VOCABULARY).hardlink_to(words)
        build.finish(folder, list(journal.runs.values()), description, plan, resources)

    return count, merge, classes_for(len(vocabulary))


def pairs_of(path: str, tasks: Callable[[Inputs], int]) -> Callable[[Inputs], Stage]:
    """Return the stage that counts the pairs of a corpus into runs."""

    def stage(inputs: Inputs) -> Stage:
        return Stage(partial(in_new_folder, counting(inputs, path)[0], inputs.folder), tasks(inputs))

    return stage


def merging_of(path: str) -> Callable[[Inputs], Stage]:
    """Return the stage that merges the runs of a corpus into shards."""

    def stage(inputs: Inputs) -> Stage:
        count, merge, classes = counting(inputs, path)
        runs = Path(tempfile.mkdtemp(dir=inputs.folder))
        return Stage(partial(in_new_folder, partial(merge, count(runs)), inputs.folder), classes)

    return stage


def whole_count(inputs: Inputs) -> Stage:
    """Return all that `PairCounts.from_corpus` does."""
    return Stage(partial(inputs.count, inputs.plain), inputs.blocks)


def factorisation(inputs: Inputs, **options: Any) -> Any:
    """Return the start of a factorisation."""
    import torch

    from gensim_hilbert.objectives import Hilbert
    from gensim_hilbert.training.factorization import Factorization

    torch.set_num_threads(inputs.workers)
    return Factorization(Hilbert().bind(inputs.counts), inputs.options.vector_size, passes=1000, tolerance=0, **options)


def start(inputs: Inputs) -> Stage:
    """Return the stage that computes the vectors that factorisation starts from."""
    return Stage(partial(factorisation, inputs), factorisation(inputs).n)


def one_pass(inputs: Inputs) -> Stage:
    """Return one pass over all shards, with the turn of axes before it."""
    fit = factorisation(inputs)
    fit.run(fit.n**2)
    return Stage(partial(fit.run, fit.n**2), fit.n)


def exact_loss(inputs: Inputs) -> Stage:
    """Return the stage that computes the loss of a model."""
    fit = factorisation(inputs)
    return Stage(fit.evaluate, fit.n)


def result(inputs: Inputs) -> Stage:
    """Return the stage that turns vectors to the canonical gauge."""
    fit = factorisation(inputs)
    return Stage(fit.result, fit.n)


def streaming(inputs: Inputs) -> Any:
    """Return a solver that learns from the stream."""
    import numpy as np

    from gensim_hilbert.corpus.sources import as_corpus
    from gensim_hilbert.training.fit import Start
    from gensim_hilbert.training.from_stream import FromStream

    vocabulary = inputs.counts.vocabulary
    shape = len(vocabulary), inputs.options.vector_size
    covectors = np.zeros(shape, np.float32)
    vectors = (np.random.default_rng(1).random(shape, np.float32) - 0.5) / shape[1]
    return FromStream(
        as_corpus(inputs.plain), vocabulary, start=Start(covectors, vectors), words=vocabulary.tokens, epochs=1000,
        workers=inputs.workers,
    )  # fmt: skip


def gibbs(inputs: Inputs) -> Stage:
    """Return one epoch of the Gibbs solver."""
    solver = streaming(inputs)
    return Stage(partial(solver.run_epoch, 0), inputs.blocks)


def gibbs_result(inputs: Inputs) -> Stage:
    """Return the stage that turns the vectors of the Gibbs solver, and estimates the constant in its psi."""
    import torch

    torch.set_num_threads(inputs.workers)
    solver = streaming(inputs)
    solver.run_epoch(0)

    def run() -> None:
        solver.finish()
        solver.result()

    return Stage(run, len(solver.covectors) // 4096 + 1)


STAGES: dict[str, Callable[[Inputs], Stage]] = {
    "words, plain file": words_of(Path("text"), lambda inputs: inputs.blocks),
    "words, many .gz files": words_of(Path("parts"), lambda inputs: MANY_FILES),
    "words, one .gz file": words_of(Path("text.gz"), lambda inputs: inputs.blocks),
    "pairs, plain file": pairs_of("text", lambda inputs: inputs.blocks),
    "pairs, many .gz files": pairs_of("parts", lambda inputs: MANY_FILES),
    "pairs, one .gz file": pairs_of("text.gz", lambda inputs: inputs.blocks),
    "merging": merging_of("text"),
    "words, pairs and merging": whole_count,
    "words, --copies of the text": words_of(Path("copies"), lambda inputs: inputs.blocks * inputs.options.copies),
    "pairs, --copies of the text": pairs_of("copies", lambda inputs: inputs.blocks * inputs.options.copies),
    "merging, --copies of the text": merging_of("copies"),
    "start of factorisation": start,
    "pass of factorisation": one_pass,
    "exact loss": exact_loss,
    "canonical gauge": result,
    "Gibbs, one epoch": gibbs,
    "Gibbs, canonical gauge": gibbs_result,
}

# ---------------------------------------------------------------------------------------------------- measuring


class OneThread(ThreadPoolExecutor):
    """An executor that does all tasks in the thread that submits them."""

    def submit(self, task: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(task(*arguments, **options))
        except BaseException as error:  # It is raised again where the result is asked for.
            future.set_exception(error)
        return future


def measure(name: str, given: dict[str, Any]) -> dict[str, float]:
    """Run one stage in this process, with the options of the command."""
    from gensim_hilbert.corpus import dispatch

    options = argparse.Namespace(**{**given, "corpus": Path(given["corpus"])})
    stage = STAGES[name](Inputs(options))
    stage.run()  # Files are then in memory, and what is made once is made.
    if options.locks:
        with patch.object(dispatch, "ThreadPoolExecutor", OneThread):
            return {"held": share_held(stage.run)}
    with Clock().watching() as seconds:
        result = stage.run()
    del result  # Whoever uses it gives it back later.
    return {**seconds, "tasks": stage.tasks}


def in_child(options: argparse.Namespace, stage: str, **changes: Any) -> dict[str, float]:
    """Measure one stage in a process of its own, with some of the options changed."""
    given = {**vars(options), "corpus": str(options.corpus), **changes}
    measured: dict[str, float] = ask_child(__file__, stage, given, OMP_NUM_THREADS="1")
    for folder in Path(options.folder).glob(f"{tempfile.gettempprefix()}*"):
        shutil.rmtree(folder)
    return measured


def line_of(stage: str, found: dict[str, float], cores: int) -> str:
    """Return one line of the table."""
    parts = "directing", "lock", "reader", "system"
    directing, lock, reader, system = (found[part] / found["process"] for part in parts)
    serial = directing + lock
    bounds = {"": 1 / (serial + (1 - serial) / cores), "tasks": found["tasks"]}
    if reader:
        bounds["reader"] = 1 / reader
    if found.get("held"):
        bounds["Python's lock"] = 1 / found["held"]
    reason = min(bounds, key=lambda name: bounds[name])
    held = f"{found['held']:.1%}" if "held" in found else ""
    return (
        f"| {stage} | {found['process']:.2f} | {directing:.1%} | {lock:.1%} | {f'{reader:.1%}' if reader else ''} | "
        f"{system:.1%} | {held} | {found['tasks']:.0f} | {bounds['']:.0f} | "
        f"{f'{bounds[reason]:.0f}, {reason}' if reason else ''} |"
    )


def main() -> None:
    parser = corpus_parser(__doc__, workers=64, vector_size=300, max_final_vocab=50_000, copies=10)
    parser.add_argument("--locks", action="store_true", help="measure how long Python's lock is held, too")
    parser.add_argument("--stages", nargs="*", choices=STAGES, metavar="STAGE", help="only these stages")
    options = parser.parse_args()
    if options.child:
        return answer(measure, options.child)
    require(options.corpus)
    with tempfile.TemporaryDirectory() as folder:
        options.folder = folder
        say(f"writing {options.corpus.name} in three forms")
        Inputs(options).write()
        print(f"{options.corpus.name}, {options.workers} threads\n")
        print(
            "| stage | CPU s | directing | lock | reader | system | Python's lock | tasks | Amdahl's bound "
            "| a lower bound |"
        )
        print("|---|---|---|---|---|---|---|---|---|---|")
        for stage in options.stages or STAGES:
            say(stage)
            found = in_child(options, stage, locks=False)
            if options.locks:
                found |= in_child(options, stage, locks=True, workers=1)
            print(line_of(stage, found, options.workers), flush=True)


if __name__ == "__main__":
    main()

"""Kills processes that replace a result, at every step and at random moments, and looks at what is left.

This runs as a process of its own, which loads the libraries once and then forks: `python kill_driver.py STEPS RANDOM
SEED`, with the number of steps to try in each scenario (0 for all) and the number of kills at random moments. One line
of JSON per scenario tells how many processes were killed and what went wrong.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click.testing
import numpy as np
from gensim.models import KeyedVectors, Word2Vec

from gensim_hilbert import HilbertMLE, PairCounts, files
from gensim_hilbert.cli import cli
from gensim_hilbert.export import export, load_vectors

STEPS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link"}
WRITES = {"write", "tofile", "dump"}
WORDS = {"old": [f"old{k}" for k in range(40)], "new": [f"new{k}" for k in range(40)]}
LENGTHS = {"old": 8, "new": 10}  # of sentences: other counts, and other vectors
TEXTS = {age: [words[k : k + LENGTHS[age]] for k in range(0, 40, 4)] * 5 for age, words in WORDS.items()}
OPTIONS = {"vector_size": 8, "min_count": 1, "epochs": 1, "workers": 1, "passes": 1, "seed": 3}


class Failed(Exception):
    """Raised if what is left is neither old nor new."""


def expect(condition: object, what: str) -> None:
    if not condition:
        raise Failed(what)


# ---------------------------------------------------------------------------------------------------- scenarios


@dataclass
class Scenario:
    """A result that one call writes and another replaces, and how to tell which of them is there."""

    make: Callable[[Path, str], object]  # writes the result of an age, "old" or "new"
    look: Callable[[Path], str]  # tells the age, or raises an error for anything else
    replaces: bool = True  # Otherwise there is nothing at first, and "old" is never written.


def age_of(words: list[str], matrix: np.ndarray, expected: dict[str, np.ndarray]) -> str:
    """Tell to which age words and matrix belong, both."""
    age = words[0][:3]
    expect(list(words) == WORDS[age], f"words {words[:3]}")
    expect(np.array_equal(matrix, expected[age]), f"{age} words with other vectors")
    return age


def scenarios(folder: Path) -> dict[str, Scenario]:
    models = {age: HilbertMLE(TEXTS[age], **OPTIONS) for age in WORDS}
    for model in models.values():  # the same order of words as in WORDS
        expect(sorted(model.wv.index_to_key) == sorted(WORDS[model.wv.index_to_key[0][:3]]), "vocabulary")
    order = {age: model.wv.index_to_key for age, model in models.items()}
    WORDS.update(order)
    matrices = {age: model.wv.vectors for age, model in models.items()}
    expect(not np.allclose(matrices["old"], matrices["new"]), "a mixture could not be seen")
    streamed = HilbertMLE(TEXTS["new"], solver="gibbs", **{name: OPTIONS[name] for name in OPTIONS if name != "passes"})
    totals = {age: model.counts.fingerprint for age, model in models.items()}

    def look_at_model(path: Path, load=HilbertMLE.load) -> str:
        model = load(str(path), mmap="r")
        age = age_of(model.wv.index_to_key, model.wv.vectors, matrices)
        expect(np.array_equal(model.syn1neg, models[age].syn1neg), f"{age} vectors with other covectors")
        expect(model.counts is not None, f"{age} model without counts")
        expect(model.counts.fingerprint == totals[age], f"{age} model with other counts")
        model.counts.verify()
        return age

    def look_at_streamed(path: Path) -> str:
        model = HilbertMLE.load(str(path))
        if model.solver == "factorization":
            return look_at_model(path)
        expect(model.counts is None, "counts of another model")
        expect(np.array_equal(model.wv.vectors, streamed.wv.vectors), "other vectors")
        return "new"

    def save_streamed(path: Path, age: str) -> None:
        (models["old"] if age == "old" else streamed).save(str(path))

    def look_at_vectors(path: Path) -> str:
        vectors = KeyedVectors.load(str(path), mmap="r")
        return age_of(vectors.index_to_key, vectors.vectors, matrices)

    def look_at_text(path: Path) -> str:
        vectors = KeyedVectors.load_word2vec_format(str(path))
        return age_of(vectors.index_to_key, vectors.vectors, matrices)

    def look_at_export(path: Path) -> str:
        vectors = load_vectors(path)
        return age_of(vectors.index_to_key, vectors.vectors, matrices)

    def look_at_projector(path: Path) -> str:
        lines = (path / "metadata.tsv").read_text().splitlines()[1:]
        return age_of([line.split("\t")[0] for line in lines], np.loadtxt(path / "vectors.tsv", np.float32), matrices)

    def look_at_counts(path: Path) -> str:
        counts = PairCounts.open(path)
        counts.verify()
        ages = {fingerprint: age for age, fingerprint in fingerprints.items()}
        expect(counts.fingerprint in ages, "other counts")
        return ages[counts.fingerprint]

    texts = {age: folder / f"{age}.txt" for age in WORDS}
    for age, path in texts.items():
        path.write_text("\n".join(" ".join(sentence) for sentence in TEXTS[age]))
    counted = {age: PairCounts.from_corpus(path, min_count=1, workers=1) for age, path in texts.items()}
    fingerprints = {age: counts.fingerprint for age, counts in counted.items()}
    parts = {age: PairCounts.from_corpus(path, min_count=1, directory=folder / age) for age, path in texts.items()}

    tables = {age: counts.to_scipy() for age, counts in counted.items()}

    def look_at_glove(path: Path) -> str:
        if not (path.exists() and path.with_suffix(".words").exists()):
            return "nothing"  # GloVe's two files cannot be replaced in one step, but are never mixed.
        counts = PairCounts.from_glove(path, path.with_suffix(".words"))
        age = counts.vocabulary.words[0][:3]
        expect(counts.vocabulary.words == counted[age].vocabulary.words, "other words")
        expect(abs(counts.to_scipy() - tables[age]).max() < 1e-9, f"{age} words with other counts")
        return age

    def count(path: Path, age: str) -> None:
        PairCounts.from_corpus(texts[age], directory=path, min_count=1, workers=1, overwrite=True, progress=False)

    def merge(path: Path, age: str) -> None:
        PairCounts.merge([parts[age]], directory=path, workers=1, overwrite=True)

    def train(path: Path, age: str, *more: str) -> None:
        options = [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS.items()]
        arguments = ["train", str(texts[age]), "-o", str(path), "--no-progress", *options, *more]
        done = click.testing.CliRunner().invoke(cli, arguments)
        if done.exception:
            raise done.exception

    def train_anew(path: Path, age: str) -> None:
        if path.exists() and not path.with_name(f"{path.name}.checkpoint").exists():
            return  # It was killed after it had done everything that users see.
        train(path, age)

    def look_at_trained(path: Path) -> str:
        model = HilbertMLE.from_pretrained(path)
        expect(model.counts is not None, "no counts")
        age = model.wv.index_to_key[0][:3]
        expect(model.counts.fingerprint == totals[age], "counts of another model")
        return age_of(model.wv.index_to_key, model.wv.vectors, matrices)

    def export_as(format: str, **options: str) -> Callable[[Path, str], object]:
        return lambda path, age: export(models[age], path, format=format, **options)

    return {
        "save": Scenario(lambda path, age: models[age].save(str(path)), look_at_model),
        "save in parts": Scenario(lambda path, age: models[age].save(str(path), sep_limit=1), look_at_model),
        "save in parts, load by gensim": Scenario(
            lambda path, age: models[age].save(str(path), sep_limit=1),
            lambda path: look_at_model(path, Word2Vec.load),
        ),
        "save without counts": Scenario(save_streamed, look_at_streamed),
        "save_pretrained": Scenario(
            lambda path, age: models[age].save_pretrained(path),
            lambda path: look_at_model(path, HilbertMLE.from_pretrained),
        ),
        "wv.save": Scenario(lambda path, age: models[age].wv.save(str(path)), look_at_vectors),
        "wv.save in parts": Scenario(lambda path, age: models[age].wv.save(str(path), sep_limit=1), look_at_vectors),
        "save_word2vec_format": Scenario(
            lambda path, age: models[age].wv.save_word2vec_format(str(path), sort_attr="nothing"), look_at_text
        ),
        "numpy.npy": Scenario(export_as("numpy"), look_at_export),
        "model2vec": Scenario(export_as("model2vec", weighting="mean"), look_at_export),
        "projector": Scenario(export_as("projector"), look_at_projector),
        "glove": Scenario(export_as("glove"), look_at_export),
        "to_glove": Scenario(lambda path, age: counted[age].to_glove(path, path.with_suffix(".words")), look_at_glove),
        "count": Scenario(count, look_at_counts),
        "merge": Scenario(merge, look_at_counts),
        "train": Scenario(lambda path, age: train(path, age, "--overwrite"), look_at_trained),
        "train anew": Scenario(train_anew, look_at_trained, replaces=False),
        "save in parts anew": Scenario(
            lambda path, age: models[age].save(str(path), sep_limit=1), look_at_model, replaces=False
        ),
    }


# ---------------------------------------------------------------------------------------------------- killing


def call_at_steps(report: Callable[[], None]) -> None:
    """Call a function just before each change that this process makes to the disk, and after each write to a file."""

    def watch(event: str, arguments: tuple) -> None:
        if event in STEPS and (event != "open" or (isinstance(arguments[2], int) and arguments[2] & os.O_CREAT)):
            report()

    def reported(call):
        def wrapped(*arguments, **options):
            report()
            return call(*arguments, **options)

        return wrapped

    def watch_calls(frame: object, event: str, function: object) -> None:
        if event == "c_return" and getattr(function, "__name__", "") in WRITES:
            report()  # The file has lost what it held before, and has the beginning of something else.

    sys.addaudithook(watch)
    sys.setprofile(watch_calls)
    # These call the system without an audit event.
    os.fsync, files.exchange, files.rename_to_new = map(reported, (os.fsync, files.exchange, files.rename_to_new))


def kill_at_step(step: int) -> None:
    """Have this process kill itself at its step-th change of the disk."""
    done = itertools.count(1)
    call_at_steps(lambda: os.kill(os.getpid(), signal.SIGKILL) if next(done) == step else None)


def run_forked(work: Callable[[], object], seconds: float | None = None) -> int:
    """Run something in a fork, which is killed after so many seconds; returns its status."""
    child = os.fork()
    if not child:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def try_once(scenario: Scenario, prepared: Path, name: str, step: int | None, seconds: float | None) -> tuple[int, str]:
    """Kill a process that replaces a result; returns its status, and what is wrong with what it has left."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "work")
        shutil.copytree(prepared, folder)
        path = folder / name

        def work() -> None:
            if step is not None:
                kill_at_step(step)
            scenario.make(path, "new")

        status = run_forked(work, seconds)
        try:
            expect(os.WIFSIGNALED(status) or status == 0, "an error instead of a kill")
            age = scenario.look(path) if scenario.replaces or path.exists() else "nothing"
            expect(age == "new" or status != 0, "nothing was replaced")
            scenario.make(path, "new")
            expect(scenario.look(path) == "new", "the second try has replaced nothing")
            if scenario.replaces:
                scenario.make(path, "old")
                expect(scenario.look(path) == "old", "the way back has replaced nothing")
        except Exception as error:
            return status, f"step {step}, {seconds} s: {type(error).__name__}: {error}"
        return status, ""


def main(steps: int, random_kills: int, seed: int) -> None:
    logging.disable(logging.WARNING)
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for title, scenario in scenarios(folder).items():
            name = title.replace(" ", "-").replace(",", "")
            prepared = folder / "prepared" / name
            prepared.mkdir(parents=True)
            if scenario.replaces:
                scenario.make(prepared / name, "old")
            began = time.monotonic()
            try_once(scenario, prepared, name, None, None)
            length = (time.monotonic() - began) / 3
            kills, wrong, total = 0, [], steps_of(scenario, prepared, name)
            chosen = range(1, total + 1)
            if steps and total > steps:
                chosen = sorted(draw.sample(chosen, steps))
            trials = [(step, None) for step in chosen]
            trials += [(None, draw.uniform(0, length)) for _ in range(random_kills)]
            for step, seconds in trials:
                status, fault = try_once(scenario, prepared, name, step, seconds)
                kills += os.WIFSIGNALED(status)
                wrong += [fault] * bool(fault)
            print(json.dumps({"scenario": title, "steps": total, "kills": kills, "wrong": wrong}), flush=True)


def steps_of(scenario: Scenario, prepared: Path, name: str) -> int:
    """Count the changes of the disk that a replacement makes."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, told = Path(scratch, "work"), Path(scratch, "told")
        shutil.copytree(prepared, folder)

        def work() -> None:
            seen: list[None] = []
            call_at_steps(lambda: seen.append(None))
            scenario.make(folder / name, "new")
            number = len(seen)
            told.write_text(str(number))

        expect(run_forked(work) == 0, "a replacement that nobody disturbs must succeed")
        return int(told.read_text())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

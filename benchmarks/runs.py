"""Finished runs, one line of JSON for each, in a file that several commands may add to at the same time.

A run is known by what determines its scores: the system and its version, the text, the size, the seed, and a digest of
the code that trains. A run of other code is one of earlier settings, and does not count. Comments and docstrings are
not part of the digest, nor is the counting of words and pairs, whose results are exact.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import systems
from peers import word2vec_program
from rows import claimed, keep_row, read_rows

import gensim_hilbert
from gensim_hilbert.options import OPTIONS

SCORING = 1  # to be raised when the same vectors would get other scores
FILE = "runs.jsonl"
PACKAGE = Path(gensim_hilbert.__file__).parent
TRAINING_CODE = ("automatic.py", "training/*.py", "objectives/*.py", "vectors/subwords.py")
TRAINING_PARTS = {  # of modules that do other things as well
    "counting/pair_counts.py": ("PairCounts.expected",),
    "model_text.py": ("FEW_TOKENS", "weights_of"),
    "model_training.py": ("counts_solver", "stream_solver", "common_options"),
    "model_vocabulary.py": (
        "VocabularyHooks.fitted_counts",
        "VocabularyHooks._settle",
        "VocabularyHooks._settle_sample",
    ),
    "vocabulary.py": ("Vocabulary.keep_probability", "Vocabulary.keep_below", "Vocabulary.text_size"),
}
KERNELS = ("_gibbs.pyx", "_pairs.pyx", "*.h", "rows.pxd")
HELPERS_WITHOUT_SETTINGS = (systems.kept_words, systems.call)
PACKAGES = {"sgns": "gensim", "word2vec": "word2vec", "fasttext": "fasttext"}


@dataclass(frozen=True)
class Run:
    """All that the scores of one run depend on."""

    system: str
    version: str
    settings: str
    text: str
    fingerprint: str
    vector_size: int
    words: int
    seed: int

    @property
    def key(self) -> str:
        """A name for the run."""
        return digest(json.dumps(asdict(self)))


class RunLog:
    """The runs that are finished, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE

    def read(self) -> list[dict[str, Any]]:
        """All records: the fields of `Run`, and `models` with the times and scores of each model by its name."""
        return read_rows(self.path, with_run)

    def models(self, run: Run) -> dict[str, dict[str, float]]:
        """Times and scores of a run's models; nothing if it is not finished."""
        return next((record["models"] for record in self.read() if record["run"] == run), {})

    def select(self, runs: Sequence[Run]) -> tuple[list[dict[str, dict[str, float]]], int]:
        """The models of each finished run of a system, and how many of its runs are of earlier settings.

        All runs are of one version; if it is "", for a system that is not installed, the version that came last counts.
        """
        wanted = {replace(run, version="", settings="") for run in runs}
        found = [record for record in self.read() if replace(record["run"], version="", settings="") in wanted]
        counted = runs[0].version or (found[-1]["version"] if found else "")
        valid = {replace(run, version=counted) for run in runs}
        models = [record["models"] for record in found if record["run"] in valid]
        return models, len(found) - len(models)

    def add(self, run: Run, models: dict[str, dict[str, float]]) -> None:
        """Keep what a run has given."""
        rounded = {name: {key: round(value, 5) for key, value in row.items()} for name, row in models.items()}
        record = asdict(run) | {"ended": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), "models": rounded}
        keep_row(self.path, record, **asdict(run))

    @contextmanager
    def claimed(self, run: Run) -> Iterator[bool]:
        """Keep other commands from a run; False if it is finished or another command is at it."""
        with claimed(self.folder / ".running" / run.key, f"{run.system}, seed {run.seed}") as is_ours:
            yield is_ours and not self.models(run)


def with_run(line: str) -> dict[str, Any]:
    """Parse a record, and add its `Run`."""
    record = json.loads(line)
    return record | {"run": Run(**{name: record[name] for name in Run.__dataclass_fields__})}


def digest(text: str | bytes) -> str:
    """A short name for a text."""
    return hashlib.sha256(text if isinstance(text, bytes) else text.encode()).hexdigest()[:16]


@cache
def fingerprint(path: Path) -> str:
    """A short name for the contents of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


@cache
def without_words(source: str, names: tuple[str, ...] = ()) -> str:
    """Python code without its comments and docstrings; only the definitions of `names` if there are any."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return "\n".join(ast.unparse(definition(tree, name)) for name in names) if names else ast.unparse(tree)


def definition(tree: ast.Module, name: str) -> ast.stmt:
    """Return the statement that defines a function, a constant or, as Class.method, a method."""
    found: Any = tree
    for part in name.split("."):
        found = next((node for node in found.body if part in defined_by(node)), None)
        if found is None:
            sys.exit(f"{name} is not where TRAINING_PARTS of benchmarks/runs.py looks for it: tell it the new place.")
    return found


def defined_by(node: ast.stmt) -> list[str]:
    """Return the names that a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def our_code() -> str:
    """What our results depend on: defaults, the code that chooses automatic settings and trains, and its kernels."""
    parts = [json.dumps({option.name: option.default for option in OPTIONS.values()}, default=repr, sort_keys=True)]
    for pattern in TRAINING_CODE:
        parts += [without_words(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.glob(pattern))]
    for name, wanted in TRAINING_PARTS.items():
        parts.append(without_words((PACKAGE / name).read_text(encoding="utf-8"), wanted))
    for pattern in KERNELS:
        for path in sorted(PACKAGE.parent.glob(f"cython_ext/{pattern}")):
            parts += without_comments(path.read_text(encoding="utf-8"), "//" if path.suffix == ".h" else "#")
    return "\n".join(parts)


def without_comments(source: str, mark: str) -> list[str]:
    """Return the lines of C or Cython that are not empty, without comments: on lines of their own, or after code."""
    lines = (line.partition(f"  {mark} ")[0].rstrip() for line in source.splitlines())
    return [line for line in lines if line and not line.lstrip().startswith(mark)]


def with_helpers(function: Callable[..., Any]) -> list[Callable[..., Any]]:
    """Return a function and those of systems.py that it calls, except for helpers that have no settings."""
    found = [function]
    for one in found:
        named = [getattr(systems, name, None) for name in one.__code__.co_names]
        helpers = [other for other in named if inspect.isfunction(other) and other.__module__ == systems.__name__]
        found += [other for other in helpers if other not in (*found, *HELPERS_WITHOUT_SETTINGS)]
    return found


def settings_of(system: str) -> str:
    """A digest of how a system is called and scored and, if it is ours, of the code that trains."""
    functions = with_helpers(systems.TRAINERS[system])
    call = "\n".join(without_words(inspect.getsource(function)) for function in functions)
    numbers = [SCORING, systems.SAMPLE, systems.EPOCHS, systems.NEGATIVE, systems.WINDOW]
    return digest(json.dumps([call, numbers, our_code() if system in systems.OUR_SYSTEMS else ""]))


def version_of(system: str, glove: Path | None = None) -> str:
    """The version of what trains; GloVe's programs are known by their contents. Empty where it is not installed."""
    if system in systems.OUR_SYSTEMS:
        return f"gensim_hilbert {gensim_hilbert.__version__}"
    if system == "glove":
        return f"GloVe {fingerprint(glove / 'glove')[:8]}" if glove else ""
    if system == "word2vec" and not word2vec_program():
        return ""
    try:
        return f"{PACKAGES[system]} {version(PACKAGES[system])}"
    except PackageNotFoundError:
        return f"{system} {fingerprint(Path(word2vec_program()))[:8]}" if system == "word2vec" else ""

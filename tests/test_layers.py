"""Imports point down the layers of the package only, also lazy ones and those for type checkers; files are short."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import gensim_hilbert

PACKAGE = Path(gensim_hilbert.__file__).parent
NAME = PACKAGE.name
MOST_LINES = 450
LAYERS = [  # from the bottom to the top
    [
        *("compact", "files", "interruption", "keys", "locations", "locks", "markup", "named_settings", "objects"),
        *("outputs", "processes", "progress", "tensors", "untrusted", "upper_layers"),
    ],
    ["corpus"],
    ["automatic", "vocabulary", "word_scan", "divided_words"],
    ["phrases"],
    ["counting"],
    ["objectives"],
    ["training"],
    ["saving"],
    [
        *("model", "model_display", "model_files", "model_inference", "model_ranks", "model_repetition"),
        *("model_text", "model_tokenizer", "model_training", "model_vocabulary", "options", "pretrained"),
        *("queries", "text_vectors", "vectors"),
    ],
    ["export", "evaluation", "sklearn"],
    ["report"],
    ["explore"],
    ["cli"],
    ["__init__", "__main__"],
]
LEVELS = {module: level for level, modules in enumerate(LAYERS) for module in modules}
SOURCES = sorted(PACKAGE.rglob("*.py"))


def level_of(module: str) -> int | None:
    """The level of a module by the first part of its name; compiled modules, which import nothing, are below all."""
    return -1 if module.startswith("_") and module not in LEVELS else LEVELS.get(module)


def first_part(path: Path) -> str:
    """`counting` for counting/store.py, `model` for model.py."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(source: str, folder: tuple[str, ...] = ()) -> Iterator[tuple[int, str]]:
    """(line, first part of the module's name) of each import from the package, wherever in the file it stands.

    `folder` is where the file is within the package; relative imports start there.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            parts = (node.module or "").split(".") if node.module else []
            if node.level:
                parts = [NAME, *folder[: len(folder) - node.level + 1], *parts]
            names = [".".join([*parts, alias.name]) for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            names = [constant.value for constant in ast.walk(node) if isinstance(constant, ast.Constant)]
        else:
            continue
        for name in names:
            package, _, rest = str(name).partition(".")
            if package == NAME:
                first = rest.partition(".")[0]
                public = getattr(gensim_hilbert, first, None)
                yield node.lineno, public.__module__.split(".")[1] if isinstance(public, type) else first or "__init__"


def test_all_kinds_of_imports_are_seen():
    source = """
import gensim_hilbert.corpus.blocks
from gensim_hilbert import _tokens, model
from gensim_hilbert.counting.store import Store
from ..training import fit
from . import files
if TYPE_CHECKING:
    from gensim_hilbert.report import report
def lazily():
    from gensim_hilbert import HilbertMLE
    import_module(f"gensim_hilbert.export.{name}")
    import numpy.random
"""
    found = {2: ["corpus"], 3: ["_tokens", "model"], 4: ["counting"], 5: ["training"], 6: ["cli"]}
    found |= {8: ["report"], 10: ["model"], 11: ["export"]}
    expected = [(line, module) for line, modules in found.items() for module in modules]
    assert sorted(imported(source, folder=("cli",))) == expected


def test_every_module_has_its_layer():
    assert not {first_part(path) for path in SOURCES if level_of(first_part(path)) is None}


def test_imports_point_down():
    upwards = {
        f"{path.relative_to(PACKAGE)}:{line} imports {module}"
        for path in SOURCES
        for line, module in imported(path.read_text(encoding="utf-8"), path.relative_to(PACKAGE).parts[:-1])
        if None not in (levels := (level_of(first_part(path)), level_of(module))) and levels[0] < levels[1]
    }
    assert not upwards, "\n".join(sorted(upwards))


def test_no_file_is_long():
    lengths = {str(path.relative_to(PACKAGE)): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert not {name: length for name, length in lengths.items() if length > MOST_LINES}

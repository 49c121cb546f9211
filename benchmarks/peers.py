"""Programs and packages that we compare with: a peer that is not installed is skipped with one sentence.

`make bench-peers` installs the peers that can be installed with pip.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("fasttext", "mittens", "word2vec")
GLOVE_PROGRAMS = ("vocab_count", "cooccur", "shuffle", "glove")


def word2vec_program() -> str | None:
    """Return the path of the original word2vec in C, which the package of that name compiles on installation."""
    return shutil.which("word2vec", path=Path(sys.executable).parent) or shutil.which("word2vec")


def installed(name: str) -> bool:
    """Tell whether a contender can run; if it cannot, say on standard error that it is skipped."""
    found = word2vec_program() if name == "word2vec" else name not in PACKAGES or find_spec(name)
    if not found:
        print(f"{name} is skipped because it is not installed: run `make bench-peers`.", file=sys.stderr, flush=True)
    return bool(found)


def glove_folder(text: str) -> Path:
    """Check the argument of `--glove`, the folder of GloVe's compiled programs."""
    folder = Path(text).resolve()
    missing = [name for name in GLOVE_PROGRAMS if shutil.which(name, path=folder) is None]
    if missing:
        raise argparse.ArgumentTypeError(f"{folder} lacks GloVe's compiled programs {', '.join(missing)}")
    return folder


def add_glove_option(parser: argparse.ArgumentParser) -> None:
    """Add `--glove`, which names the folder of GloVe's compiled programs."""
    parser.add_argument("--glove", type=glove_folder, metavar="DIR", help="folder of GloVe's compiled programs")

"""Arguments that the benchmarks share, and where they find corpora and data sets."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

DATA = Path(os.environ.get("GENSIM_HILBERT_DATA", Path(__file__).parents[2] / "shared" / "data"))
WIKIPEDIA, TEXT8 = "wiki2019_25m.txt.gz", "text8_prefix.gz"


def corpus_parser(description: str | None, corpus: str = WIKIPEDIA, **numbers: int) -> argparse.ArgumentParser:
    """Return a parser with the argument CORPUS, `--child` and an integer option for each keyword, with its default."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", type=Path, default=DATA / "corpora" / corpus)
    for name, default in numbers.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=default)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser


def require(*paths: Path) -> None:
    """Exit with one sentence if a corpus or the folder of data sets does not exist."""
    for path in paths:
        if not path.exists():
            sys.exit(f"{path} does not exist: name another file, or set GENSIM_HILBERT_DATA to the folder of all data.")

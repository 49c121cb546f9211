"""Arguments that the benchmarks share, where they find corpora and data sets, and corpora as plain files."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import smart_open

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


def write_lines(corpus: Path, plain: str) -> None:
    """The corpus as a plain file; lines of over 1,000 words are cut there, because peers drop or cut longer ones."""
    with smart_open.open(corpus, "rb") as source, open(plain, "wb") as target:
        rest = b""
        while block := source.read(1 << 24):
            *lines, rest = (rest + block).split(b"\n")
            if len(rest) > 1 << 22:  # the end of a huge line, cut between two words
                whole, _, rest = rest.rpartition(b" ")
                lines.append(whole)
            for line in lines:
                words = line.split()
                for start in range(0, len(words), 1000):
                    target.write(b" ".join(words[start : start + 1000]) + b"\n")
        target.write(rest + b"\n" if rest else b"")


def write_first_lines(corpus: Path, target: str, tokens: int) -> int:
    """Write the corpus as `write_lines` does, up to the line with the given token; return the tokens written."""
    plain, written = f"{target}.all", 0
    write_lines(corpus, plain)
    with open(plain, "rb") as source, open(target, "wb") as file:
        for line in source:
            written += len(line.split())
            file.write(line)
            if written >= tokens:
                break
    Path(plain).unlink()
    return written

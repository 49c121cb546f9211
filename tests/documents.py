"""Documents as programs: their code blocks, run in order, and whether they printed what the document shows."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from shell import ROOT, environment

FENCE = re.compile(r"^```(\w*)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
# Packages that a document may need and a machine may lack: a block that imports one is then left out.
OPTIONAL = ("dask", "distributed", "mpi4py")

# Runs the Python blocks of each document in a namespace and a folder of its own; prints, as JSON, what each block
# has printed, or None where it needs a package that is not installed, and what went wrong.
SESSION = f"""
import contextlib, io, json, os, sys, tempfile, traceback
printed = []
for codes in json.load(sys.stdin):
    names, outputs, error = {{"__name__": "__main__"}}, [], None
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        try:
            for code in codes:
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    try:
                        exec(compile(code, "document", "exec"), names)
                    except ModuleNotFoundError as missing:
                        if missing.name.partition(".")[0] not in {OPTIONAL}:
                            raise
                        out = None
                outputs.append(out and out.getvalue())
        except Exception:
            error = traceback.format_exc()
    printed.append((outputs, error))
print(json.dumps(printed))
"""


class Block(NamedTuple):
    """Code, and what follows it at once in a block without a language: what it prints."""

    language: str
    text: str
    output: str | None


def blocks_of(path: Path) -> list[Block]:
    """The blocks of a document that have a language."""
    found = list(FENCE.finditer(path.read_text(encoding="utf-8")))
    return [
        Block(here[1], here[2], after[2] if after and not after[1] and after.start() == here.end() else None)
        for here, after in pairwise([*found, None])
        if here[1]
    ]


def run_python(documents: list[list[str]]) -> list[tuple[list[str | None], str | None]]:
    """What the blocks of each document print, and the traceback of one that fails; all in one process."""
    command = [sys.executable, "-c", SESSION]
    done = subprocess.run(
        command, input=json.dumps(documents), capture_output=True, text=True, check=False, env=environment()
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def session_of(text: str) -> list[tuple[str, str]]:
    """(command, output) for each `$ ` of a console block."""
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in re.split(r"^\$ ", text, flags=re.M)[1:]]


README = ROOT / "README.md"
DOCUMENTS = [README, *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = {path: blocks_of(path) for path in DOCUMENTS}
NUMBER = re.compile(r"-?\d+\.\d+")


def assert_alike(shown: str, printed: str) -> None:
    """The same but for the last digits of decimals, which differ between processors, for blanks, and for times."""
    shown, printed = (re.sub(r"\d+\.\d s\b", "TIME", text) for text in (shown, printed))
    assert NUMBER.sub("#", shown).split() == NUMBER.sub("#", printed).split(), printed
    for mine, theirs in zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True):
        digits = len(mine.partition(".")[2])
        assert abs(float(mine) - float(theirs)) <= 2.01 * 10**-digits, printed

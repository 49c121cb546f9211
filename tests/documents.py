"""Documents as programs: their code blocks, run in order, and whether they printed what the document shows."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
# Packages that a document may need and a machine may lack: a block that imports one is then left out.
OPTIONAL = ("dask", "distributed", "mpi4py")

# Runs blocks of Python in one namespace; prints what each has printed, as JSON.
SESSION = f"""
import contextlib, io, json, sys
names, outputs = {{"__name__": "__main__"}}, []
for code in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            exec(compile(code, "document", "exec"), names)
        except ModuleNotFoundError as error:
            if error.name.partition(".")[0] not in {OPTIONAL}:
                raise
            out = None
    outputs.append(out and out.getvalue())
print(json.dumps(outputs))
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


def run_python(codes: list[str], cwd: Path) -> list[str | None]:
    """What blocks print, run one after the other in one process; None for one that needs what is not installed."""
    done = subprocess.run(
        [sys.executable, "-c", SESSION], input=json.dumps(codes), cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def session_of(text: str) -> list[tuple[str, str]]:
    """(command, output) for each `$ ` of a console block."""
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in re.split(r"^\$ ", text, flags=re.M)[1:]]


NUMBER = re.compile(r"-?\d+\.\d+")


def assert_alike(shown: str, printed: str) -> None:
    """The same but for the last digits of decimals, which differ between processors, for blanks, and for times."""
    shown, printed = (re.sub(r"\d+\.\d s\b", "TIME", text) for text in (shown, printed))
    assert NUMBER.sub("#", shown).split() == NUMBER.sub("#", printed).split(), printed
    for mine, theirs in zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True):
        digits = len(mine.partition(".")[2])
        assert abs(float(mine) - float(theirs)) <= 2.01 * 10**-digits, printed

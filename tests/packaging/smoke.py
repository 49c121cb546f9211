"""Train, ask and export with an installed package, in an environment that holds nothing but its dependencies.

`test_packaging.py` and the workflow that builds wheels run this file as a script.
"""

import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path

from gensim.test.utils import datapath

import gensim_hilbert


def command(*arguments: str) -> str:
    program = shutil.which("gensim-hilbert", path=sysconfig.get_path("scripts"))
    assert program, "the command gensim-hilbert is not installed"
    return subprocess.run([program, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    installed = Path(gensim_hilbert.__file__)
    assert Path(sysconfig.get_path("platlib")) in installed.parents, f"{installed} is not an installed package"
    with tempfile.TemporaryDirectory() as folder:
        model, vectors = f"{folder}/lee.model", f"{folder}/lee.vec"
        for solver in ("factorization", "gibbs"):
            corpus = datapath("lee_background.cor")
            print(command("train", corpus, "-o", model, "--overwrite", "--vector-size", "20", "--solver", solver))
        print(command("neighbors", model, "police", "--topn", "3"))
        print(command("export", model, "-o", vectors))
        words, dimensions = Path(vectors).read_text(encoding="utf-8").split(maxsplit=2)[:2]
        assert int(words) > 1000, words
        assert dimensions == "20", dimensions


if __name__ == "__main__":
    main()

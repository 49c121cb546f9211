"""What the README shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


SNIPPETS = re.findall(
    r"```python\n((?:(?!```).)*)```\n```\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
)


@pytest.mark.parametrize(("code", "output"), SNIPPETS, ids=["train", "count"])
def test_the_snippets_print_what_the_readme_says(tmp_path, code, output):
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == output, done.stderr


def test_the_snippet_of_formats_runs(tmp_path):
    formats = re.search(r"```python\n(from gensim_hilbert.export.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    code = SNIPPETS[0][0] + formats[1] + "assert (vectors['minister'] == model.wv['minister']).all()"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {"vectors.bin", "contexts.vec.gz", "static", "projector"} == {path.name for path in tmp_path.iterdir()}


def test_the_example_runs(tmp_path):
    command = [sys.executable, ROOT / "examples" / "count_pairs.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "osama" in done.stdout, done.stderr
    assert (tmp_path / "demo.counts" / "manifest.json").exists()

"""The picture of the results shows the table of the results."""

import importlib.util
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
TEXT = """# Results

## Counting

| | mean |
|---|---|
| not this one | .999 |

## Vectors

| | runs | CPU s | mean | MENd | S999 | RARE | Google | BATS |
|---|---|---|---|---|---|---|---|---|
| HilbertMLE | 2 | 61 ± 2 | .574 ± .001 | .7 | .347 ± .000 | .487 | .447 ± .009 | .255 |
| HilbertMLE, `vectors="v+w"` | 2 | 61 ± 2 | .576 | .7 | .325 | .451 | .524 | .259 |
| peer <1> | 1 | | .539 | .6 | .350 | .450 | | .219 |

| power | mean | MENd |
|---|---|---|
| -0.3 | .563 | .679 |
"""


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("picture", ROOT / "benchmarks" / "picture.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_read(script):
    systems = script.read_table(TEXT)
    assert list(systems) == ["HilbertMLE", "HilbertMLE, v + w", "peer <1>"]
    assert systems["HilbertMLE"]["mean"] == (0.574, 0.001)
    assert systems["HilbertMLE, v + w"]["Google"] == (0.524, 0.0)
    assert list(systems["peer <1>"]) == ["mean", "S999", "RARE", "BATS"], "what was not measured is left out"


def test_higher_scores_are_further_to_the_right(script):
    root = ET.fromstring(script.draw(script.read_table(TEXT)).standalone())
    dots = [(float(dot.get("cx")), float(dot.get("cy"))) for dot in root.iter(f"{SVG}circle")]
    assert len(dots) == 3 * 5 - 1
    means = [x for x, _ in dots[:3]]
    assert means[2] < means[0] < means[1]
    assert (means[1] - means[0]) / (means[0] - means[2]) == pytest.approx(0.002 / 0.035, abs=0.01)
    words = [text.text for text in root.iter(f"{SVG}text")]
    assert {"peer <1>", ".574", ".524", "SimLex-999"} <= set(words)
    best = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "strong" and text.text[0] == "."]
    assert best == [".576", ".350", ".487", ".524", ".259"]


def test_the_picture_of_the_readme_is_that_of_the_table(script):
    systems = script.read_table((ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8"))
    drawn = (ROOT / "docs" / "results.svg").read_text(encoding="utf-8")
    assert drawn == script.draw(systems).standalone() + "\n", "run `python benchmarks/picture.py` again"

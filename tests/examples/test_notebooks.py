"""The notebooks are valid, show results, and give these results when they are run."""

import re
import shutil

import pytest
from documents import README, ROOT, assert_alike
from shell import environment

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: pip install nbformat")

FOLDER = ROOT / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
WIDGET = "application/vnd.jupyter.widget-view+json"

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(notebook):
    """What the cells print, as one text."""
    outputs = [output for cell in code_cells(notebook) for output in cell.outputs]
    return "".join(output.text for output in outputs if output.output_type == "stream")


def test_every_notebook_is_listed_in_the_readme():
    listed = re.findall(r"\(examples/notebooks/(\w+\.ipynb)\)", README.read_text(encoding="utf-8"))
    assert sorted(listed) == [path.name for path in NOTEBOOKS]


@each_notebook
def test_notebooks_are_valid_and_show_their_results(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == [*range(1, len(cells) + 1)], "run it from start to end"
    outputs = [output for cell in cells for output in cell.outputs]
    assert len(outputs) >= 5
    for output in outputs:
        assert output.output_type != "error"
        assert output.get("name") != "stderr", output
    text = path.read_text(encoding="utf-8")
    assert "/tmp/" not in text
    assert WIDGET not in text, "widgets only work while a notebook runs: use execute.py"


@each_notebook
def test_links_of_notebooks_lead_somewhere(path):
    notebook = nbformat.read(path, as_version=4)
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    for target in re.findall(r"\]\((?!http)([^)#]+)", text):
        assert (FOLDER / target).exists(), target


@pytest.mark.slow
@each_notebook
def test_notebooks_run(path, tmp_path, monkeypatch):
    pytest.importorskip("nbclient", reason="nbclient is not installed: pip install nbclient ipykernel")
    pytest.importorskip("anywidget", reason="anywidget is not installed: pip install 'gensim-hilbert[notebook]'")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed: pip install ipykernel")
    pytest.importorskip("pandas", reason="pandas is not installed: pip install 'gensim-hilbert[notebook]'")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'gensim-hilbert[notebook]'")
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    from notebooks.execute import execute

    copy, folder = tmp_path / path.name, tmp_path / "folder"
    shutil.copy(path, copy)
    folder.mkdir()
    execute(copy, folder)
    assert_alike(*(printed(nbformat.read(notebook, as_version=4)) for notebook in (path, copy)))
    assert not list(folder.iterdir()), "a notebook cleans up"
    assert WIDGET not in copy.read_text(encoding="utf-8")

"""Run notebooks and keep what they show: `python examples/notebooks/execute.py NOTEBOOK...`, by default all of them.

Widgets only work while a notebook runs, so of each the table is kept that it shows in other places.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

WIDGET = "application/vnd.jupyter.widget-view+json"
SECONDS = 120  # that one cell may take: the time of a whole notebook depends on what else the machine does


def execute(path: Path, folder: Path) -> None:
    """Run a notebook in a folder, and write it back with what it shows."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=SECONDS, resources=resources, store_widget_state=False).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when it was run
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET, None)
    notebook.metadata.language_info = {"name": "python"}
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(Path(__file__).parent.glob("*.ipynb")):
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as empty:
            execute(Path(name), Path(empty))
        print(f"{Path(name).name}: {time.monotonic() - started:.0f} s")

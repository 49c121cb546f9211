"""Scripts of the benchmarks as modules."""

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def module(monkeypatch):
    """Import a module of the benchmarks, and forget it, and its kin, afterwards."""
    names = {path.stem for path in BENCHMARKS.glob("*.py")}
    monkeypatch.syspath_prepend(BENCHMARKS)
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module
    for name in names:
        sys.modules.pop(name, None)

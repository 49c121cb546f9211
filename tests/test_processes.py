"""Children of a process that has trained, forked and spawned, and what they leave behind."""

import json
import os
import sys
from pathlib import Path

import pytest
from shell import ROOT, run

DRIVER = Path(__file__).with_name("fork_driver.py")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_children_train_load_query_and_send_models(method, tmp_path, monkeypatch):
    temporary, models = tmp_path / "temporary", tmp_path / "models"
    temporary.mkdir()
    models.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.delenv("OMP_NUM_THREADS")
    done = run(method, models, command=[sys.executable, DRIVER], timeout=450, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [], done.stderr
    assert list(temporary.iterdir()) == []

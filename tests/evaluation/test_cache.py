"""Scores that are kept in files."""

from __future__ import annotations

import pytest

from gensim_hilbert import files
from gensim_hilbert.evaluation.cache import read_score, write_score


def test_a_score_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "folder" / "score.json"
    write_score(path, 0.1 + 0.2, data="Straße")
    assert read_score(path) == 0.1 + 0.2
    path.write_text("{")
    with pytest.raises(ValueError, match=r"is damaged .*: remove it"):
        read_score(path)


def test_a_score_that_does_not_reach_the_disk_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "score.json"
    write_score(path, 0.5)

    def fail(path):
        raise OSError("the disk is gone")

    monkeypatch.setattr(files, "sync_tree", fail)
    with pytest.raises(OSError, match="the disk is gone"):
        write_score(path, 0.75)
    assert read_score(path) == 0.5
    assert list(tmp_path.iterdir()) == [path]

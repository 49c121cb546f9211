"""Pictures of scores: what is refused before there are scores, and what is written."""

from __future__ import annotations

import sys

import pytest

from gensim_hilbert.evaluation.plots import plot_tables, refuse_plot
from gensim_hilbert.evaluation.tables import Score, Table


def test_pictures_need_matplotlib(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    with pytest.raises(ImportError, match=r"pip install 'gensim-hilbert\[plot\]'"):
        refuse_plot(tmp_path / "scores.svg")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("scores.xyz", r"the ending of .*scores\.xyz must tell the format: .*\.svg"),
        ("scores", "must tell the format"),
        ("missing/scores.svg", "there is no folder .*missing for scores.svg"),
        ("s3://bucket/scores.svg", "no place for pictures"),
    ],
)
def test_files_that_cannot_be_written_are_refused(tmp_path, name, message):
    pytest.importorskip("matplotlib")
    with pytest.raises((ValueError, OSError), match=message):
        refuse_plot(name if "://" in name else str(tmp_path / name))


def test_a_picture_appears_whole(tmp_path, monkeypatch):
    figure = pytest.importorskip("matplotlib.figure")
    table = Table("Similarity", ["WS353"], {"ours": {"WS353": Score(0.7, 0.01)}}, [])
    path = tmp_path / "scores.SVG"
    plot_tables([table], path)
    drawn = path.read_bytes()
    assert b"<svg" in drawn

    def fail(self, file, **options):
        file.write(b"half")
        raise OSError("the disk is full")

    monkeypatch.setattr(figure.Figure, "savefig", fail)
    with pytest.raises(OSError, match="the disk is full"):
        plot_tables([table], path)
    assert path.read_bytes() == drawn
    assert [path] == list(tmp_path.iterdir())

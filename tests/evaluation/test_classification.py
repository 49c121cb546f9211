"""Data sets of classified texts."""

from __future__ import annotations

from gensim_hilbert.evaluation.classification import read as read_classified


def test_imdb_has_a_test_set_of_its_own(tmp_path):
    paths = []
    for name in ("train", "test"):
        paths.append(tmp_path / name)
        paths[-1].write_text("".join(f"{k % 2}\t5\t{name} {k}\n" for k in range(20)), encoding="utf-8")
    found = read_classified("IMDB", tuple(paths))
    assert {example.words[0] for example in found.train + found.valid} == {"train"}
    assert {example.words[0] for example in found.test} == {"test"}
    assert len(found.valid) == 2
    mixed = read_classified("AGNews", tuple(paths))
    assert [len(mixed.train), len(mixed.valid), len(mixed.test)] == [25, 3, 12]

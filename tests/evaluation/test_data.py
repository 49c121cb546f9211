"""Where data sets are found."""

from __future__ import annotations

import pytest

from gensim_hilbert.evaluation import find_data


def test_a_folder_of_data(tmp_path, monkeypatch):
    for name in ("simlex999.tsv", "mine.tsv", "men.tsv", "baker_verb143.tsv.gz"):
        path = tmp_path / "eval/similarity" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("cat\tdog\t1\n")
    (tmp_path / "extrinsic").mkdir()
    for name in ("imdb_train.tsv.gz", "brown.txt", "agnews_train_1.tsv", "agnews_train_2.tsv", "agnews_test.tsv"):
        (tmp_path / "extrinsic" / name).write_text("")
    monkeypatch.setenv("GENSIM_HILBERT_DATA", str(tmp_path))
    data = find_data()
    assert list(data.similarity) == ["B143", "S999", "mine"]
    assert data.analogy == {}
    assert {name: len(files) for name, files in data.classification.items()} == {"AGNews": 3}
    assert list(data.tagging) == ["Brown"]
    missing = {source.name: source for source in data.missing()}
    assert {"MENd", "BATS", "IMDB", "SemCor"} <= set(missing)
    assert not {"S999", "MEN", "Brown"} & set(missing)
    assert all(source.where and source.what for source in missing.values())


def test_without_a_folder_gensims_own(monkeypatch):
    monkeypatch.delenv("GENSIM_HILBERT_DATA", raising=False)
    data = find_data()
    assert (list(data.similarity), list(data.analogy)) == (["S999", "WS353"], ["Google"])


def test_an_empty_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="there are no data sets in"):
        find_data(tmp_path)


def test_files_are_told_apart_by_their_whole_names(tmp_path):
    folder = tmp_path / "eval" / "similarity"
    folder.mkdir(parents=True)
    for name in ("men_dev.tsv", "men_dev.tsv.bak", "my-2.0.tsv", "my-2.1.tsv.gz"):
        (folder / name).write_text("a\tb\t1\n")
    found = find_data(tmp_path).similarity
    assert {name: path.name for name, path in found.items()} == {
        "MENd": "men_dev.tsv",
        "my-2.0": "my-2.0.tsv",
        "my-2.1": "my-2.1.tsv.gz",
    }
    (folder / "my-2.0.tsv.gz").touch()
    with pytest.raises(ValueError, match="two files of one data set"):
        find_data(tmp_path)


def test_an_empty_variable_names_no_folder(monkeypatch):
    monkeypatch.setenv("GENSIM_HILBERT_DATA", "")
    assert "WS353" in find_data().similarity

"""The folder that holds counts: shards, and how damage is noticed."""

import json
import shutil

import pytest

from gensim_hilbert import PairCounts
from gensim_hilbert.counting.layout import classes_for
from gensim_hilbert.counting.store import Store, StoreError


@pytest.fixture
def copy(counts, tmp_path):
    return shutil.copytree(counts.directory, tmp_path / "copy")


def test_shards_are_strided_slices_of_the_table(counts):
    table = counts.to_scipy()
    assert counts.manifest["classes"] == classes_for(len(counts)) == 4
    for n in (1, 2, 3, 4, 6, 8):
        for i in range(n):
            for j in range(n):
                shard = counts.shard(i, j, n)
                assert shard.has_sorted_indices
                assert (shard != table[i::n, j::n]).nnz == 0
    with pytest.raises(ValueError, match="shard"):
        counts.shard(2, 0, 2)


def test_a_shard_reads_only_its_own_part_of_the_store(counts, monkeypatch):
    read = []
    tile = Store.tile
    monkeypatch.setattr(Store, "tile", lambda self, *key: read.append(key) or tile(self, *key))
    counts.shard(1, 3, 4)
    assert sorted(read) == ([(1, 3), (3, 1)] if counts.symmetric else [(1, 3)])


def test_opening_again_gives_the_same(counts):
    again = PairCounts.open(counts.directory)
    again.verify()
    assert again.fingerprint == counts.fingerprint
    assert again.vocabulary == counts.vocabulary
    assert (again.to_scipy() != counts.to_scipy()).nnz == 0


@pytest.mark.parametrize("name", ["vocabulary.jsonl", "marginals.npy", "index.npy", "shards/01.bin", "manifest.json"])
@pytest.mark.parametrize("damage", ["flip", "truncate", "lengthen", "remove"])
def test_damage_is_noticed_and_the_file_named(copy, name, damage):
    path = copy / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    if damage == "remove":
        path.unlink()
    else:
        path.write_bytes({"flip": data, "truncate": data[:-1], "lengthen": data + b"x"}[damage])
    with pytest.raises((StoreError, FileNotFoundError), match=name.replace(".", r"\.")):
        PairCounts.open(copy).verify()


def test_a_newer_schema_is_refused(copy):
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps(manifest | {"schema": 2}))
    with pytest.raises(StoreError, match=r"schema 2.*upgrade"):
        PairCounts.open(copy)


def test_what_is_no_store_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        PairCounts.open(tmp_path / "missing")
    with pytest.raises(StoreError, match="no store"):
        PairCounts.open(tmp_path)
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(StoreError, match="does not describe"):
        PairCounts.open(tmp_path)

"""The folder that holds counts: shards, and how damage is noticed."""

import json
import shutil
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gensim_hilbert import PairCounts
from gensim_hilbert._tiles import TileFiles, checksum
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


def test_a_shard_reads_only_its_own_part_of_the_store(copy, counts):
    store, expected = Store(copy), counts.shard(1, 3, 4)
    own = [(1, 3), (3, 1)] if counts.symmetric else [(1, 3)]
    damaged = {}
    for row_class, column_class, offset, *_ in store._chunks.tolist():
        path = copy / f"shards/{row_class:02d}.bin"
        data = damaged.setdefault(path, bytearray(path.read_bytes()))
        data[offset] ^= (row_class, column_class) not in own
    for path, data in damaged.items():
        path.write_bytes(data)
    damaged_counts = PairCounts(Store(copy))
    assert (damaged_counts.shard(1, 3, 4) != expected).nnz == 0
    with pytest.raises(StoreError, match=r"shards/0[12]\.bin is damaged: the checksum does not match"):
        damaged_counts.shard(1, 2, 4)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 8])
def test_several_shards_are_read_at_once_with_factors(counts, n):
    random, size = np.random.default_rng(n), len(counts)
    keys = [(int(i), int(j)) for i, j in random.integers(n, size=(5, 2))]
    factors = random.random(size), random.random(size)
    thinned = counts.expected(1e-2)
    keep = counts.vocabulary.keep_probability(1e-2)
    found = thinned.read_shards(keys, n, np.float32, factors)
    assert found.starts.shape == (5, -(-size // n) + 1)
    place, table = 0, counts.to_scipy()
    for (i, j), starts in zip(keys, found.starts, strict=True):
        part = slice(place, place + starts[-1])
        rows, columns = i + n * np.repeat(np.arange(len(starts) - 1), np.diff(starts)), j + n * found.columns[part]
        expected = table[rows, columns] * (keep[rows] * keep[columns]) * factors[0][rows] * factors[1][columns]
        assert found.values[part].tolist() == expected.astype(np.float32).tolist()
        assert len({*zip(rows.tolist(), columns.tolist(), strict=True)}) == table[i::n, j::n].nnz
        place += starts[-1]
    assert place == len(found.columns) == len(found.values)


def test_shards_that_are_read_at_once_have_room(counts):
    store, n = counts._store, 4
    files = TileFiles(4, {k: store._bytes(k) for k in range(4)})
    starts = np.empty((1, -(-store.size // n) + 1), dtype=np.int64)
    with pytest.raises(ValueError, match="starts"):
        store._reader.count(files, [(0, 0), (0, 1)], n, n, starts)
    with pytest.raises(IndexError, match="shard"):
        store._reader.count(files, [(0, 4)], n, n, starts)
    with pytest.raises(ValueError, match="remainder"):
        store._reader.count(files, [(0, 0)], n, 3, starts)
    assert store._reader.count(files, [(0, 0)], n, n, starts) == -1
    room = np.empty(starts[0, -1], dtype=np.int32), np.empty(starts[0, -1])
    with pytest.raises(ValueError, match="columns"):
        store._reader.place(files, [(0, 0)], n, n, starts, room[0], room[1][1:])
    with pytest.raises(ValueError, match="factors"):
        store._reader.place(files, [(0, 0)], n, n, starts, *room, np.ones(3))
    nothing = TileFiles(4, {})
    assert store._reader.place(nothing, [(0, 0)], n, n, starts, *room) >= 0
    assert store._reader.count(nothing, [(0, 0)], n, n, starts) >= 0
    with pytest.raises(IndexError, match="class 4"):
        TileFiles(4, {4: np.empty(0, dtype=np.uint8)})


@given(st.binary(max_size=70), st.integers(0, 7))
def test_checksums_are_those_of_zlib(data, start):
    part = np.frombuffer(data, dtype=np.uint8)[start:]
    assert checksum(part) == zlib.crc32(part)


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

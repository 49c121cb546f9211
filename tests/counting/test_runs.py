"""Runs are files, and what they hold is checked before it is used: kernels never write where they should not."""

import struct
import zlib

import numpy as np
import pytest

from gensim_hilbert._merge import TileScatter, records, tile_numbers
from gensim_hilbert.counting.runs import Run, merge_runs, merged, output_buffer, write_triples

SIZE = 5


def record(row, columns, counts, width=1, entries=None):
    """The bytes of a record; `entries` is what its header says of their number."""
    header = struct.pack("<II", row, (len(columns) if entries is None else entries) | width << 24)
    data = header + np.array(columns, "<u4").tobytes() + np.array(counts, f"<u{width}").tobytes()
    return data + bytes(-len(data) % 4)


GOOD = record(1, [0, 4], [3, 7])


def run_of(data, tmp_path, name="a.run"):
    (tmp_path / name).write_bytes(data)
    return Run(tmp_path / name, (0, len(data)), 0)


@pytest.mark.parametrize(
    "data",
    [
        record(1, [5], [1]),
        record(1, [2**32 - 1], [1]),
        record(5, [1], [1]),
        *(record(2**32 - k, [1], [1]) for k in (1, 2, 3)),
        record(1, [2], [0]),
        record(1, [2, 2], [2**63, 2**63], width=8),
        b"".join(record(1, [2], [0]) for _ in range(10_000)),
        record(1, [2], [1], entries=0),
        record(1, [2], [1], entries=4097),
        record(1, [2], [1], entries=2**24 - 1),
        record(1, [2], [1])[:7] + b"\x03" + record(1, [2], [1])[8:],
        record(1, [2], [1])[:7] + b"\xff" + record(1, [2], [1])[8:],
        GOOD[:-1],
        GOOD[:3],
        record(3, [2], [1]) + record(2, [2], [1]),
    ],
)
def test_a_crafted_run_is_refused(data, tmp_path):
    good = write_triples(np.array([1, 2]), np.array([0, 1]), np.array([1, 1]), SIZE, 1, tmp_path / "good.run")
    for bad in (data, GOOD[:0] + data, record(0, [1], [1]) + data):
        runs = [good, run_of(bad, tmp_path)]
        with pytest.raises(ValueError, match=r"a\.run is damaged: it holds a row that cannot be right"):
            list(merged(runs, 0, SIZE, output_buffer(SIZE)))
        with pytest.raises(ValueError, match=r"a\.run is damaged"):
            merge_runs(runs, SIZE, 1, tmp_path / "sum.run")
        assert not (tmp_path / "sum.run").exists()


def test_a_run_that_is_right_is_not_refused(tmp_path):
    (piece,) = merged([run_of(GOOD + record(3, [1], [2**40], 8), tmp_path)] * 2, 0, SIZE, output_buffer(SIZE))
    assert piece.tobytes() == record(1, [0, 4], [6, 14]) + record(3, [1], [2**41], 8)


@pytest.mark.parametrize(
    ("data", "start"),
    [
        (record(5, [1], [1]), 0),
        (record(1, [5], [1]), 0),
        (record(1, [1], [1], entries=2), 0),
        (GOOD[:-1], 0),
        (GOOD, 4),
        (GOOD, 16),
        (GOOD, -4),
    ],
)
def test_records_that_are_dealt_out_are_checked(data, start):
    contexts, terms = np.zeros(SIZE, dtype=np.uint64), np.zeros(SIZE, dtype=np.uint64)
    scatter = TileScatter(0, 2, 16, False, contexts, terms, 2, 8)
    with pytest.raises((ValueError, IndexError)):
        scatter.scatter(np.frombuffer(data, dtype=np.uint8), start)
    assert contexts.sum() == terms.sum() == 0
    with pytest.raises(ValueError, match="3 bytes"):
        TileScatter(0, 2, 16, False, contexts, terms, 3, 8)


@pytest.mark.parametrize("most", [200, 60_000, 2**31, 2**40])
@pytest.mark.parametrize("number", ["<u2", "<u4"])
def test_a_chunk_has_counts_and_rows_and_columns_in_the_fewest_bytes(most, number):
    rows, columns, counts = np.array([0, 2, 4]), np.array([3, 1, 3]), np.array([1, most, 7])
    data = records(*(x.astype(np.uint32) for x in (rows, columns)), counts.astype(np.uint64), SIZE)
    scatter = TileScatter(0, 2, 16, False, *np.zeros((2, SIZE), dtype=np.uint64), np.dtype(number).itemsize, 8)
    assert scatter.scatter(np.frombuffer(data, dtype=np.uint8), 0) == (len(data), False)
    assert not scatter.pack_rest()
    chunk, [(row_class, tile, offset, entries, width, checksum)] = scatter.take()
    assert (row_class, tile, offset, entries, checksum) == (0, 1, 0, 3, zlib.crc32(chunk))
    assert scatter.taken == len(chunk)
    assert width == {200: 1, 60_000: 2, 2**31: 4, 2**40: 8}[most]
    expected = counts.astype(f"<u{width}").tobytes() + b"".join(
        (x >> 1).astype(number).tobytes() for x in (rows, columns)
    )
    assert chunk.tobytes() == expected + bytes(-len(expected) % 8)
    assert not scatter.pack_rest()
    assert scatter.take()[1].shape == (0, 6)


def test_chunks_are_the_same_however_many_wait():
    random = np.random.default_rng(1)
    rows, columns = np.nonzero(random.random((SIZE, SIZE)) < 0.8)
    counts = random.integers(1, 1000, len(rows))
    data = records(*(x.astype(np.uint32) for x in (rows, columns)), counts.astype(np.uint64), SIZE)

    def chunks(waiting_bytes):
        scatter = TileScatter(1, 2, 3, False, *np.zeros((2, SIZE), dtype=np.uint64), 2, 8, waiting_bytes)
        found, portions = [], []

        def take():
            before = scatter.taken
            data, index = scatter.take()
            ends = [*index[1:, 2].tolist(), scatter.taken]
            for (row_class, tile, offset, entries, width, checksum), end in zip(index.tolist(), ends, strict=True):
                chunk = data[offset - before : end - before].tobytes()
                assert (row_class, checksum) == (1, zlib.crc32(chunk))
                found.append((tile, offset, entries, width, chunk))
            portions.append(len(index))

        position, has_more = 0, True
        while has_more:
            position, has_more = scatter.scatter(np.frombuffer(data, dtype=np.uint8), position)
            if has_more:
                take()
        assert position == len(data)
        while scatter.pack_rest():
            take()
        take()
        return found, portions

    one_by_one, portions = chunks(0)
    assert len(portions) > 4
    assert sum(entries for _, _, entries, _, _ in one_by_one) == len(rows)
    for waiting_bytes in (64, 1000):
        assert chunks(waiting_bytes)[0] == one_by_one
    assert len(chunks(1000)[1]) < len(portions)


@pytest.mark.parametrize(
    ("rows", "columns"),
    [([0], [5]), ([5], [0]), ([0, 0], [1, 1]), ([0, 0], [2, 1]), ([1, 0], [0, 0]), ([0] * 9, [0] * 9)],
)
def test_triples_of_which_records_are_made_are_checked(rows, columns):
    with pytest.raises(ValueError, match="in the wrong place"):
        records(np.array(rows, np.uint32), np.array(columns, np.uint32), np.ones(len(rows), np.uint64), SIZE)
    with pytest.raises(ValueError, match="1 rows, 2 columns"):
        records(np.zeros(1, np.uint32), np.zeros(2, np.uint32), np.ones(1, np.uint64), SIZE)


@pytest.mark.parametrize("dtype", ["<u2", "<u4"])
@pytest.mark.parametrize("mirrored", [False, True])
def test_numbers_of_a_tile_are_numbered_as_in_the_table_up_to_the_first_wrong_one(dtype, mirrored):
    source = np.random.default_rng(1)
    for _ in range(300):
        size, classes = int(source.integers(1, 40)), int(2 ** source.integers(0, 4))
        row_class, column_class = source.integers(0, classes, size=2).tolist()
        rows, columns = source.integers(0, 6, size=(2, source.integers(1, 8)))
        order = np.lexsort((columns, rows)) if source.random() < 0.8 else slice(None)
        numbers = np.stack([rows[order], columns[order]])
        expected, least = [], 0
        for row, column in numbers.T.tolist():
            i, j = row * classes + row_class, column * classes + column_class
            if (row << 32 | column) < least or i >= size or j >= size or (mirrored and i > j):
                break
            expected.append((i, j))
            least = (row << 32 | column) + 1
        data = np.frombuffer(b"x" + numbers.astype(dtype).tobytes(), dtype=np.uint8)[1:]
        found = tile_numbers(data, int(dtype[-1]), classes, row_class, column_class, size, mirrored, 0)
        assert list(zip(*(part.tolist() for part in found[:2]), strict=True)) == expected
        assert found[2] == least

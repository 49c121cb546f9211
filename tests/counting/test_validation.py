"""A store that somebody has crafted is refused by a sentence that names the file, whatever it says."""

import os
import shutil

import numpy as np
import pytest
from crafted import change_chunk, change_index, rewrite_manifest

from gensim_hilbert import PairCounts
from gensim_hilbert.counting.store import StoreError


@pytest.fixture
def copy(counts, tmp_path):
    return shutil.copytree(counts.directory, tmp_path / "copy")


def set_to(which, place, value):
    """A function that changes one of the counts (0), rows (1) or columns (2) of a chunk."""

    def change(*parts):
        parts[which][place] = value

    return change


def repeat_first(counts, rows, columns):
    rows[1], columns[1] = rows[0], columns[0]


@pytest.mark.parametrize(
    "change",
    [set_to(1, -1, 65535), set_to(2, 0, 65535), set_to(2, -1, 65535), set_to(0, 3, 0), set_to(1, 0, 9), repeat_first],
    ids=["row beyond V", "column beyond V", "last column beyond V", "count of 0", "rows descend", "an entry twice"],
)
def test_numbers_in_chunks_are_checked(copy, change, tmp_path):
    change_chunk(copy, change)
    counts = PairCounts.open(copy)
    for use in (
        counts.verify,
        counts.to_scipy,
        lambda: PairCounts.merge([counts, counts], directory=tmp_path / "sum"),
        lambda: counts.to_glove(tmp_path / "cooccurrence", tmp_path / "words"),
    ):
        with pytest.raises(StoreError, match=r"shards/00\.bin is damaged: there are rows, columns or counts"):
            use()
    assert not (tmp_path / "sum").exists()


def test_an_entry_below_the_diagonal_of_a_symmetric_table_is_refused(copy, counts):
    def swap(_, rows, columns):
        rows[:], columns[:] = columns.copy(), rows.copy()
        order = np.lexsort((columns, rows))
        rows[:], columns[:] = rows[order], columns[order]

    change_chunk(copy, swap)
    if counts.symmetric:
        with pytest.raises(StoreError, match="rows, columns or counts"):
            PairCounts.open(copy).verify()
    else:
        PairCounts.open(copy).verify()


def with_cell(row, column, value):
    def change(index):
        index[row, column] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        *(with_cell(1, column, value) for column in range(6) for value in (-1, 1 << 40, (1 << 63) - 1)),
        with_cell(0, 3, 0),
        with_cell(0, 4, 3),
        lambda index: index[::-1].copy(),
        lambda index: index[1:].copy(),
        lambda index: np.concatenate([index, index[-1:]]),
        lambda index: index[:0].copy(),
        lambda index: index.astype(np.float64),
        lambda index: index[:, :5].copy(),
        lambda index: index.reshape(-1),
        lambda index: index[0, 0],
    ],
)
def test_the_index_is_checked(copy, change):
    change_index(copy, change)
    with pytest.raises(StoreError, match=r"index\.npy is "):
        PairCounts.open(copy)


ODD_VALUES = [-1, 10**30, float("nan"), float("inf"), None, "1", [], {}, True, 1.5, [[[]]]]
ALLOWED = [("mirrored", True), ("sample", 1.5), ("sample", 10**30), ("fingerprint", "1")]


@pytest.mark.parametrize(
    "name",
    ["schema", "window", "mirrored", "oov", "sample", "seed", "errors", "words", "tokens", "sentences", "classes",
     "entries", "total", "files", "fingerprint"],
)  # fmt: skip
def test_every_value_of_a_manifest_is_checked(copy, name):
    whole = (copy / "manifest.json").read_text()
    for value in ODD_VALUES:
        if (name, value) in ALLOWED:
            continue
        rewrite_manifest(copy, lambda manifest, value=value: manifest.update({name: value}))
        with pytest.raises(StoreError, match=r"manifest\.json"):
            PairCounts.open(copy)
        (copy / "manifest.json").write_text(whole)


@pytest.mark.parametrize("name", ["words", "tokens", "entries", "total", "fingerprint", "files", "window", "request"])
def test_a_manifest_without_a_value_is_refused(copy, name):
    rewrite_manifest(copy, lambda manifest: manifest.pop(name))
    with pytest.raises(StoreError, match=r"manifest\.json is damaged"):
        PairCounts.open(copy)


def test_json_that_is_nested_deeply_is_refused(copy):
    for depth in (40, 400, 100_000):
        (copy / "manifest.json").write_text("[" * depth + "]" * depth)
        with pytest.raises(StoreError, match=r"manifest\.json"):
            PairCounts.open(copy)
    deep = []
    for _ in range(400):
        deep = [deep]
    rewrite = '{"format": "gensim_hilbert pair counts", "schema": 1, "request": ' + str(deep) + "}"
    (copy / "manifest.json").write_text(rewrite)
    with pytest.raises(StoreError, match=r"manifest\.json is damaged"):
        PairCounts.open(copy)


STRANGE_KEYS = [
    *("{}", "NaN", "[[1, NaN]]", "[{}]", "[" * 40 + "]" * 40, '{"object": "frozenset"}', '{"os.system": "true"}'),
    *('{"bytes": "0"}', '{"bytes": " 00"}', '{"bytes": 1}', '{"float": 1.5}', '{"float": "nan"}', '{"numpy.str": 1}'),
    *('{"numpy.int8": 128}', '{"numpy.int8": 1.0}', '{"numpy.int8": true}', '{"numpy.uint64": -1}'),
    *('{"numpy.float16": 0.1}', '{"numpy.float32": 1e300}', '{"numpy.bool": 1}', '{"bytes": "00", "float": "inf"}'),
]


@pytest.mark.parametrize(
    "line",
    [
        *('["a", -1]', '["a", 1.5]', '["a"]', "null", '["a", 1, 2]', '["a", 99999999999999999999]', "é"),
        *(f"[{key}, 1]" for key in STRANGE_KEYS),
    ],
)
def test_the_vocabulary_is_checked(copy, line):
    path = copy / "vocabulary.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([line, *lines[1:]]) + "\n")
    rewrite_manifest(copy)
    with pytest.raises(StoreError, match=r"vocabulary\.jsonl is not a vocabulary, or damaged"):
        PairCounts.open(copy)


@pytest.mark.parametrize("name", ["tokens", "sentences"])
def test_sizes_that_overflow_are_refused_when_stores_are_added_up(copy, name):
    rewrite_manifest(copy, lambda manifest: manifest.update({name: 2**63 - 1}))
    counts = PairCounts.open(copy)
    with pytest.raises(ValueError, match=r"the sizes of .*copy.* cannot be right"):
        counts + counts


@pytest.mark.parametrize("name", ["/dev/zero", "../outside", "shards/../../outside", "pipe", ".", ""])
def test_a_manifest_cannot_name_other_files(copy, name):
    (copy.parent / "outside").write_bytes(b"x")
    os.mkfifo(copy / "pipe")
    for replaced in (None, "marginals.npy", "shards/01.bin"):

        def change(manifest, replaced=replaced):
            facts = manifest["files"].pop(replaced) if replaced else {"bytes": 0, "crc32": 0}
            manifest["files"][name] = facts

        rewrite_manifest(copy, change)
        with pytest.raises(StoreError, match=r"manifest\.json is damaged: its 'files' cannot be right"):
            PairCounts.open(copy)
        rewrite_manifest(copy, lambda manifest: manifest["files"].pop(name))


@pytest.mark.parametrize("name", ["manifest.json", "vocabulary.jsonl", "index.npy", "marginals.npy", "shards/01.bin"])
@pytest.mark.parametrize("kind", ["pipe", "link", "device", "folder"])
def test_only_regular_files_are_opened(copy, name, kind):
    path = copy / name
    path.rename(copy.parent / "moved")
    {
        "pipe": lambda: os.mkfifo(path),
        "link": lambda: path.symlink_to(copy.parent / "moved"),
        "device": lambda: path.symlink_to("/dev/zero"),
        "folder": path.mkdir,
    }[kind]()
    with pytest.raises(StoreError, match=f"{path.name} is not a regular file"):
        PairCounts.open(copy)


def test_a_folder_of_shards_elsewhere_is_refused(copy):
    (copy / "shards").rename(copy.parent / "moved")
    (copy / "shards").symlink_to(copy.parent / "moved")
    with pytest.raises(StoreError, match="shards is missing, or not a folder of this store"):
        PairCounts.open(copy)

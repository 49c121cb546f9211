"""Reads and writes stores: directories of pair counts, memory-mapped, without pickle. layout.py describes them."""

from __future__ import annotations

import hashlib
import math
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from gensim_hilbert._lookup import look_up
from gensim_hilbert._merge import tile_numbers
from gensim_hilbert._tiles import ShardReader, TileFiles
from gensim_hilbert.counting.layout import (
    CHUNK_ALIGNMENT,
    FORMAT,
    INDEX,
    INDEX_COLUMNS,
    MANIFEST,
    MARGINALS,
    PHRASES,
    SCHEMA,
    VOCABULARY,
    chunk_bytes,
    classes_for,
    number_dtype,
    padding,
    partial_of,
    shard_name,
)
from gensim_hilbert.counting.settings import CountSettings, Window
from gensim_hilbert.counting.validation import (
    StoreError as StoreError,  # where the rest of the package looks for it
)
from gensim_hilbert.counting.validation import (
    check_files,
    check_index,
    check_manifest,
    check_sizes,
    read_array,
)
from gensim_hilbert.files import manifest_checksum, to_json, write_whole
from gensim_hilbert.objects import Place
from gensim_hilbert.phrases.table import Phrases
from gensim_hilbert.untrusted import is_shallow, is_whole, npy_bytes, parse_json, require_regular
from gensim_hilbert.vocabulary import Vocabulary


class Compressed(NamedTuple):
    """A sparse table in CSR form: row i has the columns `columns[starts[i] : starts[i + 1]]`, and values likewise."""

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """The row of each value."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


class CompressedShards(NamedTuple):
    """Several sparse tables with as many rows each, in CSR form; `starts[k]` has the starts of table k, from 0.

    The columns and values of one table follow those of the one before it.
    """

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray


class Store:
    """A store that is open for reading; `PairCounts` is what users see of it.

    Those who know its words, such as a model that was saved with it, give them: some words cannot be written without
    pickle.
    """

    def __init__(self, directory: str | os.PathLike[str], words: Sequence[Any] | None = None):
        self.directory = Path(directory)
        self._knows_words = words is not None
        self.manifest = read_manifest(self.directory)
        self._check_files()
        try:
            self.vocabulary = Vocabulary.load(
                self.directory / VOCABULARY,
                tokens=self.manifest["tokens"],
                sentences=self.manifest["sentences"],
                words=words,
            )
        except ValueError as error:
            raise StoreError(f"{error}; count again") from error
        self.classes: int = self.manifest["classes"]
        window = self.manifest["window"]
        self.window = Window(tuple(window["left"]), tuple(window["right"]), window["scale"])
        self.mirrored: bool = self.manifest["mirrored"]
        self.scale = self.window.scale
        self.size = len(self.vocabulary)
        index = read_array(self.directory / INDEX, "<i8", (None, len(INDEX_COLUMNS)))
        check_index(index, self.manifest, self.directory / INDEX)
        # The index is sorted, so that the chunks of a tile are adjacent in it.
        self._chunks = index
        self._tile_starts = np.searchsorted(index[:, 0] * self.classes + index[:, 1], np.arange(self.classes**2 + 1))
        self._maps: dict[int, np.ndarray] = {}
        self._checked: set[int] = set()  # tiles in which pairs have been looked up
        self.marginals_scaled = read_array(self.directory / MARGINALS, "<u8", (2, self.size))
        check_sizes(self.manifest, self.size, self.marginals_scaled, index, self.directory / MANIFEST)
        self._number = number_dtype(self.size, self.classes)
        self._reader = ShardReader(
            self._chunks,
            self._tile_starts,
            classes=self.classes,
            size=self.size,
            number_bytes=self._number.itemsize,
            alignment=CHUNK_ALIGNMENT,
            mirrored=self.mirrored,
            scale=self.scale,
        )

    @cached_property
    def phrases(self) -> Phrases | None:
        """The phrases that were joined in the text before its words were counted."""
        if PHRASES not in self.manifest["files"]:
            return None
        try:
            return Phrases.load(self.directory / PHRASES)
        except ValueError as error:
            raise StoreError(f"{error}; count again") from error

    @property
    def place(self) -> Place:
        """The place of the store by the name that users know."""
        return self.directory

    def local_directory(self) -> Path:
        """Return a directory on this machine that holds all of its files."""
        return self.directory

    def _check_files(self) -> None:
        check_files(self.directory, self.manifest)

    def __reduce__(self) -> tuple[type[Store], tuple[Any, ...]]:
        """Pickle the directory, which is opened again: by another rank of a training."""
        return Store, (os.path.abspath(self.directory), self.vocabulary.words if self._knows_words else None)

    def _bytes(self, row_class: int) -> np.ndarray:
        if row_class not in self._maps:
            path = self.directory / shard_name(row_class)
            # As a plain array, because slices of a memory map take ten times as long.
            self._maps[row_class] = np.asarray(
                np.memmap(path, dtype=np.uint8, mode="r") if path.stat().st_size else np.empty(0, np.uint8)
            )
        return self._maps[row_class]

    def map_files(self) -> None:
        """Map all shards now: whoever replaces the store later does not change what this object reads."""
        for row_class in range(self.classes):
            self._bytes(row_class)

    def tile(self, row_class: int, column_class: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the stored (rows, columns, counts) of a tile, numbered as in the whole table, chunk by chunk.

        They are checked: every number is that of a word, entries ascend, and no count is zero.
        """
        key = row_class * self.classes + column_class
        least = 0  # Entries ascend over all chunks of a tile.
        for _, _, offset, entries, count_bytes, checksum in self._chunks[
            self._tile_starts[key] : self._tile_starts[key + 1]
        ].tolist():
            length = chunk_bytes(entries, count_bytes, self._number)
            data = self._bytes(row_class)[offset : offset + length + padding(length)]
            damage = None if zlib.crc32(data.data) == checksum else "the checksum does not match"
            if damage is None:
                counts = data[: entries * count_bytes].view(f"<u{count_bytes}")
                rows, columns, least = tile_numbers(
                    data[entries * count_bytes : length],
                    self._number.itemsize,
                    self.classes,
                    row_class,
                    column_class,
                    self.size,
                    self.mirrored,
                    least,
                )
                if len(rows) < entries or not counts.all():
                    damage = "there are rows, columns or counts that cannot be right"
            if damage is not None:
                path = self.directory / shard_name(row_class)
                raise StoreError(f"{path} is damaged: {damage} in the {len(data)} bytes at {offset}; count again")
            yield rows, columns, counts

    def row_tiles(self, row_class: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the chunks of all tiles of a class of rows."""
        for column_class in range(self.classes):
            yield from self.tile(row_class, column_class)

    def entries_of(self, row_class: int) -> int:
        """Return the number of stored entries of a class of rows."""
        return int(self._chunks[self._chunks[:, 0] == row_class, 3].sum())

    def compressed(self, i: int, j: int, n: int, keep: np.ndarray | None = None) -> Compressed:
        """Return the counts of `table[i::n, j::n]`, numbered within it.

        The columns of a row ascend if n is the number of classes. `keep` is as for `read_shards`.
        """
        found = self.read_shards([(i, j)], n, keep=keep)
        return Compressed(found.starts[0, : len(range(i, self.size, n)) + 1], found.columns, found.values)

    def read_shards(
        self,
        keys: list[tuple[int, int]],
        n: int,
        dtype: DTypeLike = np.float64,
        keep: np.ndarray | None = None,
        factors: tuple[np.ndarray, np.ndarray] | None = None,
        empty: Callable[[int, DTypeLike], np.ndarray] = np.empty,
    ) -> CompressedShards:
        """Return the counts of `table[i::n, j::n]` for each key (i, j), in tables of ceil(size / n) rows.

        A count is multiplied by the product of what `keep` has for its two words, and then by the factor of its row and
        that of its column, all in float64. `empty` makes the arrays of columns and values.
        """
        step = math.gcd(n, self.classes)
        wanted = {key[side] % step for key in keys for side in range(2 if self.mirrored else 1)}
        files = {k: self._bytes(k) for first in wanted for k in range(first, self.classes, step)}
        request = TileFiles(self.classes, files), keys, n, step
        starts = np.empty((len(keys), -(-self.size // n) + 1), dtype=np.int64)
        damaged = self._reader.count(*request, starts)
        if damaged < 0:
            total = int(starts[:, -1].sum())
            found = CompressedShards(starts, empty(total, np.int32), empty(total, dtype))
            damaged = self._reader.place(*request, *found, keep, *(factors or ()))
            if damaged < 0:
                return found
        row_class, column_class = self._chunks[damaged, :2].tolist()
        for _ in self.tile(row_class, column_class):  # It tells what is wrong.
            pass
        raise StoreError(f"{self.directory / shard_name(row_class)} has changed while it was read; count again")

    def counts_of(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the counts of many pairs. A tile is checked when it is first looked into, and then searched."""
        if self.mirrored:
            rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
        n, found = self.classes, np.zeros(len(rows))
        tiles = rows % n * n + columns % n
        order = np.argsort(tiles, kind="stable")
        keys, starts = np.unique(tiles[order], return_index=True)
        for key, start, end in zip(keys.tolist(), starts, [*starts[1:], len(order)], strict=False):
            some = order[start:end]
            if key not in self._checked:
                for _ in self.tile(key // n, key % n):
                    pass
                self._checked.add(key)
            chunks = self._chunks[self._tile_starts[key] : self._tile_starts[key + 1]]
            counts = np.zeros(len(some))
            look_up(self._bytes(key // n), chunks, self._number.itemsize, rows[some] // n, columns[some] // n, counts)
            found[some] = counts
        return found / self.scale

    def verify(self) -> None:
        """Check every byte against its checksum."""
        for row_class in range(self.classes):
            for _ in self.row_tiles(row_class):
                pass


# ---------------------------------------------------------------------------------------------------- manifests


def read_manifest(directory: Place) -> dict[str, Any]:
    """Return the manifest of a store, or raise an error if there is none that this version can read."""
    path = directory / MANIFEST
    if not path.exists():
        if not (directory.exists() if isinstance(directory, Path) else directory.below()):
            hint = (
                "; counting it was interrupted: run the same count again to complete it"
                if is_under_way(partial_of(directory))
                else ""
            )
            raise FileNotFoundError(f"{directory} does not exist{hint}")
        raise StoreError(f"{directory} is no store of pair counts: it has no {MANIFEST}")
    try:
        if isinstance(path, Path):
            require_regular(path)
        manifest = parse_json(path.read_bytes())
    except ValueError as error:
        raise StoreError(f"{path} is damaged: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StoreError(f"{path} does not describe pair counts")
    schema: Any = manifest.get("schema")
    if not is_whole(schema, 1):
        raise StoreError(f"{path} is damaged: it has no schema")
    if schema > SCHEMA:
        raise StoreError(f"{path} has schema {schema}, this version reads up to {SCHEMA}: upgrade gensim_hilbert")
    if not is_shallow(manifest) or manifest.get("crc32") != manifest_checksum(manifest):
        raise StoreError(f"{path} is damaged: its checksum does not match")
    check_manifest(manifest, path)
    return manifest


def is_under_way(work: Place) -> bool:
    """Tell whether a store is being put together in a folder, or was."""
    return work.exists() if isinstance(work, Path) else bool(work.below())


@dataclass(frozen=True)
class StoreDescription:
    """What a store holds, apart from the counts themselves."""

    settings: CountSettings
    vocabulary: Vocabulary
    mirrored: bool
    request: Any = None  # what was asked for, as JSON, if it could be recognised again
    preparation: Any = None  # how text was made into words, as JSON, if not by white space
    phrases: Phrases | None = None  # that were joined in the text

    @property
    def size(self) -> int:
        """The number of words."""
        return len(self.vocabulary)

    @property
    def classes(self) -> int:
        """The number of classes of rows and columns."""
        return classes_for(self.size)


class MergedShards(NamedTuple):
    """What is known of the shards of a store once all of them are written."""

    chunks: np.ndarray  # one row of INDEX_COLUMNS for each chunk, sorted
    marginals: np.ndarray
    sizes: list[int]  # bytes of each file


def write_manifest(directory: Place, description: StoreDescription, shards: MergedShards) -> None:
    """Write index, marginals and then the manifest, by which the directory becomes a store."""
    settings, vocabulary = description.settings, description.vocabulary
    (directory / INDEX).write_bytes(npy_bytes(shards.chunks))
    (directory / MARGINALS).write_bytes(npy_bytes(shards.marginals))
    window = {"left": settings.window.left, "right": settings.window.right, "scale": settings.window.scale}
    identity = hashlib.sha256(to_json([window, description.mirrored]).encode())
    files: dict[str, dict[str, int]] = {}
    for name in (VOCABULARY, INDEX, MARGINALS):
        data = (directory / name).read_bytes()
        identity.update(data)
        files[name] = {"bytes": len(data), "crc32": zlib.crc32(data)}
    if description.phrases is not None:
        description.phrases.save(directory / PHRASES)
        data = (directory / PHRASES).read_bytes()
        files[PHRASES] = {"bytes": len(data), "crc32": zlib.crc32(data)}
    files |= {shard_name(k): {"bytes": size} for k, size in enumerate(shards.sizes)}
    manifest = {
        "format": FORMAT,
        "schema": SCHEMA,
        "fingerprint": identity.hexdigest(),
        "window": window,
        "mirrored": description.mirrored,
        "oov": settings.oov,
        "sample": settings.sample,
        "seed": settings.seed,
        "errors": settings.errors,
        "words": len(vocabulary),
        "tokens": vocabulary.tokens,
        "sentences": vocabulary.sentences,
        "request": description.request,
        "classes": description.classes,
        "entries": int(shards.chunks[:, 3].sum()),
        "total": int(shards.marginals[0].sum()),
        "files": files,
    }
    if description.preparation is not None:
        manifest["preparation"] = description.preparation
    manifest["crc32"] = manifest_checksum(manifest)
    write_whole(directory / MANIFEST, to_json(manifest, indent=1).encode())

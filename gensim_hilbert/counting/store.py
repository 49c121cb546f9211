"""The store: a directory of pair counts, memory-mapped, without pickle.

    manifest.json       settings, sizes and checksums; written last, so that a directory without it is not a store
    vocabulary.jsonl    [word, count], a line each
    marginals.npy       uint64 (2, V): contexts, terms; scaled
    index.npy           int64, a row a chunk: row class, column class, offset, entries, bytes a count, CRC-32
    shards/RR.bin       the chunks of the rows of class RR: counts, rows, columns

Rows and columns fall into `classes` classes, by their remainder: a tile [r::classes, c::classes] is a few chunks in one
file, and so `shard(i, j, n)` reads nothing but its own entries where n divides `classes`. Where the table equals its
transpose only entries with row <= column are stored.
"""

from __future__ import annotations

import hashlib
import math
import os
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gensim_hilbert.counting.merge import index_dtype, shard_name
from gensim_hilbert.counting.settings import CountSettings, Window
from gensim_hilbert.counting.worker import VOCABULARY
from gensim_hilbert.files import read_json, to_json, write_whole
from gensim_hilbert.vocabulary import Vocabulary

FORMAT = "gensim_hilbert pair counts"
SCHEMA = 1
MANIFEST, MARGINALS, INDEX = "manifest.json", "marginals.npy", "index.npy"
SAVED = "saved-with-model"  # an empty file in counts that belong to a model, and are replaced with it


class StoreError(ValueError):
    """A directory that is no store, or a damaged one."""


class Store:
    """Reads a store; `PairCounts` is what users see of it."""

    def __init__(self, directory: str | os.PathLike[str]):
        self.directory = Path(directory)
        self.manifest = read_manifest(self.directory)
        for name, facts in self.manifest["files"].items():
            check_file(self.directory / name, facts)
        self.vocabulary = Vocabulary.load(
            self.directory / VOCABULARY, tokens=self.manifest["tokens"], sentences=self.manifest["sentences"]
        )
        self.classes: int = self.manifest["classes"]
        window = self.manifest["window"]
        self.window = Window(tuple(window["left"]), tuple(window["right"]), window["scale"])
        self.mirrored: bool = self.manifest["mirrored"]
        self.scale = self.window.scale
        self.size = len(self.vocabulary)
        index = np.load(self.directory / INDEX, allow_pickle=False)
        # Chunks of a tile are adjacent in the index, which is sorted: one look-up finds them.
        self._chunks = index
        self._tile_starts = np.searchsorted(index[:, 0] * self.classes + index[:, 1], np.arange(self.classes**2 + 1))
        self._maps: dict[int, np.ndarray] = {}
        self.marginals_scaled = np.load(self.directory / MARGINALS, allow_pickle=False)
        self._number = index_dtype(self.size, self.classes)

    def _bytes(self, row_class: int) -> np.ndarray:
        if row_class not in self._maps:
            path = self.directory / shard_name(row_class)
            self._maps[row_class] = (
                np.memmap(path, dtype=np.uint8, mode="r") if path.stat().st_size else np.empty(0, np.uint8)
            )
        return self._maps[row_class]

    def tile(self, row_class: int, column_class: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """The stored (rows, columns, counts) of a tile, numbered as in the whole table, chunk by chunk."""
        key = row_class * self.classes + column_class
        for _, _, offset, entries, count_bytes, checksum in self._chunks[
            self._tile_starts[key] : self._tile_starts[key + 1]
        ]:
            width = self._number.itemsize
            length = entries * (count_bytes + 2 * width)
            data = self._bytes(row_class)[offset : offset + length + -length % 8]
            if zlib.crc32(data.data) != checksum:
                raise StoreError(
                    f"{self.directory / shard_name(row_class)} is damaged: the checksum of the {len(data)} bytes "
                    f"at {offset} does not match; count again"
                )
            counts = data[: entries * count_bytes].view(f"<u{count_bytes}")
            numbers = data[entries * count_bytes : length].tobytes()  # not aligned
            rows, columns = np.frombuffer(numbers, dtype=self._number).reshape(2, -1).astype(np.int64)
            yield rows * self.classes + row_class, columns * self.classes + column_class, counts

    def entries(self, i: int, j: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows, columns and scaled counts of `table[i::n, j::n]`, both halves, numbered as in the whole table."""
        parts = list(self._half(i, j, n))
        if self.mirrored:
            parts += [
                (columns[off], rows[off], counts[off])
                for rows, columns, counts in self._half(j, i, n)
                for off in [rows != columns]
            ]
        if not parts:
            empty = np.empty(0, dtype=np.int64)
            return empty, empty, empty.astype(np.uint64)
        rows, columns, counts = zip(*parts, strict=True)
        return np.concatenate(rows), np.concatenate(columns), np.concatenate(counts).astype(np.uint64, copy=False)

    def _half(self, i: int, j: int, n: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        step = math.gcd(n, self.classes)
        for row_class in range(i % step, self.classes, step):
            for column_class in range(j % step, self.classes, step):
                for rows, columns, counts in self.tile(row_class, column_class):
                    if n == step:
                        yield rows, columns, counts
                    else:
                        mine = (rows % n == i) & (columns % n == j)
                        yield rows[mine], columns[mine], counts[mine]

    def verify(self) -> None:
        """Check every byte against its checksum."""
        for row_class in range(self.classes):
            for column_class in range(self.classes):
                for _ in self.tile(row_class, column_class):
                    pass


# ---------------------------------------------------------------------------------------------------- files


def read_manifest(directory: Path) -> dict[str, Any]:
    """The manifest of a store, if this version can read it."""
    path = directory / MANIFEST
    if not path.exists():
        if not directory.exists():
            hint = (
                "; counting it was interrupted: run the same count again to complete it"
                if partial_of(directory).exists()
                else ""
            )
            raise FileNotFoundError(f"{directory} does not exist{hint}")
        raise StoreError(f"{directory} is no store of pair counts: it has no {MANIFEST}")
    try:
        manifest = read_json(path)
    except ValueError as error:
        raise StoreError(f"{path} is damaged: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StoreError(f"{path} does not describe pair counts")
    if manifest["schema"] > SCHEMA:
        raise StoreError(
            f"{path} has schema {manifest['schema']}, this version reads up to {SCHEMA}: upgrade gensim_hilbert"
        )
    if manifest.get("crc32") != manifest_checksum(manifest):
        raise StoreError(f"{path} is damaged: its checksum does not match")
    return manifest


def counts_beside(name: str | os.PathLike[str]) -> Path:
    """Where the counts of a saved model are."""
    return Path(os.fspath(name) + ".counts")


def partial_of(directory: Path) -> Path:
    """Where a store is put together before it takes its name."""
    return directory.with_name(directory.name + ".partial")


def check_file(path: Path, facts: dict[str, int]) -> None:
    """Compare a file with what the manifest says of it."""
    if not path.exists():
        raise StoreError(f"{path} is missing")
    if path.stat().st_size != facts["bytes"]:
        raise StoreError(
            f"{path} has {path.stat().st_size} bytes instead of {facts['bytes']}: it is damaged; count again"
        )
    if "crc32" in facts and zlib.crc32(path.read_bytes()) != facts["crc32"]:
        raise StoreError(f"{path} is damaged: its checksum does not match; count again")


def write_manifest(
    directory: Path,
    *,
    settings: CountSettings,
    vocabulary: Vocabulary,
    mirrored: bool,
    classes: int,
    index: np.ndarray,
    marginals: np.ndarray,
    shard_sizes: list[int],
    request: Any,
) -> None:
    """Write index, marginals and then the manifest, by which the directory becomes a store."""
    np.save(directory / INDEX, index)
    np.save(directory / MARGINALS, marginals)
    window = {"left": settings.window.left, "right": settings.window.right, "scale": settings.window.scale}
    identity = hashlib.sha256(to_json([window, mirrored]).encode())
    files: dict[str, dict[str, int]] = {}
    for name in (VOCABULARY, INDEX, MARGINALS):
        data = (directory / name).read_bytes()
        identity.update(data)
        files[name] = {"bytes": len(data), "crc32": zlib.crc32(data)}
    files |= {shard_name(k): {"bytes": size} for k, size in enumerate(shard_sizes)}
    manifest = {
        "format": FORMAT,
        "schema": SCHEMA,
        "fingerprint": identity.hexdigest(),
        "window": window,
        "mirrored": mirrored,
        "oov": settings.oov,
        "sample": settings.sample,
        "seed": settings.seed,
        "errors": settings.errors,
        "words": len(vocabulary),
        "tokens": vocabulary.tokens,
        "sentences": vocabulary.sentences,
        "request": request,
        "classes": classes,
        "entries": int(index[:, 3].sum()),
        "total": int(marginals[0].sum()),
        "files": files,
    }
    manifest["crc32"] = manifest_checksum(manifest)
    write_whole(directory / MANIFEST, to_json(manifest, indent=1).encode())


def manifest_checksum(manifest: dict[str, Any]) -> int:
    """A checksum of all that the manifest says besides it."""
    return zlib.crc32(to_json({key: value for key, value in manifest.items() if key != "crc32"}).encode())


def refuse_to_replace(beside: Path, source: Path | None) -> None:
    """Counts that were not saved with a model are not a model's to replace."""
    if beside.exists() and not (beside / SAVED).exists() and not (source is None or beside.samefile(source)):
        raise FileExistsError(
            f"{beside} is where the counts of this model would be saved, and holds something else: choose another name "
            "for the model, or move that away"
        )


def keep_counts(source: Path | None, target: Path) -> None:
    """Have the counts of a model beside it, in place of those of the model it has replaced; whole or not at all."""
    if source is not None and target.exists() and source.samefile(target):
        return
    if source is None:
        if (target / SAVED).exists():
            shutil.rmtree(target)
        return
    fresh = target.with_name(target.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(source, fresh, copy_function=link_or_copy)
    (fresh / SAVED).touch()
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)


def link_or_copy(source: str, target: str) -> None:
    """The files of a store are never changed, only replaced: a second name for one is as good as a copy."""
    try:
        os.link(source, target)
    except OSError:  # another file system, or one that has no links
        shutil.copy2(source, target)

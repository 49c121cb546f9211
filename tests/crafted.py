"""Stores that somebody has crafted: every checksum is right, and what they say is not."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gensim_hilbert.counting.layout import INDEX, MANIFEST, MARGINALS, VOCABULARY, padding
from gensim_hilbert.files import manifest_checksum, to_json


def rewrite_manifest(store: Path, change: Callable[[dict[str, Any]], object] = lambda manifest: None) -> None:
    """Change a manifest, and set right the sizes and checksums in it."""
    manifest = json.loads((store / MANIFEST).read_text())
    for name in (VOCABULARY, INDEX, MARGINALS):
        data = (store / name).read_bytes()
        manifest["files"][name] = {"bytes": len(data), "crc32": zlib.crc32(data)}
    for path in (store / "shards").iterdir():
        manifest["files"][f"shards/{path.name}"] = {"bytes": path.stat().st_size}
    change(manifest)
    manifest["crc32"] = manifest_checksum(manifest)
    (store / MANIFEST).write_text(to_json(manifest))


def change_index(store: Path, change: Callable[[np.ndarray], np.ndarray | None]) -> None:
    """Change the index of a store, and all checksums accordingly."""
    index = np.load(store / INDEX)
    changed = change(index)
    data = io.BytesIO()
    np.save(data, index if changed is None else changed)
    (store / INDEX).write_bytes(data.getvalue())
    rewrite_manifest(store)


def change_chunk(store: Path, change: Callable[[np.ndarray, np.ndarray, np.ndarray], object], number: int = 0) -> None:
    """Change the counts, rows and columns of one chunk in place, and all checksums accordingly."""
    index = np.load(store / INDEX)
    row_class, _, offset, entries, count_bytes, _ = index[number].tolist()
    path = store / "shards" / f"{row_class:02d}.bin"
    data = bytearray(path.read_bytes())
    middle, length = offset + entries * count_bytes, entries * (count_bytes + 4)
    counts = np.frombuffer(bytes(data[offset:middle]), dtype=f"<u{count_bytes}").copy()
    numbers = np.frombuffer(bytes(data[middle : offset + length]), dtype="<u2").reshape(2, -1).copy()
    change(counts, *numbers)
    data[offset : offset + length] = counts.tobytes() + numbers.tobytes()
    path.write_bytes(data)
    index[number, 5] = zlib.crc32(data[offset : offset + length + padding(length)])
    np.save(store / INDEX, index)
    rewrite_manifest(store)

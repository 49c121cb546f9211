"""The state of an unfinished training after each epoch, as safetensors and JSON, without pickle.

    checkpoint.json                 what is trained, the number of epochs done, and which folder holds the arrays
    checkpoint-previous.json        the same for the epoch before
    epoch-N/NAME.safetensors        one array per file, written from its own memory and read back piece by piece

The arrays of a new epoch are written first. Then checkpoint.json is replaced, which switches to them, and only then the
arrays of the epoch before the last are removed. A crash at any instant leaves a checkpoint that can be loaded, and if
the last one is found to be damaged, the one before it is used.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from safetensors import SafetensorError, safe_open

from gensim_hilbert.files import (
    as_read_back,
    manifest_checksum,
    read_json,
    remove_leftovers,
    sync_tree,
    to_json,
    write_whole,
)
from gensim_hilbert.tensors import pieces, write_tensors
from gensim_hilbert.untrusted import is_shallow, is_whole, plain_name, require_regular

logger = logging.getLogger(__name__)

FORMAT = "gensim_hilbert checkpoint"
SCHEMA = 1
MANIFEST = "checkpoint.json"
PREVIOUS = "checkpoint-previous.json"
EPOCH = re.compile(r"epoch-\d+")
Arrays = Iterable[tuple[str, np.ndarray]]


class DamagedCheckpoint(ValueError):
    """Raised for a checkpoint that is not as it was written."""

    def __init__(self, path: Path, reason: str, directory: Path):
        self.damage = f"{path} is damaged: {reason}"
        super().__init__(f"{self.damage}; remove {directory} and train anew")


@dataclass
class Saved:
    """The state of a solver after so many epochs."""

    epochs: int
    facts: dict[str, Any]
    directory: Path
    checksums: dict[str, int]

    def array(self, name: str) -> np.ndarray:
        """Read one of its arrays, and compare it with its checksum."""
        path = self.directory / f"{name}.safetensors"
        try:
            require_regular(path)
            with safe_open(path, framework="numpy") as file:
                array: np.ndarray = file.get_tensor(name)
            reason = None if checksum(array) == self.checksums.get(name) else "its checksum does not match"
        except (SafetensorError, FileNotFoundError, KeyError, ValueError, TypeError) as error:
            reason = str(error)
        if reason is not None:
            raise DamagedCheckpoint(path, reason, self.directory.parent)
        return array

    def verify(self) -> None:
        """Raise an error unless every array is as it was written. One at a time is in memory."""
        for name in self.checksums:
            self.array(name)


class Checkpoint:
    """A directory for the state of one training.

    Parameters
    ----------
    directory : Path
        Where the state is kept.
    request : dict
        All that the result of the training depends on. `request["settings"]` holds settings, which an error message
        can name with their values; the rest are fingerprints.
    """

    def __init__(self, directory: Path, request: dict[str, Any]):
        self.directory = directory
        self.request = as_read_back(request)
        self.last: tuple[str, bytes] | None = None  # folder and manifest of the state that was loaded or written last

    def load(self) -> Saved | None:
        """Return the state of this training, or None if nothing is done yet; refuse that of another training.

        If the last state is damaged, a warning says so, and the state before it is returned.
        """
        try:
            saved = self._load(MANIFEST)
            if saved is None and (self.directory / PREVIOUS).exists():
                raise DamagedCheckpoint(self.directory / MANIFEST, "it is missing", self.directory)
        except DamagedCheckpoint as error:
            try:
                saved = self._load(PREVIOUS)
            except DamagedCheckpoint:
                saved = None
            if saved is None:
                raise
            logger.warning(
                "%s; training goes on from the checkpoint before it, after epoch %d", error.damage, saved.epochs
            )
        return saved

    def _load(self, name: str) -> Saved | None:
        """Return the state that a manifest describes, once all its arrays have been compared with their checksums."""
        manifest = read_manifest(self.directory, name)
        if manifest is None:
            return None
        if manifest["request"] != self.request:
            change = difference(manifest["request"], self.request)
            raise ValueError(
                f"{self.directory} holds a checkpoint of another training: {change}; go on with the same corpus and "
                "settings, or remove it"
            )
        folder = self.directory / manifest["arrays"]
        saved = Saved(manifest["epochs"], manifest["facts"], folder, manifest["checksums"])
        saved.verify()
        self.last = manifest["arrays"], as_bytes(manifest)
        return saved

    def write(self, epochs: int, facts: dict[str, Any], arrays: Arrays) -> None:
        """Write the state after so many epochs. The state before it stays, older ones are removed."""
        folder = self.directory / f"epoch-{epochs}"
        if os.path.lexists(folder):  # left by a run that was killed while it wrote
            if not is_epoch(folder):
                raise FileExistsError(
                    f"{folder} is where a checkpoint would be written, and holds something else: choose another "
                    "directory, or move it away"
                )
            shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        checksums = {}
        for name, array in arrays:
            path = folder / f"{name}.safetensors"
            try:
                with open(path, "wb") as file:
                    write_tensors(file, {name: array})
            except OSError as error:
                raise OSError(f"{path} cannot be written, so training stops: {error}") from error
            checksums[name] = checksum(array)
        sync_tree(folder)
        manifest = {
            "format": FORMAT,
            "schema": SCHEMA,
            "request": self.request,
            "epochs": epochs,
            "facts": facts,
            "arrays": folder.name,
            "checksums": checksums,
        }
        manifest["crc32"] = manifest_checksum(manifest)
        kept = {folder.name}
        if self.last is not None and self.last[0] != folder.name:
            write_whole(self.directory / PREVIOUS, self.last[1])
            kept.add(self.last[0])
        self.last = folder.name, as_bytes(manifest)
        write_whole(self.directory / MANIFEST, self.last[1])
        remove_leftovers(self.directory)
        for old in self.directory.glob("epoch-*"):
            if old.name not in kept and is_epoch(old):
                shutil.rmtree(old)


def is_epoch(path: Path) -> bool:
    """Tell whether a folder may hold the arrays of an epoch, and nothing else: other programs have such names, too."""
    return (
        EPOCH.fullmatch(path.name) is not None
        and path.is_dir()
        and not path.is_symlink()
        and all(part.suffix == ".safetensors" for part in path.iterdir())
    )


def checksum(array: np.ndarray) -> int:
    """Return the CRC-32 of an array's type, shape and bytes."""
    total = crc32(f"{array.dtype.str}{array.shape}".encode())
    for piece in pieces(array):
        total = crc32(piece, total)
    return total


def difference(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Return in words the first thing in which two requests differ."""
    same_words = before.get("vocabulary") == now.get("vocabulary")  # Others may have led to other settings.
    for name, value in now["settings"].items() if same_words else ():
        old = before["settings"].get(name)
        if old != value:
            return f"{name} was {old}, and is now {value}"
    names = ["vocabulary", *before, *now]
    return f"it differs in its {next(name for name in names if before.get(name) != now.get(name))}"


def read_manifest(directory: Path, name: str = MANIFEST) -> dict[str, Any] | None:
    """Return what a checkpoint says about itself, or None if there is none."""
    path = directory / name
    try:
        require_regular(path)
        manifest = read_json(path)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise DamagedCheckpoint(path, str(error), directory) from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise DamagedCheckpoint(path, "it describes no checkpoint", directory)
    schema: Any = manifest.get("schema")
    if is_whole(schema, SCHEMA + 1):
        raise ValueError(f"{path} has schema {schema}, this version reads up to {SCHEMA}: upgrade gensim_hilbert")
    if not is_shallow(manifest) or manifest.get("crc32") != manifest_checksum(manifest):
        reason = "its checksum does not match"
    elif not describes_state(manifest):
        reason = "what it says cannot be right"
    else:
        return manifest
    raise DamagedCheckpoint(path, reason, directory)


def as_bytes(manifest: dict[str, Any]) -> bytes:
    """Return a manifest as it is written."""
    return to_json(manifest, indent=1).encode()


def describes_state(manifest: dict[str, Any]) -> bool:
    """Tell whether every value of a manifest has its type, and every name is that of a file in the checkpoint."""
    request, checksums = manifest.get("request"), manifest.get("checksums")
    try:
        names = [plain_name(manifest.get("arrays")), *map(plain_name, checksums if isinstance(checksums, dict) else ())]
    except ValueError:
        return False
    return (
        is_whole(manifest.get("epochs"))
        and isinstance(manifest.get("facts"), dict)
        and isinstance(request, dict)
        and isinstance(request.get("settings"), dict)
        and names[0].startswith("epoch-")
        and isinstance(checksums, dict)
        and all(is_whole(number, below=1 << 32) for number in checksums.values())
    )

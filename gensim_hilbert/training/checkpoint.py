"""The state of an unfinished training after each epoch, as safetensors and JSON, without pickle.

    checkpoint.json                 what is trained, the number of epochs done, and which folder holds the arrays
    epoch-N/NAME.safetensors        one array per file, so that only one of them is copied at a time

The arrays of a new epoch are written first. Then checkpoint.json is replaced, which switches to them, and only then the
old ones are removed. A crash at any instant leaves a checkpoint that can be loaded.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from gensim_hilbert.files import as_read_back, read_json, remove_leftovers, sync_tree, to_json, write_whole

FORMAT = "gensim_hilbert checkpoint"
SCHEMA = 1
MANIFEST = "checkpoint.json"
Arrays = Iterable[tuple[str, np.ndarray]]


@dataclass
class Saved:
    """The state of a solver after so many epochs."""

    epochs: int
    facts: dict[str, Any]
    directory: Path

    def array(self, name: str) -> np.ndarray:
        """Read one of its arrays."""
        path = self.directory / f"{name}.safetensors"
        try:
            return load_file(path)[name]
        except (SafetensorError, KeyError) as error:
            raise ValueError(f"{path} is damaged ({error}); remove {self.directory.parent} and train anew") from None


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

    def load(self) -> Saved | None:
        """Return the state of this training, or None if nothing is done yet; refuse that of another training."""
        manifest = read_manifest(self.directory)
        if manifest is None:
            return None
        if manifest["request"] != self.request:
            change = difference(manifest["request"], self.request)
            raise ValueError(
                f"{self.directory} holds a checkpoint of another training: {change}; go on with the same corpus and "
                "settings, or remove it"
            )
        return Saved(manifest["epochs"], manifest["facts"], self.directory / manifest["arrays"])

    def write(self, epochs: int, facts: dict[str, Any], arrays: Arrays) -> None:
        """Write the state after so many epochs, and remove the state before it."""
        folder = self.directory / f"epoch-{epochs}"
        shutil.rmtree(folder, ignore_errors=True)  # left by a run that was killed while it wrote
        folder.mkdir(parents=True)
        for name, array in arrays:
            path = folder / f"{name}.safetensors"
            try:
                save_file({name: np.ascontiguousarray(array)}, path)
            except SafetensorError as error:  # which does not tell where
                raise OSError(f"{path} cannot be written, so training stops: {error}") from error
        sync_tree(folder)
        manifest = {
            "format": FORMAT,
            "schema": SCHEMA,
            "request": self.request,
            "epochs": epochs,
            "facts": facts,
            "arrays": folder.name,
        }
        write_whole(self.directory / MANIFEST, to_json(manifest, indent=1).encode())
        remove_leftovers(self.directory)
        for old in self.directory.glob("epoch-*"):
            if old != folder:
                shutil.rmtree(old)


def difference(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Return in words the first thing in which two requests differ."""
    for name, value in now["settings"].items():
        old = before["settings"].get(name)
        if old != value:
            return f"{name} was {old}, and is now {value}"
    return f"it differs in its {next(name for name in {**before, **now} if before.get(name) != now.get(name))}"


def read_manifest(directory: Path) -> dict[str, Any] | None:
    """Return what a checkpoint says about itself, or None if there is none."""
    path = directory / MANIFEST
    try:
        manifest: dict[str, Any] = read_json(path)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ValueError(f"{path} is damaged ({error}); remove {directory} and train anew") from None
    if manifest.get("format") != FORMAT or manifest["schema"] > SCHEMA:
        raise ValueError(f"{path} is no checkpoint that this version of gensim_hilbert can read")
    return manifest

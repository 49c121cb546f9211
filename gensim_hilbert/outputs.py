"""Where results may be written: on this machine, and never over what they are made from."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from gensim_hilbert.locations import AnyPath, is_local, name_of, scheme_of


def local_path(path: AnyPath, what: str) -> Path:
    """Return the path of a result that can only be written to this machine; refuse a URI."""
    name = name_of(path)
    if not is_local(name):
        raise ValueError(
            f"{name} is no place for {what}: they can only be written to this machine; write them to a local path, and "
            f"copy them to {scheme_of(name)}:// afterwards"
        )
    if os.path.ismount(name) and os.path.dirname(os.path.realpath(name)) == os.path.realpath(name):
        raise ValueError(f"{name} is no place for {what}: it is the root of a disk; choose a folder in it")
    return Path(name)


def refuse_no_file(path: Path) -> None:
    """Raise an error if no file can appear at a local path: before the work for it is done, not after that."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; choose the name of a file")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} for {path.name}; make it first")


def refuse_inputs(output: AnyPath, inputs: Iterable[AnyPath], *, inside: bool = False) -> None:
    """Raise an error if a result would take the place of something that it is made from.

    An input must neither be the output nor lie in it, whatever links lead there. With `inside`, the output must not
    lie in an input either, as it would in a store.
    """
    place = os.path.realpath(name_of(output))
    for given in inputs:
        name = name_of(given)
        if not is_local(name) or not os.path.lexists(name):
            continue
        source = os.path.realpath(name)
        if lies_in(source, place):
            raise ValueError(f"{output} cannot be the output, because the input {given} is there; choose another name")
        if inside and lies_in(place, source):
            raise ValueError(
                f"{output} cannot be the output, because it lies in the input {given}; choose another name"
            )


def lies_in(path: str, folder: str) -> bool:
    """Tell whether a real path is a folder, or lies in it."""
    if os.path.exists(folder) and os.path.exists(path) and os.path.samefile(path, folder):
        return True
    try:
        return os.path.commonpath([path, folder]) == folder
    except ValueError:  # on different drives
        return False

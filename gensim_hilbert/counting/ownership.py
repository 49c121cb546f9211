"""Which folders of counts may be replaced: only those that can be told to be ours, with nothing else in them."""

from __future__ import annotations

import os
import re
import shutil
import stat
from pathlib import Path

from gensim_hilbert.counting.layout import (
    INDEX,
    JOURNAL,
    KEEP_BELOW,
    MANIFEST,
    MARGINALS,
    PHRASES,
    RUN_SUFFIX,
    SAVED_WITH_MODEL,
    SCAN,
    SHARDS,
    VOCABULARY,
)
from gensim_hilbert.counting.store import read_manifest
from gensim_hilbert.files import TEMPORARY
from gensim_hilbert.locks import LOCK

STORE_NAMES = {MANIFEST, VOCABULARY, MARGINALS, INDEX, PHRASES, SHARDS, SAVED_WITH_MODEL, LOCK}
WORK_NAMES = {*STORE_NAMES, JOURNAL, SCAN, KEEP_BELOW}
RUN_NAME = re.compile(rf"[0-9a-f]{{32}}{re.escape(RUN_SUFFIX)}")
SHARD_NAME = re.compile(r"\d\d\.bin")


def reason_to_keep(path: str) -> str | None:
    """Tell why something must not be replaced by counts; None if it is a store, or an empty folder."""
    if os.path.islink(path) or not os.path.isdir(path):
        return kept("it is not a folder of pair counts")
    if not os.listdir(path):
        return None
    try:
        read_manifest(Path(path))
    except (OSError, ValueError, KeyError, TypeError) as error:
        return kept(f"it does not hold pair counts, or damaged ones ({error})")
    foreign = foreign_parts(path, STORE_NAMES)
    return kept(f"{min(foreign)} in it is no part of pair counts") if foreign else None


def reason_to_keep_work(path: str) -> str | None:
    """Tell why a folder must not be used to put a store together in; None if a count has left it, or it is empty."""
    if os.path.islink(path) or not os.path.isdir(path):
        return kept("it is not a folder in which counts are put together")
    names = os.listdir(path)
    if names and LOCK not in names:
        return kept("no interrupted count has left it")
    foreign = foreign_parts(path, WORK_NAMES)
    return kept(f"{min(foreign)} in it is no part of an interrupted count") if foreign else None


def foreign_parts(path: str, ours: set[str]) -> list[str]:
    """Return the names of what is in a folder and cannot be ours: it has another name, or is not such a file."""
    foreign = [
        name
        for name in os.listdir(path)
        if not TEMPORARY.fullmatch(name)
        and not (name in ours and is_plain(os.path.join(path, name), folder=name == SHARDS))
        and not (ours is WORK_NAMES and RUN_NAME.fullmatch(name))
    ]
    lock, shards = os.path.join(path, LOCK), os.path.join(path, SHARDS)
    if os.path.isfile(lock) and os.path.getsize(lock):  # Ours is empty.
        foreign.append(LOCK)
    if os.path.isdir(shards):
        parts = ((name, os.path.join(shards, name)) for name in os.listdir(shards))
        foreign += [f"{SHARDS}/{name}" for name, part in parts if not (is_shard(name) and is_plain(part))]
    return foreign


def is_shard(name: str) -> bool:
    """Tell whether a name is that of a shard, or of one that a killed process has not completed."""
    return SHARD_NAME.fullmatch(name) is not None or TEMPORARY.fullmatch(name) is not None


def is_plain(path: str, *, folder: bool = False) -> bool:
    """Tell whether something is a regular file, or a folder, or has just been removed by the process that made it."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return True
    return stat.S_ISDIR(mode) if folder else stat.S_ISREG(mode)


def reason_to_keep_saved(path: str) -> str | None:
    """Tell why something must not be replaced by the counts of a model; None if it was saved with a model."""
    if os.path.isdir(path) and not os.path.lexists(os.path.join(path, SAVED_WITH_MODEL)):
        return (
            "is where the counts of this model would be saved, and holds something else: choose another name for the "
            "model, or move that away"
        )
    return reason_to_keep(path)


def kept(reason: str) -> str:
    """Complete a reason for leaving something alone by what to do about it."""
    return f"is not replaced, because {reason}; choose another name, or move it away"


def copy_store(source: Path, target: Path) -> None:
    """Copy a store to where it belongs to a model; where there are hard links its files only get a second name."""
    shutil.copytree(source, target, copy_function=link_or_copy, ignore=shutil.ignore_patterns(LOCK))
    (target / SAVED_WITH_MODEL).touch()


def link_or_copy(source: str, target: str) -> None:
    """Give a file a second name, or copy it: the files of a store are never changed, only replaced."""
    try:
        os.link(source, target)
    except OSError:  # another file system, or one that has no links
        shutil.copy2(source, target)

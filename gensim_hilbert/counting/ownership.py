"""Which folders of counts may be replaced: only those that can be told to be ours, with nothing else in them."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from gensim_hilbert.counting.layout import (
    INDEX,
    MANIFEST,
    MARGINALS,
    SAVED_WITH_MODEL,
    SHARDS,
    VOCABULARY,
)
from gensim_hilbert.counting.store import read_manifest
from gensim_hilbert.files import LOCK, TEMPORARY

STORE_NAMES = {MANIFEST, VOCABULARY, MARGINALS, INDEX, SHARDS, SAVED_WITH_MODEL, LOCK}
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
    foreign = [name for name in os.listdir(path) if name not in STORE_NAMES and not TEMPORARY.fullmatch(name)]
    shards = os.path.join(path, SHARDS)
    if os.path.isdir(shards):
        foreign += [f"{SHARDS}/{name}" for name in os.listdir(shards) if not SHARD_NAME.fullmatch(name)]
    return kept(f"{min(foreign)} in it is no part of pair counts") if foreign else None


def reason_to_keep_work(path: str) -> str | None:
    """Tell why a folder must not be used to put a store together in; None if a count has left it, or it is empty."""
    if os.path.isdir(path) and not os.path.islink(path) and os.path.lexists(os.path.join(path, LOCK)):
        return None
    return reason_to_keep(path)


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

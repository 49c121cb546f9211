"""What an error leaves of a count: the finished part, from which the same command goes on, and words that say so."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from gensim_hilbert.counting.journal import finished_runs
from gensim_hilbert.counting.layout import JOURNAL, MANIFEST, RUN_SUFFIX, SHARDS
from gensim_hilbert.files import remove, remove_leftovers


def keep_finished(work: Path) -> bool:
    """Remove what is unfinished in a folder, and tell whether anything is left that counting can go on from."""
    remove_leftovers(work)
    if (work / MANIFEST).exists():
        return True  # Only the final name is missing.
    remove(work / SHARDS)
    finished = finished_runs(work)
    for path in work.glob(f"*{RUN_SUFFIX}"):
        if path.name not in finished:
            path.unlink(missing_ok=True)
    return (work / JOURNAL).exists()


def raise_explained(error: Exception, work: Path, kept: bool) -> None:
    """Raise an error that adds what the user can do about it; nothing is raised if there is nothing to add."""
    advice = []
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        free = shutil.disk_usage(work.parent).free
        advice = [f"the disk is full; {free >> 20} MB are free again in {work.parent}"]
    if kept:
        advice.append(f"what is finished is kept in {work}, and the same command goes on from there")
    if not advice:
        return
    if isinstance(error, OSError) and error.errno is not None:
        what = [] if error.errno == errno.ENOSPC else [f"{error.filename}: {error.strerror}".removeprefix("None: ")]
        raise OSError(error.errno, "; ".join(what + advice)) from error
    if all(isinstance(part, str) for part in error.args):
        error.args = ("; ".join([*filter(None, error.args), *advice]),)
    else:  # Its message is made of other things.
        error.add_note("; ".join(advice))

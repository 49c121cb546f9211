"""What an error leaves of a count: the finished part, from which the same command goes on, and words that say so."""

from __future__ import annotations

import errno
import shutil
import tempfile
from pathlib import Path

from gensim_hilbert.counting.journal import finished_runs
from gensim_hilbert.counting.layout import JOURNAL, KEEP_BELOW, MANIFEST, SCAN, VOCABULARY
from gensim_hilbert.files import remove
from gensim_hilbert.locks import LOCK
from gensim_hilbert.objects import Place


def keep_finished(work: Path) -> bool:
    """Remove what is unfinished in a folder, and tell whether anything is left that counting can go on from."""
    if (work / MANIFEST).exists():
        return True  # Only the final name is missing.
    kept = {LOCK, JOURNAL, SCAN, VOCABULARY, KEEP_BELOW, *finished_runs(work)}
    for path in work.iterdir():
        if path.name not in kept:
            remove(path)
    return (work / JOURNAL).exists() or (work / SCAN).exists()


def raise_explained(error: Exception, work: Place, kept: bool) -> None:
    """Raise an error that adds what the user can do about it; nothing is raised if there is nothing to add."""
    advice = []
    if isinstance(error, OSError) and is_full(error):
        folder = work.parent if isinstance(work, Path) else Path(tempfile.gettempdir())
        free = shutil.disk_usage(folder).free
        advice = [f"the disk is full; {free >> 20} MB are free again in {folder}"]
    if kept:
        advice.append(f"what is finished is kept in {work}, and the same command goes on from there")
    if not advice:
        return
    if isinstance(error, OSError) and is_full(error):
        raise OSError(errno.ENOSPC, "; ".join(advice)) from error
    if isinstance(error, OSError) and error.errno is not None:
        what = f"{error.strerror}" if error.filename is None else f"{error.filename}: {error.strerror}"
        raise OSError(error.errno, "; ".join([what, *advice])) from error
    if all(isinstance(part, str) for part in error.args):
        error.args = ("; ".join([*filter(None, error.args), *advice]),)
    else:  # Its message is made of other things.
        error.add_note("; ".join(advice))


def is_full(error: OSError) -> bool:
    """Tell whether there was no room left on the disk."""
    message = str(error)
    return error.errno == errno.ENOSPC or (" requested and " in message and message.endswith(" written"))  # by numpy

"""The command line: as a shell runs it, in a process without a terminal; or here, where only what it says matters."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
import warnings

import pytest

from gensim_hilbert.cli import main

COMMAND = [sys.executable, "-m", "gensim_hilbert"]


def run(*arguments, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 300, **options}
    return subprocess.run([*COMMAND, *map(str, arguments)], check=False, stdin=subprocess.DEVNULL, **options)


def run_here(*arguments):
    """The same without a process of its own, which takes seconds to load its libraries."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(warnings, "formatwarning", warnings.formatwarning)  # to have it back
        patch.setattr(sys, "argv", ["gensim-hilbert", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
    return subprocess.CompletedProcess(arguments, ended.value.code, out.getvalue(), err.getvalue())


def start(*arguments):
    # A shell that starts pytest in the background may have it ignore SIGINT, and children inherit that.
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def signal_when(process, moment, what) -> bool:
    """Send the process a signal as soon as `moment` holds; False if it ended before."""
    while process.poll() is None:
        if moment():
            os.kill(process.pid, what)
            return True
        time.sleep(0.002)
    return False


def finish(process, seconds):
    """(exit code, stdout, stderr) of a process that is expected to end soon."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        pytest.fail(f"still running after {seconds} s")
    return process.returncode, out, err


def assert_one_sentence(done, message, code=1):
    """An error is one line on stderr, and nothing on stdout; wrong usage has two lines of help before it."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1 or (code == 2 and lines[0].startswith("Usage: ")), done.stderr
    assert message in " ".join(lines[-1].split()), done.stderr

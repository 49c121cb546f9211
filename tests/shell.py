"""The command line: in a process without a terminal, as a shell runs it; or in this process, which is faster."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from gensim_hilbert.cli import main

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-m", "gensim_hilbert"]


def environment() -> dict[str, str]:
    """Variables with which a process finds the package, in whatever folder it works."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def run(*arguments, command=COMMAND, **options) -> subprocess.CompletedProcess:
    """Run the command line in a process of its own."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 300, **options}
    command = [*command, *map(str, arguments)]
    return subprocess.run(command, check=False, stdin=subprocess.DEVNULL, env=environment(), **options)


def run_python(program: str, *arguments, **options) -> subprocess.CompletedProcess:
    """Run a program of Python in a process of its own."""
    return run(*arguments, command=[sys.executable, "-c", program], **options)


def run_here(*arguments) -> subprocess.CompletedProcess:
    """Run the command line in this process: others take seconds to load their libraries."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(warnings, "formatwarning", warnings.formatwarning)  # to have it back
        patch.setattr(sys, "argv", ["gensim-hilbert", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
    return subprocess.CompletedProcess(arguments, ended.value.code, out.getvalue(), err.getvalue())


def start(*arguments) -> subprocess.Popen:
    """Start the command line in a process of its own."""
    # A shell that starts pytest in the background may have it ignore SIGINT, and children inherit that.
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
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
    assert lines[0].startswith("error: " if code == 1 else "Usage: "), done.stderr
    assert len(lines) == 1 or code == 2, done.stderr
    assert message in " ".join(lines[-1].split()), done.stderr

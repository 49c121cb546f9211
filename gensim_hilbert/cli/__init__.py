"""The command line. Every verb is one Python call; results go to stdout, progress and errors to stderr.

A verb imports what it needs when it runs: gensim and torch take seconds to load, and `count` needs neither.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings

import click

from gensim_hilbert import __version__
from gensim_hilbert.cli.counts import count, merge
from gensim_hilbert.cli.encode import encode
from gensim_hilbert.cli.evaluate import evaluate
from gensim_hilbert.cli.explore import explore
from gensim_hilbert.cli.info import info
from gensim_hilbert.cli.models import analogy, export, neighbors, pmi
from gensim_hilbert.cli.names import Verbs
from gensim_hilbert.cli.phrases import phrases
from gensim_hilbert.cli.report import report
from gensim_hilbert.cli.train import train
from gensim_hilbert.interruption import is_interruption

COMPLETION = """\b
Completion of verbs and options with the tab key, in bash:
  echo 'eval "$(_GENSIM_HILBERT_COMPLETE=bash_source gensim-hilbert)"' >> ~/.bashrc
in zsh the same with zsh_source and ~/.zshrc, in fish:
  echo '_GENSIM_HILBERT_COMPLETE=fish_source gensim-hilbert | source' >> ~/.config/fish/config.fish

\b
Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
"""


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]}, epilog=COMPLETION)
@click.version_option(__version__)
@click.option("--verbose", is_flag=True, help="Log what is being done to standard error.")
@click.option("--debug", is_flag=True, help="Show a traceback with an error.")
def cli(verbose: bool, debug: bool) -> None:
    """Word embeddings from exact pair counts."""
    logging.basicConfig(level=logging.INFO if verbose or debug else logging.WARNING, format="%(message)s")
    warnings.formatwarning = lambda message, *_, **__: f"warning: {message}\n"


for verb in (phrases, count, merge, train, neighbors, analogy, pmi, encode, info, evaluate, export, report, explore):
    cli.add_command(verb)


def main() -> None:
    """Run the command line; an error is told in one sentence, with exit code 1."""
    debug = "--debug" in sys.argv
    try:
        code = cli(prog_name="gensim-hilbert", standalone_mode=False)
        flush_output()
        sys.exit(code if isinstance(code, int) else 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:
        drop_output()
        sys.exit(1)
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, click.Abort) or is_interruption(error):
            # Do not wait for threads: one may hang in a network read for minutes.
            sys.stderr.flush()
            os._exit(130)
        if debug:
            raise
        click.echo(f"error: {sentence(error)}", err=True)
        try:
            flush_output()
        except OSError:
            drop_output()
        sys.exit(1)


def flush_output() -> None:
    """Print what is left to be printed, unless a shell has closed the output: >&-."""
    if sys.stdout is not None:
        sys.stdout.flush()


def drop_output() -> None:
    """Drop what is left to be printed: Python would try once more at exit, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def sentence(error: BaseException) -> str:
    """Return the message of an error in one line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return " ".join(text.split()) or type(error).__name__

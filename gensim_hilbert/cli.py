"""The command line. Every verb is one Python call; results go to stdout, progress and errors to stderr."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Any

import click

from gensim_hilbert import PairCounts, Vocabulary, __version__
from gensim_hilbert.counting.store import partial_of


class Sizes(click.ParamType):  # type: ignore[type-arg]  # click 8.1 is not generic
    """One size, or two with a comma between them: left and right."""

    name = "N[,N]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """An int, or a tuple of ints."""
        try:
            numbers = tuple(int(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is neither a number nor two with a comma between them", param, ctx)
        return numbers[0] if len(numbers) == 1 else numbers


class Weights(click.ParamType):  # type: ignore[type-arg]  # click 8.1 is not generic
    """A rule, or numbers with commas between them."""

    name = "RULE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A str, or a list of floats."""
        if not isinstance(value, str) or value.isalpha():
            return value
        try:
            return [float(part) for part in value.split(",")]
        except ValueError:
            self.fail(f"{value!r} is neither dynamic, flat, harmonic nor numbers with commas between them", param, ctx)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
@click.option("--verbose", is_flag=True, help="Log what is being done to standard error.")
@click.option("--debug", is_flag=True, help="Show a traceback with an error.")
def cli(verbose: bool, debug: bool) -> None:
    """Word embeddings from exact pair counts."""
    logging.basicConfig(level=logging.INFO if verbose or debug else logging.WARNING, format="%(message)s")


@cli.command()
@click.argument("corpus", nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Directory for the counts.")
@click.option("--window", type=Sizes(), default=5, show_default=True, help="Words to each side, or left,right.")
@click.option(
    "--weights",
    type=Weights(),
    default="dynamic",
    show_default=True,
    help="By distance: dynamic, flat, harmonic, or numbers such as 1,0.5,0.25.",
)
@click.option("--min-count", type=int, default=5, show_default=True, help="Least occurrences of a word.")
@click.option("--max-vocab-size", type=int, help="Prune rare words while scanning when there are more than this.")
@click.option("--max-final-vocab", type=int, help="Most words to keep.")
@click.option(
    "--vocabulary", type=click.Path(exists=True, path_type=Path), help="Count over the words of another store."
)
@click.option(
    "--oov",
    type=click.Choice(["remove", "gap"]),
    default="remove",
    show_default=True,
    help="Take unknown words out before looking at windows, or leave a gap.",
)
@click.option("--sample", type=float, default=0.0, show_default=True, help="Thin out words more frequent than this.")
@click.option("--seed", type=int, default=1, show_default=True, help="For --sample.")
@click.option(
    "--errors",
    type=click.Choice(["strict", "replace", "ignore"]),
    default="strict",
    show_default=True,
    help="What to do about malformed UTF-8.",
)
@click.option("--workers", type=int, help="Threads.  [default: one a core]")
@click.option("--memory-gb", type=float, default=2.0, show_default=True, help="Memory for counting.")
@click.option("--overwrite", is_flag=True, help="Replace other counts in the output directory.")
def count(corpus: tuple[str, ...], output: Path, vocabulary: Path | None, **options: Any) -> None:
    """Count the pairs of words of CORPUS: files, globs, directories, URIs; plain or compressed; one sentence a line.

    Interrupted, it goes on when the same command is given again.
    """
    words: Vocabulary | None = PairCounts.open(vocabulary).vocabulary if vocabulary else None
    try:
        counts = PairCounts.from_corpus(list(corpus), directory=output, vocabulary=words, **options)
    except KeyboardInterrupt:
        if partial_of(output).exists():
            click.echo(f"interrupted; give the same command again to go on ({partial_of(output)})", err=True)
        raise
    describe(counts)


@cli.command()
@click.argument("stores", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Directory for the sum.")
@click.option("--overwrite", is_flag=True, help="Replace what is in the output directory.")
def merge(stores: tuple[Path, ...], output: Path, overwrite: bool) -> None:
    """Add up the counts of STORES, which must be over one vocabulary."""
    describe(PairCounts.merge([PairCounts.open(store) for store in stores], directory=output, overwrite=overwrite))


def describe(counts: PairCounts) -> None:
    """A few lines about a store."""
    facts = counts.manifest
    click.echo(
        f"{counts.directory}: {facts['words']:,} words, {facts['tokens']:,} tokens, {facts['entries']:,} stored pairs, "
        f"total weight {counts.total:,.10g}"
    )


def main() -> None:
    """Run the command line; an error is one sentence, and exit code 1."""
    debug = "--debug" in sys.argv
    try:
        code = cli(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        # A thread may hang in a network read for minutes; nothing of it is wanted any more.
        sys.stderr.flush()
        os._exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except Exception as error:
        if debug:
            raise
        click.echo(f"error: {sentence(error)}", err=True)
        sys.exit(1)


def sentence(error: Exception) -> str:
    """What an error says, in one line."""
    if isinstance(error, OSError) and error.errno and error.filename:
        return f"{error.strerror}: {error.filename}"
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return " ".join(text.split()) or type(error).__name__

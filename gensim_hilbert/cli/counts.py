"""The verbs that make pair counts: count and merge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from gensim_hilbert import PairCounts, Vocabulary
from gensim_hilbert.cli.executors import on_cluster, with_cluster
from gensim_hilbert.cli.loading import refuse_standard_input
from gensim_hilbert.cli.names import Verb
from gensim_hilbert.cli.outputs import CountsOutput
from gensim_hilbert.cli.results import as_json, how_many, show
from gensim_hilbert.cli.settings import click_type
from gensim_hilbert.counting.layout import partial_of
from gensim_hilbert.counting.store import is_under_way
from gensim_hilbert.objects import Place
from gensim_hilbert.options import OPTIONS
from gensim_hilbert.outputs import refuse_inputs


class WindowSizes(click.ParamType):  # type: ignore[type-arg]  # click 8.1 is not generic
    """One size, or two with a comma between them: left and right."""

    name = "N[,N]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return an int, or a tuple of ints."""
        try:
            numbers = tuple(int(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is neither a number nor two with a comma between them", param, ctx)
        return numbers[0] if len(numbers) == 1 else numbers


class WindowWeights(click.ParamType):  # type: ignore[type-arg]  # click 8.1 is not generic
    """A rule, or numbers with commas between them."""

    name = "RULE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a str, or a list of floats."""
        if not isinstance(value, str) or value.isalpha():
            return value
        try:
            return [float(part) for part in value.split(",")]
        except ValueError:
            self.fail(f"{value!r} is neither dynamic, flat, harmonic nor numbers with commas between them", param, ctx)


workers = click.option("--workers", type=int, help="Number of threads, or of tasks at once.  [default: all]")
errors = click.option(
    "--errors",
    type=click.Choice(["strict", "replace", "ignore"]),
    default="strict",
    show_default=True,
    help="How malformed UTF-8 is handled.",
)
memory_gb = click.option("--memory-gb", type=float, default=2.0, show_default=True, help="Memory to work in.")


def text_option(name: str) -> Callable[[Any], Any]:
    """Return what adds an option that models have, too."""
    option = OPTIONS[name]
    return click.option(
        f"--{name.replace('_', '-')}", type=click_type(option), default=option.default,
        help=option.help + (f"  [default: {option.default_help}]" if option.default_help else ""),
        show_default=True,
    )  # fmt: skip


column = text_option("column")


def with_text_options(function: Any) -> Any:
    """Add the options that say how text is found and made into words before these are counted."""
    return text_option("tokenizer")(text_option("sentence_ends")(column(function)))


@click.command(cls=Verb, short_help="Count the pairs of words of a text.")
@click.argument("corpus", nargs=-1, required=True, callback=refuse_standard_input)
@click.option("-o", "--output", required=True, type=CountsOutput(), help="Directory for the counts, or s3://…")
@with_text_options
@click.option(
    "--window",
    type=WindowSizes(),
    default=5,
    show_default=True,
    help="Number of words to each side, or two numbers: left,right.",
)
@click.option(
    "--weights",
    type=WindowWeights(),
    default="dynamic",
    show_default=True,
    help="Weights by distance: dynamic, flat, harmonic, or numbers such as 1,0.5,0.25.",
)
@click.option("--min-count", type=int, default=5, show_default=True, help="Least number of occurrences of a word.")
@click.option("--max-vocab-size", type=int, help="Prune rare words while scanning if there are more than this.")
@click.option("--max-final-vocab", type=int, help="Largest number of words to keep.")
@click.option(
    "--vocabulary", type=click.Path(exists=True, path_type=Path), help="Count over the words of another store."
)
@click.option("--phrases", metavar="auto|FILE", help="Join words that belong together first.")
@click.option(
    "--oov",
    type=click.Choice(["remove", "gap"]),
    default="remove",
    show_default=True,
    help="Remove unknown words before windows are formed, or leave a gap.",
)
@click.option(
    "--sample",
    type=float,
    default=0.0,
    show_default=True,
    help="Remove tokens of words more frequent than this, at random.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed for --sample.")
@errors
@workers
@memory_gb
@with_cluster
@click.option("--overwrite", is_flag=True, help="Replace other counts in the output directory.")
@as_json
def count(
    corpus: tuple[str, ...],
    output: Place,
    vocabulary: Path | None,
    dask: str | None,
    mpi: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Count the word pairs of CORPUS: files, globs, directories or URIs, plain or compressed, one sentence per line.

    Tables (.parquet, .arrow, .feather, .jsonl, .csv, .tsv) and dumps of Wikipedia (.xml.bz2) are read as well.

    After an interruption, a failure of a server or a full disk, give the same command again, and it goes on from there.
    Workers of --dask or --mpi that share no file system read the text from s3:// and write the counts there.
    """
    words: Vocabulary | None = None
    if vocabulary:
        if isinstance(output, Path):
            refuse_inputs(output, [vocabulary], inside=True)
        words = PairCounts.open(vocabulary).vocabulary
    try:
        with on_cluster(dask, mpi) as executor:
            counts = PairCounts.from_corpus(
                list(corpus), directory=output, vocabulary=words, executor=executor, **options
            )
    except KeyboardInterrupt:
        work = partial_of(output.resolve() if isinstance(output, Path) else output)
        if is_under_way(work):
            click.echo(f"interrupted; give the same command again to go on ({work})", err=True)
        raise
    show(*facts_of(counts), as_json)


@click.command(cls=Verb, short_help="Add up counts.")
@click.argument("stores", nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=CountsOutput(), help="Directory for the sum, or s3://…")
@workers
@memory_gb
@click.option("--overwrite", is_flag=True, help="Replace other counts in the output directory.")
@as_json
def merge(stores: tuple[str, ...], output: Place, as_json: bool, **options: Any) -> None:
    """Add up the counts of STORES, which must be over one vocabulary."""
    counts = PairCounts.merge([PairCounts.open(store) for store in stores], directory=output, **options)
    show(*facts_of(counts), as_json)


def facts_of(counts: PairCounts) -> tuple[dict[str, Any], str]:
    """Return what there is to say of a store, for machines and in one line."""
    manifest = counts.manifest
    facts = {"counts": str(counts.directory), **{name: manifest[name] for name in ("words", "tokens", "entries")}}
    facts["total"] = counts.total
    return facts, (
        f"{counts.directory}: {how_many(facts['words'], 'word')}, {how_many(facts['tokens'], 'token')}, "
        f"{how_many(facts['entries'], 'stored pair')}, total weight {counts.total:,.10g}"
    )

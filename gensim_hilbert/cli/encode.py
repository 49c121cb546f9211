"""The verb encode, which makes vectors of texts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from gensim_hilbert.cli.counts import column
from gensim_hilbert.cli.loading import files_of, load, trust_pickle, words_of
from gensim_hilbert.cli.names import Verb
from gensim_hilbert.cli.outputs import FileOutput
from gensim_hilbert.cli.results import as_json, how_many, show
from gensim_hilbert.outputs import refuse_inputs
from gensim_hilbert.text_vectors.weighting import WEIGHTINGS


@click.command(cls=Verb, short_help="Write the vectors of texts.")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("texts", nargs=-1, required=True, metavar="TEXTS...")
@click.option("-o", "--output", required=True, type=FileOutput("vectors of texts"), help="File for vectors: NAME.npy.")
@column
@click.option(
    "--weighting",
    type=click.Choice(WEIGHTINGS),
    default="sif",
    show_default=True,
    help="Weight words by smooth inverse frequency, or take the mean of their vectors.",
)
@click.option(
    "--a", type=float, default=1e-3, show_default=True, help="Frequency of words whose weight is one half, for sif."
)
@click.option(
    "--whiten/--no-whiten", default=None, help="Have texts vary alike in all directions.  [default: with sif]"
)
@click.option("--remove", type=click.IntRange(0), help="Number of common components to remove.  [default: 1 with sif]")
@click.option("--normalize/--no-normalize", default=True, show_default=True, help="Give vectors the length 1.")
@click.option("--workers", type=int, help="Number of threads.  [default: one per core]")
@trust_pickle
@as_json
def encode(
    model: Path, texts: tuple[str, ...], output: Path, trust_pickle: bool, as_json: bool, **settings: Any
) -> None:
    """Write the vectors of TEXTS, one per line or row, to a file of numpy.

    TEXTS are files, compressed or remote ones too, with one text per line, or - for standard input. Of tables
    (.parquet, .arrow, .feather, .jsonl, .csv, .tsv), each row is a text. An empty line or row, and one without known
    words, has a vector of zeros.
    """
    refuse_inputs(output, files_of(model), inside=True)
    loaded = load(model, trust_pickle)
    size = words_of(loaded, model).vector_size
    from gensim_hilbert.text_vectors.files import encode_file

    if "-" in texts and len(texts) > 1:
        raise click.UsageError("standard input (-) cannot be read together with files: give one or the other")
    source = sys.stdin.buffer if texts == ("-",) else list(texts)
    number, empty = encode_file(loaded, source, output, **settings)
    facts = {"output": str(output), "texts": number, "without_known_words": empty, "vector_size": size}
    sizes = f"{how_many(number, 'text')}, {empty:,} without known words, {how_many(size, 'dimension')}"
    show(facts, f"{output}: {sizes}", as_json)

"""The verb that writes a report about a model."""

from __future__ import annotations

from pathlib import Path

import click

from gensim_hilbert.cli.loading import files_of, key_of, load, trust_pickle, words_of
from gensim_hilbert.cli.models import model_argument
from gensim_hilbert.cli.names import Verb
from gensim_hilbert.cli.outputs import FileOutput
from gensim_hilbert.cli.results import as_json, how_many, show
from gensim_hilbert.outputs import refuse_inputs


@click.command(cls=Verb, short_help="Write an HTML report about a model.")
@model_argument
@click.option("-o", "--output", required=True, type=FileOutput("reports"), help="HTML file to write.")
@click.option(
    "--word",
    "words",
    multiple=True,
    help="Show the neighbours of this word; can be given several times.  [default: a few words]",
)
@click.option("--data", type=click.Path(path_type=Path), help="Folder of data sets to score it on, as for evaluate.")
@trust_pickle
@as_json
def report(
    model: Path, output: Path, words: tuple[str, ...], data: Path | None, trust_pickle: bool, as_json: bool
) -> None:
    """Write an HTML page about MODEL: its settings, its training, what it has learnt and how well.

    The page is a single file, which needs neither a network nor scripts, for light and dark screens of any size. Its
    map shows words where explore shows them, if MODEL.layout.npz is there.
    """
    from gensim_hilbert.explore.maps import kept_layout
    from gensim_hilbert.report import report as write

    refuse_inputs(output, files_of(model), inside=True)
    loaded = load(model, trust_pickle)
    vectors = words_of(loaded, model)
    keys = [key_of(word, loaded, vectors, model) for word in words]
    write(loaded, output, words=keys, data=data, title=model.name, layout=kept_layout(vectors, model))
    facts = {"output": str(output), "words": len(vectors), "bytes": output.stat().st_size}
    show(facts, f"{output}: a report on {how_many(len(vectors), 'word')}, {facts['bytes']:,} bytes", as_json)

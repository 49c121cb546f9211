"""The verb `phrases`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gensim_hilbert import Phrases
from gensim_hilbert.cli.counts import errors, memory_gb, with_text_options, workers
from gensim_hilbert.cli.loading import refuse_standard_input
from gensim_hilbert.cli.names import Verb
from gensim_hilbert.cli.outputs import FileOutput
from gensim_hilbert.cli.results import as_json, how_many, show
from gensim_hilbert.corpus.sources import as_corpus
from gensim_hilbert.outputs import refuse_inputs
from gensim_hilbert.phrases.scores import SCORINGS

ENGLISH = "english"
SHOWN = 5


def connectors_of(given: str) -> frozenset[str]:
    """Return the words that are given with commas between them, or gensim's English ones."""
    if given != ENGLISH:
        return frozenset(given.split(",")) - {""}
    from gensim.models.phrases import ENGLISH_CONNECTOR_WORDS

    return frozenset(ENGLISH_CONNECTOR_WORDS)


@click.command(cls=Verb, short_help="Find words that belong together.")
@click.argument("corpus", nargs=-1, required=True, callback=refuse_standard_input)
@click.option("-o", "--output", required=True, type=FileOutput("phrases"), help="File for the phrases, JSON lines.")
@with_text_options
@click.option("--min-count", type=int, default=5, show_default=True, help="Least number of occurrences of a phrase.")
@click.option("--threshold", type=float, default=10.0, show_default=True, help="Phrases have a score above this.")
@click.option(
    "--scoring",
    type=click.Choice(SCORINGS),
    default="default",
    show_default=True,
    help="gensim's default score, or the pointwise mutual information, normalised or not.",
)
@click.option("--delimiter", default="_", show_default=True, help="What joins the words of a phrase.")
@click.option(
    "--connector-words",
    default="",
    metavar="english|WORD,WORD...",
    help="Words that may stand inside a phrase without counting.",
)
@click.option("--rounds", type=int, default=1, show_default=True, help="Look for longer phrases in further rounds.")
@errors
@workers
@memory_gb
@as_json
def phrases(
    corpus: tuple[str, ...], output: Path, column: str | None, connector_words: str, as_json: bool, **options: Any
) -> None:
    """Find the phrases of CORPUS, such as "new york": files, globs, directories or URIs, with lines of text or tables.

    `gensim-hilbert count --phrases FILE` and `train --phrases FILE` then join them.
    """
    source = as_corpus(list(corpus), column=column)
    refuse_inputs(output, source.names)
    found = Phrases.from_corpus(source, connector_words=connectors_of(connector_words), **options)
    found.save(output)
    best = list(found.phrases)[:SHOWN]
    facts = {"output": str(output), "phrases": len(found), "rounds": len(found.rounds), "best": best}
    show(facts, f"{output}: {how_many(len(found), 'phrase')}{', such as ' + ', '.join(best) if best else ''}", as_json)

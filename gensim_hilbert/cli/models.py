"""Verbs that read a model."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import Any

import click

from gensim_hilbert.cli.loading import COUNTS, kind_of, load, require, with_covectors, words_of
from gensim_hilbert.cli.names import Verb
from gensim_hilbert.cli.results import as_json, show, table

# As `gensim_hilbert.export.FORMATS` has them, which takes seconds to import.
FORMATS = ("word2vec", "word2vec-binary", "glove", "fasttext", "model2vec", "projector", "numpy", "parquet")

model_argument = click.argument("model", type=click.Path(path_type=Path))
topn = click.option("--topn", type=click.IntRange(1), default=10, show_default=True, help="How many.")


@click.command(cls=Verb, short_help="Words like a word, and what goes with it.")
@model_argument
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@click.option(
    "--contexts/--no-contexts",
    default=None,
    help="What goes with a word, too, by PMI.  [default: where the model has covectors]",
)
@topn
@as_json
def neighbors(model: Path, words: tuple[str, ...], contexts: bool | None, topn: int, as_json: bool) -> None:
    """Words like each WORD, by the cosine of vectors; and what goes with it, by the PMI that covectors tell."""
    loaded = load(model)
    vectors = words_of(loaded, model)
    if contexts is None:
        contexts = getattr(loaded, "vectors_option", None) == "v"
    if contexts:
        with_covectors(loaded, model)
    for word in words:
        require(word, vectors, model)
    found = [
        {
            "word": word,
            "similar": [{"word": other, "cosine": cosine} for other, cosine in vectors.most_similar(word, topn=topn)],
        }
        for word in words
    ]
    if contexts:
        for entry in found:
            pairs = loaded.most_cooccurring(entry["word"], topn=topn)
            entry["contexts"] = [{"word": other, "pmi": value} for other, value in pairs]
    show(found, "\n\n".join(map(side_by_side, found)), as_json)


def side_by_side(entry: dict[str, Any]) -> str:
    """A table of the neighbours of a word."""
    rows = [("like " + entry["word"], "cosine")]
    rows += [(near["word"], f"{near['cosine']:6.3f}") for near in entry["similar"]]
    if "contexts" not in entry:
        return table(rows)
    with_it = [("goes with " + entry["word"], "   PMI")]
    with_it += [(near["word"], f"{near['pmi']:6.2f}") for near in entry["contexts"]]
    return table([(*left, "", *right) for left, right in zip_longest(rows, with_it, fillvalue=("", ""))])


@click.command(cls=Verb, short_help="A is to B as C is to ...?")
@model_argument
@click.argument("a")
@click.argument("b")
@click.argument("c")
@topn
@as_json
def analogy(model: Path, a: str, b: str, c: str, topn: int, as_json: bool) -> None:
    """A is to B as C is to ...? By products of cosines (3CosMul)."""
    vectors = words_of(load(model), model)
    for word in (a, b, c):
        require(word, vectors, model)
    found = vectors.most_similar_cosmul(positive=[b, c], negative=[a], topn=topn)
    facts = [{"word": word, "score": score} for word, score in found]
    show(facts, table([(word, f"{score:6.3f}") for word, score in found]), as_json)


@click.command(cls=Verb, short_help="How much more often two words meet than by chance.")
@model_argument
@click.argument("context")
@click.argument("term")
@as_json
def pmi(model: Path, context: str, term: str, as_json: bool) -> None:
    """The pointwise mutual information of two words: as MODEL has fitted it, and as it was counted.

    MODEL may be counts, too.
    """
    facts: dict[str, Any] = {"context": context, "term": term}
    if model.is_dir() and kind_of(model) == COUNTS:
        from gensim_hilbert.counting.pair_counts import PairCounts

        counts = PairCounts.open(model)
    else:
        loaded = with_covectors(load(model), model)
        require(context, loaded.covectors, model)
        require(term, loaded.wv, model)
        facts["fitted"] = loaded.pmi(context, term)
        counts = loaded.fitted_counts
        if term not in loaded.wv.key_to_index:  # made of its n-grams
            counts = None
    if counts is not None:
        facts["counted"] = counts.pmi(context, term)
    line = ", ".join(f"{facts[how]:.3f} {how}" for how in ("fitted", "counted") if how in facts)
    show(facts, line, as_json)


@click.command(cls=Verb, short_help="Write vectors for other programs.")
@model_argument
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Where the vectors go.")
@click.option(
    "--format", "kind", type=click.Choice(FORMATS), help="For which programs.  [default: by the name of the output]"
)
@click.option(
    "--what",
    type=click.Choice(["vectors", "covectors", "sum"]),
    default="vectors",
    show_default=True,
    help="What to write.",
)
@click.option("--skip-unfit", is_flag=True, help="Leave out words that the format cannot hold.")
@click.option("--lowercase", is_flag=True, help="model2vec: texts are lowercased.")
@click.option("--split-punctuation", is_flag=True, help="model2vec: punctuation is split off words.")
@as_json
def export(
    model: Path, output: Path, kind: str | None, what: str, skip_unfit: bool, as_json: bool, **flags: bool
) -> None:
    """Write the vectors of MODEL in a format that other programs read."""
    from gensim_hilbert.export import export as write

    loaded = load(model)
    options: dict[str, Any] = {name: True for name, given in flags.items() if given}
    words = write(loaded, output, format=kind, what=what, skip_unfit=skip_unfit, **options)
    size = words_of(loaded, model).vector_size
    facts = {"output": str(output), "what": what, "words": words, "vector_size": size}
    show(facts, f"{output}: {what} of {words:,} words, {size} dimensions", as_json)

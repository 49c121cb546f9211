"""The verbs that read a model: neighbors, analogy, pmi and export."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import Any

import click

from gensim_hilbert.cli.loading import (
    COUNTS,
    files_of,
    key_of,
    kind_of,
    known_key,
    load,
    require_covectors,
    trust_pickle,
    words_of,
)
from gensim_hilbert.cli.names import Verb
from gensim_hilbert.cli.outputs import AnyOutput
from gensim_hilbert.cli.results import as_json, how_many, show, table
from gensim_hilbert.compact import DTYPES
from gensim_hilbert.export.formats import FORMATS, MODEL_FOLDER
from gensim_hilbert.outputs import refuse_inputs
from gensim_hilbert.text_vectors.weighting import WEIGHTINGS

model_argument = click.argument("model", type=click.Path(path_type=Path))
topn = click.option("--topn", type=click.IntRange(1), default=10, show_default=True, help="Number of words.")


@click.command(cls=Verb, short_help="Show words like a word, and words that go with it.")
@model_argument
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@click.option(
    "--contexts/--no-contexts",
    default=None,
    help="Show what goes with a word, too, by PMI.  [default: if the model has covectors]",
)
@topn
@trust_pickle
@as_json
def neighbors(
    model: Path, words: tuple[str, ...], contexts: bool | None, topn: int, trust_pickle: bool, as_json: bool
) -> None:
    """Show words like each WORD, by the cosine of vectors, and words that go with it, by the PMI of covectors."""
    loaded = load(model, trust_pickle)
    vectors = words_of(loaded, model)
    if contexts is None:
        contexts = getattr(loaded, "vectors_option", None) == "v"
    if contexts:
        require_covectors(loaded, model)
    keys = [key_of(word, loaded, vectors, model) for word in words]
    found = [
        {
            "word": str(key),
            "similar": [
                {"word": str(other), "cosine": cosine} for other, cosine in vectors.most_similar([key], topn=topn)
            ],
        }
        for key in keys
    ]
    if contexts:
        for key, entry in zip(keys, found, strict=True):
            pairs = loaded.most_cooccurring(key, topn=topn)
            entry["contexts"] = [{"word": str(other), "pmi": value} for other, value in pairs]
    show(found, "\n\n".join(map(side_by_side, found)), as_json)


def side_by_side(entry: dict[str, Any]) -> str:
    """Set the neighbours of a word in a table."""
    rows = [("like " + entry["word"], "cosine")]
    rows += [(near["word"], f"{near['cosine']:6.3f}") for near in entry["similar"]]
    if "contexts" not in entry:
        return table(rows)
    with_it = [("goes with " + entry["word"], "   PMI")]
    with_it += [(near["word"], f"{near['pmi']:6.2f}") for near in entry["contexts"]]
    return table([(*left, "", *right) for left, right in zip_longest(rows, with_it, fillvalue=("", ""))])


@click.command(cls=Verb, short_help="Complete an analogy: A is to B as C is to ...")
@model_argument
@click.argument("a")
@click.argument("b")
@click.argument("c")
@topn
@trust_pickle
@as_json
def analogy(model: Path, a: str, b: str, c: str, topn: int, trust_pickle: bool, as_json: bool) -> None:
    """Complete an analogy, A is to B as C is to ..., by products of cosines (3CosMul)."""
    loaded = load(model, trust_pickle)
    vectors = words_of(loaded, model)
    a, b, c = (key_of(word, loaded, vectors, model) for word in (a, b, c))
    found = vectors.most_similar_cosmul(positive=[b, c], negative=[a], topn=topn)
    found = [(str(key), score) for key, score in found]
    facts = [{"word": word, "score": score} for word, score in found]
    show(facts, table([(word, f"{score:6.3f}") for word, score in found]), as_json)


@click.command(cls=Verb, short_help="Show the PMI of two words.")
@model_argument
@click.argument("context")
@click.argument("term")
@click.option(
    "--interval",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Show also between which bounds the true PMI lies with this probability, such as 0.95, given the counts.",
)
@trust_pickle
@as_json
def pmi(model: Path, context: str, term: str, interval: float | None, trust_pickle: bool, as_json: bool) -> None:
    """Show the pointwise mutual information of two words, as MODEL has fitted it and as it was counted.

    It is the logarithm of how much more often they meet than by chance. MODEL may be counts, too.
    """
    facts: dict[str, Any] = {}
    if model.is_dir() and kind_of(model) == COUNTS:
        from gensim_hilbert.counting.pair_counts import PairCounts

        counts = PairCounts.open(model)
        one, other = (known_key(word, counts.vocabulary.index) for word in (context, term))
    else:
        loaded = load(model, trust_pickle)
        require_covectors(loaded, model)
        one, other = key_of(context, loaded, loaded.covectors, model), key_of(term, loaded, loaded.wv, model)
        facts["fitted"] = loaded.pmi(one, other)
        counts = loaded.fitted_counts
        if other not in loaded.wv.key_to_index:  # Its vector is made of its n-grams, and it was never counted.
            counts = None
    if interval is not None and counts is None:
        raise ValueError(
            f"{model} has no counts of {str(one)!r} and {str(other)!r}, which --interval needs; leave it out"
        )
    if counts is not None:
        facts["counted"] = counts.pmi(one, other)
    line = ", ".join(f"{facts[how]:.3f} {how}" for how in ("fitted", "counted") if how in facts)
    if interval is not None and counts is not None:
        _, low, high = counts.pmi(one, other, interval)
        facts |= {"interval": interval, "low": low, "high": high}
        line += f", from {low:.3f} to {high:.3f} with a probability of {interval:g}"
    show({"context": str(one), "term": str(other), **facts}, line, as_json)


@click.command(cls=Verb, short_help="Write vectors in a format of other programs.")
@model_argument
@click.option("-o", "--output", required=True, type=AnyOutput(), help="File, folder or URI for the vectors.")
@click.option(
    "--format",
    "kind",
    type=click.Choice((*FORMATS, MODEL_FOLDER)),
    help="Format of the output.  [default: as its name tells]",
)
@click.option(
    "--what",
    type=click.Choice(["vectors", "covectors", "sum"]),
    default="vectors",
    show_default=True,
    help="Matrix to write.",
)
@click.option("--keys", type=click.Choice(["str"]), help="Write keys that are not text, such as numbers, as text.")
@click.option(
    "--dtype",
    type=click.Choice(DTYPES),
    default="float32",
    show_default=True,
    help="How numbers are written; int8 has one scale per row.",
)
@click.option("--max-vocab", type=click.IntRange(1), help="Write so many of the most frequent words only.")
@click.option("--pca", type=click.IntRange(1), help="Write so many of the strongest axes only.")
@click.option("--skip-unfit", is_flag=True, help="Leave out words that the format cannot hold.")
@click.option("--lowercase", is_flag=True, help="For model2vec: texts are lowercased.")
@click.option("--split-punctuation", is_flag=True, help="For model2vec: punctuation is split off words.")
@click.option(
    "--weighting",
    type=click.Choice(WEIGHTINGS),
    help="For model2vec: weight words as `encode` does (sif), or not.  [default: sif for models of ours]",
)
@trust_pickle
@as_json
def export(
    model: Path,
    output: str,
    kind: str | None,
    what: str,
    keys: str | None,
    dtype: str,
    max_vocab: int | None,
    pca: int | None,
    skip_unfit: bool,
    trust_pickle: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Write the vectors of MODEL in a format that other programs read."""
    from gensim_hilbert.export import export as write

    refuse_inputs(output, files_of(model), inside=True)
    loaded = load(model, trust_pickle)
    options: dict[str, Any] = {name: value for name, value in given.items() if value}
    options |= {"dtype": dtype, "max_vocab": max_vocab, "pca": pca, "keys": keys}
    words = write(loaded, output, format=kind, what=what, skip_unfit=skip_unfit, **options)
    size = pca or words_of(loaded, model).vector_size
    facts = {"output": output, "what": what, "words": words, "vector_size": size}
    show(facts, f"{output}: {what} of {how_many(words, 'word')}, {how_many(size, 'dimension')}", as_json)

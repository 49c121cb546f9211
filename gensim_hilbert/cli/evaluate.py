"""The verb evaluate, which scores vectors."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gensim_hilbert.cli.loading import load, trust_pickle, words_of
from gensim_hilbert.cli.names import Verb, closest
from gensim_hilbert.cli.outputs import FileOutput
from gensim_hilbert.cli.results import show, table

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from gensim_hilbert.evaluation import Data
    from gensim_hilbert.evaluation.tables import Table

TASKS = ("similarity", "analogy", "sts", "linear", "classification", "tagging")
KINDS = {"linear": "classification"}  # of data that tasks use, if they have another name
TEXTS = ("sts", "linear")  # tasks with several scores, one for each way of making vectors of texts
WHAT = ("vectors", "covectors", "sum")


class NameList(click.ParamType):  # type: ignore[type-arg]  # click 8.1 is not generic
    """Names with commas between them; if some are given, only these are allowed."""

    name = "NAME[,...]"

    def __init__(self, *names: str):
        self.names = names

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return a tuple of names."""
        chosen = tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else value
        for name in chosen:
            if self.names and name not in self.names:
                self.fail(f"{name!r} is none of {', '.join(self.names)}{closest(name, self.names)}", param, ctx)
        return chosen


def tell_sources(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    """Print where to get data sets, and exit."""
    if asked and not ctx.resilient_parsing:
        from gensim_hilbert.evaluation.data import FORM, SOURCES

        rows = [(source.task, source.name, source.what, source.where) for source in SOURCES if source.chosen]
        click.echo(table([("task", "name", "what", "where to get it"), *rows]) + "\n\n" + FORM)
        ctx.exit()


PATH = click.Path(path_type=Path)


@click.command(cls=Verb, short_help="Score vectors on the paper's data sets.")
@click.argument("vectors", nargs=-1, required=True, metavar="VECTORS...")
@click.option("--data", type=PATH, help="Folder of data sets.  [default: $GENSIM_HILBERT_DATA, or gensim's own]")
@click.option(
    "--tasks",
    type=NameList(*TASKS),
    default="similarity,analogy",
    show_default=True,
    help=f"Tasks to score on: {', '.join(TASKS)}.",
)
@click.option("--sets", type=NameList(), help="Names of the sets to use, instead of all.")
@click.option(
    "--pairs",
    multiple=True,
    type=PATH,
    help="Another similarity set: lines of word, word, score with tabs between them.",
)
@click.option("--questions", multiple=True, type=PATH, help="Another file of analogies.")
@click.option(
    "--what",
    type=NameList(*WHAT),
    default="vectors",
    show_default=True,
    help="Matrices to score: vectors, covectors, sum.",
)
@click.option(
    "--method",
    type=NameList("mul", "add"),
    default="mul",
    show_default=True,
    help="Analogies: by products (mul) or sums (add) of cosines.",
)
@click.option("--restrict-vocab", type=click.IntRange(1), help="Analogies: search only this many of the first words.")
@click.option("--sections", is_flag=True, help="Analogies: show each section, too.")
@click.option("--quick", is_flag=True, help="Networks: train on few examples, for about a minute each.")
@click.option(
    "--seeds", type=click.IntRange(1), default=3, show_default=True, help="Networks: number of networks to train."
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Networks: number of networks to train at a time.",
)
@click.option("--cache", type=PATH, help="Networks: folder for finished scores.  [default: in the user's cache]")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of all random numbers.")
@click.option("--json", "style", flag_value="json", help="Print all results as JSON.")
@click.option("--markdown", "style", flag_value="markdown", help="Print tables in Markdown.")
@click.option("--latex", "style", flag_value="latex", help="Print tables in LaTeX.")
@click.option("--plot", type=FileOutput("pictures"), help="Draw the tables, too, in a .svg, .png or .pdf file.")
@trust_pickle
@click.option(
    "--sources",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=tell_sources,
    help="Tell where to get data sets, and in which form.",
)
def evaluate(
    vectors: tuple[str, ...],
    data: Path | None,
    tasks: tuple[str, ...],
    sets: tuple[str, ...] | None,
    pairs: tuple[Path, ...],
    questions: tuple[Path, ...],
    what: tuple[str, ...],
    sections: bool,
    style: str | None,
    plot: Path | None,
    trust_pickle: bool,
    **settings: Any,
) -> None:
    """Score VECTORS side by side: saved models, and files of vectors in any format.

    Give one as NAME=PATH to call it NAME in tables. Without a folder of data, the sets that come with gensim are used.
    The tasks sts and linear score vectors of texts: as the verb encode makes them, and as the mean of word vectors.
    Networks (classification, tagging) take hours on a CPU, and minutes with --quick; if they are interrupted, they go
    on where they were.
    """
    from gensim_hilbert.evaluation import find_data
    from gensim_hilbert.evaluation.plots import plot_tables, refuse_plot
    from gensim_hilbert.evaluation.tables import WRITERS

    if plot is not None:
        refuse_plot(plot)
    found = chosen_sets(with_files(find_data(data), pairs, questions), sets)
    asked = tasks
    tasks = tuple(task for task in TASKS if task in asked and getattr(found, KINDS.get(task, task)))
    if not tasks:
        raise ValueError(
            f"there are no data sets for {' and '.join(asked)}: --data names a folder, --sources tells more"
        )
    facts: dict[str, dict[str, Any]] = {}
    baseline: dict[str, float] = {}
    for name, path in named(vectors).items():
        model = load(Path(path), trust_pickle)
        settings["preparation"] = model._preparation() if hasattr(model, "_preparation") else None
        for part in what:
            keyed = part_of(model, part, Path(path))
            row = {"path": path, "what": part, "words": len(keyed), "vector_size": keyed.vector_size}
            row |= {task: scores_of(task, keyed, found, **settings) for task in tasks}
            facts[name if part == "vectors" else f"{name}, {part}"] = row
            if "tagging" in tasks and not baseline:
                from gensim_hilbert.evaluation import most_frequent_tag

                baseline = most_frequent_tag(found, keyed, quick=settings["quick"])
    tables = [each for task in tasks for each in tables_of(task, facts, baseline, sections)]
    if style == "json":
        comparisons = [comparison for each in tables for comparison in each.comparisons]
        show(as_dicts({"embeddings": facts, "most_frequent_tag": baseline, "comparisons": comparisons}), "", True)
    else:
        click.echo("\n\n".join(WRITERS[style or "text"](each) for each in tables))
    if plot is not None:
        plot_tables([each for each in tables if "by section" not in each.title], plot)
    if sets is None and (missing := [source.name for source in found.missing() if source.task in asked]):
        told = f"Not here: {', '.join(missing)}. `gensim-hilbert evaluate --sources` tells where to get them."
        click.echo(told, err=True)


def scores_of(
    task: str,
    vectors: KeyedVectors,
    data: Data,
    *,
    method: tuple[str, ...],
    restrict_vocab: int | None,
    seed: int,
    preparation: Any,
    **settings: Any,
) -> Any:
    """Return the scores of one task."""
    from gensim_hilbert.evaluation import analogies, classification, linear, similarity, sts, tagging

    if task == "similarity":
        return similarity(vectors, data, seed)
    if task == "analogy":
        return [score for how in method for score in analogies(vectors, data, how, restrict_vocab, seed)]
    if task in TEXTS:
        return (sts if task == "sts" else linear)(vectors, data, seed, preparation)
    return (classification if task == "classification" else tagging)(vectors, data, seed=seed, **settings)


def tables_of(task: str, facts: dict[str, dict[str, Any]], baseline: dict[str, float], sections: bool) -> list[Table]:
    """Return the table of a task, and those of sections if asked for."""
    from gensim_hilbert.evaluation.summary import analogy_table, extrinsic_table, section_table, similarity_table

    if task in TEXTS:
        from gensim_hilbert.evaluation.text_tables import linear_table, sts_tables

        by_way = {f"{name}, {how}": found for name, row in facts.items() for how, found in row[task].items()}
        return sts_tables(by_way) if task == "sts" else [linear_table(by_way)]
    scores = {name: row[task] for name, row in facts.items()}
    if task == "similarity":
        return [similarity_table(scores)]
    if task == "classification":
        return [extrinsic_table("Classification", scores)]
    if task == "tagging":
        return [extrinsic_table("Tagging", scores, baseline)]
    count = len(next(iter(scores.values()))) if sections else 0
    by_section = [section_table({name: row[place] for name, row in scores.items()}) for place in range(count)]
    return [analogy_table(scores), *by_section]


def named(vectors: tuple[str, ...]) -> dict[str, str]:
    """Return paths by what to call them: as asked, or by file name, or in full if two file names are equal."""
    found: dict[str, str] = {}
    for given in vectors:
        name, equals, path = given.partition("=")
        if not equals or Path(given).exists():
            name, path = Path(given).name, given
            if any(Path(other).name == name and other != given for other in vectors):
                name = given
        if name in found:
            raise click.UsageError(f"two of VECTORS are called {name!r}: name them, as in {name}-2={path}")
        found[name] = path
    return found


def part_of(model: Any, what: str, path: Path) -> KeyedVectors:
    """Return vectors, covectors or their sum."""
    keyed = words_of(model, path)
    if what == "vectors":
        return keyed
    from gensim_hilbert.export.writing import table_of
    from gensim_hilbert.vectors.keyed import covectors_of

    return covectors_of(keyed, table_of(model, what).matrix)


def with_files(data: Data, pairs: tuple[Path, ...], questions: tuple[Path, ...]) -> Data:
    """Add the sets that were given on the command line."""
    from gensim_hilbert.evaluation.data import stem

    for known, more in ((data.similarity, pairs), (data.analogy, questions)):
        names = [*known, *map(stem, more)]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise click.UsageError(f"two data sets are called {twice!r}: rename one of the files")
    return replace(
        data,
        similarity={**data.similarity, **{stem(path): path for path in pairs}},
        analogy={**data.analogy, **{stem(path): path for path in questions}},
    )


def chosen_sets(data: Data, names: tuple[str, ...] | None) -> Data:
    """Keep only the sets of the given names."""
    if names is None:
        return data
    kinds = [task for task in TASKS if task not in KINDS]
    known = [name for kind in kinds for name in getattr(data, kind)]
    for name in names:
        if name not in known:
            raise ValueError(f"there is no set {name!r} among {', '.join(known)}{closest(name, known)}")
    return replace(data, **{t: {name: p for name, p in getattr(data, t).items() if name in names} for t in kinds})


def as_dicts(value: Any) -> Any:
    """Turn scores into dicts for JSON, without what they hold for every pair."""
    if isinstance(value, dict):
        return {key: as_dicts(part) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return as_dicts(value._asdict())
    if isinstance(value, list | tuple):
        return [as_dicts(part) for part in value]
    if is_dataclass(value):
        return {part.name: as_dicts(getattr(value, part.name)) for part in fields(value) if part.repr}
    return value

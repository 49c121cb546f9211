"""The verb that scores embeddings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gensim_hilbert.cli.loading import load, words_of
from gensim_hilbert.cli.names import Verb, closest
from gensim_hilbert.cli.results import show, table

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from gensim_hilbert.evaluation import Data
    from gensim_hilbert.evaluation.tables import Table

TASKS = ("similarity", "analogy")
WHAT = ("vectors", "covectors", "sum")


class Several(click.ParamType):  # type: ignore[type-arg]  # click 8.1 is not generic
    """Names with commas between them, out of some, or any."""

    def __init__(self, *names: str):
        self.names = names
        self.name = "|".join(names) + "[,...]" if names else "NAME[,...]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """A tuple of them."""
        chosen = tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else value
        for name in chosen:
            if self.names and name not in self.names:
                self.fail(f"{name!r} is none of {', '.join(self.names)}{closest(name, self.names)}", param, ctx)
        return chosen


def tell_sources(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    """Print where data sets are to be had."""
    if asked and not ctx.resilient_parsing:
        from gensim_hilbert.evaluation.data import FORM, SOURCES

        rows = [(source.task, source.name, source.what, source.where) for source in SOURCES if source.chosen]
        click.echo(table([("task", "name", "what", "where to get it"), *rows]) + "\n\n" + FORM)
        ctx.exit()


@click.command(cls=Verb, short_help="Score vectors on similarity and analogies.")
@click.argument("vectors", nargs=-1, required=True, metavar="VECTORS...")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of data sets.  [default: $GENSIM_HILBERT_DATA]")
@click.option("--tasks", type=Several(*TASKS), default="similarity,analogy", show_default=True, help="What to do.")
@click.option("--sets", type=Several(), help="Only these sets, by name.")
@click.option("--pairs", multiple=True, type=click.Path(path_type=Path), help="Another similarity set: a TSV file.")
@click.option("--questions", multiple=True, type=click.Path(path_type=Path), help="Another file of analogies.")
@click.option(
    "--what", type=Several(*WHAT), default="vectors", show_default=True, help="Of saved models: which to score."
)
@click.option("--method", type=Several("mul", "add"), default="mul", show_default=True, help="3CosMul, 3CosAdd.")
@click.option("--restrict-vocab", type=click.IntRange(1), help="Analogies among the first so many words only.")
@click.option("--sections", is_flag=True, help="Analogies by section, too.")
@click.option("--seed", type=int, default=1, show_default=True, help="For all that is drawn.")
@click.option("--json", "style", flag_value="json", help="Print all that was found as JSON.")
@click.option("--markdown", "style", flag_value="markdown", help="Print tables in Markdown.")
@click.option("--latex", "style", flag_value="latex", help="Print tables in LaTeX.")
@click.option("--sources", is_flag=True, is_eager=True, expose_value=False, callback=tell_sources,
              help="Tell where data sets are to be had, and in which form.")  # fmt: skip
def evaluate(
    vectors: tuple[str, ...],
    data: Path | None,
    tasks: tuple[str, ...],
    sets: tuple[str, ...] | None,
    pairs: tuple[Path, ...],
    questions: tuple[Path, ...],
    what: tuple[str, ...],
    method: tuple[str, ...],
    restrict_vocab: int | None,
    sections: bool,
    seed: int,
    style: str | None,
) -> None:
    """Score VECTORS, any files that hold some, or saved models, side by side.

    Each may be given as NAME=PATH, to be called that in tables. Without a folder of data, the sets that come with
    gensim are used.
    """
    from gensim_hilbert.evaluation import analogies, find_data, similarity
    from gensim_hilbert.evaluation.summary import analogy_table, section_table, similarity_table
    from gensim_hilbert.evaluation.tables import WRITERS

    found = chosen_sets(with_files(find_data(data), pairs, questions), sets)
    facts: dict[str, dict[str, Any]] = {}
    for name, path in named(vectors).items():
        model = load(Path(path))
        for part in what:
            keyed = part_of(model, part, Path(path))
            row = facts[name if part == "vectors" else f"{name}, {part}"] = {
                "path": path,
                "what": part,
                "words": len(keyed),
                "vector_size": keyed.vector_size,
            }
            if "similarity" in tasks:
                row["similarity"] = similarity(keyed, found, seed)
            if "analogy" in tasks:
                row["analogy"] = [
                    score for how in method for score in analogies(keyed, found, how, restrict_vocab, seed)
                ]
    tables: list[Table] = []
    if "similarity" in tasks and found.similarity:
        tables.append(similarity_table({name: row["similarity"] for name, row in facts.items()}))
    if "analogy" in tasks and found.analogy:
        scores = {name: row["analogy"] for name, row in facts.items()}
        tables.append(analogy_table(scores))
        if sections:
            count = len(next(iter(scores.values())))
            tables += [section_table({name: row[place] for name, row in scores.items()}) for place in range(count)]
    if style == "json":
        show({"embeddings": plain(facts), "comparisons": plain([c for t in tables for c in t.comparisons])}, "", True)
    else:
        click.echo("\n\n".join(WRITERS[style or "text"](each) for each in tables))
    missing = [source.name for source in found.missing() if source.task in tasks] if sets is None else []
    if missing:
        click.echo(
            f"Not here: {', '.join(missing)}. `gensim-hilbert evaluate --sources` tells where to get them.", err=True
        )


def named(vectors: tuple[str, ...]) -> dict[str, str]:
    """Paths by what to call them: as asked, or by their names, or in full where two have the same."""
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
    """Vectors, covectors or their sum."""
    keyed = words_of(model, path)
    if what == "vectors":
        return keyed
    from gensim_hilbert.export import table_of
    from gensim_hilbert.keyedvectors import covectors_of

    return covectors_of(keyed, table_of(model, what).matrix)


def with_files(data: Data, pairs: tuple[Path, ...], questions: tuple[Path, ...]) -> Data:
    """And some more sets."""
    from gensim_hilbert.evaluation.data import stem

    return replace(
        data,
        similarity={**data.similarity, **{stem(path): path for path in pairs}},
        analogy={**data.analogy, **{stem(path): path for path in questions}},
    )


def chosen_sets(data: Data, names: tuple[str, ...] | None) -> Data:
    """Those of the given names."""
    if names is None:
        return data
    from gensim_hilbert.evaluation.data import TASKS as ALL

    known = [name for task in ALL for name in getattr(data, task)]
    for name in names:
        if name not in known:
            raise ValueError(f"there is no set {name!r} among {', '.join(known)}{closest(name, known)}")
    return replace(data, **{t: {name: p for name, p in getattr(data, t).items() if name in names} for t in ALL})


def plain(value: Any) -> Any:
    """For JSON: scores as dicts, without what they hold for every pair."""
    from dataclasses import fields, is_dataclass

    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if is_dataclass(value):
        return {part.name: plain(getattr(value, part.name)) for part in fields(value) if part.repr}
    return value

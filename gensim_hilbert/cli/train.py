"""The verb that trains. Its options are the keywords of `HilbertMLE`, its defaults theirs."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import tomllib
from pathlib import Path
from timeit import default_timer
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gensim_hilbert.cli.names import OLD, Verb, closest
from gensim_hilbert.cli.results import as_json, show
from gensim_hilbert.corpus import as_corpus
from gensim_hilbert.counting.build import locked
from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.counting.store import write_atomically
from gensim_hilbert.training.checkpoint import MANIFEST as CHECKPOINT

if TYPE_CHECKING:
    from gensim_hilbert.model import HilbertMLE

COMMAND = "command.json"
# What counts have decided already.
OF_COUNTS = ("window", "min_count", "max_vocab_size", "max_final_vocab", "sample", "shrink_windows")
# What may change between a command and the one that goes on with it.
OF_THE_MACHINE = ("workers", "memory_gb", "device", "progress")


class Strength(click.ParamType):  # type: ignore[type-arg]  # click 8.1 is not generic
    """A number, or "auto"."""

    name = "FLOAT|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A float, or the word."""
        try:
            return value if value == "auto" else float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor auto", param, ctx)


class Setting(click.Option):
    """A keyword of `HilbertMLE`: not given, it is not passed on, so that the default is that of the signature."""

    @property
    def python_default(self) -> Any:
        """What the keyword is when it is left out."""
        from gensim_hilbert.model import HilbertMLE

        return inspect.signature(HilbertMLE).parameters[str(self.name)].default

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """With that default."""
        record = super().get_help_record(ctx)
        default = self.python_default
        if record is None or default is None:
            return record
        if isinstance(default, bool):
            default = (self.opts if default else self.secondary_opts)[0].lstrip("-")
        return record[0], f"{record[1]}  [default: {default}]"


POSITIVE = click.IntRange(1)
SETTINGS: list[tuple[str, Any, str]] = [
    ("vector_size", POSITIVE, "Dimensions."),
    ("window", POSITIVE, "Words to each side."),
    ("min_count", int, "Least occurrences of a word."),
    ("max_final_vocab", int, "Most words to keep."),
    ("max_vocab_size", int, "Prune rare words while scanning when there are more than this."),
    ("sample", float, "Thin out words more frequent than this."),
    ("seed", int, "For all that is drawn."),
    ("workers", int, "Threads; -1 for one a core."),
    ("epochs", POSITIVE, "Gibbs: how often the text is read. Factorization: in how many rounds to train."),
    ("alpha", float, "Rate at the beginning."),
    ("min_alpha", float, "Rate at the end."),
    ("negative", click.IntRange(0), "Gibbs: candidates a word."),
    ("ns_exponent", float, "Gibbs: candidates are drawn by counts to this power."),
    ("shrink_windows", bool, "Near words weigh more, or all the same."),
    ("solver", click.Choice(["factorization", "gibbs"]), "Fit counts, or learn from the stream."),
    ("temperature", float, "Factorization: how much rare words weigh."),
    ("threshold", float, "Factorization: words less frequent than this are not tempered."),
    ("l2", Strength(), "Factorization: strength of the prior, in counts."),
    ("device", str, "Factorization: auto, cpu, cuda, cuda:1, mps."),
    ("precision", click.Choice(["float32", "tf32", "bf16"]), "Factorization: of matrix products."),
    ("memory_gb", float, "Factorization: memory for counting."),
    ("vectors", click.Choice(["v", "v+w"]), "Keep the vectors, or their sums with the covectors."),
    (
        "gauge",
        click.FloatRange(0, 1),
        "How much of each axis' strength the vectors get.  [default: what suits the solver]",
    ),
    ("sampler", click.Choice(["candidates", "metropolis", "exact"]), "Gibbs: how a negative is drawn."),
    ("gibbs_steps", POSITIVE, "Gibbs: steps from a pair to its negative."),
    ("comment", str, "A note that is kept with the model."),
    ("progress", bool, "Draw bars on a terminal."),
]


def with_settings(function: Any) -> Any:
    """The options of `SETTINGS`, in their order."""
    for name, kind, text in reversed(SETTINGS):
        flag = name.replace("_", "-")
        option = f"--{flag}/--no-{flag}" if kind is bool else f"--{flag}"
        function = click.option(option, name, cls=Setting, type=kind, default=None, help=text)(function)
    return function


def read_config(ctx: click.Context, param: click.Parameter, path: Path | None) -> None:
    """Options from a TOML file become the defaults of those that are not given."""
    if path is None:
        return
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise click.BadParameter(f"{path}: {error}", ctx, param) from None
    known = [str(other.name) for other in ctx.command.params if other.name not in ("config", "resume", "as_json")]
    for key in given:
        if key.replace("-", "_") not in known:
            old = OLD.get(key.replace("_", "-"))
            said = f"; {key} {old}" if old else closest(key.replace("-", "_"), known)
            raise click.BadParameter(f"{path}: there is no option {key!r}{said.replace('--', '')}", ctx, param)
    ctx.default_map = {key.replace("-", "_"): as_words(value) for key, value in given.items()}


def as_words(value: Any) -> Any:
    """As a command line has them: click would cut 1.5 down to an int, but refuses "1.5"."""
    return [str(part) for part in value] if isinstance(value, list) else str(value)


@click.command(cls=Verb, short_help="Train a model on a text, or on counts.")
@click.argument("corpus", nargs=-1)
@click.option("--counts", type=click.Path(path_type=Path), help="Train on the counts of this store, instead of a text.")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="File for the model.")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    is_eager=True,
    expose_value=False,
    callback=read_config,
    help="TOML file with options, such as vector-size = 300; those of the command line win.",
)
@click.option("--resume", is_flag=True, help="Go on with an interrupted training: give nothing else but --output.")
@click.option("--overwrite", is_flag=True, help="Replace a model, or start anew where other training was interrupted.")
@as_json
@with_settings
@click.pass_context
def train(
    ctx: click.Context,
    /,
    corpus: tuple[str, ...],
    counts: Path | None,
    output: Path,
    resume: bool,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Train a model on CORPUS: files, globs, directories, URIs; plain or compressed; one sentence a line.

    Interrupted, it goes on when the same command is given again, or with --resume.
    """
    work = output.with_name(output.name + ".checkpoint")
    command: dict[str, Any] = {
        "corpus": [absolute(name) for name in corpus],
        "counts": counts and absolute(str(counts)),
        "overwrite": overwrite,
        "settings": {name: value for name, value in options.items() if value is not None},
    }
    if resume:
        command = command_to_resume(ctx, work)
    elif bool(corpus) == bool(counts):
        raise click.UsageError("give either a text, CORPUS, or --counts", ctx)
    elif counts and (decided := [name for name in OF_COUNTS if name in command["settings"]]):
        raise click.UsageError(f"--counts have their own {' and '.join(decided)}: count anew for others", ctx)
    if output.is_dir():
        raise IsADirectoryError(f"{output} is a directory, not a file for a model")
    if output.exists() and not command["overwrite"]:
        raise FileExistsError(f"{output} exists; choose another name, or give --overwrite")
    started = default_timer()
    work.mkdir(parents=True, exist_ok=True)
    with locked(work):
        prepare(work, command)
        try:
            model = fit(command, work)
            save_whole(model, output, work)
        except BaseException as error:
            # As in counting, an error leaves nothing behind; but epochs that are done may have taken days.
            kept = f"training-*/{CHECKPOINT}" if isinstance(error, Exception) else "training-*/*"
            if any(work.glob(kept)):
                click.echo(f"unfinished; to go on: gensim-hilbert train --resume -o {output}", err=True)
            else:
                shutil.rmtree(work, ignore_errors=True)
            raise
        shutil.rmtree(work, ignore_errors=True)
    facts = {
        "model": str(output),
        "words": len(model.wv),
        "vector_size": model.vector_size,
        "solver": model.solver,
        "epochs": model.epochs,
        "tokens": model.corpus_total_words,
        "seconds": round(default_timer() - started, 2),
    }
    line = (
        f"{output}: {len(model.wv):,} words, {model.vector_size} dimensions, from {model.corpus_total_words:,} tokens "
        f"by {model.solver}, {facts['seconds']:.1f} s"
    )
    show(facts, line, as_json)


def absolute(name: str) -> str:
    """A path that stays right in another directory; URIs are."""
    return name if "://" in name else os.path.abspath(os.path.expanduser(name))


def command_to_resume(ctx: click.Context, work: Path) -> dict[str, Any]:
    """The command that was interrupted."""
    for param in ctx.command.params:
        if param.name in ("resume", "output", "as_json", *OF_THE_MACHINE):
            continue
        if ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE and ctx.params.get(str(param.name)):
            raise click.UsageError(
                "--resume goes on with the text and the options of the interrupted command: give nothing else but "
                "--output",
                ctx,
            )
    try:
        command: dict[str, Any] = json.loads((work / COMMAND).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no interrupted training to go on with: {work} does not exist") from None
    now = {name: ctx.params[name] for name in OF_THE_MACHINE if ctx.params[name] is not None}
    return {**command, "settings": {**command["settings"], **now}}


def prepare(work: Path, command: dict[str, Any]) -> None:
    """Keep the command for --resume; refuse the remains of another one, or remove them if it says so."""

    def essence(command: dict[str, Any]) -> Any:
        settings = {name: value for name, value in command["settings"].items() if name not in OF_THE_MACHINE}
        return command["corpus"], command["counts"], settings

    path = work / COMMAND
    if path.exists():
        before = json.loads(path.read_text(encoding="utf-8"))
        if essence(before) != essence(command):
            if not command["overwrite"]:
                raise FileExistsError(
                    f"{work} is left by an interrupted training with another text or other options: go on with it by "
                    "--resume, or start anew by --overwrite"
                )
            for remains in work.glob("training-*"):
                shutil.rmtree(remains)
    write_atomically(path, json.dumps(command, indent=1).encode())


def fit(command: dict[str, Any], work: Path) -> HilbertMLE:
    """The Python call that a command stands for."""
    from gensim_hilbert.model import HilbertMLE

    settings = {**command["settings"], "checkpoint": work}
    if command["counts"]:
        return HilbertMLE.from_counts(PairCounts.open(command["counts"]), **settings)
    return HilbertMLE(corpus_file=as_corpus(command["corpus"]), **settings)


def save_whole(model: HilbertMLE, output: Path, work: Path) -> None:
    """Save under another name, then rename, the model's own file last: where that is, all others are."""
    fresh = work / "model"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    model.save(str(fresh / output.name))
    output.unlink(missing_ok=True)
    beside = output.with_name(output.name + ".counts")
    shutil.rmtree(beside, ignore_errors=True)
    for path in sorted(fresh.iterdir(), key=lambda path: path.name == output.name):
        os.replace(path, output.with_name(path.name))

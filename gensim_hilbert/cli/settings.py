"""The keywords of `HilbertMLE` as options, with its defaults; from the command line, or from a file."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path
from typing import Any

import click

from gensim_hilbert.cli.names import OLD_OPTIONS, closest


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
    ("negative", click.IntRange(0), "Gibbs and objective sgns: candidates a word."),
    ("ns_exponent", float, "Gibbs and objective sgns: candidates are drawn by counts to this power."),
    ("shrink_windows", bool, "Near words weigh more, or all the same."),
    ("solver", click.Choice(["factorization", "gibbs"]), "Fit counts, or learn from the stream."),
    ("objective", str, "Factorization: what is fitted, as in sgns or 'glove(x_max=10)'."),
    ("temperature", float, "Objective hilbert: how much rare words weigh."),
    ("threshold", float, "Objective hilbert: words less frequent than this are not tempered."),
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
    ("subwords", bool, "Make vectors of those of character n-grams, for unknown words, too; or of whole words."),
    ("min_n", POSITIVE, "Subwords: letters of the shortest n-grams."),
    ("max_n", POSITIVE, "Subwords: letters of the longest n-grams."),
    ("bucket", POSITIVE, "Subwords: vectors that n-grams share."),
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
            old = OLD_OPTIONS.get(key.replace("_", "-"))
            said = f"; {key} {old}" if old else closest(key.replace("-", "_"), known)
            raise click.BadParameter(f"{path}: there is no option {key!r}{said.replace('--', '')}", ctx, param)
    ctx.default_map = {key.replace("-", "_"): as_words(value) for key, value in given.items()}


def as_words(value: Any) -> Any:
    """As a command line has them: click would cut 1.5 down to an int, but refuses "1.5"."""
    return [str(part) for part in value] if isinstance(value, list) else str(value)

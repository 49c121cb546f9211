"""Names of options: those of gensim 3, word2vec in C, fastText and GloVe are answered with what took their place."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import click

NO_USE = "has no counterpart here, where the PMI itself is fitted: leave it out"
CALLED = {
    "vector-size": ("size", "dim"),
    "epochs": ("iter", "epoch"),
    "workers": ("threads", "thread"),
    "window": ("ws", "window-size"),
    "min-count": ("minCount",),
    "negative": ("neg",),
    "alpha": ("lr", "eta"),
    "memory-gb": ("memory",),
    "min-n": ("minn",),
    "max-n": ("maxn",),
}
OLD = {
    **{old: f"is called --{new}" for new, names in CALLED.items() for old in names},
    **dict.fromkeys(
        ("train", "input"),
        "is not needed: give the text as an argument, as in `gensim-hilbert train text.txt -o model`",
    ),
    "save-vocab": "is not needed: counts and models hold their vocabulary",
    "read-vocab": "is the option --vocabulary of `gensim-hilbert count`",
    "binary": "is an option of `gensim-hilbert export`: --format",
    "debug": "stands before the verb: `gensim-hilbert --debug VERB ...`",
    "verbose": "stands before the verb: `gensim-hilbert --verbose VERB ...`",
    **dict.fromkeys(
        ("cbow", "sg", "hs", "cbow-mean", "classes", "hashfxn", "batch-words", "null-word", "trim-rule"), NO_USE
    ),
}


def answer(name: str, known: Iterable[str]) -> str | None:
    """What to say of an option that is not known, if it is an old one, or has one dash or an underscore too many."""
    bare = name.lstrip("-").replace("_", "-")
    if f"--{bare}" in known:
        return f"{name} is written --{bare}"
    return f"{name} {OLD[bare]}" if bare in OLD else None


def closest(name: str, known: Iterable[str]) -> str:
    """`; did you mean ...?`, where something is spelled alike."""
    found = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(found)}?" if found else ""


def refuse_old_names(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    """Before click reads them: it takes `-output x` for `-o utput`."""
    known = {name for param in command.get_params(ctx) for name in (*param.opts, *param.secondary_opts)}
    for arg in args:
        name = arg.partition("=")[0]
        if name == "--":
            return
        if len(name) > 2 and name.startswith("-") and name not in known and (said := answer(name, known)):
            raise click.UsageError(said, ctx)


class Verb(click.Command):
    """A command that knows old names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does."""
        refuse_old_names(self, ctx, args)
        return super().parse_args(ctx, args)


class Verbs(click.Group):
    """A group that knows old names before the verb: `gensim-hilbert -train text.txt -size 100`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which they are used."""
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does."""
        verb = next((place for place, arg in enumerate(args) if not arg.startswith("-")), len(args))
        refuse_old_names(self, ctx, args[:verb])
        return super().parse_args(ctx, args)

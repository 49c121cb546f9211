"""Names of options. Those of gensim 3, word2vec in C, fastText and GloVe are answered with what took their place."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import click

NO_COUNTERPART = "has no counterpart here, where the PMI itself is fitted: leave it out"
OLD_NAMES = {  # of each of our options
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
OLD_OPTIONS = {  # what is said of each
    **{old: f"is called --{new}" for new, names in OLD_NAMES.items() for old in names},
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
        ("cbow", "sg", "hs", "cbow-mean", "classes", "hashfxn", "batch-words", "null-word", "trim-rule"), NO_COUNTERPART
    ),
}


def explanation(name: str, known: Iterable[str]) -> str | None:
    """Return what to say of an unknown option if it is an old one, or has one dash or an underscore too many."""
    bare = name.lstrip("-").replace("_", "-")
    if f"--{bare}" in known:
        return f"{name} is written --{bare}"
    return f"{name} {OLD_OPTIONS[bare]}" if bare in OLD_OPTIONS else None


def closest(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean ...?` if something is spelled alike."""
    found = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(found)}?" if found else ""


def refuse_old_names(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    """Raise an error that explains an old name before click reads it, which takes `-output x` for `-o utput`."""
    known = {name for param in command.get_params(ctx) for name in (*param.opts, *param.secondary_opts)}
    for arg in args:
        name = arg.partition("=")[0]
        if name == "--":
            return
        if len(name) > 2 and name.startswith("-") and name not in known and (said := explanation(name, known)):
            raise click.UsageError(said, ctx)


class Verb(click.Command):
    """A command that explains old names of options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Look for old names, and then parse as click does."""
        refuse_old_names(self, ctx, args)
        return super().parse_args(ctx, args)


class Verbs(click.Group):
    """A group that explains old names before the verb, as in `gensim-hilbert -train text.txt -size 100`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order in which they are used."""
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Look for old names, and then parse as click does."""
        verb = next((place for place, arg in enumerate(args) if not arg.startswith("-")), len(args))
        refuse_old_names(self, ctx, args[:verb])
        return super().parse_args(ctx, args)

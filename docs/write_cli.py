"""Write cli.md, beside this file, from what the command line says of itself: `make docs`."""

from pathlib import Path

import click

from gensim_hilbert.cli import cli
from gensim_hilbert.cli.names import OLD_OPTIONS

INTRODUCTION = """\
# Command line

`gensim-hilbert`, or `python -m gensim_hilbert`. Every verb is one Python call. Results go to standard output, as text
or with `--json` for machines; progress, warnings and errors go to standard error. An error is one sentence; `--debug`,
before the verb, shows a traceback with it.

This page is what `--help` says of each verb, written by `make docs`.
"""

CONFIGURATION = """\
## Configuration files

`gensim-hilbert train --config settings.toml` takes options from a file, with dashes or underscores; those of the
command line win:

```toml
vector-size = 300
max_final_vocab = 50000
shrink-windows = true
```
"""

OLD_NAMES = """\
## Old names

Options of gensim 3, word2vec in C, fastText and GloVe are answered with what took their place, whether they have one
dash or two:

| option | |
|---|---|
"""


TOP = click.Context(cli, info_name="gensim-hilbert", max_content_width=100, terminal_width=100, **cli.context_settings)


def help_of(context: click.Context) -> str:
    """What `--help` prints, at a width that fits a page."""
    return f"```\n{context.get_help().rstrip()}\n```\n"


def text() -> str:
    """The whole page."""
    parts = [INTRODUCTION, help_of(TOP)]
    for name, verb in cli.commands.items():
        parts.append(f"## {name}\n\n{help_of(click.Context(verb, parent=TOP, info_name=name))}")
    names = "".join(f"| `--{name}` | {says} |\n" for name, says in OLD_OPTIONS.items())
    return "\n".join([*parts, CONFIGURATION, OLD_NAMES + names])


if __name__ == "__main__":
    Path(__file__).with_name("cli.md").write_text(text(), encoding="utf-8")

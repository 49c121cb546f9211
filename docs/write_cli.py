"""Write cli.md from the help texts of the command line: `make docs`."""

from pathlib import Path

import click

from gensim_hilbert.cli import cli
from gensim_hilbert.cli.names import OLD_OPTIONS

INTRODUCTION = """\
# Command line

The command is `gensim-hilbert`, or `python -m gensim_hilbert`. Every verb is one Python call. Results go to standard
output, as text or with `--json` for machines. Progress, warnings and errors go to standard error. An error is one
sentence; with `--debug` before the verb, a traceback is shown as well.

This page shows what `--help` prints for each verb. `make docs` writes it.
"""

CONFIGURATION = """\
## Configuration files

`gensim-hilbert train --config settings.toml` reads options from a file. Their names may have dashes or underscores. If
an option is also given on the command line, the command line takes precedence.

```toml
vector-size = 300
max_final_vocab = 50000
shrink-windows = true
```
"""

OLD_NAMES = """\
## Old names

If an option of gensim 3, word2vec in C, fastText or GloVe is given, with one dash or two, the error message says what
to use instead:

| option | message |
|---|---|
"""


TOP = click.Context(cli, info_name="gensim-hilbert", max_content_width=100, terminal_width=100, **cli.context_settings)


def help_of(context: click.Context) -> str:
    """Return what `--help` prints, at a width that fits a page."""
    return f"```\n{context.get_help().rstrip()}\n```\n"


def text() -> str:
    """Return the whole page."""
    parts = [INTRODUCTION, help_of(TOP)]
    for name, verb in cli.commands.items():
        parts.append(f"## {name}\n\n{help_of(click.Context(verb, parent=TOP, info_name=name))}")
    names = "".join(f"| `--{name}` | {says} |\n" for name, says in OLD_OPTIONS.items())
    return "\n".join([*parts, CONFIGURATION, OLD_NAMES + names])


if __name__ == "__main__":
    Path(__file__).with_name("cli.md").write_text(text(), encoding="utf-8")

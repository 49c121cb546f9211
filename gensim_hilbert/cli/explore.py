"""The verb that serves the explorer of one model or several."""

from __future__ import annotations

from pathlib import Path

import click

from gensim_hilbert.cli.loading import files_of, load, trust_pickle, words_of
from gensim_hilbert.cli.names import Verb
from gensim_hilbert.cli.outputs import LocalOutput
from gensim_hilbert.outputs import refuse_inputs


@click.command(cls=Verb, short_help="Explore models in the browser.")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...", type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(1, 65535), help="Port to serve on.  [default: a free one]")
@click.option("--browser/--no-browser", default=True, help="Open the page in the browser.  [default: browser]")
@click.option(
    "--export",
    "folder",
    type=LocalOutput("explorers"),
    help="Do not serve: write a page to this new folder that any web server can serve.",
)
@click.option(
    "--export-words",
    type=click.IntRange(1),
    default=5000,
    show_default=True,
    help="For --export: number of the most frequent words to write.",
)
@trust_pickle
def explore(
    models: tuple[Path, ...],
    port: int | None,
    browser: bool,
    folder: Path | None,
    export_words: int,
    trust_pickle: bool,
) -> None:
    """Explore one MODEL or several in the browser: words like a word, words that go with it, and a map of all.

    The page is served on 127.0.0.1 only, at an address that nobody else knows, until Ctrl-C. It loads nothing from the
    network. A MODEL can be any file of vectors, which then has no PMI; several models can be compared. The layout of
    the map is computed once, and kept in MODEL.layout.npz.
    """
    from gensim_hilbert.explore.endpoints import Explorer
    from gensim_hilbert.explore.export import write_explorer
    from gensim_hilbert.explore.server import require_server, serve

    if folder is None:
        require_server()
    else:
        refuse_inputs(folder, [file for model in models for file in files_of(model)], inside=True)
    loaded = [(path.name, load(path, trust_pickle)) for path in models]
    for path, (_, model) in zip(models, loaded, strict=True):
        words_of(model, path)
    explorer = Explorer(loaded, list(models))
    if folder is not None:
        size = write_explorer(explorer, folder, words=export_words)
        click.echo(f"{folder}: an explorer of {', '.join(path.name for path in models)}, {size:,} bytes")
        return

    def announce(address: str) -> None:
        click.echo(f"{address}\nPress Ctrl-C to end.")
        if browser:
            click.launch(address)

    serve(explorer, port=port or 0, announce=announce)

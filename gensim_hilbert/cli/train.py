"""The verb `train`.

While a model is trained, the folder `MODEL.checkpoint` beside it holds the command, the counts, the state after each
epoch, and at the end the model until it is moved into place.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from timeit import default_timer
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gensim_hilbert.cli.loading import checkpoint_beside, refuse_standard_input
from gensim_hilbert.cli.names import Verb
from gensim_hilbert.cli.results import as_json, show
from gensim_hilbert.cli.settings import read_config, with_settings
from gensim_hilbert.corpus.sources import as_corpus
from gensim_hilbert.counting.layout import counts_beside
from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.counting.store import refuse_to_replace
from gensim_hilbert.files import locked, read_json, replace_folder, write_whole
from gensim_hilbert.interruption import is_interruption
from gensim_hilbert.locations import is_local
from gensim_hilbert.options import OPTIONS
from gensim_hilbert.pretrained.layout import is_model_folder, keep_edited_card, read_manifest
from gensim_hilbert.pretrained.layout import refuse_to_replace as refuse_to_replace_by_model
from gensim_hilbert.training.checkpoint import MANIFEST as CHECKPOINT

if TYPE_CHECKING:
    from gensim_hilbert.model import HilbertMLE

COMMAND = "command.json"
FINISHED = "finished.json"  # tells which model folder is moved into place
FOLDER, GENSIM = "folder", "gensim"  # what can be written
OF_COUNTS = tuple(name for name, option in OPTIONS.items() if option.of_counts)
OF_MACHINE = tuple(name for name, option in OPTIONS.items() if option.of_machine)


@click.command(cls=Verb, short_help="Train a model on a text or on counts.")
@click.argument("corpus", nargs=-1, callback=refuse_standard_input)
@click.option("--counts", type=click.Path(path_type=Path), help="Train on this store of counts instead of a text.")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder for the model.")
@click.option(
    "--format",
    type=click.Choice([FOLDER, GENSIM]),
    default=FOLDER,
    show_default=True,
    help="Write a model folder, or a file as gensim's save does, which is a pickle.",
)
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    is_eager=True,
    expose_value=False,
    callback=read_config,
    help="TOML file with options, such as vector-size = 300; the command line takes precedence.",
)
@click.option("--resume", is_flag=True, help="Go on with an interrupted training; give nothing else but --output.")
@click.option("--overwrite", is_flag=True, help="Replace a model, or the remains of another interrupted training.")
@as_json
@with_settings
@click.pass_context
def train(
    ctx: click.Context,
    /,
    corpus: tuple[str, ...],
    counts: Path | None,
    output: Path,
    format: str,
    resume: bool,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Train a model on CORPUS: files, globs, directories or URIs, plain or compressed, one sentence per line.

    If training is interrupted, the same command goes on with it, and so does --resume.
    """
    work = checkpoint_beside(output)
    command: dict[str, Any] = {
        "corpus": [absolute(name) for name in corpus],
        "counts": counts and absolute(str(counts)),
        "overwrite": overwrite,
        "format": format,
        "settings": {name: value for name, value in options.items() if value is not None},
    }
    if resume:
        command = command_to_resume(ctx, work)
    elif bool(corpus) == bool(counts):
        raise click.UsageError("give either a text, CORPUS, or --counts", ctx)
    elif counts and (decided := [name for name in OF_COUNTS if name in command["settings"]]):
        raise click.UsageError(f"--counts have their own {' and '.join(decided)}: count anew for others", ctx)
    started = default_timer()
    if model := finished_before(output, work, command):
        show(*facts_of(model, output, started), as_json)
        return
    refuse_to_overwrite(output, work, command)
    work.mkdir(parents=True, exist_ok=True)
    with locked(work):
        prepare(work, command)
        try:
            model = fit(command, work)
            (save_folder if command["format"] == FOLDER else save_whole)(model, output, work, command)
        except BaseException as error:
            # An error leaves nothing behind, except epochs that are done: they may have taken days.
            failed = isinstance(error, Exception) and not is_interruption(error)
            kept = f"training-*/{CHECKPOINT}" if failed else "training-*/*"
            if any(work.glob(kept)):
                below = "\n" if sys.stderr.isatty() else ""  # a terminal has written ^C
                click.echo(f"{below}unfinished; to go on: gensim-hilbert train --resume -o {output}", err=True)
            else:
                shutil.rmtree(work, ignore_errors=True)
            raise
        shutil.rmtree(work, ignore_errors=True)
    show(*facts_of(model, output, started), as_json)


def facts_of(model: HilbertMLE, output: Path, started: float) -> tuple[dict[str, Any], str]:
    """Return what there is to say of a model that is done, for machines and in one line."""
    facts = {
        "model": str(output),
        "words": len(model.wv),
        "vector_size": model.vector_size,
        "solver": model.solver,
        "epochs": model.epochs,
        "tokens": model.corpus_total_words,
        "seconds": round(default_timer() - started, 2),
    }
    return facts, (
        f"{output}: {len(model.wv):,} words, {model.vector_size} dimensions, from {model.corpus_total_words:,} tokens "
        f"by {model.solver}, {facts['seconds']:.1f} s"
    )


def absolute(name: str) -> str:
    """Return a path that is still right in another directory; URIs are anyway."""
    return os.path.abspath(os.path.expanduser(name)) if is_local(name) else name


def command_to_resume(ctx: click.Context, work: Path) -> dict[str, Any]:
    """Return the command that was interrupted."""
    for param in ctx.command.params:
        if param.name in ("resume", "output", "as_json", *OF_MACHINE):
            continue
        if ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                "--resume goes on with the text and the options of the interrupted command: give nothing else but "
                "--output",
                ctx,
            )
    try:
        command: dict[str, Any] = json.loads((work / COMMAND).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no interrupted training to go on with: {work} does not exist") from None
    now = {name: ctx.params[name] for name in OF_MACHINE if ctx.params[name] is not None}
    return {**command, "settings": {**command["settings"], **now}}


def essence(command: dict[str, Any]) -> Any:
    """Return the part of a command that its result depends on."""
    settings = {name: value for name, value in command["settings"].items() if name not in OF_MACHINE}
    return command["corpus"], command["counts"], settings


def finished_before(output: Path, work: Path, command: dict[str, Any]) -> HilbertMLE | None:
    """Return the model of the same command, if that was killed when only its checkpoint was left to be removed."""
    if not (work / FINISHED).exists():
        return None
    from gensim_hilbert.model import HilbertMLE

    with locked(work):
        same = essence(read_json(work / COMMAND)) == essence(command)
        if not is_model_folder(output) or read_json(work / FINISHED) != read_manifest(output)["crc32"]:
            return None
        shutil.rmtree(work, ignore_errors=True)
    return HilbertMLE.from_pretrained(output, counts=False) if same else None


def prepare(work: Path, command: dict[str, Any]) -> None:
    """Keep the command for --resume; refuse the remains of another command, or remove them with --overwrite."""
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
    write_whole(path, json.dumps(command, indent=1).encode())


def fit(command: dict[str, Any], work: Path) -> HilbertMLE:
    """Make the Python call that a command stands for."""
    from gensim_hilbert.model import HilbertMLE

    settings = {**command["settings"], "checkpoint": work}
    if command["counts"]:
        return HilbertMLE.from_counts(PairCounts.open(command["counts"]), **settings)
    return HilbertMLE(corpus_file=as_corpus(command["corpus"]), **settings)


def are_given(counts: Path, command: dict[str, Any]) -> bool:
    """Whether the counts beside a model are those that it is trained on."""
    given = command["counts"]
    return bool(given) and counts.exists() and counts.samefile(given)


def refuse_to_overwrite(output: Path, work: Path, command: dict[str, Any]) -> None:
    """Refuse to overwrite before hours of work, not after them."""
    if command["format"] == FOLDER:
        if is_model_folder(output) and not command["overwrite"]:
            raise FileExistsError(f"{output} exists; choose another name for the model, or give --overwrite")
        refuse_to_replace_by_model(output)
        return
    if output.is_dir():
        raise IsADirectoryError(f"{output} is a directory, not a file for a model")
    beside = counts_beside(output)
    refuse_to_replace(beside, Path(command["counts"] or work.parent))
    for path in (output, beside):
        # A command that was killed while it moved its results into place has put some of them there itself.
        own = path == beside and (work.exists() or are_given(beside, command))
        if path.exists() and not command["overwrite"] and not own:
            raise FileExistsError(f"{path} exists; choose another name for the model, or give --overwrite")


def save_folder(model: HilbertMLE, output: Path, work: Path, command: dict[str, Any]) -> None:
    """Save a model folder under another name, and then rename it."""
    fresh = work / "model" / output.name
    shutil.rmtree(fresh.parent, ignore_errors=True)
    model.save_pretrained(fresh)
    write_whole(work / FINISHED, json.dumps(read_manifest(fresh)["crc32"]).encode())
    refuse_to_overwrite(output, work, command)  # Something may have appeared there meanwhile.
    keep_edited_card(output, fresh)
    replace_folder(fresh, output)


def save_whole(model: HilbertMLE, output: Path, work: Path, command: dict[str, Any]) -> None:
    """Save under another name, then rename, the model's own file last: if it is there, all others are."""
    fresh = work / "model"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    model.save(str(fresh / output.name))
    output.unlink(missing_ok=True)
    beside = counts_beside(output)
    shutil.rmtree(fresh / beside.name if are_given(beside, command) else beside, ignore_errors=True)
    for path in sorted(fresh.iterdir(), key=lambda path: path.name == output.name):
        os.replace(path, output.with_name(path.name))

"""The verb `train`.

While a model is trained, the folder `MODEL.checkpoint` beside it holds the command, the counts, the state after each
epoch, and at the end the model until it is moved into place.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from timeit import default_timer
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gensim_hilbert.automatic import AUTO
from gensim_hilbert.cli.loading import checkpoint_beside, refuse_standard_input
from gensim_hilbert.cli.names import Verb
from gensim_hilbert.cli.outputs import LocalOutput
from gensim_hilbert.cli.results import as_json, how_many, show
from gensim_hilbert.cli.settings import read_config, with_settings
from gensim_hilbert.corpus.identity import CorpusChanged
from gensim_hilbert.corpus.sources import Corpus, as_corpus
from gensim_hilbert.counting.layout import JOURNAL, MANIFEST
from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.files import (
    TEMPORARY,
    read_json,
    refuse_foreign,
    remove,
    remove_leftovers,
    replace_folder,
    write_whole,
)
from gensim_hilbert.interruption import is_interruption
from gensim_hilbert.locations import is_local
from gensim_hilbert.locks import LOCK, locked
from gensim_hilbert.model_text import SCAN
from gensim_hilbert.options import OPTIONS
from gensim_hilbert.outputs import refuse_inputs
from gensim_hilbert.pretrained.layout import is_model_folder, keep_edited_card, read_manifest, reason_to_keep
from gensim_hilbert.training.checkpoint import MANIFEST as CHECKPOINT
from gensim_hilbert.training.leading import follow, leading
from gensim_hilbert.training.ranks import are_several, present_ranks
from gensim_hilbert.untrusted import damage_named

if TYPE_CHECKING:
    from gensim_hilbert.model import HilbertMLE

COMMAND = "command.json"
PLACED = "placed.json"  # Tells which model is moved into place.
MODEL = "model"
PART_OF_CHECKPOINT = re.compile(rf"training-\d+|{MODEL}|" + "|".join(map(re.escape, (COMMAND, PLACED, LOCK))))
OF_COUNTS = tuple(name for name, option in OPTIONS.items() if option.of_counts)
OF_MACHINE = tuple(name for name, option in OPTIONS.items() if option.of_machine)


def led_by_rank_0(verb: Callable[..., None]) -> Callable[..., None]:
    """Let rank 0 do what a verb says; other ranks help to train without a word until there is nothing more to do."""

    @wraps(verb)
    def run(*arguments: Any, **options: Any) -> None:
        if are_several() and present_ranks().rank:
            logging.getLogger("gensim_hilbert").setLevel(logging.ERROR)
            follow()
            return
        with leading():
            verb(*arguments, **options)

    return run


@click.command(cls=Verb, short_help="Train a model on a text or on counts.")
@click.argument("corpus", nargs=-1, callback=refuse_standard_input)
@click.option("--counts", type=click.Path(path_type=Path), help="Train on this store of counts instead of a text.")
@click.option("-o", "--output", required=True, type=LocalOutput("models"), help="Folder for the model.")
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
@led_by_rank_0
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
    """Train a model on CORPUS: files, globs, directories or URIs, plain or compressed, one sentence per line.

    Tables (.parquet, .arrow, .feather, .jsonl, .csv, .tsv) and dumps of Wikipedia (.xml.bz2) are read as well. Without
    --tokenizer, white space separates words.

    After an interruption, give the same command again, or --resume, and training goes on from there. Started by
    torchrun, all its processes train one model.
    """
    given, output = output, real_output(output)
    work = checkpoint_beside(output)
    command: dict[str, Any] = {
        "corpus": [absolute(name) for name in corpus],
        "counts": counts and absolute(str(counts)),
        "overwrite": overwrite,
        "settings": {name: value for name, value in options.items() if value is not None},
    }
    if (phrases := command["settings"].get("phrases", AUTO)) != AUTO:
        command["settings"]["phrases"] = absolute(phrases)
    if str(options["tokenizer"]).endswith(".json"):
        command["settings"]["tokenizer"] = absolute(options["tokenizer"])
    if resume:
        command = command_to_resume(ctx, work)
    elif bool(corpus) == bool(counts):
        raise click.UsageError("give either a text, CORPUS, or --counts", ctx)
    elif counts and (decided := [name for name in OF_COUNTS if name in command["settings"]]):
        raise click.UsageError(
            f"the counts were made with their own {' and '.join(decided)}: count again for another value", ctx
        )
    column = command["settings"].get("column")
    for name in command["corpus"] or ():
        if Path(name, MANIFEST).is_file():
            raise click.UsageError(f"{name} holds counts and no text: pass --counts {name}", ctx)
    corpus_read = as_corpus(command["corpus"], column=column) if command["corpus"] else None
    refuse_output(output, work, command, corpus_read)
    refuse_to_overwrite(output, work, command)
    started = default_timer()
    with locked(work):
        remove_leftovers(work.parent, work.name)
        model = finished_before(output, work, command)
        if model is None:
            try:
                refuse_to_overwrite(output, work, command)  # Another process may just have finished such a model.
                prepare(work, command)
            except BaseException:
                if os.listdir(work) == [LOCK]:
                    remove(work)
                raise
            model = train_and_save(command, corpus_read, output, work)
        remove(work)
    facts = {
        "model": str(given),
        "words": len(model.wv),
        "vector_size": model.vector_size,
        "solver": model.solver,
        "epochs": model.epochs,
        "tokens": model.corpus_total_words,
        "seconds": round(default_timer() - started, 2),
    }
    line = (
        f"{given}: {how_many(len(model.wv), 'word')}, {how_many(model.vector_size, 'dimension')}, "
        f"from {how_many(model.corpus_total_words, 'token')} by {model.solver}, {facts['seconds']:.1f} s"
    )
    show(facts, line, as_json)


def real_output(output: Path) -> Path:
    """Return where the model goes: a symbolic link stays one, and the present folder gets its name."""
    has_other_name = output.is_symlink() or output.name in ("", "..")
    return Path(os.path.realpath(output)) if has_other_name else output


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
        command = read_command(work)
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no interrupted training to go on with: {work} does not exist") from None
    now = {name: ctx.params[name] for name in OF_MACHINE if ctx.params[name] is not None}
    return {**command, "settings": {**command["settings"], **now}}


def read_command(work: Path) -> dict[str, Any]:
    """Read the command of an interrupted training; whatever is wrong with the file is a ValueError that names it."""
    path = work / COMMAND
    with damage_named(path, "the command of an interrupted training"):
        command: dict[str, Any] = read_json(path)
        is_right = (
            all(isinstance(name, str) for name in command["corpus"])
            and isinstance(command["counts"], str | None)
            and isinstance(command["overwrite"], bool)
            and all(name in OPTIONS for name in dict(command["settings"]))
        )
        if not is_right:
            raise ValueError(f"it holds {command}")
    return command


def essence(command: dict[str, Any]) -> Any:
    """Return what the result of a command depends on."""
    settings = {name: value for name, value in command["settings"].items() if name not in OF_MACHINE}
    return command["corpus"], command["counts"], settings


def prepare(work: Path, command: dict[str, Any]) -> None:
    """Keep the command for --resume; refuse the remains of another command, or remove them with --overwrite."""
    path = work / COMMAND
    if path.exists() and essence(read_command(work)) != essence(command):
        if not command["overwrite"]:
            raise FileExistsError(
                f"{work} is left by an interrupted training with another text or other options: go on with it by "
                "--resume, or start anew by --overwrite"
            )
        for remains in work.glob("training-*"):
            remove(remains)
    write_whole(path, json.dumps(command, indent=1).encode())


def train_and_save(command: dict[str, Any], corpus: Corpus | None, output: Path, work: Path) -> HilbertMLE:
    """Train the model and save it.

    An error leaves nothing behind, except what is finished, words, counts and epochs: it may have taken days.
    """
    try:
        model = fit(command, corpus, work)
        save(model, output, work, command)
    except BaseException as error:
        failed = isinstance(error, Exception) and not is_interruption(error)
        kept = [f"training-*/{CHECKPOINT}", f"training-*/counts.partial/{JOURNAL}"] if failed else ["training-*/*"]
        if not isinstance(error, TypeError | ValueError):  # after which other options are needed, or other texts
            kept.append(f"training-*/counts/{MANIFEST}")
        if isinstance(error, OSError) and not isinstance(error, CorpusChanged):
            kept.append(f"training-*/{SCAN}")
        if any(path for pattern in kept for path in work.glob(pattern)):
            below = "\n" if sys.stderr.isatty() else ""  # a terminal has written ^C
            click.echo(f"{below}unfinished; to go on: gensim-hilbert train --resume -o {output}", err=True)
        else:
            remove(work)
        raise
    return model


def fit(command: dict[str, Any], corpus: Corpus | None, work: Path) -> HilbertMLE:
    """Make the Python call that a command stands for."""
    from gensim_hilbert.model import HilbertMLE

    settings = {**command["settings"], "checkpoint": work}
    if command["counts"]:
        return HilbertMLE.from_counts(PairCounts.open(command["counts"]), **settings)
    return HilbertMLE(corpus_file=corpus, **settings)


def refuse_output(output: Path, work: Path, command: dict[str, Any], corpus: Corpus | None) -> None:
    """Refuse to write where the text or the counts are."""
    for path in (output, work):
        refuse_inputs(path, corpus.names if corpus else [])
        if command["counts"]:
            refuse_inputs(path, [command["counts"]], inside=True)


def refuse_to_overwrite(output: Path, work: Path, command: dict[str, Any]) -> None:
    """Refuse to overwrite before hours of work, not after them."""
    refuse_foreign(str(work), reason_to_keep_checkpoint)
    if not is_placed(output, work):
        refuse_foreign(str(output), partial(reason_to_keep, overwrite=command["overwrite"]))


def reason_to_keep_checkpoint(path: str) -> str | None:
    """Tell why a folder must not be used for checkpoints; None if `train` has left it, or it is empty."""
    if os.path.isdir(path) and not os.path.islink(path):
        names, lock = os.listdir(path), os.path.join(path, LOCK)
        is_left_by_training = (
            not {COMMAND, LOCK}.isdisjoint(names)
            and all(PART_OF_CHECKPOINT.fullmatch(name) or TEMPORARY.fullmatch(name) for name in names)
            and not (os.path.isfile(lock) and os.path.getsize(lock))  # Ours is empty.
        )
        if is_left_by_training or not names:
            return None
    return "is where checkpoints would be written, and holds something else; choose another name for the model"


def save(model: HilbertMLE, output: Path, work: Path, command: dict[str, Any]) -> None:
    """Save the model under another name, and then rename it.

    A note tells a command that is killed before its checkpoint is removed that this is its model.
    """
    fresh = work / MODEL / output.name
    remove(fresh.parent)
    model.save_pretrained(fresh)
    write_whole(work / PLACED, json.dumps(read_manifest(fresh)["crc32"]).encode())
    keep_edited_card(output, fresh)
    replace_folder(fresh, output, partial(reason_to_keep, overwrite=command["overwrite"]))


def is_placed(output: Path, work: Path) -> bool:
    """Tell whether the model that was trained in a folder of checkpoints is in its place already."""
    try:
        return is_model_folder(output) and bool(read_json(work / PLACED) == read_manifest(output)["crc32"])
    except (FileNotFoundError, ValueError):
        return False


def finished_before(output: Path, work: Path, command: dict[str, Any]) -> HilbertMLE | None:
    """Return the model if this very command was killed when only the removal of its checkpoint was left."""
    if not is_placed(output, work) or essence(read_command(work)) != essence(command):
        return None
    from gensim_hilbert.model import HilbertMLE

    return HilbertMLE.from_pretrained(output, counts=False)

"""Writes a model as a folder, and makes a model of such a folder again. layout.py describes the files."""

from __future__ import annotations

import logging
import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from gensim.models import Word2Vec

from gensim_hilbert import __version__
from gensim_hilbert.automatic import AUTO
from gensim_hilbert.counting import layout as store_layout
from gensim_hilbert.counting import store
from gensim_hilbert.counting.ownership import link_or_copy
from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.files import Staging, manifest_checksum, naming, refuse_foreign, to_json
from gensim_hilbert.locations import AnyPath, is_local, name_of
from gensim_hilbert.model_files import LearntFrom
from gensim_hilbert.model_ranks import by_rank_0
from gensim_hilbert.model_training import vectors_crc
from gensim_hilbert.objectives import Objective
from gensim_hilbert.phrases.applying import is_auto
from gensim_hilbert.phrases.table import Phrases
from gensim_hilbert.pretrained import hub, state
from gensim_hilbert.pretrained.card import CardFacts, card_of
from gensim_hilbert.pretrained.layout import (
    CARD,
    COUNTS,
    FORMAT,
    HISTORY,
    MANIFEST,
    PHRASES,
    SCHEMA,
    VECTORS,
    WORDS,
    check_files,
    keep_edited_card,
    parse_file,
    read_manifest,
    read_words,
    reason_to_keep,
    word_tensors,
)
from gensim_hilbert.pretrained.smaller import PackedFile, model_to_write, packed
from gensim_hilbert.tensors import ChecksummedFile, DamagedFile, TensorFile, write_tensors

if TYPE_CHECKING:
    from gensim_hilbert.model import HilbertMLE

logger = logging.getLogger(__name__)

Model = TypeVar("Model", bound="SavedAsFolder")
PACKAGES = ("gensim", "numpy", "scipy", "torch")  # whose versions are kept with a model
MAPS = ("c", "r", None)


class SavedAsFolder(Word2Vec):
    """Saving and loading without pickle, for models that may come from anywhere."""

    @by_rank_0
    def save_pretrained(
        self,
        save_directory: AnyPath,
        *,
        counts: bool = True,
        license: str | None = None,
        language: str | list[str] | None = None,
        overwrite: bool = True,
        dtype: str = "float32",
        max_vocab: int | None = None,
        pca: int | None = None,
    ) -> None:
        """Save the model as a folder without pickle, which `from_pretrained` loads, wherever it comes from.

        The folder appears whole or not at all. It takes the place of a model folder that is there already; anything
        else that is there is an error. A model card that somebody has edited stays as it is.

        Attributes that you have added to the model yourself, and the words that `keep_raw_vocab=True` has kept, are not
        saved; `save` keeps them.

        Parameters
        ----------
        save_directory : path
            The folder.
        counts : bool
            Whether to save the pair counts, too, with which training can go on. They are not copied if the file system
            has hard links.
        license : str, optional
            License of the model, for its card, as the Hugging Face Hub writes it: "cc-by-4.0".
        language : str or list of str, optional
            Languages of the text, for the card: "en".
        overwrite : bool
            Whether to replace a model folder that is there. If not, it is an error.
        dtype : {"float32", "float16", "int8"}
            How numbers are written. "float16" takes half of the space, "int8", with one scale per row, a quarter. A
            loaded model has float32 in memory.
        max_vocab : int, optional
            Write so many of the most frequent words only, without counts.
        pca : int, optional
            Write vectors and covectors along so many of the vectors' strongest axes only, without counts.
        """
        model, facts = cast("HilbertMLE", self), CardFacts(license, language)
        model = model_to_write(model, dtype, max_vocab, pca)
        write_model(model, save_directory, counts=counts, card=facts, overwrite=overwrite, dtype=dtype)

    @classmethod
    def from_pretrained(
        cls: type[Model],
        name: AnyPath,
        *,
        objective: Objective | None = None,
        counts: bool = True,
        mmap: str | None = "c",
        verify: bool = True,
        revision: str | None = None,
        token: str | bool | None = None,
        cache_dir: AnyPath | None = None,
        local_files_only: bool = False,
    ) -> Model:
        """Load a model from a folder that `save_pretrained` wrote, or from the Hugging Face Hub.

        No code from the folder is run, and nothing that it names is imported. Whatever is damaged is an error that
        names the file.

        Parameters
        ----------
        name : path or str
            A folder; or, if there is none of that name, a repository on the Hub, "user/name". The latter needs the
            extra [hub].
        objective : Objective, optional
            The objective that the model was trained with, if it is of a class of your own. Without it, the model
            answers, but cannot be trained further.
        counts : bool
            Whether to open the pair counts, if the folder has some. Without them, training on starts from the vectors.
        mmap : {"c", "r", None}
            How vectors are loaded. "c" maps them copy-on-write: they are read when they are needed and shared between
            processes until somebody writes to them; they can be changed and trained, and the files stay as they are.
            "r" maps them read-only. None reads them into memory. Vectors that were written as float16 or int8 are
            always read into memory.
        verify : bool
            Whether to compare the vectors with their checksum, for which they are read once. Everything else is always
            compared. With False, loading takes the same time for vectors of any size.
        revision, token, cache_dir, local_files_only
            For the Hub, as in `huggingface_hub.snapshot_download`.
        """
        if mmap not in MAPS:
            raise ValueError(f"mmap must be 'c', 'r' or None, got {mmap!r}")
        folder = Path(name_of(name))
        if not os.path.lexists(folder) and hub.may_be_repository(name):
            folder = hub.download(
                str(name),
                counts=counts,
                revision=revision,
                token=token,
                cache_dir=cache_dir,
                local_files_only=local_files_only,
            )
        kind, request = cast("type[HilbertMLE]", cls), LoadRequest(objective, counts, mmap, verify)
        return cast("Model", read_unchanged(kind, folder, request))

    @by_rank_0
    def push_to_hub(
        self,
        repo_id: str,
        *,
        counts: bool = False,
        license: str | None = None,
        language: str | list[str] | None = None,
        private: bool | None = None,
        revision: str | None = None,
        commit_message: str = "Upload a model of gensim_hilbert",
        token: str | bool | None = None,
    ) -> str:
        """Upload the model to the Hugging Face Hub, in one commit; the repository is created if it is not there.

        This needs the extra [hub], and a token that may write, by `hf auth login` or as `token`. If the repository has
        a model card already, that card stays as it is.

        Parameters
        ----------
        repo_id : str
            The repository: "user/name".
        counts : bool
            Whether to upload the pair counts, too. They are often larger than the model. Without them, training on
            starts from the vectors.
        license, language
            For the model card, as in `save_pretrained`.
        private : bool, optional
            Whether a new repository is private.
        revision : str, optional
            The branch to upload to.
        commit_message : str
            The message of the commit.
        token : str or bool, optional
            As in huggingface_hub.

        Returns
        -------
        str
            The address of the commit.
        """
        library = hub.import_hub()
        with TemporaryDirectory(prefix="gensim_hilbert-") as parent:
            folder = Path(parent) / "model"
            facts = CardFacts(license, language, repo_id)
            write_model(cast("HilbertMLE", self), folder, counts=counts, card=facts)
            return hub.upload(
                library, folder, repo_id, token=token, private=private, revision=revision, message=commit_message
            )


# ---------------------------------------------------------------------------------------------------- writing


def write_model(
    model: HilbertMLE,
    folder: AnyPath,
    *,
    counts: bool,
    card: CardFacts,
    overwrite: bool = True,
    dtype: str = "float32",
) -> None:
    """Write a model folder, whole or not at all."""
    model._adopt_added_words()
    name = name_of(folder)
    if not is_local(name):
        raise ValueError(f"a model folder is a folder on this machine, got {name}: write it here, and then copy it")
    target = os.path.realpath(name)  # A symbolic link stays one.
    judge = partial(reason_to_keep, overwrite=overwrite)
    refuse_foreign(target, judge)
    saved_counts = counts_to_save(model) if counts else None
    facts: dict[str, Any] = {
        "format": FORMAT,
        "schema": SCHEMA,
        "words": len(model.wv),
        "settings": state.settings_of(model),
        "objective": state.objective_of(model),
        "state": state.state_of(model),
        "counts": None if saved_counts is None else saved_counts.fingerprint,
        "phrases": AUTO if is_auto(model.phrases) else None,
        "provenance": provenance_of(model),
    }
    if (preparation := model._preparation()) is not None:
        facts["preparation"] = preparation.describe()
    words = word_tensors(model.wv.index_to_key, state.attributes_of(model))
    arrays = packed(state.arrays_of(model), dtype)
    history = to_json(state.history_of(model), indent=1).encode()
    text = card_of(model, card, os.path.basename(target)).encode()
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with Staging() as staging, naming(target):
        fresh = Path(staging.local_folder(target, judge))
        facts["files"] = {
            WORDS: written(fresh / WORDS, lambda file: write_tensors(file, words)),
            VECTORS: written(fresh / VECTORS, lambda file: write_tensors(file, arrays)),
            HISTORY: written(fresh / HISTORY, lambda file: file.write(history)),
        }
        if isinstance(phrases := model.phrases, Phrases):
            facts["files"][PHRASES] = written(fresh / PHRASES, lambda file: file.write(b"".join(phrases.lines())))
        facts["card"] = written(fresh / CARD, lambda file: file.write(text))
        if saved_counts is not None:
            write_counts(saved_counts, fresh / COUNTS)
        facts["crc32"] = manifest_checksum(facts)
        (fresh / MANIFEST).write_bytes(to_json(facts, indent=1).encode())
        keep_edited_card(Path(target), fresh)


def written(path: Path, write: Callable[[ChecksummedFile], None]) -> dict[str, int]:
    """Write a file; returns its size and its checksum, for the manifest."""
    with open(path, "wb") as file:
        checked = ChecksummedFile(file)
        write(checked)
    return {"bytes": checked.bytes, "crc32": checked.crc32}


def counts_to_save(model: HilbertMLE) -> PairCounts | None:
    """Return the counts of a model, or None and a warning if they are no longer where they were."""
    counts = model.counts
    if counts is not None and not (counts.directory / store_layout.MANIFEST).exists():
        logger.warning("%s is gone, so the model is saved without its counts", counts.directory)
        return None
    return counts


def write_counts(counts: PairCounts, folder: Path) -> None:
    """Write a store of the same counts, which does not tell where their text lay."""
    manifest, directory = counts.manifest, counts.local_directory()
    for part in manifest["files"]:
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(str(directory / part), str(folder / part))
    manifest["request"] = None
    manifest["crc32"] = manifest_checksum(manifest)
    (folder / store_layout.MANIFEST).write_bytes(to_json(manifest, indent=1).encode())


def provenance_of(model: HilbertMLE) -> dict[str, Any]:
    """Return what a model was made by and from."""
    versions = {"python": platform.python_version(), "gensim_hilbert": __version__}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return {
        "versions": versions,
        "texts": [record.get("fingerprint") for record in model.trained_on],
        "counts": model.trained_on[-1].get("counts") if model.trained_on else None,
    }


# ---------------------------------------------------------------------------------------------------- reading


@contextmanager
def blaming(path: Path) -> Iterator[None]:
    """Turn errors about what a file says into one that names the file."""
    try:
        yield
    except (DamagedFile, store.StoreError):
        raise
    except KeyError as error:
        raise DamagedFile(path, f"it does not know {error.args[0]!r}") from error
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise DamagedFile(path, error) from error


class LoadRequest(NamedTuple):
    """How a folder is to be loaded."""

    objective: Objective | None = None
    counts: bool = True
    mmap: str | None = "c"
    verify: bool = True


def read_unchanged(kind: type[HilbertMLE], folder: Path, request: LoadRequest) -> HilbertMLE:
    """Make a model of a folder; begin again if another model has taken its place in the meantime."""
    while True:
        manifest = read_manifest(folder)
        try:
            model = read_model(kind, folder, manifest, request)
        except (ValueError, OSError):
            if read_manifest(folder) == manifest:
                raise
        else:
            if read_manifest(folder) == manifest:
                return model


def read_model(kind: type[HilbertMLE], folder: Path, manifest: dict[str, Any], request: LoadRequest) -> HilbertMLE:
    """Make a model of the files that a manifest describes."""
    check_files(folder, manifest, verify=request.verify)
    with blaming(folder / MANIFEST):
        built_in, shown = state.built_in_objective(manifest["objective"]), str(manifest["objective"]["shown"])
        number, counts = state.state_value("words", manifest["words"], int), manifest["counts"]
    objective = state.chosen_objective(built_in, shown, request.objective)
    with blaming(folder / MANIFEST):
        model = state.new_model(kind, manifest["settings"], objective)
        state.set_state(model, manifest["state"])
        model._take_preparation(manifest.get("preparation"))
    model.phrases = AUTO if is_auto(manifest.get("phrases")) else None
    if PHRASES in manifest["files"]:
        model.phrases = Phrases.load(folder / PHRASES)
    with blaming(folder / WORDS):
        state.set_words(model, *read_words(folder, number))
    with blaming(folder / VECTORS):
        file = PackedFile(TensorFile(folder / VECTORS))
        state.refuse_shapes(file.found, state.expected_shapes(model, number))
        if number and (missing := next(state.missing_arrays(model, set(file.found)), None)):
            raise DamagedFile(folder / VECTORS, f"it has no {missing}")
        state.set_arrays(model, set(file.found), lambda name: file.read(name, request.mmap))
        if file.is_packed and model._vectors_crc is not None:
            model._vectors_crc = vectors_crc(model)  # Rounding them is no change by the user.
    with blaming(folder / HISTORY):
        state.set_history(model, parse_file(folder / HISTORY))
    if request.counts and counts is not None:
        model.counts = open_counts(folder / COUNTS, counts)
    if model.counts is None and model.learnt_from is LearntFrom.COUNTS:
        model.learnt_from = LearntFrom.LOST_COUNTS
    return model


def open_counts(path: Path, fingerprint: str) -> PairCounts | None:
    """Open the counts of a model folder; warn if they have been deleted, and refuse those of another model."""
    if not path.exists():
        logger.warning("%s does not exist, so the model is without its counts", path)
        return None
    hint = "from_pretrained(..., counts=False) loads the model without its counts"
    try:
        with blaming(path):
            counts = PairCounts.open(path)
    except (ValueError, OSError) as error:
        raise ValueError(f"{error}; {hint}") from error
    if counts.fingerprint != fingerprint:
        raise DamagedFile(path, f"it holds the counts of another model; {hint}")
    return counts

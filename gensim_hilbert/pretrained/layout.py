"""The files of a model folder, and the checks that they pass before anything is made of them.

    config.json          the manifest: settings, state, sizes and checksums; a folder without it is not a model
    words.safetensors    the words as UTF-8, the length of each, and their attributes, such as how often each occurs;
                         words that are not str are written as JSON, as keys.py says
    model.safetensors    vectors, covectors, and whatever else has been learnt
    history.json         the records of training, gensim's events, and the texts that were learnt from
    phrases.jsonl        the phrases that are joined in its texts, if there are any
    counts/              a store of pair counts, if the model has some
    README.md            the model card, which may be edited

The manifest has the sizes and checksums of the other files. docs/formats.md describes every byte.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import numpy as np

from gensim_hilbert.counting import ownership
from gensim_hilbert.files import manifest_checksum, read_json
from gensim_hilbert.keys import pack_keys, unpack_keys
from gensim_hilbert.tensors import DamagedFile, TensorFile, file_crc32, regular_size
from gensim_hilbert.untrusted import is_shallow

logger = logging.getLogger(__name__)

FORMAT = "gensim_hilbert model"
SCHEMA = 1
MANIFEST = "config.json"
WORDS = "words.safetensors"
VECTORS = "model.safetensors"
HISTORY = "history.json"
FILES = (WORDS, VECTORS, HISTORY)  # whose sizes and checksums are in the manifest
PHRASES = "phrases.jsonl"  # which need not be there
COUNTS = "counts"
CARD = "README.md"
OURS = {MANIFEST, *FILES, PHRASES, COUNTS, CARD}
HUB_CACHE = ".cache"
FROM_HUB = {".gitattributes", HUB_CACHE}  # what huggingface_hub adds to a folder that it downloads
FOLDERS = {COUNTS, HUB_CACHE}
LARGEST_MANIFEST = 1 << 24  # bytes
UTF8, LENGTHS, ARE_JSON = "utf8", "lengths", "are_json"  # tensors of WORDS
ATTRIBUTE = "attribute."  # the beginning of the names of others


# ---------------------------------------------------------------------------------------------------- the manifest


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a model folder, or raise an error if there is none that this version can read."""
    path = folder / MANIFEST
    if not folder.is_dir():
        if not os.path.lexists(folder):
            raise FileNotFoundError(f"{folder} does not exist")
        raise NotADirectoryError(
            f"{folder} is a file, not a model folder; HilbertMLE.load reads models that were saved by `save`"
        )
    if not path.exists():
        raise ValueError(f"{folder} is not a model folder: it has no {MANIFEST}")
    if regular_size(path) > LARGEST_MANIFEST:
        raise DamagedFile(path, f"it has more than {LARGEST_MANIFEST} bytes")
    manifest = parse_file(path)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ValueError(f"{path} does not describe a model of gensim_hilbert")
    if not isinstance(manifest.get("schema"), int) or manifest["schema"] > SCHEMA:
        raise ValueError(
            f"{path} has schema {manifest.get('schema')!r}, this version reads up to {SCHEMA}: upgrade gensim_hilbert"
        )
    if not is_shallow(manifest) or manifest.get("crc32") != manifest_checksum(manifest):
        raise DamagedFile(path, "its checksum does not match")
    return manifest


def parse_file(path: Path) -> Any:
    """Return what a file with JSON says; whatever is wrong with it is a DamagedFile."""
    try:
        return read_json(path)
    except ValueError as error:
        raise DamagedFile(path, error) from None


def check_files(folder: Path, manifest: dict[str, Any], *, verify: bool) -> None:
    """Compare sizes with the manifest, and checksums, too: those of large files only if asked to."""
    files = manifest.get("files")
    if not isinstance(files, dict) or set(files) - {PHRASES} != set(FILES):
        raise DamagedFile(folder / MANIFEST, f"its files are not {', '.join(FILES)}")
    for name in files:
        path, facts = folder / name, files[name]
        size = regular_size(path)
        if not isinstance(facts, dict) or facts.get("bytes") != size:
            raise DamagedFile(path, f"it has {size} bytes, which is not what {MANIFEST} says")
        if (verify or name != VECTORS) and file_crc32(path) != facts.get("crc32"):
            raise DamagedFile(path, "its checksum does not match")


def is_model_folder(folder: str | os.PathLike[str]) -> bool:
    """Tell whether a folder is a model of ours, whole or damaged: its manifest says so."""
    path = Path(folder) / MANIFEST
    try:
        if regular_size(path) > LARGEST_MANIFEST:
            return False
        manifest = read_json(path)
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT


def reason_to_keep(path: str, *, overwrite: bool = True) -> str | None:
    """Tell why something must not be replaced by a model folder; None if it is empty, or a model to overwrite."""
    found = set(os.listdir(path)) if os.path.isdir(path) else None
    if found == set():
        return None
    if found is None or not is_model_folder(path):
        return "exists and is not a model folder: choose another name, or move it away"
    if strange := sorted(foreign_parts(os.fspath(path), found)):
        return (
            f"holds {strange[0]!r} besides a model, which would be lost if another model took its place: move it away, "
            "or choose another name"
        )
    return None if overwrite else "exists: choose another name, or pass overwrite=True (--overwrite)"


def foreign_parts(path: str, names: set[str]) -> set[str]:
    """Return what is in a model folder and cannot be ours, nor made by huggingface_hub."""
    foreign = {name for name in names if not ownership.is_plain(os.path.join(path, name), folder=name in FOLDERS)}
    foreign |= names - OURS - FROM_HUB
    counts, cache = (os.path.join(path, name) for name in (COUNTS, HUB_CACHE))
    if os.path.isdir(counts):
        foreign |= {f"{COUNTS}/{name}" for name in ownership.foreign_parts(counts, ownership.STORE_NAMES)}
    if os.path.isdir(cache):
        foreign |= {f"{HUB_CACHE}/{name}" for name in os.listdir(cache) if name != "huggingface"}
    return foreign


def keep_edited_card(before: Path, fresh: Path) -> None:
    """Keep the card of the model that is replaced, if somebody has edited it."""
    card = before / CARD
    if not card.is_file():
        return
    try:
        said = read_manifest(before)["card"]["crc32"]
    except (OSError, ValueError, KeyError, TypeError):
        said = None  # Nobody knows what it was, so it stays.
    if file_crc32(card) != said:
        (fresh / CARD).write_bytes(card.read_bytes())
        logger.warning("%s has been edited and stays as it is; delete it before saving to have a new one", card)


# ---------------------------------------------------------------------------------------------------- words


def in_utf8(word: str) -> bytes:
    """Return a word as bytes, or raise an error if it has none."""
    try:
        return word.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"a model folder cannot hold the word {word!r}, which has no UTF-8 (it has half of a surrogate pair): "
            "remove the word, or use `save`"
        ) from None


def word_tensors(words: list[Any], attributes: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return words and their attributes as the tensors of WORDS."""
    encoded, are_json = pack_keys(words, in_utf8)
    return {
        UTF8: np.frombuffer(b"".join(encoded), dtype=np.uint8),
        LENGTHS: np.fromiter(map(len, encoded), dtype=np.uint32, count=len(encoded)),
        **({} if are_json is None else {ARE_JSON: are_json}),
        **{ATTRIBUTE + name: values for name, values in attributes.items()},
    }


def read_words(folder: Path, number: int) -> tuple[list[Any], dict[str, np.ndarray]]:
    """Return the words of a folder, of which there must be so many, and their attributes."""
    file = TensorFile(folder / WORDS)
    kinds = {name: (str(tensor.dtype), len(tensor.shape)) for name, tensor in file.tensors.items()}
    if kinds.get(UTF8) != ("uint8", 1) or kinds.get(LENGTHS) != ("uint32", 1):
        raise DamagedFile(file.path, f"{UTF8} and {LENGTHS} are not lists of bytes and of numbers")
    if kinds.get(ARE_JSON, ("uint8", 1)) != ("uint8", 1):
        raise DamagedFile(file.path, f"{ARE_JSON} is not a list of bytes")
    attributes = {}
    for name, tensor in file.tensors.items():
        if name != UTF8 and tensor.shape[:1] != (number,):
            raise DamagedFile(file.path, f"{name} has the shape {tensor.shape}, but there are {number} words")
        if name.startswith(ATTRIBUTE) and len(tensor.shape) < 4:
            attributes[name.removeprefix(ATTRIBUTE)] = file.read(name, None)
    data = file.read(UTF8, None).tobytes()
    ends = np.cumsum(file.read(LENGTHS, None), dtype=np.int64).tolist()
    if (ends[-1] if ends else 0) != len(data):
        raise DamagedFile(file.path, "the lengths of its words do not add up")
    are_json = file.read(ARE_JSON, None) if ARE_JSON in kinds else None
    parts = (data[start:end] for start, end in zip([0, *ends], ends, strict=False))
    try:
        words = unpack_keys(parts, are_json, bytes.decode)
    except ValueError as error:
        raise DamagedFile(file.path, error) from None
    return words, attributes

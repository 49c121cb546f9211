"""The kinds of files that this package reads, each as a `Subject`: how a small one is made, and how it is read."""

from __future__ import annotations

import json
import shutil
import tempfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from consumers import random_vectors
from crafted import rewrite_manifest
from damage import Subject
from frozen_stores import FOLDER as FROZEN
from gensim.test.utils import common_texts

import gensim_hilbert.corpus.blocks
from gensim_hilbert import PairCounts, Vocabulary
from gensim_hilbert.cli.train import read_command
from gensim_hilbert.counting import build, plan
from gensim_hilbert.counting.journal import Journal, checksum
from gensim_hilbert.counting.layout import JOURNAL
from gensim_hilbert.counting.ownership import link_or_copy
from gensim_hilbert.export import export, load_vectors
from gensim_hilbert.files import manifest_checksum, to_json
from gensim_hilbert.model_files import find_counts
from gensim_hilbert.training.checkpoint import Checkpoint
from gensim_hilbert.word_scan import NothingToCount

WORDS = ["cat", "dog", "naïve", "日本語", "New", "x", "yy", "zzz"]

# ---------------------------------------------------------------------------------------------------- counts


def frozen(name: str) -> Callable[[Path], None]:
    """A function that copies one of the stores that are kept."""
    return lambda folder: shutil.copytree(FROZEN / name, folder, dirs_exist_ok=True)


def read_store(folder: Path) -> Any:
    """All that a store holds, and what adding it to itself gives."""
    counts = PairCounts.open(folder)
    counts.verify()
    table = counts.to_scipy()
    both = PairCounts.merge([counts, counts], workers=1)
    return (
        counts.fingerprint, counts.vocabulary.words, counts.vocabulary.counts.tolist(), counts.vocabulary.tokens,
        table.indices.tolist(), table.indptr.tolist(), table.data.tolist(), both.to_scipy().sum(),
        [part.tolist() for part in counts.marginals],
    )  # fmt: skip


def craft_store(folder: Path) -> None:
    """Set checksums and sizes of a damaged store right, as far as it can still be read."""
    with suppress(Exception):
        index = np.load(folder / "index.npy")
        for number, (row_class, _, offset, entries, count_bytes, _) in enumerate(index.tolist()):
            length = entries * (count_bytes + 4)
            data = (folder / "shards" / f"{row_class:02d}.bin").read_bytes()
            index[number, 5] = zlib.crc32(data[offset : offset + length + -length % 8])
        np.save(folder / "index.npy", index)
    rewrite_manifest(folder)


def read_beside_model(folder: Path) -> Any:
    """The counts beside a model, or None if they cannot be used; loading a model warns then."""
    fingerprint = json.loads((FROZEN / "symmetric" / "manifest.json").read_text())["fingerprint"]
    counts = find_counts(folder / "model", None, fingerprint)
    return None if counts is None else counts.to_scipy().data.tolist()


# ---------------------------------------------------------------------------------------------------- counting

TEXT = b"".join(b"the cat %d sat on the mat of the dog %d and slept there\n" % (k % 7, k % 5) for k in range(60))
BLOCK_BYTES = 500  # so that there are several runs


class Counting:
    """A count that was interrupted when all its runs were there. Its text lies beside the folder and stays whole."""

    text: Path

    def make(self, folder: Path) -> None:
        self.text = folder.with_name("text.txt")
        self.text.write_bytes(TEXT)
        with pytest.MonkeyPatch.context() as patch, suppress(KeyboardInterrupt):
            patch.setattr(build, "finish", interrupt)
            self.count(folder)

    def count(self, folder: Path) -> PairCounts:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gensim_hilbert.corpus.blocks, "BLOCK_BYTES", BLOCK_BYTES)
            patch.setattr(build, "BLOCK_BYTES", BLOCK_BYTES)
            patch.setattr(plan, "BLOCK_BYTES", BLOCK_BYTES)
            return PairCounts.from_corpus(
                self.text, directory=folder / "counts", window=3, min_count=1, sample=0.05, workers=1, progress=False
            )

    def read(self, folder: Path) -> Any:
        with tempfile.TemporaryDirectory() as parent:  # The whole one is read, too, and must stay as it is.
            shutil.copytree(folder, Path(parent) / "copy", symlinks=True, copy_function=link_or_copy)
            try:
                return self.count(Path(parent) / "copy").fingerprint
            except NothingToCount:
                return "nothing"  # Somebody has crafted runs without pairs.
            except (ValueError, OSError) as error:
                raise type(error)(str(error).replace(parent, str(folder.parent))) from error

    def craft(self, folder: Path) -> None:
        """Set the checksums of runs and lines right, as far as the journal can still be read."""
        work = folder / "counts.partial"
        lines = [json.loads(line)[1] for line in (work / JOURNAL).read_bytes().splitlines()]
        lines[0]["words"] = Journal(work).words_checksum()
        for entry in lines[1:]:
            for run in [entry["run"]] if "of" in entry else entry["runs"]:
                data = (work / run[0]).read_bytes()
                run[2] = zlib.crc32(data)
                if run[1][-2] <= len(data):
                    run[1][-1] = len(data)
        (work / JOURNAL).write_text("".join(f"[{checksum(entry)}, {to_json(entry)}]\n" for entry in lines))


def interrupt(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


# ---------------------------------------------------------------------------------------------------- training


class Training:
    """A checkpoint after three epochs, with the one before it."""

    def __init__(self) -> None:
        self.request = {"settings": {"vector_size": 5, "gauge": None}, "counts": "abc"}

    def state(self, epochs: int) -> tuple[int, dict[str, Any], dict[str, list[float]]]:
        arrays = {name: (np.arange(12.0).reshape(3, 4) * epochs).tolist() for name in ("w", "v")}
        return epochs, {"history": [{"loss": 0.5}] * epochs, "done": 17 * epochs}, arrays

    def make(self, folder: Path) -> None:
        checkpoint = Checkpoint(folder, self.request)
        for epochs in (1, 2, 3):
            _, facts, arrays = self.state(epochs)
            checkpoint.write(epochs, facts, [(name, np.array(rows)) for name, rows in arrays.items()])

    def read(self, folder: Path) -> Any:
        saved = Checkpoint(folder, self.request).load()
        assert saved is not None, "a checkpoint is there"
        return saved.epochs, saved.facts, {name: saved.array(name).tolist() for name in ("w", "v")}

    def expected(self, folder: Path) -> list[Any]:
        return [self.state(2)]

    def craft(self, folder: Path) -> None:
        """Set the checksums of manifests right."""
        for path in folder.glob("*.json"):
            with suppress(Exception):
                manifest = json.loads(path.read_bytes())
                path.write_text(json.dumps(manifest | {"crc32": manifest_checksum(manifest)}))


# ---------------------------------------------------------------------------------------------------- vectors


def exported(name: str, form: str) -> Subject:
    """Vectors in one of the formats that are written."""

    def read(folder: Path) -> Any:
        vectors = load_vectors(folder / name)
        assert vectors.vectors.shape == (len(vectors.index_to_key), vectors.vector_size)
        assert all(isinstance(word, str) for word in vectors.index_to_key)
        vectors.most_similar(vectors.index_to_key[0], topn=1)
        return vectors.index_to_key, vectors.vectors.tobytes()

    return Subject(lambda folder: export(random_vectors(WORDS), folder / name, format=form) and None, read)


def make_fasttext(folder: Path) -> None:
    """A model by gensim, with n-grams and the matrix that training would go on with."""
    from gensim.models import FastText
    from gensim.models.fasttext import save_facebook_model

    model = FastText(common_texts, vector_size=4, min_count=1, bucket=40, workers=1, epochs=1)
    save_facebook_model(model, str(folder / "model.bin"))


def read_fasttext(folder: Path) -> Any:
    vectors = load_vectors(folder / "model.bin")
    return vectors.index_to_key, vectors.vectors.tobytes(), vectors["unheard-of"].tobytes()


TABLE = np.array([[0, 3, 1.5], [3, 2, 0], [1, 1, 4]])


def table_subject(write: str, read: str, *names: str) -> Subject:
    """Counts in a format of other programs."""

    def make(folder: Path) -> None:
        getattr(PairCounts.from_scipy(TABLE, ["a", "b", "é"]), write)(*(folder / name for name in names))

    def contents(folder: Path) -> Any:
        counts = getattr(PairCounts, read)(*(folder / name for name in names))
        return counts.vocabulary.words, counts.to_scipy().toarray().tolist()

    return Subject(make, contents, links=False)


def write_command(folder: Path) -> None:
    command = {"corpus": ["/text.txt"], "counts": None, "overwrite": False, "settings": {"vector_size": 5}}
    (folder / "command.json").write_text(json.dumps(command))


def write_words(folder: Path) -> None:
    Vocabulary(WORDS, range(len(WORDS))).save(folder / "words.jsonl")


def read_words(folder: Path) -> Any:
    vocabulary = Vocabulary.load(folder / "words.jsonl")
    return vocabulary.words, vocabulary.counts.tolist(), len(vocabulary.table)


counting, training = Counting(), Training()
SUBJECTS = {
    "symmetric": Subject(frozen("symmetric"), read_store, has_checksums=True),
    "two_classes": Subject(frozen("two_classes"), read_store, has_checksums=True),
    "asymmetric": Subject(frozen("asymmetric"), read_store, has_checksums=True),
    "crafted symmetric": Subject(frozen("symmetric"), read_store, repair=craft_store, links=False),
    "crafted two_classes": Subject(frozen("two_classes"), read_store, repair=craft_store, links=False),
    "crafted asymmetric": Subject(frozen("asymmetric"), read_store, repair=craft_store, links=False),
    "counts beside a model": Subject(
        lambda folder: frozen("symmetric")(folder / "model.counts"), read_beside_model, True, lambda folder: [None]
    ),
    "counting": Subject(counting.make, counting.read, has_checksums=True),
    "crafted counting": Subject(counting.make, counting.read, repair=counting.craft, links=False),
    "checkpoint": Subject(training.make, training.read, True, training.expected),
    "crafted checkpoint": Subject(training.make, training.read, repair=training.craft, links=False),
    "word2vec": exported("v.w2v", "word2vec"),
    "word2vec.gz": exported("v.w2v.gz", "word2vec"),
    "word2vec-binary": exported("v.bin", "word2vec-binary"),
    "glove": exported("v.glove", "glove"),
    "numpy": exported("v.npy", "numpy"),
    "parquet": exported("v.parquet", "parquet"),
    "model2vec": exported("static", "model2vec"),
    "fasttext": Subject(make_fasttext, read_fasttext),
    "npz": table_subject("to_npz", "from_npz", "counts.npz"),
    "glove counts": table_subject("to_glove", "from_glove", "cooccurrence.bin", "vocabulary.txt"),
    "command": Subject(write_command, read_command, links=False),
    "vocabulary": Subject(write_words, read_words, links=False),
}

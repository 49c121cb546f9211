"""The formats of exports: a writer for each, and the words that it can hold."""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from gensim_hilbert.compact import DTYPES, halved, quantised, strongest_axes, turned
from gensim_hilbert.corpus.arrow_text import import_pyarrow
from gensim_hilbert.export.recognition import FASTTEXT_START
from gensim_hilbert.files import Staging, refuse_foreign
from gensim_hilbert.keys import key_to_json
from gensim_hilbert.locations import is_local, uncompressed_name
from gensim_hilbert.tensors import header_of
from gensim_hilbert.text_vectors.weighting import Weighting


class VectorTable(NamedTuple):
    """Words and vectors that are exported, and where they come from."""

    words: list[Any]  # str, unless the format holds other keys
    matrix: np.ndarray  # one row per word
    counts: np.ndarray | None  # how often each word occurs, if that is known
    model: Any  # from which it comes
    what: str  # vectors, covectors or sum
    rows: np.ndarray  # the row of each word in the model

    def stored(self, dtype: str) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the matrix as it is written with numbers of this type, and the scales of rows of int8."""
        if dtype == "int8":
            return quantised(self.matrix)
        return (self.matrix if dtype == "float32" else halved(self.matrix)), None


def write_text(staging: Staging, path: str, table: VectorTable, header: bool = True) -> None:
    """Write lines of `word number number ...`, with the shortest numbers that give the same float32 again."""
    with staging.create(path) as file:
        if header:
            file.write(b"%d %d\n" % table.matrix.shape)
        for word, row in zip(table.words, table.matrix, strict=True):
            file.write(f"{word} {' '.join(map(str, row))}\n".encode())


def write_glove(staging: Staging, path: str, table: VectorTable) -> None:
    """Write the same without a header."""
    write_text(staging, path, table, header=False)


def write_binary(staging: Staging, path: str, table: VectorTable) -> None:
    """Write a header, and for each word the word, a space, float32s and a newline, as word2vec in C does."""
    with staging.create(path) as file:
        file.write(b"%d %d\n" % table.matrix.shape)
        for word, row in zip(table.words, table.matrix.astype("<f4", copy=False), strict=True):
            file.write(b"%b %b\n" % (word.encode(), row.tobytes()))


FASTTEXT_VERSION = 12
NEGATIVE_SAMPLING, SKIPGRAM = 2, 2  # fastText's numbers for the training that comes nearest to ours
LINE_END = "</s>"  # the only word for which fastText uses no n-grams


def write_fasttext(staging: Staging, path: str, table: VectorTable) -> None:
    """Write NAME.bin as a model that fastText can load, and any other name as text.

    gensim can write such models of its own, too, but copies all matrices for it, and cannot leave out words.
    """
    from gensim.models.fasttext import FastTextKeyedVectors

    if not uncompressed_name(path).endswith(".bin"):
        return write_text(staging, path, table)
    words, matrix, model = table.words, table.matrix, table.model
    keyed, covectors = getattr(model, "wv", model), getattr(model, "syn1neg", None)
    if matrix.shape[1] != keyed.vector_size:
        raise ValueError("pca= does not work for fastText's .bin, which has covectors and n-grams, too; use .vec")
    bucket = min_n = max_n = 0
    ngrams = matrix[:0]
    if table.what == "vectors" and isinstance(keyed, FastTextKeyedVectors) and keyed.bucket:
        bucket, min_n, max_n, ngrams = keyed.bucket, keyed.min_n, keyed.max_n, keyed.vectors_ngrams
        matrix = keyed.vectors_vocab[table.rows]
        if LINE_END in words:
            matrix[words.index(LINE_END)] = keyed[LINE_END]
    counts = np.ones(len(words), dtype=np.int64) if table.counts is None else np.maximum(table.counts, 1)
    outputs = np.zeros_like(matrix) if covectors is None or len(covectors) != len(keyed) else covectors[table.rows]
    tokens = getattr(model, "corpus_total_words", None) or int(counts.sum())
    settings = (
        matrix.shape[1], getattr(model, "window", 5), getattr(model, "epochs", 5), getattr(model, "min_count", 1),
        round(getattr(model, "negative", 5)), 1, NEGATIVE_SAMPLING, SKIPGRAM, bucket, min_n, max_n, 100,
        getattr(model, "sample", None) or 0.0,
    )  # fmt: skip
    with staging.create(path) as file:
        file.write(FASTTEXT_START + struct.pack("<13id", FASTTEXT_VERSION, *settings))
        file.write(struct.pack("<3i2q", len(words), len(words), 0, tokens, -1))
        for word, count in zip(words, counts.tolist(), strict=True):
            file.write(word.encode() + struct.pack("<xqb", count, 0))
        file.write(struct.pack("<?2q", False, len(words) + bucket, matrix.shape[1]))
        for part in (matrix, ngrams):
            file.write(np.ascontiguousarray(part, dtype="<f4").data)
        file.write(struct.pack("<?2q", False, *outputs.shape))
        file.write(np.ascontiguousarray(outputs, dtype="<f4").data)


MODEL2VEC_FILES = {"tokenizer.json", "config.json", "modules.json", "model.safetensors"}
LONGEST_ROW = 1 << 20  # bytes of a row of vectors.tsv
PROJECTOR_FILES = {"vectors.tsv", "metadata.tsv"}


def write_model2vec(
    staging: Staging,
    path: str,
    table: VectorTable,
    lowercase: bool = False,
    split_punctuation: bool = False,
    dtype: str = "float32",
    weighting: str | None = None,
) -> None:
    """Write a folder like those of `StaticModel.save_pretrained`, which sentence-transformers reads as well.

    The mean of its rows is what `encode` does with this weighting; by default, "sif" for vectors of a model that has
    such a method.
    """
    default = "sif" if table.what == "vectors" and hasattr(table.model, "encode") else "mean"
    settings = Weighting.of(weighting or default, 1e-3, None, None)
    if not settings.is_plain:
        if table.what != "vectors":
            raise ValueError(f"weighting={weighting!r} needs what='vectors', got what={table.what!r}")
        from gensim_hilbert.text_vectors.encoder import TextEncoder  # It loads gensim.

        rows = TextEncoder(getattr(table.model, "wv", table.model), settings).word_rows(table.rows)
        if rows.shape[1] > table.matrix.shape[1]:  # What is averaged has other strong axes than the vectors of words.
            rows = turned(rows, strongest_axes(rows, table.matrix.shape[1]))
        table = table._replace(matrix=rows)
    folder = staging.folder(path, reason_to_keep_model2vec)
    unknown = "[UNK]"
    while unknown in table.words:
        unknown = f"[{unknown}]"
    vocabulary = {word: row for row, word in enumerate([*table.words, unknown])}
    tokenizer: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"} if lowercase else None,
        "pre_tokenizer": {"type": "Whitespace" if split_punctuation else "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": unknown},
    }
    size = table.matrix.shape[1]
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "hidden_dim": size,
        "normalize": not settings.is_plain,
        "max_length": None,  # texts are not cut off
        "embedding_dtype": dtype,
    }
    modules = [{"idx": 0, "name": "0", "path": ".", "type": "sentence_transformers.models.StaticEmbedding"}]
    for name, content in (("tokenizer.json", tokenizer), ("config.json", config), ("modules.json", modules)):
        with staging.create(f"{folder}/{name}") as file:
            file.write(json.dumps(content, ensure_ascii=False).encode())
    matrix, scales = table.stored(dtype)
    tensors: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] = {"embeddings": (matrix.dtype, (len(vocabulary), size))}
    if scales is not None:  # model2vec multiplies rows by their weights.
        tensors = {"weights": (scales.dtype, (len(vocabulary),)), **tensors}
    # The writer of safetensors would need the matrix and the zeros of the unknown word in one array.
    with staging.create(f"{folder}/model.safetensors") as file:
        file.write(header_of(tensors, {"format": "pt"}))
        for part in (matrix,) if scales is None else (scales, matrix):
            file.write(part.astype(part.dtype.newbyteorder("<"), copy=False).data)
            file.write(bytes(part.dtype.itemsize * (size if part.ndim == 2 else 1)))


def reason_to_keep_model2vec(path: str) -> str | None:
    """Tell why something must not be replaced by a static model; None if it is such an export, or an empty folder."""
    reason = reason_to_keep_folder(path, MODEL2VEC_FILES)
    if reason is None and os.listdir(path):
        with suppress(OSError, ValueError, AttributeError), open(os.path.join(path, "config.json"), "rb") as file:
            if json.load(file).get("model_type") == "model2vec":
                return None
        reason = "is not replaced, because its config.json is not that of a static model; choose another folder"
    return reason


def reason_to_keep_projector(path: str) -> str | None:
    """Tell why something must not be replaced by an export for TensorBoard; None if it is one, or an empty folder."""
    reason = reason_to_keep_folder(path, PROJECTOR_FILES)
    if reason is None and os.listdir(path):
        with open(os.path.join(path, "vectors.tsv"), "rb") as file, suppress(ValueError):
            if [float(number) for number in file.readline(LONGEST_ROW).split(b"\t")]:
                return None
        reason = "is not replaced, because its vectors.tsv does not begin with numbers; choose another folder"
    return reason


def reason_to_keep_folder(path: str, names: set[str]) -> str | None:
    """Tell why something must stay; None if it is a folder of exactly these files, or an empty one."""
    if not os.path.isdir(path):
        return "is not replaced, because it is not a folder; choose another name, or move it away"
    found = {*os.listdir(path)}
    files = {name for name in found if os.path.isfile(os.path.join(path, name))}
    if found and files != names:
        different = min(found - files or found ^ names)
        what = f"{different} in it is no part" if different in found else f"it has no {different}, which is a part"
        return f"is not replaced, because {what} of such an export; choose a folder that is new or empty"
    return None


def write_projector(staging: Staging, path: str, table: VectorTable) -> None:
    """Write vectors.tsv and metadata.tsv, which has a header only if it has two columns, as TensorBoard expects."""
    folder = staging.folder(path, reason_to_keep_projector)
    with staging.create(f"{folder}/vectors.tsv") as file:
        for row in table.matrix:
            file.write(("\t".join(map(str, row)) + "\n").encode())
    with staging.create(f"{folder}/metadata.tsv") as file:
        if table.counts is None:
            file.writelines(f"{word}\n".encode() for word in table.words)
        else:
            file.write(b"word\tcount\n")
            for word, count in zip(table.words, table.counts.tolist(), strict=True):
                file.write(f"{word}\t{count}\n".encode())


def write_numpy(staging: Staging, path: str, table: VectorTable, dtype: str = "float32") -> None:
    """Write NAME.npy, and NAME.words.json with words, counts and scales if there are any.

    JSON holds any str, and other plain keys.

    A checksum in the second file tells to which matrix its words belong. While an export is replaced, there is a moment
    when one file is new and one is old: therefore the second file holds both lists until the first one is replaced.
    """
    beside = words_beside(path)
    if is_local(beside):
        refuse_foreign(beside, reason_to_keep_words)
    fresh: dict[str, Any] = {"words": list(map(key_to_json, table.words))}
    if table.counts is not None:
        fresh["counts"] = table.counts.tolist()
    matrix, scales = table.stored(dtype)
    if scales is not None:
        fresh["scales"] = scales.tolist()
    fresh["crc32"] = crc32(matrix.data)
    if old := numpy_words(path, beside):
        with staging.create(beside) as file:
            file.write(json.dumps({**old, "next": fresh}).encode())
    with staging.create(path) as file:
        # On a full disk, numpy's own function for writing does not tell why it fails.
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(matrix))
        file.write(matrix.data)
    with staging.create(beside) as file:
        file.write(json.dumps(fresh).encode())


def reason_to_keep_words(path: str) -> str | None:
    """Tell why NAME.words.json must stay: users name only NAME.npy, and may have such a file for something else."""
    if os.path.isfile(path):
        with open(path, "rb") as file, suppress(ValueError, RecursionError, TypeError):
            if "words" in json.load(file):
                return None
    return "is not replaced, because it does not hold the words of an export; choose another name, or move it away"


def numpy_words(path: str, beside: str) -> dict[str, Any] | None:
    """Return the words and counts that belong to the matrix of an export that is there, with its checksum."""
    if not is_local(path) or not (os.path.isfile(path) and os.path.isfile(beside)):
        return None
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
        with open(beside, "rb") as file:
            facts = json.load(file)
        checksum = crc32(np.ascontiguousarray(matrix).data)
        return {**words_of_matrix(facts, checksum, beside), "crc32": checksum}
    except (OSError, ValueError, TypeError, AttributeError, EOFError):
        return None  # Nothing that could be read would be lost.


def words_of_matrix(facts: dict[str, Any], checksum: int, beside: str) -> dict[str, Any]:
    """Return what NAME.words.json holds for a matrix with this checksum; words without a checksum go with any."""
    for candidate in (facts, facts.get("next")):
        if isinstance(candidate, dict) and candidate.get("crc32", checksum) == checksum:
            return {key: value for key, value in candidate.items() if key != "next"}
    raise ValueError(f"{beside} holds the words of another matrix: its checksum does not match")


def words_beside(path: str) -> str:
    """Return the name of the file with the words of NAME.npy."""
    if not path.endswith(".npy"):
        raise ValueError(f"the name of a numpy file must end in .npy, got {path}")
    return path.removesuffix(".npy") + ".words.json"


def write_parquet(staging: Staging, path: str, table: VectorTable, dtype: str = "float32") -> None:
    """Write the columns `word`, `count` if it is known, and `vector`, a list of float32s or float16s."""
    pyarrow = import_pyarrow()
    columns = {"word": pyarrow.array(table.words, pyarrow.string())}
    if table.counts is not None:
        columns["count"] = pyarrow.array(table.counts, pyarrow.int64())
    columns["vector"] = pyarrow.FixedSizeListArray.from_arrays(
        pyarrow.array(table.stored(dtype)[0].reshape(-1)), table.matrix.shape[1]
    )
    with staging.create(path) as file:
        pyarrow.parquet.write_table(pyarrow.table(columns), file)


@dataclass(frozen=True)
class Format:
    """How a format is written, and which words it cannot hold."""

    write: Callable[..., None]
    summary: str
    unfit: re.Pattern[str]  # is found in words that it cannot hold
    suffixes: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    holds_other_keys: bool = False  # besides str
    dtypes: tuple[str, ...] = ("float32",)  # of the numbers in a file

    def holds(self, word: str) -> bool:
        """Tell whether a word is read back as it was written."""
        return not self.unfit.search(word)


# Half of a surrogate pair (D800 to DFFF) has no UTF-8. In text with a header, gensim ends a word at a space, spaCy ends
# a line at \r, and fastText ends a word at any ASCII white space. Without a header, spaCy splits the first line at any
# white space to count its fields. In binary, gensim removes newlines before a word, and word2vec in C removes all of
# them. model2vec splits texts at any white space, so that it would never look up a word with some. TensorBoard skips
# blank lines. A word in fastText's .bin ends at \0.
UNFIT_FOR_TEXT = re.compile(r"\A\Z|[ \t\n\v\f\r\ud800-\udfff]")
UNFIT_FOR_FIELDS = re.compile(r"\A\Z|[\s\ud800-\udfff]")
MODEL_FOLDER = "folder"  # what `save_pretrained` writes
FORMATS = {
    "word2vec": Format(write_text, "text with a header, for gensim, spaCy ...", UNFIT_FOR_TEXT, (".w2v", ".word2vec")),
    "word2vec-binary": Format(write_binary, "the same in binary", re.compile(r"[ \n\ud800-\udfff]"), (".bin",)),
    "glove": Format(write_glove, "text without a header", UNFIT_FOR_FIELDS, (".glove",)),
    "fasttext": Format(
        write_fasttext,
        "fastText's .vec, the same as word2vec, or its .bin, with n-grams",
        re.compile(r"\A\Z|[\0 \t\n\v\f\r\ud800-\udfff]"),
        (".vec",),
    ),
    "model2vec": Format(
        write_model2vec,
        "a folder for model2vec and sentence-transformers",
        UNFIT_FOR_FIELDS,
        options=("lowercase", "split_punctuation", "weighting"),
        dtypes=DTYPES,
    ),
    "projector": Format(
        write_projector,
        "a folder with vectors.tsv and metadata.tsv for TensorBoard",
        re.compile(r"\A[\s\ufeff]*\Z|[\t\n\r\ud800-\udfff]"),
    ),
    "numpy": Format(
        write_numpy,
        "NAME.npy and NAME.words.json",
        re.compile(r"(?!)"),
        (".npy",),
        holds_other_keys=True,
        dtypes=DTYPES,
    ),
    "parquet": Format(
        write_parquet,
        "columns word, count and vector",
        re.compile(r"[\ud800-\udfff]"),
        (".parquet",),
        dtypes=("float32", "float16"),
    ),
}

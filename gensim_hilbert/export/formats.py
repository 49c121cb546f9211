"""One writer a format, and which words each format can hold."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from gensim.models.fasttext import FastTextKeyedVectors

from gensim_hilbert.files import Staging
from gensim_hilbert.locations import uncompressed_name


class Table(NamedTuple):
    """What is exported: a row of the matrix a word; the words' counts, if they are known; and what it is of a model."""

    words: list[str]
    matrix: np.ndarray
    counts: np.ndarray | None
    model: Any
    what: str


def write_text(staging: Staging, path: str, table: Table, header: bool = True) -> None:
    """`word number number ...`, a line each; numbers are the shortest that give the same float32 again."""
    with staging.create(path) as file:
        if header:
            file.write(b"%d %d\n" % table.matrix.shape)
        for word, row in zip(table.words, table.matrix, strict=True):
            file.write(f"{word} {' '.join(map(str, row))}\n".encode())


def write_glove(staging: Staging, path: str, table: Table) -> None:
    """The same without a header."""
    write_text(staging, path, table, header=False)


def write_binary(staging: Staging, path: str, table: Table) -> None:
    """A header, then `word`, space, float32s and a newline each, as word2vec in C writes them."""
    with staging.create(path) as file:
        file.write(b"%d %d\n" % table.matrix.shape)
        for word, row in zip(table.words, table.matrix.astype("<f4", copy=False), strict=True):
            file.write(b"%b %b\n" % (word.encode(), row.tobytes()))


FASTTEXT, FASTTEXT_VERSION = b"\xba\x16\x4f\x2f", 12
NEGATIVE_SAMPLING, SKIPGRAM = 2, 2  # fastText's numbers for what comes nearest
LINE_END = "</s>"  # the only word of which fastText takes no n-grams


def write_fasttext(staging: Staging, path: str, table: Table) -> None:
    """NAME.bin is a model as fastText itself saves it, anything else text.

    gensim can write the former for its own models, but copies all matrices for it, and cannot leave out words.
    """
    if not uncompressed_name(path).endswith(".bin"):
        return write_text(staging, path, table)
    words, matrix, model = table.words, table.matrix, table.model
    keyed, covectors = getattr(model, "wv", model), getattr(model, "syn1neg", None)
    rows = [keyed.key_to_index[word] for word in words]
    bucket = min_n = max_n = 0
    ngrams = matrix[:0]
    if table.what == "vectors" and isinstance(keyed, FastTextKeyedVectors) and keyed.bucket:
        bucket, min_n, max_n, ngrams = keyed.bucket, keyed.min_n, keyed.max_n, keyed.vectors_ngrams
        matrix = keyed.vectors_vocab[rows]
        if LINE_END in words:
            matrix[words.index(LINE_END)] = keyed[LINE_END]
    counts = np.ones(len(words), dtype=np.int64) if table.counts is None else np.maximum(table.counts, 1)
    outputs = np.zeros_like(matrix) if covectors is None or len(covectors) != len(keyed) else covectors[rows]
    tokens = getattr(model, "corpus_total_words", None) or int(counts.sum())
    settings = (
        matrix.shape[1], getattr(model, "window", 5), getattr(model, "epochs", 5), getattr(model, "min_count", 1),
        round(getattr(model, "negative", 5)), 1, NEGATIVE_SAMPLING, SKIPGRAM, bucket, min_n, max_n, 100,
        getattr(model, "sample", None) or 0.0,
    )  # fmt: skip
    with staging.create(path) as file:
        file.write(FASTTEXT + struct.pack("<13id", FASTTEXT_VERSION, *settings))
        file.write(struct.pack("<3i2q", len(words), len(words), 0, tokens, -1))
        for word, count in zip(words, counts.tolist(), strict=True):
            file.write(word.encode() + struct.pack("<xqb", count, 0))
        file.write(struct.pack("<?2q", False, len(words) + bucket, matrix.shape[1]))
        for part in (matrix, ngrams):
            file.write(np.ascontiguousarray(part, dtype="<f4").data)
        file.write(struct.pack("<?2q", False, *outputs.shape))
        file.write(np.ascontiguousarray(outputs, dtype="<f4").data)


def write_model2vec(
    staging: Staging, path: str, table: Table, lowercase: bool = False, split_punctuation: bool = False
) -> None:
    """A folder as `StaticModel.save_pretrained` writes it, which sentence-transformers reads too."""
    folder = staging.folder(path)
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
        "normalize": False,
        "max_length": None,  # texts are not cut off
        "embedding_dtype": "float32",
    }
    modules = [{"idx": 0, "name": "0", "path": ".", "type": "sentence_transformers.models.StaticEmbedding"}]
    for name, content in (("tokenizer.json", tokenizer), ("config.json", config), ("modules.json", modules)):
        with staging.create(f"{folder}/{name}") as file:
            file.write(json.dumps(content, ensure_ascii=False).encode())
    # Written by hand, since safetensors' own writer would need the matrix and the unknown word's zeros in one array.
    shape = [len(vocabulary), size]
    tensor = {"dtype": "F32", "shape": shape, "data_offsets": [0, 4 * shape[0] * shape[1]]}
    header = json.dumps({"embeddings": tensor, "__metadata__": {"format": "pt"}}).encode()
    header += b" " * (-len(header) % 8)
    with staging.create(f"{folder}/model.safetensors") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.write(table.matrix.astype("<f4", copy=False).data)
        file.write(bytes(4 * size))


def write_projector(staging: Staging, path: str, table: Table) -> None:
    """vectors.tsv, and metadata.tsv, which has a header if it has more than one column: TensorBoard wants it so."""
    folder = staging.folder(path)
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


def write_numpy(staging: Staging, path: str, table: Table) -> None:
    """NAME.npy, and NAME.words.json with the words, and their counts if known. JSON's escapes hold any str."""
    words: dict[str, Any] = {"words": table.words}
    if table.counts is not None:
        words["counts"] = table.counts.tolist()
    with staging.create(words_beside(path)) as file:
        file.write(json.dumps(words).encode())
    with staging.create(path) as file:
        # numpy's own way to write to a file does not tell why it fails on a full disk.
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(table.matrix))
        file.write(table.matrix.data)


def words_beside(path: str) -> str:
    """The name of the file with the words of a NAME.npy."""
    if not path.endswith(".npy"):
        raise ValueError(f"the name of a numpy file must end in .npy, got {path}")
    return path.removesuffix(".npy") + ".words.json"


def write_parquet(staging: Staging, path: str, table: Table) -> None:
    """Columns `word`, `count` if known, and `vector`, a list of so many float32s."""
    pyarrow, parquet = import_parquet()
    columns = {"word": pyarrow.array(table.words, pyarrow.string())}
    if table.counts is not None:
        columns["count"] = pyarrow.array(table.counts, pyarrow.int64())
    columns["vector"] = pyarrow.FixedSizeListArray.from_arrays(
        pyarrow.array(table.matrix.reshape(-1)), table.matrix.shape[1]
    )
    with staging.create(path) as file:
        parquet.write_table(pyarrow.table(columns), file)


def import_parquet() -> tuple[Any, Any]:
    """The modules pyarrow and pyarrow.parquet."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f"Parquet needs pyarrow ({error}): pip install 'gensim-hilbert[parquet]'") from error
    return pyarrow, pyarrow.parquet


@dataclass(frozen=True)
class Format:
    """How to write a format, and what a word must not be like there."""

    write: Callable[..., None]
    says: str
    unfit: re.Pattern[str]
    suffixes: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    def holds(self, word: str) -> bool:
        """True where a word comes back as it is."""
        return not self.unfit.search(word)


# Half of a surrogate pair (D800 to DFFF) is no UTF-8. In text with a header, gensim ends a word at a space, spaCy a
# line at \r, and fastText a word at any ASCII white space. Without a header, spaCy splits the first line at any white
# space to count its fields. In binary, gensim removes newlines before a word, and word2vec in C all of them. model2vec
# splits texts at any white space, so would never look up a word with some. TensorBoard passes over blank lines. A word
# in fastText's .bin ends at \0.
TEXT = re.compile(r"\A\Z|[ \t\n\v\f\r\ud800-\udfff]")
FIELDS = re.compile(r"\A\Z|[\s\ud800-\udfff]")
FORMATS = {
    "word2vec": Format(write_text, "text with a header, for gensim, spaCy ...", TEXT, (".w2v", ".word2vec")),
    "word2vec-binary": Format(write_binary, "the same in binary", re.compile(r"[ \n\ud800-\udfff]"), (".bin",)),
    "glove": Format(write_glove, "text without a header", FIELDS, (".glove",)),
    "fasttext": Format(
        write_fasttext,
        "fastText's .vec, the same as word2vec, or its .bin, with n-grams",
        re.compile(r"\A\Z|[\0 \t\n\v\f\r\ud800-\udfff]"),
        (".vec",),
    ),
    "model2vec": Format(
        write_model2vec,
        "a folder for model2vec and sentence-transformers",
        FIELDS,
        options=("lowercase", "split_punctuation"),
    ),
    "projector": Format(
        write_projector,
        "a folder with vectors.tsv and metadata.tsv for TensorBoard",
        re.compile(r"\A[\s\ufeff]*\Z|[\t\n\r\ud800-\udfff]"),
    ),
    "numpy": Format(write_numpy, "NAME.npy and NAME.words.json", re.compile(r"(?!)"), (".npy",)),
    "parquet": Format(write_parquet, "columns word, count and vector", re.compile(r"[\ud800-\udfff]"), (".parquet",)),
}

"""What each consumer of an exported file makes of it: the words in its order, and the matrix."""

import json

import numpy as np
from gensim.models import KeyedVectors
from helpers import keyed

from gensim_hilbert.export import FORMATS

FILES = {
    "word2vec": "v.w2v",
    "word2vec-binary": "v.bin",
    "glove": "v.glove",
    "fasttext": "v.vec",
    "model2vec": "folder",
    "projector": "folder",
    "numpy": "v.npy",
    "parquet": "v.parquet",
}
ODD = ["New York", " leading", "trailing ", "line\nbreak", "\nleading", "carriage\rreturn", "tab\tstop"]
ODD += ["next\x85line", "line\u2028separator", "no\xa0break", "ideographic\u3000space", "vertical\vtab"]
ODD += ["unit\x1fseparator", "nul\0", "\ud800", "\udc80tail", "\ufeffbom", "\ufeff", "\xa0", "", " ", "1", "2000 10"]
ODD += ["-0.5", "nan", "[UNK]", '"quoted"', "e\u0301", "é", "😀", "\U0010ffff", "long" * 50_000]


def random_vectors(words, size=3, counts=True, seed=1):
    """Vectors of words that come with falling numbers of occurrences."""
    vectors = keyed(words, np.random.default_rng(seed).normal(size=(len(words), size)))
    if counts:
        for rank, word in enumerate(words):
            vectors.set_vecattr(word, "count", 1000 - rank)
    return vectors


def by_gensim(path, **options):
    read = KeyedVectors.load_word2vec_format(str(path), **options)
    return read.index_to_key, read.vectors


def by_model2vec(path):
    from model2vec import StaticModel

    model = StaticModel.from_pretrained(path)
    words = list(model.tokens[:-1])  # the last is the unknown word
    # Not the rows of its matrix, but what a user gets who asks for a word.
    return words, model.encode(words)


def by_lines(path):
    """As TensorBoard's page does: lines end at newlines, fields at tabs, blank lines are passed over."""
    rows = [line.split("\t") for line in (path / "vectors.tsv").read_bytes().decode().split("\n") if line.strip()]
    lines = (path / "metadata.tsv").read_bytes().decode().split("\n")
    metadata = [line.split("\t") for line in lines if line.strip(" \t\ufeff")]
    if "\t" in lines[0]:
        assert metadata.pop(0) == ["word", "count"]
        counts = [int(count) for _, count in metadata]
        assert counts == sorted(set(counts), reverse=True)
    return [fields[0] for fields in metadata], np.array(rows, dtype=np.float32)


def by_numpy(path):
    facts = json.loads(path.with_name("v.words.json").read_text())
    return facts["words"], np.load(path)


def by_pyarrow(path):
    from pyarrow.parquet import read_table

    table = read_table(path)
    assert table.column_names in (["word", "count", "vector"], ["word", "vector"])
    return table["word"].to_pylist(), np.array(table["vector"].to_pylist(), dtype=np.float32)


CONSUMERS = {
    "word2vec": by_gensim,
    "word2vec-binary": lambda path: by_gensim(path, binary=True),
    "glove": lambda path: by_gensim(path, no_header=True),
    "fasttext": by_gensim,
    "model2vec": by_model2vec,
    "projector": by_lines,
    "numpy": by_numpy,
    "parquet": by_pyarrow,
}
LIBRARIES = {"model2vec": "model2vec", "parquet": "pyarrow"}
READABLE = [name for name in FORMATS if name != "projector"]

"""Exchanges counts with other programs: scipy's .npz, GloVe's cooccurrence.bin and vocabulary."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from math import inf, lcm
from typing import Any

import numpy as np
import smart_open
from scipy import sparse

from gensim_hilbert.counting.settings import whole
from gensim_hilbert.counting.store import Compressed
from gensim_hilbert.files import Staging
from gensim_hilbert.keys import pack_keys, text_keys, unpack_keys
from gensim_hilbert.locations import name_of
from gensim_hilbert.untrusted import damage_named, read_npz
from gensim_hilbert.vocabulary import Vocabulary

# The records of GloVe's programs. Ids start from 1, in the order of the vocabulary.
GLOVE_RECORD = np.dtype([("word", "<i4"), ("context", "<i4"), ("weight", "<f8")])
# Scales that are tried if none is given: the common denominators of harmonic weights.
Integers = tuple[np.ndarray, np.ndarray, np.ndarray, int]  # rows, columns, counts times scale, and the scale
KNOWN_SCALES = [1, *(lcm(*range(1, window + 1)) for window in range(2, 11))]


def to_integers(matrix: Any, scale: int | None) -> Integers:
    """Return rows, columns, counts times scale as integers, and the scale, which is looked for if it is not given."""
    table = sparse.coo_array(matrix)
    if table.shape[0] != table.shape[1]:
        raise ValueError(f"the matrix must be square, contexts x terms, got {table.shape[0]} x {table.shape[1]}")
    if scale is not None and whole(scale) < 1:
        raise ValueError(f"scale must be a whole number of 1 or more, got {scale!r}")
    values = table.data.astype(np.float64)
    if not np.isfinite(values).all() or (values < 0).any():
        wrong = next(value for value in values.tolist() if not 0 <= value < inf)
        raise ValueError(f"counts must be finite and not negative, got {wrong}")
    for candidate in [scale] if scale else KNOWN_SCALES:
        counts = np.rint(values * candidate)
        # Sums of binary fractions such as 1/3 are off by a few units in the last place.
        if scale or np.all(np.abs(values * candidate - counts) <= 1e-9 * np.maximum(values * candidate, 1)):
            if counts.sum() >= 2.0**63:
                raise OverflowError(f"the counts times {candidate} overflow 64 bits; pass a smaller scale")
            return table.row.astype(np.int64), table.col.astype(np.int64), counts.astype(np.uint64), candidate
    raise ValueError(
        f"the counts are not multiples of 1/{KNOWN_SCALES[-1]}; pass scale=N to round them to multiples of 1/N"
    )


def some_integers(matrix: Any, scale: int | None) -> Integers:
    """Return the counts of a matrix from a file as integers, as `to_integers` does; none at all is an error."""
    table = to_integers(matrix, scale)
    if not table[2].any():
        raise ValueError("it holds no counts")
    return table


def vocabulary_of(words: Vocabulary | Sequence[Any], matrix: Any) -> Vocabulary:
    """Return the vocabulary of a matrix; the marginals stand in for the unknown counts of bare words.

    Of both marginals it is the larger one, rounded up, so that a word that has pairs also has a count.
    """
    table = sparse.coo_array(matrix)
    if len(words) != table.shape[1]:
        raise ValueError(f"{len(words)} words for a matrix of {table.shape[1]} columns")
    if isinstance(words, Vocabulary):
        return words
    by_column, by_row = (np.asarray(table.sum(axis=axis)).ravel() for axis in (0, 1))
    return Vocabulary(words, np.ceil(np.maximum(by_column, by_row)))


def save_npz(path: str | os.PathLike[str], matrix: sparse.csr_array, vocabulary: Vocabulary, scale: int) -> None:
    """Write one compressed file; beside scipy's own arrays it holds the vocabulary, as UTF-8 and without pickle.

    Words that are not str are written as JSON, as keys.py says, and `word_is_json` tells which those are.
    """
    encoded, are_json = pack_keys(vocabulary.words, lambda word: word.encode("utf-8", "surrogatepass"))
    more: dict[str, Any] = {} if are_json is None else {"word_is_json": are_json}
    with Staging() as staging, staging.create(os.fspath(path)) as file:
        np.savez_compressed(
            file,
            format=np.array(b"csr"),
            shape=np.array(matrix.shape),
            data=matrix.data,
            indices=matrix.indices,
            indptr=matrix.indptr,
            words=np.frombuffer(b"".join(encoded), dtype=np.uint8),
            word_bytes=np.array([len(word) for word in encoded]),
            word_counts=vocabulary.counts,
            corpus=np.array([vocabulary.tokens, vocabulary.sentences]),
            scale=np.array(scale),
            **more,
        )


NPZ_ARRAYS = {  # by name: number of dimensions, and allowed kinds of numbers
    "shape": (1, "iu"), "data": (1, "iuf"), "indices": (1, "iu"), "indptr": (1, "iu"), "words": (1, "u"),
    "word_bytes": (1, "iu"), "word_counts": (1, "iu"), "corpus": (1, "iu"), "scale": (0, "iu"),
    "word_is_json": (1, "u"),
}  # fmt: skip


def load_npz(path: str | os.PathLike[str]) -> tuple[sparse.csr_array, Vocabulary, int]:
    """Read a file that `save_npz` has written; whatever is wrong with it is a ValueError that names it."""
    with damage_named(path, "a file that to_npz has written"):
        arrays = read_npz(path, NPZ_ARRAYS)
        if "words" not in arrays:
            raise ValueError(f"{path} holds a matrix without words; load it with scipy and pass both to from_scipy")
        arrays.setdefault("word_is_json", np.zeros(len(arrays["word_bytes"]), dtype=np.uint8))
        for name, (dimensions, kinds) in NPZ_ARRAYS.items():
            if arrays[name].ndim != dimensions or arrays[name].dtype.kind not in kinds:
                raise ValueError(f"{name} is an array of {arrays[name].dtype} of shape {arrays[name].shape}")
        text, lengths = arrays["words"].tobytes(), arrays["word_bytes"].tolist()
        ends = list(accumulate(lengths))
        if min(lengths, default=0) < 0 or ends[-1:] != [len(text)]:
            raise ValueError("the lengths of its words cannot be right")
        parts = (text[a:b] for a, b in zip([0, *ends], ends, strict=False))
        words = unpack_keys(parts, arrays["word_is_json"], lambda word: word.decode("utf-8", "surrogatepass"))
        tokens, sentences = arrays["corpus"].tolist()
        shape = tuple(arrays["shape"].tolist())
        if min([tokens, sentences, *arrays["word_counts"].tolist()]) < 0 or shape != (len(words),) * 2:
            raise ValueError(f"its {len(words)} words, their counts and its shape {shape} do not go together")
        vocabulary = Vocabulary(words, arrays["word_counts"], tokens=tokens, sentences=sentences)
        matrix = sparse.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
        matrix.check_format(full_check=True)  # scipy's own functions rely on it without a look.
        return matrix, vocabulary, int(arrays["scale"])


def load_glove(
    cooccurrence: str | os.PathLike[str], vocabulary: str | os.PathLike[str]
) -> tuple[sparse.coo_array, Vocabulary]:
    """Read GloVe's records and its vocabulary of `word count` lines."""
    words, counts = [], []
    with damage_named(vocabulary, "a vocabulary of GloVe's"):
        with smart_open.open(vocabulary, "rb") as file:
            for number, line in enumerate(file, start=1):
                word, _, count = line.rstrip(b"\r\n").rpartition(b" ")
                if not word or not count.isdigit():
                    raise ValueError(f"{vocabulary}, line {number}: expected `word count`, got {line[:1000]!r}")
                try:
                    words.append(word.decode("utf-8"))
                except UnicodeDecodeError as error:
                    raise ValueError(f"{vocabulary}, line {number}: {error}") from None
                counts.append(int(count))
        known = Vocabulary(words, counts)
    size = len(words)
    with damage_named(cooccurrence, "a file of GloVe's records"):
        with smart_open.open(cooccurrence, "rb") as file:
            data = file.read()
        if len(data) % GLOVE_RECORD.itemsize:
            raise ValueError(
                f"{cooccurrence} has {len(data)} bytes, which is not a whole number of {GLOVE_RECORD.itemsize}-byte "
                "records"
            )
        table = np.frombuffer(data, dtype=GLOVE_RECORD)
        ids = np.stack([table["context"], table["word"]]).astype(np.int64) - 1
        if ids.size and (ids.min() < 0 or ids.max() >= size):
            raise ValueError(f"{cooccurrence} has word {ids.max() + 1}, but {vocabulary} only {size} words")
        return sparse.coo_array((table["weight"], (ids[0], ids[1])), shape=(size, size)), known


def save_glove(
    cooccurrence: str | os.PathLike[str],
    vocabulary: str | os.PathLike[str],
    words: Vocabulary,
    rows: Iterable[tuple[int, np.ndarray, np.ndarray]],
    keys: str | None = None,
) -> None:
    """Write what GloVe's `shuffle` and `glove` read; words with white space, which would shift a line, are refused."""
    texts = text_keys(words.words, keys, "a GloVe vocabulary")
    for word in texts:
        if not word or word.split() != [word]:
            raise ValueError(
                f"the word {word!r} cannot be written to a GloVe vocabulary: it is empty or holds white space"
            )
    with Staging(never_mixed=True) as staging:
        with staging.create(name_of(vocabulary)) as file:
            for word, count in zip(texts, words.counts.tolist(), strict=True):
                file.write(f"{word} {count}\n".encode())
        with staging.create(name_of(cooccurrence)) as file:
            for context, terms, weights in rows:
                table = np.empty(len(terms), dtype=GLOVE_RECORD)
                table["word"], table["context"], table["weight"] = terms + 1, context + 1, weights
                file.write(table.tobytes())


def columns_of_rows(
    compressed: Callable[[int, int, int], Compressed], classes: int
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield (context, terms, values) for each context of a store that has any, class by class."""
    n = classes
    for i in range(n):
        parts = [compressed(i, j, n) for j in range(n)]
        rows = np.concatenate([part.rows for part in parts])
        columns = np.concatenate([j + n * part.columns.astype(np.int64) for j, part in enumerate(parts)])
        values, order = np.concatenate([part.values for part in parts]), np.lexsort((columns, rows))
        starts: Any = np.flatnonzero(np.r_[True, np.diff(rows[order]) > 0]) if len(order) else []
        for some in np.split(order, starts[1:]) if len(order) else []:
            yield i + n * int(rows[some[0]]), columns[some], values[some]

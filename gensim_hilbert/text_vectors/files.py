"""Vectors of the lines of files of text, or of the rows of tables, written to a file of numpy as they come."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gensim_hilbert.corpus.blocks import Block
from gensim_hilbert.corpus.dispatch import default_workers
from gensim_hilbert.corpus.sources import Corpus, as_corpus
from gensim_hilbert.corpus.tables import TableCorpus
from gensim_hilbert.corpus.texts import BYTE_ORDER_MARK
from gensim_hilbert.corpus.token_lists import decode_lists
from gensim_hilbert.files import Staging
from gensim_hilbert.outputs import local_path, refuse_inputs
from gensim_hilbert.progress import Progress
from gensim_hilbert.text_vectors.encoder import TextEncoder
from gensim_hilbert.text_vectors.methods import TextVectors
from gensim_hilbert.text_vectors.weighting import Weighting


def encode_file(
    model: Any,
    corpus: Any,
    output: Any,
    *,
    weighting: str = "sif",
    a: float = 1e-3,
    whiten: bool | None = None,
    remove: int | None = None,
    normalize: bool = True,
    workers: int | None = None,
    column: str | None = None,
    progress: bool = True,
    transport_params: dict[str, Any] | None = None,
) -> tuple[int, int]:
    """Write the vectors of texts to a .npy file, one row per line or row of the input, also for empty ones.

    Texts are read and vectors are written as they come, so that memory does not depend on how many there are. The file
    appears when it is complete.

    Parameters
    ----------
    model : HilbertMLE, gensim.models.Word2Vec or gensim.models.KeyedVectors
        The vectors of words.
    corpus : path, URI, glob, directory, list of those, or file object
        UTF-8 with one text per line, compressed or not; or tables with one text, or one list of words, per row.
    output : path
        The file, NAME.npy, on this machine.
    weighting, a, whiten, remove, normalize, workers
        As in `HilbertMLE.encode`.
    column : str, optional
        The column of tables that holds the texts.
    progress : bool
        Whether to show a progress bar if standard error is a terminal.
    transport_params : dict, optional
        Passed to smart_open.

    Returns
    -------
    int, int
        The number of texts, and how many of them have no known word.
    """
    target = local_path(output, "vectors of texts")
    if target.suffix != ".npy":
        raise ValueError(f"the name of the output must end in .npy, got {target}")
    source = as_corpus(corpus, transport_params, column=column)
    if isinstance(source, TableCorpus):
        source = source.by_rows()
    refuse_inputs(target, source.names)
    vectors = getattr(model, "wv", model)
    preparation = model._preparation() if isinstance(model, TextVectors) else None
    encoder = TextEncoder(vectors, Weighting.of(weighting, a, whiten, remove), preparation)
    texts = empty = 0
    with (
        Staging() as staging,
        staging.create(str(target)) as file,
        Progress("encoding", source.total, show=progress) as bar,
    ):
        write_header(file, 0, encoder.size)
        for sums in encoder.sums(texts_of(source, bar), default_workers(workers)):
            texts += len(sums.words)
            empty += int((sums.words == 0).sum())
            file.write(sums.scaled(unit=normalize).data)
        file.seek(0)
        write_header(file, texts, encoder.size)
    return texts, empty


def write_header(file: BinaryIO, rows: int, size: int) -> None:
    """Write the header of a matrix of float32; it has the same length for any number of rows."""
    header = {"descr": "<f4", "fortran_order": False, "shape": (rows, size)}
    np.lib.format.write_array_header_1_0(file, header)


def texts_of(corpus: Corpus, progress: Progress) -> Iterator[str | list[str]]:
    """Yield the lines of a text without their ends, or its lists of words; blocks may end in the middle of one."""
    rest: list[bytes] = []
    before: Block | None = None
    for given in corpus.blocks(streams=True):
        for block in given.read():
            assert block.data is not None
            if before is not None and before.source != block.source and rest:
                yield decoded(b"".join(rest), before)
                rest = []
            before = block
            data = block.data.removeprefix(BYTE_ORDER_MARK) if block.start == 0 else block.data
            *lines, last = data.split(b"\xfe" if block.listed else b"\n")
            for line in lines:
                yield decoded(b"".join([*rest, line]), block)
                rest = []
            if last:
                rest.append(last)
            progress.update(block.cost)
    if rest and before is not None:
        yield decoded(b"".join(rest), before)


def decoded(line: bytes, block: Block) -> str | list[str]:
    """Return a line as str, or a list of words; malformed UTF-8 is an error that names the file."""
    if block.listed:
        return decode_lists(line + b"\xfe")[0]
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        where = f"{Path(block.name).name}, in the text that begins {line[:40]!r}"
        raise UnicodeError(f"{where}: invalid UTF-8 ({error.reason}); mend the file") from None

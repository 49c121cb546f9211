"""The map of a model's most frequent words: its layout, which is kept beside the model, and its colours."""

from __future__ import annotations

import hashlib
import io
import logging
import multiprocessing
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gensim_hilbert.explore.encoding import as_json
from gensim_hilbert.explore.shapes import MapAnswer
from gensim_hilbert.explore.steps import Scores, Steps
from gensim_hilbert.explore.words import ExploredModel
from gensim_hilbert.files import write_whole
from gensim_hilbert.report.layout import principal_plane
from gensim_hilbert.report.plane import Plane, lay_out
from gensim_hilbert.report.words import unit_rows

logger = logging.getLogger(__name__)

WORDS_ON_MAP = 20_000
WORDS_AT_ONCE = 300  # whose layout takes less time than it takes to start another process
DIGITS = 4
PAINTS = ("frequency", "similarity", "pmi", "difference")


class WordMap:
    """The layout of the most frequent words of a model.

    Until it is known, the map shows the two principal axes. `start` has another process compute the layout, because
    the libraries for it hold the interpreter's lock for seconds; what it finds is written to a file beside the model,
    and read there the next time.

    Parameters
    ----------
    model : ExploredModel
        Whose words are shown.
    path : Path, optional
        The path of the model; without it nothing is written.
    """

    def __init__(self, model: ExploredModel, path: Path | None = None):
        self.model = model
        self.size = min(len(model), WORDS_ON_MAP)
        self.unit = directions(model.vectors)
        self.path = None if path is None else layout_beside(path)
        self.checksum = checksum_of(self.unit)
        self._process: Any = None
        self._stopped = False
        self._json: bytes | None = None
        self._lock = threading.Lock()
        found = None if self.path is None else read_layout(self.path, self.checksum, self.size)
        if found is None and self.size <= WORDS_AT_ONCE:
            found = self._keep(lay_out(self.unit))
        self.final = found is not None
        self.plane = found or Plane(principal_plane(self.unit), "PCA")

    def start(self) -> None:
        """Begin to compute the layout in another process, unless it is known."""
        if self.final:
            return
        context = multiprocessing.get_context("spawn")
        connection, others = context.Pipe()
        self._process = context.Process(target=compute, args=(others,), daemon=True)
        with ctrl_c_ignored():  # by the other process: this one ends it
            self._process.start()
        others.close()
        threading.Thread(target=self._receive, args=(connection,), daemon=True).start()

    def _receive(self, connection: Any) -> None:
        """Send the directions of words to the other process, and wait for their layout.

        They are no argument of that process: it would be waited for until it has been loaded.
        """
        try:
            connection.send(self.unit)
            found = Plane(*connection.recv())
        except (EOFError, OSError):  # It was ended, or it failed and has said why.
            if not self._stopped:
                logger.warning("the layout of %s was not computed; its map shows principal axes", self.model.name)
            self.final = True
            return
        with self._lock:
            self.plane = self._keep(found)
            self.final = True

    def _keep(self, plane: Plane) -> Plane:
        """Write a layout to its file, so that it need not be computed again."""
        if self.path is not None and plane.method != "PCA":
            try:
                write_whole(self.path, layout_bytes(plane, self.checksum))
            except OSError as error:
                logger.warning("the layout cannot be kept in %s: %s", self.path, error)
        return plane

    def compute(self) -> None:
        """Compute the layout here and now, unless it is known."""
        if not self.final:
            self.plane, self.final = self._keep(lay_out(self.unit)), True

    def stop(self) -> None:
        """End the other process, if there is one."""
        self._stopped = True
        if self._process is not None and self._process.is_alive():
            self._process.terminate()
            self._process.join()

    def answer(self) -> MapAnswer:
        """Return the words with their places, which lie between -1 and 1."""
        with self._lock:
            plane, final = self.plane, self.final
        low, high = plane.places.min(axis=0), plane.places.max(axis=0)
        scale = max(float((high - low).max()), 1e-12) / 2
        x, y = np.round((plane.places - (low + high) / 2) / scale, DIGITS).T.tolist()
        return {"words": self.model.texts[: self.size], "x": x, "y": y, "method": plane.method, "final": final}

    def encoded(self) -> bytes:
        """Return the same as JSON, which is remembered as soon as the layout is final."""
        if self._json is None:
            final, text = self.final, as_json(self.answer())
            if not final:
                return text
            self._json = text
        return self._json

    def paint(self, by: str, word: str | None, difference: np.ndarray | None = None) -> Steps[dict[str, Any]]:
        """Return one number for each word of the map, as an array."""
        model = self.model
        if by == "frequency":
            numbers = model.vectors.expandos.get("count")
            ranks = np.arange(1, self.size + 1)
            values = -np.log(ranks) if numbers is None else np.log(np.maximum(np.asarray(numbers[: self.size]), 1))
        elif by == "difference":
            if difference is None:
                raise ValueError("by=difference compares two models: name the second one as other")
            values = difference
        elif by not in PAINTS:
            raise ValueError(f"by must be one of {', '.join(PAINTS)}, got {by!r}")
        elif not word:
            raise ValueError(f"by={by} needs a word")
        elif by == "similarity":
            (values,) = yield [Scores(model.like, model.unit(model.row_of(word)), self.size)]
        elif model.contexts is None:
            raise ValueError(model.subject.without_covectors)
        else:
            row = model.row_of(word)
            (values,) = yield [Scores(model.contexts, model.vectors.vectors[row], self.size)]
            values = values + model.shift(row)
        return {"by": by, "word": word, "values": values}


def directions(vectors: Any) -> np.ndarray:
    """Return the directions of the most frequent words; zeros for those whose vectors have NaN or infinity."""
    matrix = np.asarray(vectors.vectors[:WORDS_ON_MAP], dtype=np.float32)
    finite = np.isfinite(matrix).all(axis=1, keepdims=True)
    return unit_rows(np.where(finite, matrix, np.float32(0)))


@contextmanager
def ctrl_c_ignored() -> Iterator[None]:
    """Have processes that are started ignore Ctrl-C, which reaches all processes of a terminal."""
    if threading.current_thread() is not threading.main_thread():  # No other thread can set signals.
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def compute(connection: Any) -> None:
    """Receive the directions of words from another process, and send it their layout."""
    connection.send(tuple(lay_out(connection.recv())))
    connection.close()


# ---------------------------------------------------------------------------------------------------- files


def layout_beside(path: Path) -> Path:
    """Return the name of the file for the layout of a model."""
    return path.with_name(path.name + ".layout.npz")


def kept_layout(vectors: Any, path: Path) -> Plane | None:
    """Return the layout of the most frequent words that is kept beside a model; None if there is none of them."""
    unit = directions(vectors)
    return read_layout(layout_beside(path), checksum_of(unit), len(unit))


def checksum_of(unit: np.ndarray) -> str:
    """Return a hash of the directions that a layout belongs to."""
    return hashlib.sha256(np.ascontiguousarray(unit, dtype="<f4").tobytes()).hexdigest()


def layout_bytes(plane: Plane, checksum: str) -> bytes:
    """Return a layout as the content of a file."""
    buffer = io.BytesIO()
    np.savez(buffer, places=plane.places.astype("<f4"), method=np.array(plane.method), checksum=np.array(checksum))
    return buffer.getvalue()


def read_layout(path: Path, checksum: str, size: int) -> Plane | None:
    """Return the layout in a file, or None if there is none, it is damaged, or it belongs to other vectors."""
    try:
        with np.load(path, allow_pickle=False) as file:
            places, method, found = file["places"], str(file["method"]), str(file["checksum"])
    except FileNotFoundError:
        return None
    except Exception as error:  # A damaged file can raise any error.
        logger.warning("%s is damaged and will be written again: %s", path, error)
        return None
    if found != checksum or places.shape != (size, 2) or not np.isfinite(places).all():
        return None
    return Plane(places.astype(np.float64), method)

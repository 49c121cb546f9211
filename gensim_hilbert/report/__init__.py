"""Reports: one page about a model, how it was trained, what it has learnt, and how well."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any

from gensim_hilbert.files import Staging
from gensim_hilbert.locations import name_of
from gensim_hilbert.report.page import page
from gensim_hilbert.report.plane import Plane
from gensim_hilbert.report.subject import Subject

__all__ = ["report"]

logger = logging.getLogger(__name__)


def report(
    model: Any,
    path: str | os.PathLike[str],
    *,
    words: Sequence[Any] = (),
    data: str | os.PathLike[str] | None = None,
    title: str | None = None,
    layout: Plane | None = None,
) -> None:
    """Write an HTML report about a model: one file with its pictures in it, which loads nothing and runs nothing.

    The same model gives the same page. The file appears when it is complete.

    Parameters
    ----------
    model : HilbertMLE, gensim.models.Word2Vec or gensim.models.KeyedVectors
        What the report is about. Sections that need something that is missing, such as counts, say so.
    path : str or PathLike
        Where the report is written.
    words : list
        Words whose neighbours are shown; by default some that represent groups of frequent words.
    data : path, optional
        Folder of data sets to score the vectors on; see `gensim_hilbert.evaluation.find_data`.
    title : str, optional
        Title of the page; by default the class of the model.
    layout : Plane, optional
        Where the most frequent words lie on the map; by default they are laid out anew. `gensim-hilbert report` takes
        the layout that `gensim-hilbert explore` keeps beside a model.

    Examples
    --------
    >>> report(model, "report.html", words=["cat", "money", "cuba"])
    """
    subject = Subject(model, title or type(model).__name__, list(words), data, layout)
    text = page(subject).encode()
    name = name_of(path)
    with Staging() as staging, staging.create(name) as file:
        file.write(text)
    logger.info("wrote a report on %d words to %s", len(subject.vectors), name)

"""One page about a model: its settings, how it was trained, what it has learnt and how well."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any

from gensim_hilbert.files import Staging
from gensim_hilbert.locations import name_of
from gensim_hilbert.report.page import page
from gensim_hilbert.report.subject import Subject

__all__ = ["report"]

logger = logging.getLogger(__name__)


def report(
    model: Any,
    path: str | os.PathLike[str],
    *,
    words: Sequence[str] = (),
    data: str | os.PathLike[str] | None = None,
    title: str | None = None,
) -> None:
    """Write a page about a model: one file of HTML with its pictures in it, which loads nothing and runs nothing.

    The same model gives the same page. It is written under another name and renamed when it is whole.

    Parameters
    ----------
    model : HilbertMLE, gensim.models.Word2Vec or gensim.models.KeyedVectors
        What it is about. Sections that need what this has not, such as counts, say so in a sentence.
    path : str or PathLike
        Where the page goes.
    words : list of str
        Whose neighbours to show; by default some that stand for the frequent ones.
    data : path, optional
        A folder of data sets to score it on; `gensim_hilbert.evaluation.find_data` tells its form, and the default.
    title : str, optional
        By default the class of the model.

    Examples
    --------
    >>> report(model, "report.html", words=["cat", "money", "cuba"])
    """
    subject = Subject(model, title or type(model).__name__, list(words), data)
    text = page(subject).encode()
    name = name_of(path)
    with Staging() as staging, staging.create(name) as file:
        file.write(text)
    logger.info("wrote a report on %d words to %s", len(subject.vectors), name)

"""The explorer as a widget in notebooks: the same page, which asks Python by messages instead of a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gensim_hilbert.explore.notebook.live import shared_explorer

if TYPE_CHECKING:
    from gensim_hilbert.explore.notebook.view import ExplorerWidget

LEAST_HEIGHT = 200


def widget(models: Any, word: Any = None, *, height: int = 640) -> ExplorerWidget:
    """Return the explorer as a widget that Jupyter and marimo show: the page of `gensim-hilbert explore`, in a cell.

    The page asks Python by the notebook's own connection, so that it works on remote machines too, and loads nothing
    from the network. It needs the extra [notebook].

    Parameters
    ----------
    models : HilbertMLE, gensim.models.Word2Vec, gensim.models.KeyedVectors, or dict
        What is explored. Models that are to be compared are given as a dict, by the names that the page shows.
        Without covectors there is no PMI, and without counts only the fitted one.
    word : str, optional
        The word to begin with; several models are compared by it.
    height : int
        Height in pixels.

    Returns
    -------
    ExplorerWidget
        The last expression of a cell is shown; `close()` removes the widget and lets go of the models.

    Examples
    --------
    >>> widget(model.wv, "yale")
    >>> widget({"2001": old, "2019": new}, height=800)
    """
    try:
        from gensim_hilbert.explore.notebook.view import ExplorerWidget
    except ImportError as error:
        raise ImportError(
            f"the explorer in notebooks needs a package that is missing ({error}): "
            "pip install 'gensim-hilbert[notebook]'"
        ) from error
    if not isinstance(height, int) or height < LEAST_HEIGHT:
        raise ValueError(f"height must be a number of pixels from {LEAST_HEIGHT}, got {height!r}")
    named = models if isinstance(models, Mapping) else {type(models).__name__: models}
    explorer = shared_explorer([(str(name), model) for name, model in named.items()])
    if word is not None:
        explorer.current.models[0].row_of(str(word))
    return ExplorerWidget(explorer, word, height)

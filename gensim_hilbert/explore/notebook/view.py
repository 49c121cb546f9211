"""The widget that shows the explorer's page in a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import anywidget
import traitlets

from gensim_hilbert.explore.notebook.live import LiveExplorer
from gensim_hilbert.explore.notebook.page import whole_page
from gensim_hilbert.markup import cut, notebook_table


class ExplorerWidget(anywidget.AnyWidget):
    """The explorer's page in a notebook; `gensim_hilbert.explore.widget` and `model.explore` make one.

    Parameters
    ----------
    explorer : LiveExplorer
        What answers the page.
    word : str, optional
        The word to begin with.
    height : int
        Height in pixels.
    """

    _esm = (Path(__file__).parent / "widget.js").read_text(encoding="utf-8")
    page = traitlets.Unicode().tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    state = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int().tag(sync=True)

    def __init__(self, explorer: LiveExplorer, word: Any, height: int):
        self._explorer: LiveExplorer | None = explorer
        names = [model.name for model in explorer.current.models]
        state = "" if word is None else "#" + urlencode({"word" if len(names) == 1 else "compare": str(word)})
        super().__init__(page=whole_page(), title=f"Explorer of {', '.join(names)}", state=state, height=height)
        self.on_msg(self._answer)

    def _answer(self, widget: Any, content: dict[str, Any], buffers: Any) -> None:
        """Answer a question of the page."""
        if self._explorer is None:
            return
        version, answer = self._explorer.answer(content["name"], content["query"])
        self.send({"view": content["view"], "number": content["number"], "version": version}, [answer])

    def close(self) -> None:
        """Remove the widget from the notebook, and let go of its models."""
        self._explorer = None
        super().close()

    def __repr__(self) -> str:
        """Return what is explored, in a line."""
        return f"<{self.title}{'' if self._explorer else ', closed'}>"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the widget for notebooks that run, and a table for places that only show them."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is not None and self._explorer is not None:
            facts = [model.facts() for model in self._explorer.current.models]
            rows = [(cut(fact["name"]), fact["words"], fact["dimensions"]) for fact in facts]
            caption = "Explorer, which can be used where this notebook runs"
            bundle[0]["text/html"] = notebook_table(caption, rows, ("model", "words", "dimensions"))
        return bundle

"""The explorer: a page on the words of one model, or of several, in the browser or in a notebook."""

from gensim_hilbert.explore.notebook import widget

__all__ = ["widget"]

"""From what the user gives as phrases to a corpus in which they are joined, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gensim_hilbert.automatic import AUTO
from gensim_hilbert.corpus.preparation import Preparation
from gensim_hilbert.corpus.sources import Corpus
from gensim_hilbert.phrases.joining import JoinPhrases
from gensim_hilbert.phrases.table import Phrases, as_phrases


def with_phrases(corpus: Corpus, given: Any, **resources: Any) -> Corpus:
    """Return a corpus with phrases joined, or as it is if none are given.

    Parameters
    ----------
    corpus : Corpus
        The text.
    given : "auto", Phrases, path, or gensim's Phrases or FrozenPhrases, optional
        The phrases. "auto" finds those of the corpus, by the defaults of `Phrases.from_corpus`.
    **resources
        Passed to `Phrases.from_corpus`.
    """
    if given is None:
        return corpus
    if is_auto(given) and not corpus.can_repeat:
        raise ValueError(
            f"{corpus.names[0]} can be read only once, but phrases='auto' reads a text once more: save it to a file "
            "first, or find its phrases by Phrases.from_corpus"
        )
    phrases = Phrases.from_corpus(corpus, **resources) if is_auto(given) else as_phrases(given)
    assert isinstance(phrases, Phrases)
    return corpus.prepared(replace(corpus.preparation or Preparation(), joiner=phrases.joiner))


def is_auto(given: Any) -> bool:
    """Tell whether the phrases are to be found in the text."""
    return isinstance(given, str) and given == AUTO


def phrases_of(corpus: Corpus) -> Phrases | None:
    """Return the phrases that are joined in a corpus."""
    joiner = None if corpus.preparation is None else corpus.preparation.joiner
    if not isinstance(joiner, JoinPhrases):
        return None
    phrases = joiner.phrases
    assert isinstance(phrases, Phrases)
    return phrases

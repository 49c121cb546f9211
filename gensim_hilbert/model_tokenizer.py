"""The tokeniser of a model: what made words of its text, and makes words of other texts in the same way."""

from __future__ import annotations

from typing import Any

from gensim.models import Word2Vec

from gensim_hilbert.corpus.foreign_tokenizers import FunctionTokenizer, MissingTokenizer
from gensim_hilbert.corpus.preparation import Preparation, preparation_of
from gensim_hilbert.corpus.tokenizer_names import as_tokenizer, tokenizer_from
from gensim_hilbert.corpus.tokenizers import Tokenizer
from gensim_hilbert.counting.pair_counts import PairCounts


class TokenizedText(Word2Vec):
    """What a model does with raw text."""

    sentence_ends: str
    _tokenizer: Tokenizer | None

    @property
    def tokenizer(self) -> Tokenizer | None:
        """What makes words of text, in whatever form `HilbertMLE` takes it; None for white space."""
        return self._tokenizer

    @tokenizer.setter
    def tokenizer(self, given: Any) -> None:
        self._tokenizer = as_tokenizer(given)

    def tokenize(self, text: str) -> list[str]:
        """Return the words of a text, as they were found in the text that the model was trained on."""
        if not isinstance(text, str):
            raise TypeError(f"a text is a str, got {text!r:.200}")
        return text.split() if self._tokenizer is None else self._tokenizer.tokenize([text])[0]

    def _preparation(self) -> Preparation | None:
        """Return what is done with text before its words are counted."""
        return preparation_of(self._tokenizer, self.sentence_ends)

    def _take_preparation(self, described: dict[str, Any] | None) -> None:
        """Take over what was done with the text of counts, or of a model that was saved."""
        if described is not None:
            self._tokenizer, self.sentence_ends = tokenizer_from(described["tokenizer"]), described["sentence_ends"]

    def _take_preparation_of(self, counts: PairCounts) -> None:
        """Take over what was done with the text of counts, which may not be something else than what is asked for."""
        given, described = self._preparation(), counts.manifest.get("preparation")
        if given is not None and described is not None and given.describe() != described:
            raise ValueError(
                f"the counts are of text whose words were found by {in_words(described)}, and not by "
                f"{in_words(given.describe())}: leave tokenizer and sentence_ends out, or count again"
            )
        if given is None or not isinstance(self._tokenizer, FunctionTokenizer):
            self._take_preparation(described)

    def __getstate__(self) -> dict[str, Any]:
        """Keep of a function its name only, as no file should name what is to be run."""
        state: dict[str, Any] = super().__getstate__()
        if isinstance(self._tokenizer, FunctionTokenizer):
            state["_tokenizer"] = MissingTokenizer(self._tokenizer.name)
        return state


def refuse_other_preparation(counts: PairCounts, preparation: Preparation | None) -> None:
    """Refuse to add text to counts of text that was made into words in another way."""
    before, now = counts.manifest.get("preparation"), None if preparation is None else preparation.describe()
    if before != now:
        raise ValueError(
            f"this model was trained on counts of text whose words were found by {in_words(before)}, and not by "
            f"{in_words(now)}: set model.tokenizer and model.sentence_ends to what they were, or train a new model"
        )


def in_words(described: dict[str, Any] | None) -> str:
    """Return in words how text was made into words."""
    if described is None:
        return "white space"
    tokenizer = tokenizer_from(described["tokenizer"])
    words = "white space" if tokenizer is None else repr(tokenizer)
    return words if described["sentence_ends"] == "lines" else f"{words} in sentences that end in punctuation"

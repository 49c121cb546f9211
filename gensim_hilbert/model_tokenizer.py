"""The tokenizer of a model: what made words of its text, and makes words of other texts in the same way."""

from __future__ import annotations

from typing import Any

from gensim.models import Word2Vec

from gensim_hilbert.corpus.foreign_tokenizers import FunctionTokenizer, MissingTokenizer
from gensim_hilbert.corpus.preparation import Preparation, preparation_of
from gensim_hilbert.corpus.sources import Corpus
from gensim_hilbert.corpus.tokenizer_names import as_tokenizer, tokenizer_from
from gensim_hilbert.corpus.tokenizers import Tokenizer
from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.phrases.applying import is_auto, phrases_of, with_phrases
from gensim_hilbert.phrases.table import Phrases

LINES = "lines"  # the default of sentence_ends


class TokenizedText(Word2Vec):
    """What a model does with raw text."""

    sentence_ends: str
    phrases: Phrases | str | None  # "auto" until those of the first text are found
    memory_gb: float
    progress: bool
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
        words = text.split() if self._tokenizer is None else self._tokenizer.tokenize([text])[0]
        return self.phrases.transform(words) if isinstance(self.phrases, Phrases) else words

    def _preparation(self) -> Preparation | None:
        """Return what is done with text before its words are counted."""
        joiner = self.phrases.joiner if isinstance(self.phrases, Phrases) else None
        return preparation_of(self._tokenizer, self.sentence_ends, joiner)

    def _with_phrases(self, corpus: Corpus) -> Corpus:
        """Return a corpus, which is prepared, with its own phrases joined if the model is still to find some."""
        if not is_auto(self.phrases):
            return corpus
        resources = {"workers": self.workers, "memory_gb": self.memory_gb, "progress": self.progress}
        joined = with_phrases(corpus, self.phrases, **resources)
        self.phrases = phrases_of(joined)
        return joined

    def _take_preparation(self, described: dict[str, Any] | None) -> None:
        """Take over what was done with the text of counts, or of a model that was saved."""
        if described is not None:
            self._tokenizer, self.sentence_ends = tokenizer_from(described["tokenizer"]), described["sentence_ends"]

    def _take_preparation_of(self, counts: PairCounts) -> None:
        """Take over what was done with the text of counts, which may not be something else than what is asked for."""
        given, described = self._preparation(), counts.manifest.get("preparation")
        if not isinstance(self.phrases, Phrases):
            self.phrases = counts.phrases
        if described is None:
            return
        if given is not None:
            asked = given.describe()
            left_out = Preparation().describe()
            if any(asked[part] not in (left_out[part], described[part]) for part in asked):
                raise ValueError(
                    f"the counts are of text whose words were found by {in_words(described)}, and not by "
                    f"{in_words(asked)}: leave tokenizer, sentence_ends and phrases out, or count again"
                )
        function = self._tokenizer if isinstance(self._tokenizer, FunctionTokenizer) else None
        self._take_preparation(described)
        self._tokenizer = function or self._tokenizer

    def __getstate__(self) -> dict[str, Any]:
        """Keep of a function its name only, as no file should name what is to be run."""
        state: dict[str, Any] = super().__getstate__()
        if isinstance(self._tokenizer, FunctionTokenizer):
            state["_tokenizer"] = MissingTokenizer(self._tokenizer.name)
        return state


def text_options(other: Any, tokenizer: Any, sentence_ends: str, phrases: Any) -> tuple[Any, str, Any]:
    """Return how text is made into words: as for the model whose covectors are used, unless something else is given."""
    if not isinstance(other, TokenizedText):
        return tokenizer, sentence_ends, phrases
    return (
        other.tokenizer if tokenizer is None else tokenizer,
        other.sentence_ends if sentence_ends == LINES else sentence_ends,
        other.phrases if phrases is None and isinstance(other.phrases, Phrases) else phrases,
    )


def refuse_other_preparation(counts: PairCounts, preparation: Preparation | None) -> None:
    """Refuse to add text to counts of text that was made into words in another way."""
    before, now = counts.manifest.get("preparation"), None if preparation is None else preparation.describe()
    if before != now:
        raise ValueError(
            f"this model was trained on counts of text whose words were found by {in_words(before)}, and not by "
            f"{in_words(now)}: set model.tokenizer, model.sentence_ends and model.phrases to what they were, or train "
            "a new model"
        )


def in_words(described: dict[str, Any] | None) -> str:
    """Return in words how text was made into words."""
    if described is None:
        return "white space"
    tokenizer = tokenizer_from(described["tokenizer"])
    words = "white space" if tokenizer is None else repr(tokenizer)
    if described["sentence_ends"] != "lines":
        words += " in sentences that end in punctuation"
    joiner = described.get("joiner")
    return words if joiner is None else f"{words}, with {joiner['phrases']} phrases joined"

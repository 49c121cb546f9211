"""What happens to the text of a block before its words are counted: it is cut into words, and words may be joined.

A `Preparation` travels with each block and is applied by whoever reads that. It turns text into token lists in the form
that cython_ext/scanner.pxd describes, and so all that follows is the same for prepared and for plain text.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol

from gensim_hilbert.corpus.sentences import ends_sentence, refuse_sentences
from gensim_hilbert.corpus.token_lists import Prepared, places_in_lists
from gensim_hilbert.corpus.tokenizer_names import as_tokenizer
from gensim_hilbert.corpus.tokenizers import Tokenizer
from gensim_hilbert.corpus.words import WhiteSpace
from gensim_hilbert.files import to_json


class Joiner(Protocol):
    """A stage that replaces words by others within their sentences, such as phrases; it can be pickled."""

    def __call__(self, prepared: Prepared) -> Prepared:
        """Return other token lists with the same sentences; a joined word has the place of its first part."""

    def describe(self) -> dict[str, Any]:
        """Return what it does as plain JSON, by which it can be recognised."""


@dataclass(frozen=True)
class Preparation:
    """How the text of a block becomes token lists.

    Parameters
    ----------
    tokenizer : Tokenizer, optional
        What makes words of text; by default, white space separates them. Token lists that the user has made are not
        tokenized again.
    sentence_ends : {"lines", "punctuation"}
        Where sentences end; corpus/sentences.py has the rule.
    joiner : Joiner, optional
        What is done with the words of text and of token lists alike.
    """

    tokenizer: Tokenizer | None = None
    sentence_ends: str = "lines"
    joiner: Joiner | None = None

    def of_text(self, text: bytes, *, errors: str = "strict", inside: bool = False, is_open: bool = False) -> Prepared:
        """Prepare lines of text; `inside` and `is_open` tell whether it begins and ends in the middle of a sentence.

        Raises `InvalidUTF8`, with `errors="strict"`.
        """
        tokenizer = self.tokenizer or WhiteSpace()
        prepared = tokenizer.prepare(text, errors=errors, sentences=self.sentence_ends, inside=inside, is_open=is_open)
        return self._joined(prepared)

    def of_lists(self, data: bytes) -> Prepared:
        """Prepare token lists."""
        return self._joined(Prepared(data, places_in_lists(data)))

    def _joined(self, prepared: Prepared) -> Prepared:
        return prepared if self.joiner is None else self.joiner(prepared)

    def ends_sentence(self, line: bytes) -> bool:
        """Tell whether the beginning of a line, behind which white space follows, ends in the end of a sentence."""
        return ends_sentence(line, self.sentence_ends)

    def describe(self) -> dict[str, Any]:
        """Return what is done as plain JSON."""
        return {
            "tokenizer": None if self.tokenizer is None else self.tokenizer.describe(),
            "sentence_ends": self.sentence_ends,
            "joiner": None if self.joiner is None else self.joiner.describe(),
        }

    @property
    def fingerprint(self) -> str | None:
        """A hash by which it can be recognised; None for functions, whose name does not tell what they do."""
        if self.tokenizer is not None and not self.tokenizer.is_stored:
            return None
        return sha256(to_json(self.describe()).encode()).hexdigest()


def preparation_of(
    tokenizer: Any = None, sentence_ends: str = "lines", joiner: Joiner | None = None
) -> Preparation | None:
    """Return how text is prepared, or None if nothing is to be done but to split it at white space."""
    refuse_sentences(sentence_ends)
    found = as_tokenizer(tokenizer)
    if found is None and sentence_ends == "lines" and joiner is None:
        return None
    return Preparation(found, sentence_ends, joiner)

"""`Phrases`: tables of phrases as users see them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from itertools import islice
from typing import Any

from gensim_hilbert._tokens import all_str
from gensim_hilbert.corpus.any_tokens import tokens_of
from gensim_hilbert.corpus.dispatch import default_workers
from gensim_hilbert.corpus.preparation import Preparation, preparation_of
from gensim_hilbert.corpus.sources import as_corpus
from gensim_hilbert.corpus.token_lists import decode_lists, encode_words
from gensim_hilbert.files import Staging, to_json
from gensim_hilbert.locations import AnyPath
from gensim_hilbert.phrases.joining import JoinPhrases, Parts, Round
from gensim_hilbert.phrases.learning import Resources, Rules, find_phrases
from gensim_hilbert.phrases.scores import refuse_rules
from gensim_hilbert.untrusted import damage_named, is_shallow, is_whole, parse_json
from gensim_hilbert.vocabulary import ERRORS

FORMAT, VERSION = "gensim_hilbert phrases", 1
SENTENCES_AT_ONCE = 1000


class Phrases:
    """Words that belong together, such as "new york", and how they are joined to one word, such as "new_york".

    Make one with `from_corpus`, `load` one that was saved, or take over gensim's with `from_gensim`. Phrases are joined
    as by gensim's `Phrases`: from left to right, each word in one phrase only, and never across sentences.

    Attributes
    ----------
    rounds : tuple of Round
        The phrases that are joined in each of the passes over a sentence.
    settings : dict
        How they were found; empty if that is not known.
    """

    def __init__(self, rounds: Iterable[Round], settings: Mapping[str, Any] | None = None):
        self.rounds = tuple(rounds)
        self.settings = dict(settings or {})
        for one in self.rounds:
            refuse_round(one)

    @classmethod
    def from_corpus(
        cls,
        corpus: Any,
        *,
        tokenizer: Any = None,
        sentence_ends: str = "lines",
        column: str | None = None,
        min_count: int = 5,
        threshold: float = 10.0,
        scoring: str = "default",
        delimiter: str = "_",
        connector_words: Iterable[str] = frozenset(),
        rounds: int = 1,
        workers: int | None = None,
        memory_gb: float = 2.0,
        executor: Executor | None = None,
        errors: str = "strict",
        transport_params: dict[str, Any] | None = None,
        progress: bool = True,
    ) -> Phrases:
        """Find the phrases of a corpus.

        Counts are exact, where gensim's `Phrases` forgets rare pairs beyond `max_vocab_size`. Otherwise phrases and
        scores are those of gensim. They do not depend on workers, memory or executor.

        Parameters
        ----------
        corpus : path, URI, glob, directory, list of those, file object, or re-iterable of token lists
            As for `PairCounts.from_corpus`. No phrase is found across the places where a very long line is cut.
        tokenizer, sentence_ends
            What makes words of text, and where sentences end, as in `PairCounts.from_corpus`.
        column : str, optional
            The column of tables that holds the text.
        min_count : int
            Least number of occurrences of a phrase.
        threshold : float
            The score of a phrase is above this. A higher one means fewer phrases.
        scoring : {"default", "npmi", "pmi"}
            "default" is the score of word2vec's authors, `(n_ab - min_count) * N / (n_a * n_b)` for N different words
            and pairs; "npmi" the normalised pointwise mutual information, from -1 to 1; "pmi" the pointwise mutual
            information in nats, with probabilities as for "npmi".
        delimiter : str
            What joins the words of a phrase.
        connector_words : iterable of str
            Words that may stand inside a phrase without counting, such as gensim's `ENGLISH_CONNECTOR_WORDS`. No phrase
            begins or ends with one.
        rounds : int
            How often phrases are looked for, each time in the text with those found before joined: two rounds find
            "new_york_city".

        workers : int, optional
            Number of threads; by default one per core.
        memory_gb : float
            Memory for pairs of words. If it does not suffice, the corpus is read several times. It does not bound the
            memory for different words.
        executor : concurrent.futures.Executor, optional
            Where the work runs, instead of on threads.
        errors : {"strict", "replace", "ignore"}
            How malformed UTF-8 is handled, as in `bytes.decode`.
        transport_params : dict, optional
            Passed to smart_open.
        progress : bool
            Whether to show a progress bar if standard error is a terminal.
        """
        refuse_rules(min_count, threshold, scoring)
        if errors not in ERRORS:
            raise ValueError(f"errors must be one of {', '.join(ERRORS)}, got {errors!r}")
        if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
            raise ValueError(f"rounds must be a whole number of 1 or more, got {rounds!r}")
        if not 0 < memory_gb < math.inf:
            raise ValueError(f"memory_gb must be a number of gigabytes above 0, got {memory_gb!r}")
        if isinstance(connector_words, str):
            raise TypeError(f"connector_words must be a set of words, got the string {connector_words!r}; split it")
        source = as_corpus(corpus, transport_params, preparation_of(tokenizer, sentence_ends), column)
        if rounds > 1 and not source.can_repeat:
            raise ValueError(f"{source.names[0]} can be read only once: save it to a file first, or use rounds=1")
        rules = Rules(int(min_count), float(threshold), scoring, delimiter, frozenset(connector_words))
        refuse_round(Round({}, delimiter, rules.connector_words))
        resources = Resources(default_workers(workers), memory_gb, executor, errors, progress)
        settings = {"min_count": rules.min_count, "threshold": rules.threshold, "scoring": scoring}
        before, found, are_plain = source.preparation or Preparation(), cls([], settings), False
        for _ in range(rounds):
            text = source.prepared(replace(before, joiner=JoinPhrases(found))) if found.rounds else source
            one, are_plain = find_phrases(text, rules, resources, are_plain)
            if not one.scores:
                break
            found = cls([*found.rounds, one], settings)
        return found

    @classmethod
    def from_gensim(cls, *tables: Any) -> Phrases:
        """Take over gensim's `Phrases` or `FrozenPhrases`; several of them are joined one after the other."""
        from gensim_hilbert.phrases.gensim_tables import round_of

        return cls([round_of(table) for table in tables])

    # ------------------------------------------------------------------ facts

    @cached_property
    def phrases(self) -> dict[str, float]:
        """Each phrase as one word, and its score."""
        found: dict[str, float] = {}
        for one in self.rounds:
            for parts, score in one.scores.items():
                phrase = one.joined(parts)
                found[phrase] = max(score, found.get(phrase, score))
        return found

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the phrases, their scores and how they are joined."""
        digest = sha256(to_json([header_of(one) for one in self.rounds]).encode())
        for line in islice(self.lines(), 1, None):
            digest.update(line)
        return digest.hexdigest()

    def describe(self) -> dict[str, Any]:
        """Return what is to be said of them in a manifest."""
        return {"phrases": len(self), "rounds": len(self.rounds), "fingerprint": self.fingerprint}

    def __len__(self) -> int:
        return len(self.phrases)

    def __contains__(self, phrase: object) -> bool:
        return phrase in self.phrases

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Phrases) and self.rounds == other.rounds

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[type[Phrases], tuple[Any, ...]]:
        return Phrases, (self.rounds, self.settings)

    def __repr__(self) -> str:
        return f"Phrases({len(self)} phrases, {len(self.rounds)} rounds)"

    # ------------------------------------------------------------------ joining

    @cached_property
    def joiner(self) -> JoinPhrases:
        """The stage of a `Preparation` that joins them."""
        return JoinPhrases(self)

    def transform(self, sentence: Iterable[str]) -> list[str]:
        """Return a sentence with its phrases joined."""
        return next(self._transformed([sentence]))

    def __getitem__(self, sentences: Any) -> Any:
        """Return a sentence with its phrases joined, or for a corpus of sentences, an iterable of such sentences."""
        if isinstance(sentences, str):
            raise TypeError(f"a sentence must be a list of words, got the string {sentences!r}; split it")
        if hasattr(sentences, "__next__"):
            return self._transformed(sentences)
        first = next(iter(sentences), None)
        if first is None or isinstance(first, str):
            return self.transform(sentences)
        return JoinedSentences(self, sentences)

    def _transformed(self, sentences: Iterable[Iterable[str]]) -> Iterator[list[str]]:
        numbered = enumerate(sentences)
        while some := list(islice(numbered, SENTENCES_AT_ONCE)):
            data = b"".join(encoded_text(sentence, number) for number, sentence in some)
            yield from decode_lists(Preparation(joiner=self.joiner).of_lists(data).data)

    # ------------------------------------------------------------------ files

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the file that `save` writes."""
        header = {
            "format": FORMAT,
            "version": VERSION,
            "rounds": [header_of(one) for one in self.rounds],
            "settings": self.settings,
        }
        yield to_json(header).encode() + b"\n"
        for one in self.rounds:
            for parts, score in one.scores.items():
                yield to_json([list(parts), score]).encode() + b"\n"

    def save(self, path: AnyPath) -> None:
        """Write a text file: one line that tells how phrases are joined, and one JSON array `[words, score]` each."""
        with Staging() as staging, staging.create(os.fspath(path)) as file:
            file.writelines(self.lines())

    @classmethod
    def load(cls, path: AnyPath) -> Phrases:
        """Read a file that `save` has written; whatever is wrong with it is a ValueError that names it."""
        with damage_named(path, "a file of phrases"), open(path, "rb") as file:
            header = parse_json(file.readline())
            if not isinstance(header, dict) or (header.get("format"), header.get("version")) != (FORMAT, VERSION):
                raise ValueError("its first line is not that of such a file")
            if not isinstance(header["settings"], dict) or not is_shallow(header["settings"]):
                raise ValueError("its settings cannot be right")
            rounds = []
            for one in header["rounds"]:
                if not is_whole(one["phrases"]) or not all(type(word) is str for word in one["connector_words"]):
                    raise ValueError("its first line cannot be right")
                scores: dict[Parts, float] = {}
                for line in islice(file, one["phrases"]):
                    parts, score = parse_json(line)
                    scores[tuple(parts)] = score
                if len(scores) != one["phrases"]:
                    raise ValueError(f"it has {len(scores)} phrases of {one['phrases']}")
                rounds.append(Round(scores, one["delimiter"], frozenset(one["connector_words"])))
            if file.read(1):
                raise ValueError("it goes on after its last phrase")
            return cls(rounds, header["settings"])


class JoinedSentences:
    """The sentences of a corpus with their phrases joined; it can be iterated as often as the corpus can."""

    def __init__(self, phrases: Phrases, sentences: Iterable[Iterable[str]]):
        self.phrases = phrases
        self.sentences = sentences

    def __iter__(self) -> Iterator[list[str]]:
        return self.phrases._transformed(self.sentences)


def header_of(one: Round) -> dict[str, Any]:
    """Return what the first line of a file says of a round."""
    connectors: Sequence[str] = sorted(one.connector_words)
    return {"delimiter": one.delimiter, "connector_words": connectors, "phrases": len(one.scores)}


def refuse_round(one: Round) -> None:
    """Raise an error unless a round can be joined."""
    if not isinstance(one.delimiter, str) or not one.delimiter:
        raise ValueError(f"delimiter must be a string of one character or more, got {one.delimiter!r}")
    connectors = one.connector_words
    if not all(isinstance(word, str) for word in connectors):
        raise TypeError(f"connector_words must be strings, got {sorted(map(repr, connectors))[:5]}")
    for parts, score in one.scores.items():
        if len(parts) < 2 or not all(type(part) is str for part in parts):
            raise ValueError(f"a phrase must have two words or more, got {parts!r}")
        if parts[0] in connectors or parts[-1] in connectors or not connectors.issuperset(parts[1:-1]):
            raise ValueError(f"{parts!r} is not a word, connector words and another word")
        if type(score) not in (int, float) or not math.isfinite(score):
            raise ValueError(f"the score of {parts!r} must be a finite number, got {score!r}")


def encoded_text(sentence: Any, number: int) -> bytes:
    """Write a sentence as a token list, or raise an error if its words are no text."""
    words = tokens_of(sentence, number)
    if not isinstance(words, str) and not all_str(words):
        wrong = next(word for word in words if not isinstance(word, str))
        raise TypeError(f"sentence {number} holds {wrong!r}, a {type(wrong).__name__}; phrases are made of str")
    return encode_words(words) + b"\xfe"


def as_phrases(given: Any) -> Phrases:
    """Return the phrases that a user has given: as they are, as the name of a file, or as gensim has them."""
    if isinstance(given, Phrases):
        return given
    if isinstance(given, str | os.PathLike):
        return Phrases.load(given)
    return Phrases.from_gensim(*(given if isinstance(given, list | tuple) else [given]))

"""How a model reads text: what its corpora are, their words, and their pairs."""

from __future__ import annotations

import hashlib
import logging
import os
import re
from pathlib import Path
from typing import Any

from gensim_hilbert.corpus.frames import frame_corpus, frame_of
from gensim_hilbert.corpus.preparation import Preparation
from gensim_hilbert.corpus.sources import Corpus, SpooledCorpus, TokenCorpus, as_corpus
from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.counting.settings import Window
from gensim_hilbert.files import as_read_back, read_json, to_json, write_whole
from gensim_hilbert.locations import path_of
from gensim_hilbert.vocabulary import Vocabulary
from gensim_hilbert.word_scan import NothingToCount, TrimRule, in_first_order, scan_words

logger = logging.getLogger(__name__)

WORDS, SCAN = "words.jsonl", "words.json"  # the words of a corpus, and what is known of them
FEW_TOKENS = 1_000_000  # in a smaller corpus, a single draw of which tokens to remove would be mostly noise
MOST_NAMES = 20  # of the files of a text that a model remembers


def resolve_corpus(corpus_iterable: Any, corpus_file: Any, column: str | None) -> tuple[Any, Any]:
    """Find the files of a corpus once, so that whoever is given the result need not look for them again.

    Only `corpus_file` stands for files, also compressed and remote ones. A list of str as `corpus_iterable` is one
    sentence per str, about which gensim warns; it never holds paths. Tables of pandas and others come back in the place
    of files; `column` is the column of tables.
    """
    if isinstance(corpus_iterable, str | bytes | os.PathLike):
        raise TypeError(
            f"sentences must be lists of words, got {corpus_iterable!r}; to read a file, pass "
            f"corpus_file={corpus_iterable!r}, and to train on one text, pass [text.split()]"
        )
    if corpus_file is None and (frame := frame_of(corpus_iterable)) is not None:
        return None, frame_corpus(frame, None if frame.columns() is None else column)
    if corpus_file is None or corpus_iterable is not None:
        return corpus_iterable, corpus_file
    try:
        return None, as_corpus(corpus_file, column=column)
    except ConnectionError:
        raise
    except (OSError, TypeError) as error:
        raise TypeError(
            f"corpus_file must be a path or a URI that can be read, got {corpus_file!r}: {error}"
        ) from error


def corpus_of(corpus_iterable: Any, corpus_file: Any, preparation: Preparation | None) -> Corpus:
    """Return the corpus of sentences, or of a file that has been resolved, with what is done with its text."""
    if corpus_file is not None:
        return as_corpus(corpus_file).prepared(preparation)
    corpus = TokenCorpus(corpus_iterable).prepared(preparation)
    corpus.can_repeat = not hasattr(corpus_iterable, "__next__")
    corpus.may_differ = True  # random walks, say, which gensim trains on, too
    return corpus


def refuse_empty(corpus_file: Corpus | None, tokens: int) -> None:
    """Raise an error, which ends as gensim's does, if sentences or a file that has been resolved have no words."""
    if not tokens:
        where = "the sentences" if corpus_file is None else ", ".join(corpus_file.names[:3])
        raise RuntimeError(
            f"the corpus is empty: no word in {where}; you must first build vocabulary before training the model"
        )


def description_of(corpus: Corpus) -> dict[str, Any]:
    """Return what a model remembers of a text: the names of its files, without their folders, and a fingerprint."""
    names = [re.split(r"[/\\]", path_of(name).rstrip("/\\"))[-1] for name in corpus.names]
    known = corpus.fingerprint
    return {
        "files": len(names),
        "names": names[:MOST_NAMES],
        "fingerprint": None if known is None else hashlib.sha256(to_json(known).encode()).hexdigest(),
    }


def count_words(
    corpus: Corpus,
    *,
    directory: Path | None,
    max_vocab_size: int | None,
    trim_rule: TrimRule | None,
    workers: int,
    progress: bool,
) -> tuple[dict[Any, int], int, int]:
    """Return the words of a corpus with their counts, in the order in which it has them, its tokens and sentences.

    They are kept in a directory, where they are found again after an interruption, if the corpus can be recognised.
    """
    if corpus.fingerprint is None or trim_rule is not None:
        directory = None
    request = as_read_back({"corpus": corpus.fingerprint, "max_vocab_size": max_vocab_size})
    if directory is not None and (found := saved_words(directory, request)) is not None:
        logger.info("the words of the corpus are in %s already", directory)
        return dict(zip(found.words, found.counts.tolist(), strict=True)), found.tokens, found.sentences
    try:
        counted = scan_words(
            corpus,
            max_vocab_size=max_vocab_size,
            trim_rule=trim_rule,
            workers=workers,
            executor=None,
            errors="strict",
            progress=progress,
        )
    except NothingToCount as nothing:  # gensim does not mind before it has to train
        logger.info("%s", nothing)
        return {}, 0, nothing.sentences
    words, tokens, sentences = in_first_order(counted), counted.tokens, counted.sentences
    logger.info("collected %d words from %d tokens in %d sentences", len(words), tokens, sentences)
    if directory is not None:
        save_words(directory, request, Vocabulary(words, list(words.values()), tokens=tokens, sentences=sentences))
    return words, tokens, sentences


def save_words(directory: Path, request: Any, words: Vocabulary) -> None:
    """Keep the words of a corpus; the file that tells of them is written last."""
    directory.mkdir(parents=True, exist_ok=True)
    words.save(directory / WORDS)
    facts = {"tokens": words.tokens, "sentences": words.sentences, "checksum": words.fingerprint}
    write_whole(directory / SCAN, to_json({"request": request, **facts}, indent=1).encode())


def saved_words(directory: Path, request: Any) -> Vocabulary | None:
    """Return the words that were kept there for the same request, undamaged; None otherwise: they are counted anew."""
    try:
        facts = read_json(directory / SCAN)
        if facts["request"] != request:
            return None
        words = Vocabulary.load(directory / WORDS, tokens=facts["tokens"], sentences=facts["sentences"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return words if words.fingerprint == facts["checksum"] else None


def refuse_other_window(counts: PairCounts, window: int, shrink_windows: bool) -> None:
    """Refuse to add text to counts that were made with another window."""
    if not counts.window.reach:
        raise ValueError(
            "this model was trained on imported counts, which do not tell their window, so no text can be added to "
            "them; count the new text as those were counted, import the sum of both, and train on it with from_counts"
        )
    if counts.window != Window.parse(window, weights_of(shrink_windows)):
        raise ValueError(
            f"this model was trained on counts with another window than {window} words of "
            f"{weights_of(shrink_windows)} weights: count the new text as those were, and train on the sum with "
            "from_counts"
        )


def weights_of(shrink_windows: bool) -> str:
    """Return the weights of contexts that gensim's `shrink_windows` amounts to on average."""
    return "dynamic" if shrink_windows else "flat"


def count_pairs(
    corpus: Corpus, vocabulary: Vocabulary, *, directory: Path | None, shrink_windows: bool, **options: Any
) -> PairCounts:
    """Count the pairs of a corpus, in a directory where they are found again after an interruption."""
    if not corpus.can_repeat and isinstance(corpus, TokenCorpus):
        corpus = SpooledCorpus(corpus.over(vocabulary))
    if corpus.fingerprint is None:
        directory = None  # counts of a corpus that cannot be recognised could not be used again
    try:
        return PairCounts.from_corpus(
            corpus, directory=directory, vocabulary=vocabulary, weights=weights_of(shrink_windows), **options
        )
    except FileExistsError as error:
        raise ValueError(
            f"{directory} holds the counts of another training, or damaged ones; go on with the same corpus and "
            "settings, or remove it"
        ) from error

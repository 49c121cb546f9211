"""How a model recognises text that it has been trained on before, which adds nothing unless that is asked for."""

from __future__ import annotations

import logging
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from gensim_hilbert.corpus.sources import Corpus
from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.files import to_json
from gensim_hilbert.model_files import LearntFrom
from gensim_hilbert.model_text import count_pairs, description_of, refuse_other_window
from gensim_hilbert.model_tokenizer import refuse_other_preparation
from gensim_hilbert.model_training import refuse_sums, vectors_crc
from gensim_hilbert.options import checkpoint_settings
from gensim_hilbert.training.fit import Fitted
from gensim_hilbert.training.session import Unchanged
from gensim_hilbert.vocabulary import Vocabulary

if TYPE_CHECKING:
    from gensim_hilbert.model import HilbertMLE

logger = logging.getLogger(__name__)

RATES = ("alpha", "min_alpha")
OF_COUNTS = (
    "text_counts",
    "vocabulary_size",
    "words_used",
    "words_read",
)  # what a record tells about a text once it has been counted


class CountedText(NamedTuple):
    """A text to train on.

    Attributes
    ----------
    counts : PairCounts or None
        Its pairs; None if the model's counts have them already.
    record : dict
        What the model remembers of it: besides the names of files, the fingerprints of the files with all that counting
        depends on (`request`) and of the pairs (`text_counts`), and how many words one epoch uses and reads.
    """

    counts: PairCounts | None
    record: dict[str, Any]

    def words(self, epochs: int) -> tuple[int, int]:
        """Return how many words are used, after subsampling, and how many are read, over all epochs."""
        return self.record["words_used"] * epochs, self.record["words_read"] * epochs


def count_text(model: HilbertMLE, corpus: Corpus, vocabulary: Vocabulary) -> PairCounts:
    """Count the pairs of a text for a model, unless it could not be trained on them."""
    from gensim_hilbert.training.device import choose_device

    choose_device(model.device)  # it may not be available, which is better said now than after hours of counting
    if model.counts is not None:
        refuse_other_window(model.counts, model.window, model.shrink_windows)
        refuse_other_preparation(model.counts, corpus.preparation)
    if model.learnt_from is LearntFrom.LOST_COUNTS:
        refuse_sums(model)
        logger.warning(
            "this copy of the model is without the counts of earlier texts: training starts from its vectors, and "
            "fits the new text alone; models that are saved and loaded by their own methods keep their counts"
        )
    recount, model._words_are_counted = not model._words_are_counted, False
    return count_pairs(
        corpus, vocabulary, directory=None if model.checkpoint is None else model._checkpoint_folder() / "counts",
        recount=recount, window=model.window, shrink_windows=model.shrink_windows,
        sample=0 if model.thins_on_average else model.sample, seed=model.seed, workers=model.workers,
        memory_gb=model.memory_gb, progress=model.progress,
    )  # fmt: skip


def count_unless_known(model: HilbertMLE, corpus: Corpus, vocabulary: Vocabulary, *, add_again: bool) -> CountedText:
    """Count the pairs of a text, except of files that a model has counted before and that have not changed since."""
    record = {**description_of(corpus), "request": counting_request(model, corpus, vocabulary)}
    forgets = add_again or model.counts is None
    earlier = [] if forgets else [one for one in model.trained_on if one.keys() >= {"request", *OF_COUNTS}]
    for one in earlier:
        if record["request"] is not None and one["request"] == record["request"]:
            return CountedText(None, record | {name: one[name] for name in OF_COUNTS})
    counts = count_text(model, corpus, vocabulary)
    used = int((counts.vocabulary.counts * vocabulary.keep_probability(model.sample)).sum())
    facts = counts.fingerprint, len(vocabulary), used, counts.vocabulary.tokens
    record |= dict(zip(OF_COUNTS, facts, strict=True))
    fingerprints = {one["text_counts"]: one["vocabulary_size"] for one in earlier}
    is_known = counts.fingerprint in fingerprints
    # Words may have been added since that do not occur in it, so that it has other counts, but the same pairs.
    for size in {size for size in fingerprints.values() if not counts.vocabulary.counts[size:].any()}:
        is_smaller = size < len(vocabulary) and model.checkpoint is None
        if not is_known and is_smaller and corpus.can_repeat and solver_of_known(model):
            fewer = Vocabulary(
                vocabulary.words[:size],
                vocabulary.counts[:size],
                tokens=vocabulary.tokens,
                sentences=vocabulary.sentences,
            )
            is_known = count_text(model, corpus, fewer).fingerprint in fingerprints
    return CountedText(None if is_known else counts, record)


def counting_request(model: HilbertMLE, corpus: Corpus, vocabulary: Vocabulary) -> str | None:
    """Return a fingerprint of all that the counts of files depend on; None if these cannot be recognised."""
    if corpus.fingerprint is None:
        return None
    names = ("window", "shrink_windows", "sample", "thins_on_average", "seed")
    settings = {name: getattr(model, name) for name in names}
    return fingerprint_of({"corpus": corpus.fingerprint, "vocabulary": vocabulary.fingerprint, **settings})


def what_is_fitted(model: HilbertMLE) -> str:
    """Return a fingerprint of what vectors are a function of, apart from learning rates: counts and settings."""
    assert model.counts is not None
    settings = {name: value for name, value in checkpoint_settings(model).items() if name not in RATES}
    return fingerprint_of({**settings, "counts": model.counts.fingerprint})


def solver_of_known(model: HilbertMLE) -> partial[Unchanged] | None:
    """Return what makes a solver that leaves vectors alone, if they are those of a whole fit to the model's counts."""
    are_ours = model.learnt_from is LearntFrom.COUNTS and model._vectors_crc == vectors_crc(model)
    is_whole = model.trained_on[-1].get("fitted") == what_is_fitted(model)
    has_loss = not model.compute_loss or model.running_training_loss
    return unchanged(model) if are_ours and is_whole and has_loss else None


def unchanged(model: HilbertMLE) -> partial[Unchanged]:
    """Return what makes a solver that leaves vectors alone."""
    fitted = Fitted(model.syn1neg, model.wv.parameters, model.biases, model.psi_offset, model.offsets)
    return partial(Unchanged, fitted, float(model.running_training_loss))


def fingerprint_of(facts: dict[str, Any]) -> str:
    """Return a fingerprint of plain values."""
    return sha256(to_json(facts).encode()).hexdigest()

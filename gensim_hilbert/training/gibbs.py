"""Training straight from the stream, in constant memory: blocks of text in, two matrices changed in place.

Every thread takes blocks of the corpus, turns them into ids, and hands these to the kernel (cython_ext/_gibbs.pyx), a
few thousand words at a time. With one thread the result depends on corpus and seed only. Several threads change the
same rows without locks, as those of word2vec do, so that the result differs a little from run to run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import count

import numpy as np

from gensim_hilbert._gibbs import Gibbs
from gensim_hilbert.corpus.blocks import SOURCE_SHIFT, Block
from gensim_hilbert.corpus.dispatch import UNLIMITED_SHARE, map_blocks, reads_here
from gensim_hilbert.corpus.sources import Corpus
from gensim_hilbert.corpus.texts import texts
from gensim_hilbert.training.composition import Composition
from gensim_hilbert.training.prior import prior_of_visits
from gensim_hilbert.vocabulary import Vocabulary

IDS_PER_THREAD = 1 << 20
WORDS_PER_RATE = 10_000  # after so many words the learning rate is looked up again
CONTEXTS_IN_ESTIMATE, PAIRS_IN_ESTIMATE = 1024, 1024 * 50_000  # of the constant by which psi is too large


@dataclass
class Epoch:
    """What has been done: words read, words that subsampling left, pairs, and the sum of the losses of these."""

    words: int = 0
    used: int = 0
    pairs: int = 0
    loss: float = 0.0


class Streaming:
    """Learns from a corpus, epoch by epoch.

    Parameters
    ----------
    vocabulary : Vocabulary
        The words of the rows, with the counts that subsampling and the model are based on.
    covectors, parameters : float32 arrays
        They are changed in place. The parameters are the vectors, or the rows that vectors are made of.
    composition : Composition, optional
        How vectors are made of parameters.
    expected_words : int
        Number of words that all epochs together will read; by then the rate has fallen from `alpha` to `min_alpha`.
    window, shrink, sample, negative, ns_exponent, alpha, min_alpha, workers, seed
        As in gensim. `negative` candidates are drawn for each word, by counts to the power `ns_exponent`.
    sampler : {"candidates", "metropolis", "exact"}
        How a negative is drawn.
    steps : int
        Number of steps of the Gibbs chain that leads to it.
    l2 : float or "auto"
        Strength of the prior, in counts; "auto" is 25 at 100 dimensions, and grows with the root of their number.
    lock : array, optional
        For each word a factor from 0 to 1 by which the updates of its vector are multiplied.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        covectors: np.ndarray,
        parameters: np.ndarray,
        composition: Composition | None = None,
        *,
        expected_words: int,
        window: int = 5,
        shrink: bool = True,
        sample: float = 1e-3,
        negative: int = 5,
        ns_exponent: float = 0.75,
        sampler: str = "candidates",
        steps: int = 1,
        alpha: float = 0.025,
        min_alpha: float = 0.0001,
        workers: int = 1,
        seed: int = 1,
        l2: float | str = "auto",
        lock: np.ndarray | None = None,
    ):
        self.vocabulary, self.window, self.workers, self.seed = vocabulary, window, workers, seed
        self.alpha, self.min_alpha, self.expected_words = alpha, min_alpha, max(1, expected_words)
        self.keep_below = vocabulary.keep_below(sample) if sample else None
        counts = np.maximum(vocabulary.counts, 1).astype(np.float64)  # every word has some chance
        self.unigram = counts * vocabulary.keep_probability(sample)
        self.kernel = Gibbs(
            covectors,
            parameters if composition is None else np.empty_like(covectors),
            self.unigram,
            counts**ns_exponent,
            candidates=negative,
            sampler=sampler,
            steps=steps,
            window=window,
            shrink=shrink,
            lock=lock,
            prior=prior_of_visits(l2, covectors.shape[1], self.unigram, window + 1 if shrink else 2 * window),
            composition=composition,
            parameters=None if composition is None else parameters,
        )
        self.done = Epoch()
        self.lock = threading.Lock()
        self.numbers = count()

    def run_epoch(self, corpus: Corpus, progress: Callable[[int, float], None] | None = None) -> Epoch:
        """Read the corpus once and learn from it; return what this epoch has done.

        `progress` is called with the number of words read since its last call, and the mean loss of their pairs.
        """
        before, number = Epoch(**vars(self.done)), next(self.numbers)
        corpus = corpus.over(self.vocabulary)
        task = partial(self._learn, number=number, progress=progress)
        streams = reads_here(corpus, self.workers, None)
        for _ in map_blocks(task, corpus, workers=self.workers, executor=None, share=UNLIMITED_SHARE, streams=streams):
            pass
        self.settle()
        return Epoch(**{name: total - getattr(before, name) for name, total in vars(self.done).items()})

    def settle(self) -> None:
        """Bring parameters up to date, if vectors are made of them."""
        self.kernel.settle_all()

    @property
    def rate(self) -> float:
        """The present learning rate, which falls in proportion to the words read."""
        left = max(0.0, 1 - self.done.words / self.expected_words)
        return self.min_alpha + (self.alpha - self.min_alpha) * left

    def _learn(self, blocks: Iterable[Block], number: int, progress: Callable[[int, float], None] | None) -> None:
        size, window = len(self.vocabulary), self.window
        ids = np.empty(IDS_PER_THREAD, dtype=np.uint32)
        ids[:window] = size
        seed = self.seed + (number << 32)
        for text in texts(blocks, "strict"):
            while not text.is_read():
                begun = (text.block.source << SOURCE_SHIFT) + text.start
                encoded = text.encode(
                    self.vocabulary.table, ids, window, window, gaps=False,
                    keep_below=self.keep_below, seed=seed,
                )  # fmt: skip
                self._learn_ids(ids, encoded.used - window, encoded.words, begun ^ number << 56, progress)

    def _learn_ids(
        self, ids: np.ndarray, end: int, words: int, place: int, progress: Callable[[int, float], None] | None
    ) -> None:
        """Learn in portions from ids[window:end], which stand for so many words of the text."""
        portions = max(1, words // WORDS_PER_RATE)
        for k in range(portions):
            start, stop = (self.window + (end - self.window) * part // portions for part in (k, k + 1))
            read = words * (k + 1) // portions - words * k // portions
            pairs, loss = self.kernel.train(ids, start, stop, self.rate, mixed(self.seed, place, k))
            used = int(np.count_nonzero(ids[start:stop] < len(self.vocabulary)))
            with self.lock:
                self.done.words += read
                self.done.used += used
                self.done.pairs += pairs
                self.done.loss += loss
                if progress:
                    progress(read, loss / pairs if pairs else 0.0)


def mixed(seed: int, place: int, portion: int) -> int:
    """Return a 64-bit seed that depends on three numbers."""
    return (seed * 0x9E3779B97F4A7C15 + place * 0xD6E8FEB86659FD93 + portion * 0xBF58476D1CE4E5B9) % (1 << 64)


def log_partition(covectors: np.ndarray, vectors: np.ndarray, p: np.ndarray, seed: int = 1) -> float:
    """Estimate ln sum p_i p_j exp(psi_ij), the constant by which psi is too large.

    Conditional probabilities determine psi only up to this constant. Contexts are drawn by p, evenly over its
    cumulative sum; so are terms, if there are too many to take all of them.
    """
    p = p / p.sum()
    random = np.random.default_rng(seed)
    contexts = systematic(p, CONTEXTS_IN_ESTIMATE, random)
    most = PAIRS_IN_ESTIMATE // len(contexts)
    weights = p
    if len(p) > most:
        vectors, weights = vectors[systematic(p, most, random)], np.full(most, 1 / most)
    total = 0.0
    for start in range(0, len(contexts), 64):
        psi = (covectors[contexts[start : start + 64]] @ vectors.T).astype(np.float64)
        total += float((np.exp(psi) @ weights).sum())
    return float(np.log(total / len(contexts)))


def systematic(p: np.ndarray, n: int, random: np.random.Generator) -> np.ndarray:
    """Draw n times from p, once from each n-th of its cumulative sum."""
    where = (np.arange(n) + random.random(n)) / n
    return np.minimum(np.searchsorted(np.cumsum(p), where), len(p) - 1)

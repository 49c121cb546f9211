"""A transformer for scikit-learn that turns texts into vectors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from gensim.models import KeyedVectors

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils import Tags
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise ImportError(
        f"HilbertVectorizer needs scikit-learn ({error}): pip install 'gensim-hilbert[sklearn]'"
    ) from error

from gensim_hilbert.corpus.dispatch import default_workers
from gensim_hilbert.corpus.frames import FrameCorpus, TextList
from gensim_hilbert.model import HilbertMLE
from gensim_hilbert.text_vectors.encoder import TextEncoder
from gensim_hilbert.text_vectors.weighting import Weighting

__all__ = ["HilbertVectorizer"]


class HilbertVectorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Turns texts into the vectors of `HilbertMLE.encode`.

    `fit` trains word vectors on the texts, or takes those that it is given; `transform` makes vectors of texts.

    Parameters
    ----------
    vectors : HilbertMLE, KeyedVectors or path, optional
        Word vectors that have been trained before: a model, vectors, or a folder of `save_pretrained`. By default, a
        model is trained on the texts.
    vector_size, window, min_count, epochs, tokenizer, subwords
        As in `HilbertMLE`, for a model that is trained. `vector_size` is the number of dimensions.
    weighting, a, whiten, remove, normalize
        As in `HilbertMLE.encode`.
    options : dict, optional
        Further keywords of `HilbertMLE`.
    n_jobs : int, optional
        Number of threads; by default 1, and -1 uses every core.
    random_state : int
        Seed of the training.

    Attributes
    ----------
    model_ : HilbertMLE or KeyedVectors
        The word vectors.
    n_features_out_ : int
        The number of dimensions.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> classifier = make_pipeline(HilbertVectorizer(min_count=2, tokenizer="words"), LogisticRegression())
    >>> classifier.fit(texts, labels).predict(["what a fine film"])
    """

    def __init__(
        self,
        vectors: Any = None,
        *,
        vector_size: int = 100,
        window: int = 5,
        min_count: int = 5,
        epochs: int = 5,
        tokenizer: Any = "words",
        subwords: bool = False,
        weighting: str = "sif",
        a: float = 1e-3,
        whiten: bool | None = None,
        remove: int | None = None,
        normalize: bool = True,
        options: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: int = 1,
    ):
        self.vectors = vectors
        self.vector_size = vector_size
        self.window = window
        self.min_count = min_count
        self.epochs = epochs
        self.tokenizer = tokenizer
        self.subwords = subwords
        self.weighting = weighting
        self.a = a
        self.whiten = whiten
        self.remove = remove
        self.normalize = normalize
        self.options = options
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Iterable[Any], y: Any = None) -> HilbertVectorizer:
        """Train word vectors on texts, or take those that were given.

        Parameters
        ----------
        X : iterable of str or of lists of words
            The texts. They are not used if `vectors` were given.
        y : ignored
        """
        Weighting.of(self.weighting, self.a, self.whiten, self.remove)
        texts = checked(X)
        self.model_: Any
        if self.vectors is None:
            self.model_ = self._trained(texts)
        elif isinstance(self.vectors, HilbertMLE | KeyedVectors):
            self.model_ = self.vectors
        else:
            self.model_ = HilbertMLE.from_pretrained(self.vectors)
        self.n_features_out_ = int(getattr(self.model_, "wv", self.model_).vector_size)
        return self

    def _trained(self, texts: list[Any]) -> HilbertMLE:
        """Train a model on texts."""
        model = HilbertMLE(
            vector_size=self.vector_size, window=self.window, min_count=self.min_count, epochs=self.epochs,
            tokenizer=self.tokenizer, subwords=self.subwords, seed=self.random_state, workers=self._workers(),
            **{"progress": False, **(self.options or {})},
        )  # fmt: skip
        corpus: dict[str, Any]
        if texts and isinstance(texts[0], str):
            corpus = {"corpus_file": FrameCorpus(TextList(texts), None)}  # The model cuts it into sentences and words.
        else:
            corpus = {"corpus_iterable": texts}
        model.build_vocab(**corpus)
        if not len(model.wv):
            raise ValueError(
                f"no word of the {len(texts)} texts occurs min_count={self.min_count} times: lower min_count, or give "
                "trained vectors"
            )
        model.train(
            **corpus, total_examples=model.corpus_count, total_words=model.corpus_total_words, epochs=model.epochs
        )
        return model

    def transform(self, X: Iterable[Any]) -> np.ndarray:
        """Return the vectors of texts, one row for each.

        Parameters
        ----------
        X : iterable of str or of lists of words
            The texts. Texts without known words have zeros.
        """
        check_is_fitted(self, "model_")
        texts = checked(X)
        if isinstance(self.model_, HilbertMLE):
            vectors: np.ndarray = self.model_.encode(
                texts, weighting=self.weighting, a=self.a, whiten=self.whiten, remove=self.remove,
                normalize=self.normalize, workers=self._workers(),
            )  # fmt: skip
            return vectors
        settings = Weighting.of(self.weighting, self.a, self.whiten, self.remove)
        return TextEncoder(self.model_, settings).encode(texts, self._workers()).scaled(unit=self.normalize)

    def _workers(self) -> int:
        """Return the number of threads."""
        if self.n_jobs is not None and self.n_jobs != -1 and self.n_jobs < 1:
            raise ValueError(f"n_jobs must be 1 or more, or -1 for every core, got {self.n_jobs}")
        return 1 if self.n_jobs is None else default_workers(self.n_jobs)

    @property
    def _n_features_out(self) -> int:
        """The number of columns, for `get_feature_names_out`."""
        return self.n_features_out_

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that this takes texts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags


def checked(texts: Any) -> list[Any]:
    """Return texts as a list, or raise an error for a single text and for a table."""
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise ValueError(f"X must be a list of texts, got {texts!r:.80}: put a single text into a list")
    if getattr(texts, "ndim", 1) != 1:
        raise ValueError(f"X must be one column of texts, got an array of shape {getattr(texts, 'shape', '?')}")
    return list(texts)

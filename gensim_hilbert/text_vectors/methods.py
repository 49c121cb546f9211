"""Vectors of texts, and documents ranked for a query, as methods of a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from gensim.models import KeyedVectors

from gensim_hilbert.corpus.dispatch import default_workers
from gensim_hilbert.corpus.preparation import Preparation
from gensim_hilbert.model_tokenizer import TokenizedText
from gensim_hilbert.text_vectors.encoder import TextEncoder
from gensim_hilbert.text_vectors.weighting import Weighting, common_components, remove_components
from gensim_hilbert.vectors.keyed import covectors_of

Ranking = list[tuple[int, float]]


class KeptEncoder:
    """The last encoder of some vectors, which is used again while settings and vectors are the same.

    As in gensim, vectors are known to have changed if they are another array, or after `fill_norms(force=True)`.
    """

    def __init__(self) -> None:
        self.encoder: TextEncoder | None = None
        self.facts: tuple[Any, ...] = ()

    def get(self, vectors: KeyedVectors, settings: Weighting, preparation: Preparation | None) -> TextEncoder:
        """Return the encoder of these vectors with these settings."""
        vectors.fill_norms()
        facts = (vectors.vectors, vectors.norms, vectors.expandos.get("count"))
        kept = self.encoder
        is_same = kept is not None and (kept.settings, kept.preparation) == (settings, preparation)
        if kept is None or not is_same or list(map(id, self.facts)) != list(map(id, facts)):
            kept = self.encoder = TextEncoder(vectors, settings, preparation)
            self.facts = facts
        return kept


class TextVectors(TokenizedText):
    """Vectors of texts, of whose words the model has vectors and covectors."""

    wv: KeyedVectors
    syn1neg: np.ndarray

    def encode(
        self,
        texts: str | Iterable[Any],
        *,
        weighting: str = "sif",
        a: float = 1e-3,
        whiten: bool | None = None,
        remove: int | None = None,
        common: str | np.ndarray = "corpus",
        normalize: bool = True,
        workers: int | None = None,
    ) -> np.ndarray:
        """Return the vectors of texts: means of weighted vectors of their words.

        Parameters
        ----------
        texts : str, or iterable of str or of lists of words
            One text, or many. A str is cut into words by the model's tokenizer. If the model has none, it is cut at
            white space, and a word that is then not known is looked up in lower case and without punctuation, too.
            Lists of words are taken as they are. A word that is unknown nevertheless has the vector of its n-grams if
            the model has subwords, and is left out otherwise.
        weighting : {"sif", "mean"}
            "sif" gives a word of frequency p the weight a / (a + p), and its vector the length 1 before that. "mean"
            takes the mean of vectors as they are.
        a : float
            The frequency of words whose weight is one half.
        whiten : bool, optional
            Whether vectors are transformed so that texts of random words vary alike in all directions; by default with
            "sif".
        remove : int, optional
            How many components that texts have in common are removed; by default 1 with "sif" or `common="texts"`, all
            rows of an array that is given as `common`, and 0 otherwise.
        common : {"corpus", "texts"} or array
            What these components are: those of random texts with the frequencies of the corpus; those of the texts of
            this call, which are better if the texts are many and alike, but make each vector depend on all texts; or
            rows that `common_components` has returned for other texts.
        normalize : bool
            Whether vectors have the length 1, so that their products are cosines.
        workers : int, optional
            Number of threads; by default one per core. The result is the same for any number.

        Returns
        -------
        numpy.ndarray of float32
            One row per text, or one vector for one str. Texts without known words have zeros.

        Examples
        --------
        >>> vectors = model.encode(["a cat sat on a mat", "the dog barked"])
        >>> vectors @ model.encode("a kitten")
        """
        if isinstance(texts, str):
            texts, workers = [texts], 1
            return self._encode(texts, weighting, a, whiten, remove, common, normalize, workers).reshape(-1)
        return self._encode(texts, weighting, a, whiten, remove, common, normalize, default_workers(workers))

    def _encode(
        self,
        texts: Iterable[Any],
        weighting: str,
        a: float,
        whiten: bool | None,
        remove: int | None,
        common: str | np.ndarray,
        normalize: bool,
        workers: int,
    ) -> np.ndarray:
        if isinstance(common, str) and common not in ("corpus", "texts"):
            raise ValueError(f"common must be 'corpus', 'texts' or an array of components, got {common!r}")
        of_corpus = isinstance(common, str) and common == "corpus"
        sums = self.text_encoder(Weighting.of(weighting, a, whiten, remove, corpus=of_corpus)).encode(texts, workers)
        if of_corpus:
            return sums.scaled(unit=normalize)
        vectors = sums.scaled(unit=False)
        number = 1 if remove is None else int(remove)
        rows = common_components(vectors, number) if isinstance(common, str) else np.asarray(common)[:remove]
        if rows.ndim != 2 or rows.shape[1] != vectors.shape[1]:
            raise ValueError(f"common must be rows of {vectors.shape[1]} numbers, got an array of shape {rows.shape}")
        remove_components(vectors, rows)
        return sums.scaled(unit=True) if normalize else vectors

    def common_components(self, texts: Iterable[Any], remove: int = 1, **settings: Any) -> np.ndarray:
        """Return the directions that the vectors of texts have most in common, for `encode(..., common=...)`.

        Parameters
        ----------
        texts : iterable of str or of lists of words
            The texts.
        remove : int
            How many components to return, the strongest first.
        **settings
            `weighting`, `a`, `whiten` and `workers`, as given to `encode`.
        """
        return common_components(self.encode(texts, remove=0, normalize=False, **settings), remove)

    def text_encoder(self, settings: Weighting) -> TextEncoder:
        """Return what makes vectors of texts with these settings."""
        return ENCODERS.setdefault(self, KeptEncoder()).get(self.wv, settings, self._preparation())

    # ------------------------------------------------------------------ documents for a query

    def encode_documents(self, documents: Iterable[Any], *, workers: int | None = None) -> np.ndarray:
        """Return documents as `rank` compares them with queries: unit means of weighted covectors of their words.

        Parameters
        ----------
        documents : iterable of str or of lists of words
            The documents, as in `encode`.
        workers : int, optional
            Number of threads; by default one per core.
        """
        encoder = DOCUMENT_ENCODERS.setdefault(self, KeptEncoder()).get(self._contexts(), RANKING, self._preparation())
        return encoder.encode(documents, default_workers(workers)).scaled(unit=True)

    def rank(self, query: str | Iterable[str], documents: Any, *, topn: int | None = None) -> Ranking:
        """Return which documents words of a query would stand in, the best first, as pairs of place and score.

        The score is the cosine of two means: that of the vectors of the query's words, and that of the covectors of
        the document's (the dual embedding space model, Mitra et al. 2016). It is high if the words of the query occur
        near those of the document, also if none of them is in it. Words are weighted, and common components removed,
        as in `encode`, which finds texts that say the same.

        Parameters
        ----------
        query : str, or list of words
            The query.
        documents : iterable of str or of lists of words, or array
            The documents, or what `encode_documents` has returned for them.
        topn : int, optional
            How many documents to return; by default all.
        """
        if not isinstance(documents, np.ndarray) or documents.ndim != 2:
            documents = self.encode_documents(documents)
        words = [query] if isinstance(query, str) else [list(query)]
        asked = self.text_encoder(RANKING).encode(words).scaled(unit=True)[0]
        if documents.shape[1] != len(asked):
            raise ValueError(f"documents must be rows of {len(asked)} numbers, got an array of shape {documents.shape}")
        scores = documents @ asked
        order = np.argsort(-scores, kind="stable")[:topn]
        return [(int(place), float(scores[place])) for place in order]

    def _contexts(self) -> KeyedVectors:
        """Return the covectors, the same object while they are the same array."""
        kept = CONTEXTS.get(self)
        if kept is None or kept.vectors is not self.syn1neg or kept.index_to_key is not self.wv.index_to_key:
            kept = CONTEXTS[self] = covectors_of(self.wv, self.syn1neg)
        return kept


RANKING = Weighting("sif", 1e-3, whiten=False, remove=1)
# They are kept beside models and not in them, so that they are neither saved nor pickled with them.
ENCODERS: WeakKeyDictionary[TextVectors, KeptEncoder] = WeakKeyDictionary()
DOCUMENT_ENCODERS: WeakKeyDictionary[TextVectors, KeptEncoder] = WeakKeyDictionary()
CONTEXTS: WeakKeyDictionary[TextVectors, KeyedVectors] = WeakKeyDictionary()

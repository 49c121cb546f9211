"""What the spelling of words tells about their vectors: a regression on character n-grams, after training.

The vector of each word is taken to be a part that follows from its spelling, and a part of its own:

    v_i = (S g)_i + u_i,    (S g)_i = sum of the rows g of its n-grams / (1 + number of n-grams),

with Gaussian priors on both. N-grams that many words have vary less, because what they mean depends on the word, and
those that begin a word vary more, because they are its stem. u_i varies less for frequent words, whose vectors are
known better. The most probable g is a ridge regression. It finds in n-grams what words have in common that are spelt
alike, and gives vectors to words that were never seen.

Both the noise of training and what a word means beyond its spelling are in u. The result has a share of u only. Without
the rest psi would be too small, so covectors are multiplied by the matrix that brings it nearest to what it was.

With D for the variances of the own parts, P for those of n-grams and r for the prior's weight, g solves
(S^T D^-1 S + r P^-1) g = S^T D^-1 V. Columns of V are independent. Conjugate gradients find P^-1/2 g in few steps,
because rows of n-grams that many words share, which make the equations stiff, are scaled by the diagonal.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from torch.nn.functional import embedding_bag

from gensim_hilbert.training.composition import Composition
from gensim_hilbert.training.device import threads

# See benchmarks/RESULTS.md for how these were chosen.
OWN_VARIANCE = 1.0  # Variance of the own part of the average word, relative to that of the part by its spelling.
OWN_SHARE = 0.3  # Share of the own part that stays.
FREQUENCY_EXPONENT = 0.25  # The own part's precision grows with a word's weight in the loss to this power.
LEAST_PRECISION = 1e-3  # For words that have no weight at all.
USERS_EXPONENT = -0.3  # The variance of an n-gram goes with the number of words that have it to this power ...
BEGINNING_VARIANCE = 3.0  # ... and is so many times as large if it begins a word.
TOLERANCE = 1e-2  # Of the residual of these equations, relative to their right side.
ITERATIONS = 60  # Of conjugate gradients, at most.
COLUMNS = 64  # Columns that are solved for at once; they bound the memory.
ROWS = 1 << 12  # Rows that are converted to float64 at a time.


class Bags:
    """A sparse matrix for products that are computed row by row, and so rounded the same for any number of threads."""

    def __init__(self, matrix: sparse.csr_array):
        parts = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.float32)
        self.offsets, self.rows, self.weights = map(torch.from_numpy, parts)

    def __matmul__(self, x: torch.Tensor) -> torch.Tensor:
        return embedding_bag(
            self.rows, x, self.offsets, mode="sum", per_sample_weights=self.weights, include_last_offset=True
        )


class Spelling:
    """The regression of vectors on the n-grams that several words share.

    Parameters
    ----------
    composition : Composition
        Which rows make up the words.
    weights : array
        Weight of each word in the loss, with a mean of 1.
    """

    def __init__(self, composition: Composition, weights: np.ndarray):
        self.words, self.rows = len(composition.lengths), composition.rows
        parts = composition.weights, composition.pieces.astype(np.int64), composition.offsets
        mixture = sparse.csr_array(parts, shape=(self.words, self.rows))
        self.own_weights = mixture[:, : self.words].diagonal()[:, None]
        variances = composition.users**USERS_EXPONENT
        variances[composition.begins] *= BEGINNING_VARIANCE
        deviations = np.sqrt(variances).astype(np.float32)
        self.deviations = torch.from_numpy(deviations[:, None])
        shares = (mixture[:, self.words :] @ sparse.diags_array(deviations)).tocsr()
        self.forward, self.backward = Bags(shares), Bags(shares.T.tocsr())
        precision = np.maximum(np.asarray(weights, dtype=np.float64) ** FREQUENCY_EXPONENT, LEAST_PRECISION)
        precision /= OWN_VARIANCE * (precision.mean() if self.words else 1)
        squares = shares.multiply(shares)
        # By this prior, the spelling of the average word has the variance 1.
        self.ridge = float(squares.sum()) / max(1, self.words)
        diagonal = squares.T @ precision + self.ridge
        self.precision, self.diagonal = (
            torch.from_numpy(part.astype(np.float32)[:, None]) for part in (precision, diagonal)
        )

    def split(self, vectors: np.ndarray) -> np.ndarray:
        """Return rows for the composition, whose vectors are those given, less most of their own parts."""
        rows = np.empty((self.rows, vectors.shape[1]), dtype=np.float32)
        for start in range(0, vectors.shape[1], COLUMNS):
            some = slice(start, start + COLUMNS)
            ngrams, own = self.regress(torch.from_numpy(np.ascontiguousarray(vectors[:, some], dtype=np.float32)))
            rows[: self.words, some] = OWN_SHARE * own.numpy() / self.own_weights
            rows[self.words :, some] = ngrams.numpy()
        return rows

    def regress(self, vectors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the rows of n-grams that explain vectors best, and what they do not explain."""
        rest = self.backward @ (self.precision * vectors)
        ngrams, scaled = torch.zeros_like(rest), rest / self.diagonal
        direction, squares = scaled.clone(), (rest * scaled).sum(dim=0)
        enough = TOLERANCE * torch.linalg.vector_norm(rest)
        for _ in range(ITERATIONS):
            if torch.linalg.vector_norm(rest) <= enough:
                break
            step = self.backward @ (self.precision * (self.forward @ direction)) + self.ridge * direction
            length = squares / (direction * step).sum(dim=0).clamp_min(1e-30)
            ngrams.addcmul_(direction, length)
            rest.addcmul_(step, length, value=-1)
            scaled = rest / self.diagonal
            before, squares = squares, (rest * scaled).sum(dim=0)
            direction = scaled + direction * (squares / before.clamp_min(1e-30))
        return self.deviations * ngrams, vectors - self.forward @ ngrams


def correction(before: np.ndarray, after: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the matrix A for which W A V'^T is nearest to W V^T, whatever W is: V is regressed on V', by weights.

    Parameters
    ----------
    before, after : array
        The vectors V and V', one row per word.
    weights : array
        Weight of each word.
    """
    size = before.shape[1]
    products, squares = (torch.zeros(size, size, dtype=torch.float64) for _ in range(2))
    parts = (torch.split(torch.as_tensor(part), ROWS) for part in (before, after, weights))
    with threads(1):  # The sums are then rounded the same for any number of threads.
        for old, new, weight in zip(*parts, strict=True):
            weighted = new.double() * weight.double()[:, None]
            products += old.double().T @ weighted
            squares += new.double().T @ weighted
        return np.asarray((products @ torch.linalg.pinv(squares, hermitian=True, rtol=1e-6)).float().numpy())

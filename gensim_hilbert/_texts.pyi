import numpy as np

def add_rows(
    rows: np.ndarray,
    more: np.ndarray,
    more_words: np.ndarray,
    ids: np.ndarray,
    ends: np.ndarray,
    out: np.ndarray,
    words: np.ndarray,
) -> None: ...
def project(
    vectors: np.ndarray, which: np.ndarray, weights: np.ndarray, matrix: np.ndarray, out: np.ndarray
) -> None: ...
def scale_rows(sums: np.ndarray, words: np.ndarray, unit: bool) -> None: ...

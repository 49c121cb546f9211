import numpy as np

NUMBERS: int

def multiply(matrix: np.ndarray, queries: np.ndarray, start: int, stop: int, out: np.ndarray) -> None: ...
def quantise(
    matrix: np.ndarray,
    factors: np.ndarray,
    slack: float,
    start: int,
    stop: int,
    rows: np.ndarray,
    scales: np.ndarray,
    errors: np.ndarray,
) -> bool: ...
def select(
    rows: np.ndarray,
    scales: np.ndarray,
    errors: np.ndarray,
    biases: np.ndarray,
    queries: np.ndarray,
    query_scales: np.ndarray,
    query_lengths: np.ndarray,
    query_shifts: np.ndarray,
    questions: np.ndarray,
    start: int,
    stop: int,
) -> list[np.ndarray | None]: ...

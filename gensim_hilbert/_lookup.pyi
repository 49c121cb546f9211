import numpy as np

def look_up(
    data: np.ndarray, chunks: np.ndarray, width: int, rows: np.ndarray, columns: np.ndarray, counts: np.ndarray
) -> None: ...

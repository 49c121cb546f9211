import numpy as np

def walk_on(
    starts: np.ndarray, neighbours: np.ndarray, sums: np.ndarray, draws: np.ndarray, walks: np.ndarray
) -> None: ...

import numpy as np
from numpy.typing import DTypeLike

FULL: int
DONE: int
DAMAGED: int
LARGEST_RECORD: int

def zeros(size: int, dtype: DTypeLike) -> np.ndarray: ...
def row_bytes(size: int) -> int: ...
def records(rows: np.ndarray, columns: np.ndarray, counts: np.ndarray, size: int) -> bytes: ...
def tile_numbers(
    numbers: np.ndarray,
    width: int,
    classes: int,
    row_class: int,
    column_class: int,
    size: int,
    mirrored: bool,
    least: int,
) -> tuple[np.ndarray, np.ndarray, int]: ...

class RowMerger:
    damaged: int
    def __init__(self, size: int, buffers: list[np.ndarray]) -> None: ...
    def keep_rest(self, k: int) -> int: ...
    def supply(self, k: int, filled: int, ended: bool) -> None: ...
    def merge(self, out: np.ndarray) -> tuple[int, int]: ...

class TileScatter:
    taken: int
    def __init__(
        self,
        row_class: int,
        classes: int,
        room: int,
        mirrored: bool,
        contexts: np.ndarray,
        terms: np.ndarray,
        number_bytes: int,
        alignment: int,
        waiting_bytes: int = 0,
    ) -> None: ...
    def scatter(self, data: np.ndarray, start: int) -> tuple[int, bool]: ...
    def pack_rest(self) -> bool: ...
    def take(self) -> tuple[np.ndarray, np.ndarray]: ...

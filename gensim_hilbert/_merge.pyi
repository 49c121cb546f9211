import numpy as np

FULL: int
DONE: int
DAMAGED: int
LARGEST_RECORD: int

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
    def __init__(self, size: int, n_inputs: int) -> None: ...
    def supply(self, k: int, data: np.ndarray, ended: bool) -> None: ...
    def rest(self, k: int) -> int: ...
    def merge(self, out: np.ndarray) -> tuple[int, int]: ...

class TileScatter:
    def __init__(
        self,
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
    def take(self) -> tuple[np.ndarray, list[list[int]]]: ...

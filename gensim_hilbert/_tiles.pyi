import numpy as np

def checksum(data: np.ndarray) -> int: ...

class TileFiles:
    def __init__(self, classes: int, files: dict[int, np.ndarray]) -> None: ...

class ShardReader:
    def __init__(
        self,
        chunks: np.ndarray,
        tile_starts: np.ndarray,
        *,
        classes: int,
        size: int,
        number_bytes: int,
        alignment: int,
        mirrored: bool,
        scale: float,
    ) -> None: ...
    def count(self, files: TileFiles, keys: list[tuple[int, int]], n: int, step: int, starts: np.ndarray) -> int: ...
    def place(
        self,
        files: TileFiles,
        keys: list[tuple[int, int]],
        n: int,
        step: int,
        starts: np.ndarray,
        columns: np.ndarray,
        values: np.ndarray,
        keep: np.ndarray | None = None,
        row_factors: np.ndarray | None = None,
        column_factors: np.ndarray | None = None,
    ) -> int: ...

import numpy as np

def marked_positions(text: bytes, pages: np.ndarray, entries: np.ndarray) -> np.ndarray: ...
def invalid_position(text: bytes) -> tuple[int, bool]: ...

class WordScanner:
    def __init__(
        self,
        pages: np.ndarray,
        entries: np.ndarray,
        several: np.ndarray,
        *,
        fold_numbers: bool,
        drop_underscored: bool,
        min_length: int,
        max_length: int,
    ) -> None: ...
    def scan(
        self, text: bytes, start: int, stop: int, breaks: np.ndarray, inside: bool, is_open: bool, origin: int = -1
    ) -> tuple[bytes, np.ndarray]: ...

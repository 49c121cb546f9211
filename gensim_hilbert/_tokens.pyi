from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

def all_str(words: Sequence[Any]) -> bool: ...

class InvalidUTF8(ValueError):
    position: int
    def __init__(self, position: int) -> None: ...

class WordTable:
    tokens: int
    sentences: int
    nbytes: int
    def __len__(self) -> int: ...
    def count(
        self,
        data: bytes,
        start: int,
        place: int,
        listed: bool,
        errors: str,
        inside: bool = False,
        max_size: int = 0,
        places: np.ndarray | None = None,
        number: int = 0,
    ) -> int: ...
    def add(self, word: bytes, count: int, place: int) -> None: ...
    def merge(self, other: tuple[Any, ...]) -> None: ...
    def counts(self) -> np.ndarray: ...
    def first_places(self) -> np.ndarray: ...
    def count_of(self, word: bytes) -> int: ...
    def state(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int, int]: ...
    def words(self, selection: Iterable[int] | None = None) -> list[str]: ...
    def keep(self, selection: Iterable[int]) -> WordTable: ...
    def encode(
        self,
        data: bytes,
        start: int,
        place: int,
        listed: bool,
        errors: str,
        ids: np.ndarray,
        used: int,
        window: int,
        gaps: bool,
        keep_below: np.ndarray | None,
        seed: int,
        places: np.ndarray | None = None,
        number: int = 0,
    ) -> tuple[int, int, int, int, int, int]: ...

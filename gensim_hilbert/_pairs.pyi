import numpy as np

class SparseMatrix:
    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    def __init__(self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray) -> None: ...
    def __len__(self) -> int: ...

def sparse_matrices(starts: np.ndarray, columns: np.ndarray, values: np.ndarray) -> list[SparseMatrix]: ...
def use_lanes(most: int) -> int: ...
def pair_products(
    w: np.ndarray, v: np.ndarray, d: int, starts: np.ndarray, columns: np.ndarray, out: np.ndarray
) -> None: ...
def add_products(
    values: np.ndarray, right: np.ndarray, d: int, starts: np.ndarray, columns: np.ndarray, out: np.ndarray
) -> None: ...
def add_block_products(
    matrices: list[SparseMatrix], blocks: list[int], right: np.ndarray, transposed: bool, out: np.ndarray
) -> None: ...
def gather_words(
    matrices: list[SparseMatrix],
    keys: list[tuple[int, int]],
    a: np.ndarray,
    b: np.ndarray,
    values: np.ndarray,
    of_rows: np.ndarray,
    of_columns: np.ndarray,
) -> None: ...
def weigh_excess(
    matrices: list[SparseMatrix],
    keys: list[tuple[int, int]],
    a: np.ndarray,
    b: np.ndarray,
    least: float,
    values: np.ndarray,
) -> None: ...
def with_values(matrices: list[SparseMatrix], values: np.ndarray) -> list[SparseMatrix]: ...
def transpose(
    starts: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    column_starts: np.ndarray,
    rows: np.ndarray,
    turned: np.ndarray,
) -> None: ...
def add_exponential_pairs(
    w: np.ndarray,
    v: np.ndarray,
    starts: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    level: float,
    largest: float,
    scale: float,
    to_w: np.ndarray,
    to_v: np.ndarray,
) -> tuple[float, float, float, float]: ...
def exponential_sample(
    rows: np.ndarray,
    others: np.ndarray,
    own: np.ndarray,
    other: np.ndarray,
    numbers: np.ndarray,
    weights: np.ndarray,
    starts: np.ndarray,
    columns: np.ndarray,
    of_rows: bool,
    level: float,
    largest: float,
    scale: float,
    out: np.ndarray,
    selves: tuple[np.ndarray, np.ndarray] | None = None,
) -> float: ...
def matrix_product(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None: ...
def hide_in_rows(x: np.ndarray, starts: np.ndarray, columns: np.ndarray, slots: np.ndarray) -> None: ...
def hide_in_columns(x: np.ndarray, starts: np.ndarray, columns: np.ndarray, rows: np.ndarray) -> None: ...
def adam_step(
    x: np.ndarray,
    gradient: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    priors: np.ndarray,
    d: int,
    beta1: float,
    beta2: float,
    rate: float,
    step: int,
    lock: np.ndarray | None = None,
) -> tuple[float, float]: ...

class Side:
    def __init__(
        self,
        rows: np.ndarray,
        first: np.ndarray,
        second: np.ndarray,
        weights: np.ndarray,
        priors: np.ndarray,
        locks: np.ndarray | None = None,
    ) -> None: ...

class Chances:
    def __init__(self, chances: np.ndarray, ends: np.ndarray, certain: bool) -> None: ...

class ExponentialSteps:
    def __init__(
        self, w: Side, v: Side, seed: int, largest: float, scale: float, beta1: float, beta2: float
    ) -> None: ...
    def step(
        self,
        i: int,
        j: int,
        w_slot: int,
        v_slot: int,
        shard: SparseMatrix,
        selves: SparseMatrix | None,
        rows: Chances,
        others: Chances,
        level: float,
        by_chance: float,
        number: int,
        rate: float,
        step: int,
    ) -> tuple[float, float, float, float, float, float]: ...

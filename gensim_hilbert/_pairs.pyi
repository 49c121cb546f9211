import numpy as np

def pair_products(
    w: np.ndarray, v: np.ndarray, d: int, starts: np.ndarray, columns: np.ndarray, out: np.ndarray
) -> None: ...
def add_products(
    values: np.ndarray, right: np.ndarray, d: int, starts: np.ndarray, columns: np.ndarray, out: np.ndarray
) -> None: ...
def transpose(
    starts: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    column_starts: np.ndarray,
    rows: np.ndarray,
    turned: np.ndarray,
) -> None: ...
def exponential_pairs(
    psi: np.ndarray,
    starts: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    level: float,
    largest: float,
    scale: float,
) -> tuple[float, float, float, float]: ...
def exponential_background(
    psi: np.ndarray, rows: np.ndarray, columns: np.ndarray, level: float, largest: float
) -> float: ...
def hide_in_rows(x: np.ndarray, starts: np.ndarray, columns: np.ndarray, slots: np.ndarray) -> float: ...
def hide_in_columns(x: np.ndarray, starts: np.ndarray, columns: np.ndarray, rows: np.ndarray) -> float: ...
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

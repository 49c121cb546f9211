import numpy as np

from gensim_hilbert.training.composition import Composition

SAMPLERS: dict[str, int]

def alias_table(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...

class Gibbs:
    def __init__(
        self,
        covectors: np.ndarray,
        vectors: np.ndarray,
        unigram: np.ndarray,
        proposal: np.ndarray,
        *,
        candidates: int = 5,
        sampler: str = "candidates",
        steps: int = 1,
        window: int = 5,
        shrink: bool = True,
        lock: np.ndarray | None = None,
        prior: np.ndarray | None = None,
        composition: Composition | None = None,
        parameters: np.ndarray | None = None,
    ) -> None: ...
    def train(self, ids: np.ndarray, start: int, stop: int, rate: float, seed: int) -> tuple[int, float]: ...
    def settle_all(self) -> None: ...
    def run_chains(
        self, contexts: np.ndarray, terms: np.ndarray, steps: int, seed: int
    ) -> tuple[np.ndarray, np.ndarray]: ...

"""Takes the place of an objective whose class is not at hand: nothing is imported because a file names it."""

from __future__ import annotations

from dataclasses import dataclass

from gensim_hilbert.objectives import Objective


@dataclass(repr=False)
class UnknownObjective(Objective):
    """Stands for an objective of which only its description is known. A model with it answers, but cannot be trained.

    Parameters
    ----------
    description : str
        What the objective itself prints.
    """

    description: str

    solvers = ()

    def __repr__(self) -> str:
        return self.description

    def refuse_training(self) -> None:
        """Raise an error that tells what to do."""
        raise ValueError(
            f"this model was trained with an objective that is not built in, {self.description}: to train it further, "
            "load it by from_pretrained(..., objective=...)"
        )

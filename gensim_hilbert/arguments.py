"""The arguments of HilbertMLE: which ones have an effect, and what they may be."""

from __future__ import annotations

import math
from typing import Any

from gensim.models.word2vec import MAX_WORDS_IN_BATCH

from gensim_hilbert._gibbs import SAMPLERS
from gensim_hilbert.counting.settings import refuse_sample

TEMPERATURE, MEMORY_GB, BUCKET = 1.25, 2.0, 2_000_000
# Arguments that some solver or objective has no use for, with the values that go without saying.
USUAL: dict[str, tuple[Any, ...]] = {
    "sg": (0, 1),
    "hs": (0,),
    "negative": (5,),
    "ns_exponent": (0.75,),
    "cbow_mean": (1,),
    "hashfxn": (hash,),
    "batch_words": (MAX_WORDS_IN_BATCH,),
    "null_word": (0,),
    "sampler": ("candidates",),
    "gibbs_steps": (1,),
    "temperature": (TEMPERATURE,),
    "threshold": (0.0,),
    "l2": ("auto",),
    "device": ("auto", "cpu"),
    "precision": ("float32",),
    "memory_gb": (MEMORY_GB,),
    "gauge": (None,),
    "min_n": (3,),
    "max_n": (6,),
    "bucket": (BUCKET,),
}
OF_GENSIM = ("sg", "hs", "cbow_mean", "hashfxn", "batch_words", "null_word")
WITHOUT_EFFECT = {
    "factorization": (*OF_GENSIM, "negative", "ns_exponent", "sampler", "gibbs_steps", "temperature", "threshold"),
    "gibbs": (*OF_GENSIM, "temperature", "threshold", "l2", "device", "precision", "memory_gb"),
}
OF_SUBWORDS = ("min_n", "max_n", "bucket")
# Arguments that are settings of an objective, for those that have them.
OF_OBJECTIVES = ("temperature", "threshold", "negative", "ns_exponent")
# What the result depends on, besides the objective, words, text and the vectors to start from.
SETTINGS = (
    "solver", "vector_size", "window", "shrink_windows", "sample", "seed", "alpha", "min_alpha", "l2", "precision",
    "gauge", "negative", "ns_exponent", "sampler", "gibbs_steps", "subwords", "min_n", "max_n", "bucket",
)  # fmt: skip
PRECISIONS = ("float32", "tf32", "bf16")  # of the matrix products of a shard; all else is float32, sums float64


def check(given: dict[str, Any]) -> None:
    """Refuse what could only fail after hours of counting."""
    for name, allowed in {
        "solver": WITHOUT_EFFECT,
        "vectors": ("v", "v+w"),
        "sampler": SAMPLERS,
        "precision": PRECISIONS,
    }.items():
        if given[name] not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {given[name]!r}")
    negative, gibbs_steps, gauge, l2 = (given[name] for name in ("negative", "gibbs_steps", "gauge", "l2"))
    if negative < 0 or gibbs_steps < 1:
        raise ValueError(f"a negative is drawn in one step or more, got {negative=} and {gibbs_steps=}")
    if gauge is not None and not 0 <= gauge <= 1:
        raise ValueError(f"gauge must be from 0 to 1, got {gauge}; 0.5 treats vectors and covectors alike")
    if not 0 < given["alpha"] < math.inf:
        raise ValueError(f"alpha must be above 0, got {given['alpha']}; at that rate nothing would be learnt")
    if l2 != "auto" and not (isinstance(l2, int | float) and 0 <= l2 < math.inf):
        raise ValueError(f"l2 must be a number of counts, 0 or more, or 'auto', got {l2!r}")
    if not given["vector_size"] >= 1:
        raise ValueError(f"vector_size must be 1 or more, got {given['vector_size']}")
    if not isinstance(given["device"], str):
        raise TypeError(f"device must be a name such as 'auto', 'cpu' or 'cuda:1', got {given['device']!r}")
    if given["max_vocab_size"] is not None and given["max_vocab_size"] < 0:
        raise ValueError(f"max_vocab_size must be None or a number of words, got {given['max_vocab_size']}")
    refuse_sample(given["sample"])
    if given["subwords"] and given["vectors"] == "v+w":
        raise ValueError("vectors='v+w' adds covectors, which unknown words have none of; use subwords=False")

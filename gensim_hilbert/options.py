"""Every keyword of `HilbertMLE`, described once.

The checks of arguments, the warning about arguments without effect, what a checkpoint stores, the options of the
command line, the settings that `info` and the report show, and README's table of what has no effect derive from it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral
from secrets import randbits
from typing import Any

from gensim_hilbert._gibbs import SAMPLERS
from gensim_hilbert.automatic import AUTO
from gensim_hilbert.corpus.dispatch import default_workers
from gensim_hilbert.corpus.sentences import SENTENCES
from gensim_hilbert.corpus.tokenizer_names import as_tokenizer
from gensim_hilbert.counting.plan import MOST_MEMORY_GB
from gensim_hilbert.counting.settings import MOST_WINDOW
from gensim_hilbert.objectives import Hilbert, Objective, named
from gensim_hilbert.phrases.applying import is_auto
from gensim_hilbert.phrases.table import as_phrases
from gensim_hilbert.training.fit import BACKGROUNDS, PRECISIONS
from gensim_hilbert.word_scan import MOST_WORDS

SOLVERS = ("factorization", "gibbs")
# What gensim passes to int() or float(): numbers may be texts, from a file of settings, say.
CONVERTED = {"alpha": float, "min_alpha": float, "window": int, "workers": int, "negative": int}
Kind = type[int] | type[float] | type[str] | type[bool]


@dataclass(frozen=True)
class Option:
    """One keyword of `HilbertMLE`.

    Attributes
    ----------
    name, default
        As in the signature.
    kind : type, optional
        int, float, str or bool; None for what is not checked.
    help : str
        What the command line says about it; empty for keywords that the command line does not have.
    choices : tuple of str
        The only values that are allowed.
    least, above, most : number, optional
        Bounds: the value must be `least` or more, more than `above`, `most` or less.
    limit : number, optional
        The largest value that can be worked with; the error message mentions it only where it is exceeded.
    also : tuple
        Values that are allowed besides.
    way_out : str
        What to do about a wrong value, for the error message.
    default_help : str
        What the command line says instead of the default.
    solvers : tuple of str
        The solvers that use it, whatever the objective is.
    of_objectives : bool
        Whether it is a setting of the objectives that have one of this name.
    of_subwords : bool
        Whether it has an effect with `subwords=True` only.
    usual : tuple
        Values besides the default that are not worth a warning where the keyword has no effect.
    in_checkpoint : bool
        Whether the result depends on it, so that a checkpoint must have been made with the same value.
    of_counts : bool
        Whether ready-made counts have decided it already.
    of_machine : bool
        Whether it may change when an interrupted command is resumed.
    is_shown : bool
        Whether it is one of the settings that are shown of a model.
    attribute : str
        The model's attribute that holds it, if that has another name.
    """

    name: str
    default: Any
    kind: Kind | None = None
    help: str = ""
    choices: tuple[str, ...] = ()
    least: float | None = None
    above: float | None = None
    most: float | None = None
    limit: float | None = None
    also: tuple[Any, ...] = ()
    way_out: str = ""
    default_help: str = ""
    solvers: tuple[str, ...] = SOLVERS
    of_objectives: bool = False
    of_subwords: bool = False
    usual: tuple[Any, ...] = ()
    in_checkpoint: bool = False
    of_counts: bool = False
    of_machine: bool = False
    is_shown: bool = True
    attribute: str = ""

    @property
    def requirement(self) -> str:
        """What a value must be, in words."""
        if self.choices:
            words = f"one of {', '.join(map(repr, self.choices))}"
        elif self.kind in (int, float):
            words = "a whole number" if self.kind is int else "a number"
            if self.least is not None and self.most is not None:
                words += f" from {self.least} to {self.most}"
            elif self.least is not None:
                words += f" of {self.least} or more"
            elif self.above is not None:
                words += f" above {self.above}"
        else:
            words = "True or False" if self.kind is bool else "a string"
        return f"{words}{''.join(f', or {value!r}' for value in self.also)}"

    def complaint(self, value: Any) -> str | None:
        """Return what is wrong with a value, as the end of a sentence that begins with its name; None if it is fine."""
        if self.kind is None or self._allows(value):
            return None
        limit = "" if self.limit is None or not self._allows(value, limited=False) else f", and up to {self.limit:,.0f}"
        return f"must be {self.requirement}{limit}, got {value!r}{self.way_out and '; ' + self.way_out}"

    def _allows(self, value: Any, limited: bool = True) -> bool:
        if any(value is one or (isinstance(value, str) and value == one) for one in self.also):
            return True
        if self.kind is str:
            return isinstance(value, str) and (not self.choices or value in self.choices)
        if self.kind is bool:
            return value in (True, False)
        try:
            number = int(value) if self.kind is int else float(value)
        except (TypeError, ValueError, OverflowError):
            return False
        return (
            number == value
            and math.isfinite(number)
            and (self.least is None or number >= self.least)
            and (self.above is None or number > self.above)
            and (self.most is None or number <= self.most)
            and (self.limit is None or number <= self.limit or not limited)
        )

    def goes_without_saying(self, value: Any) -> bool:
        """Whether a value is not worth a warning where the keyword has no effect."""
        return any(value is one or value == one for one in (self.default, *self.usual))


# fmt: off
OPTIONS = {option.name: option for option in (
    # gensim's, in its order.
    Option("vector_size", 100, int, "Number of dimensions of a vector.", least=1, limit=1_000_000,
           in_checkpoint=True),
    Option("alpha", 0.025, float, "Learning rate at the beginning.", above=0, limit=1000, in_checkpoint=True,
           way_out="at any other rate nothing would be learnt; 0.025 is the default"),
    Option("window", 5, int, "Number of words to each side that are contexts.", least=1, limit=MOST_WINDOW,
           in_checkpoint=True, of_counts=True),
    Option("min_count", 5, int, "Ignore words that occur less often than this.", least=0, of_counts=True),
    Option("max_vocab_size", None, int, "While words are counted, prune rare ones whenever there are more than this.",
           least=0, limit=MOST_WORDS, also=(None,), of_counts=True),
    Option("sample", AUTO, float, "Thin out words that are more frequent than this.", least=0, also=(AUTO,),
           default_help="0, or 0.001 from 20 million tokens; 0.001 with Gibbs", in_checkpoint=True, of_counts=True),
    Option("seed", 1, int, "Seed of all random draws.", least=0, most=2**32 - 1, in_checkpoint=True),
    Option("workers", 3, int, "Number of threads; -1 uses every core.", least=1, of_machine=True,
           way_out="-1 or None uses every core"),
    Option("min_alpha", 0.0001, float, "Learning rate at the end.", least=0, limit=1000, in_checkpoint=True),
    Option("sg", 0, solvers=(), usual=(1,)),
    Option("hs", 0, solvers=()),
    Option("negative", 5, int, "Gibbs and the objective sgns: number of candidates per word.", least=0,
           limit=100_000, solvers=("gibbs",), of_objectives=True, in_checkpoint=True),
    Option("ns_exponent", 0.75, float, "Gibbs and the objective sgns: draw candidates by their counts to this power.",
           least=-10, most=10, solvers=("gibbs",), of_objectives=True, in_checkpoint=True),
    Option("cbow_mean", 1, solvers=()),
    Option("hashfxn", hash, solvers=()),
    Option("epochs", 5, int, "Gibbs: how often the text is read. Factorization: number of rounds of training.",
           least=1, limit=1_000_000),
    Option("null_word", 0, solvers=()),
    Option("sorted_vocab", 1),
    Option("batch_words", 10_000, solvers=()),
    Option("compute_loss", False),
    Option("comment", None, str, "Note that is kept with the model.", also=(None,)),
    Option("max_final_vocab", None, int, "Keep at most this many words, the most frequent ones.", least=0,
           limit=MOST_WORDS, also=(None,), of_counts=True),
    Option("shrink_windows", True, bool, "Give near words more weight than distant ones, or all words the same.",
           in_checkpoint=True, of_counts=True),
    # Ours.
    Option("tokenizer", None, None,
           "What makes words of text: words, 'words(numbers=fold)', simple_preprocess, or PATH/tokenizer.json.",
           default_help="white space", of_counts=True, attribute="_tokenizer"),
    Option("sentence_ends", "lines", str, "Whether sentences end at line ends only, or also in punctuation.",
           choices=SENTENCES, of_counts=True),
    Option("solver", "factorization", str, "Fit pair counts, or learn from the text as it streams by.",
           choices=SOLVERS, in_checkpoint=True),
    Option("objective", "hilbert", None, "Factorization: what is fitted, such as sgns or 'glove(x_max=10)'."),
    Option("temperature", AUTO, float, "Objective hilbert: how much weight rare words get.", also=(AUTO,),
           default_help="1.1 with sample=0 below 20 million tokens, else 1.25", solvers=(), of_objectives=True),
    Option("threshold", 0.0, float, "Objective hilbert: do not temper words that are less frequent than this.",
           solvers=(), of_objectives=True),
    Option("l2", "auto", float, "Strength of the prior, in counts.", least=0, limit=1e15, also=("auto",),
           in_checkpoint=True),
    Option("passes", None, int, "Factorization: number of passes over the counts.", least=1, limit=1_000_000,
           also=(None,), default_help="by how much text there is", solvers=("factorization",), in_checkpoint=True),
    Option("background", "auto", str, "Factorization: sample pairs that do not occur, or visit them all.",
           choices=BACKGROUNDS, solvers=("factorization",), in_checkpoint=True),
    Option("background_samples", 64, int, "Factorization: number of columns that are sampled of each shard.", least=1,
           solvers=("factorization",), in_checkpoint=True),
    Option("device", "auto", str, "Factorization: auto, cpu, cuda, cuda:1 or mps.", solvers=("factorization",),
           usual=("cpu",), of_machine=True),
    Option("precision", "float32", str, "Factorization: precision of matrix products.", choices=PRECISIONS,
           solvers=("factorization",), in_checkpoint=True),
    Option("memory_gb", 2.0, float, "Factorization: memory for counting, in gigabytes.", above=0,
           limit=MOST_MEMORY_GB, solvers=("factorization",), of_machine=True),
    Option("vectors", "v", str, "Keep the vectors, or their sums with the covectors.", choices=("v", "v+w"),
           attribute="vectors_option"),
    Option("gauge", None, float, "Share of each axis' strength that goes to the vectors.", least=0, most=1,
           also=(None,), default_help="by how evenly words are used", in_checkpoint=True,
           way_out="0.35 suits most texts"),
    Option("progress", True, bool, "Draw progress bars on a terminal.", of_machine=True, is_shown=False),
    Option("sampler", "candidates", str, "Gibbs: how a negative is drawn.", choices=tuple(SAMPLERS),
           solvers=("gibbs",), in_checkpoint=True),
    Option("gibbs_steps", 1, int, "Gibbs: number of steps from a pair to its negative.", least=1, limit=10_000,
           solvers=("gibbs",), in_checkpoint=True),
    Option("checkpoint", None, is_shown=False),
    Option("phrases", None, None, "Join words that belong together first: auto, or a file of phrases.", of_counts=True),
    Option("subwords", False, bool, "Make vectors of those of character n-grams, so that unknown words have some.",
           in_checkpoint=True),
    Option("min_n", 3, int, "Subwords: length of the shortest n-grams.", least=1, of_subwords=True,
           in_checkpoint=True),
    Option("max_n", 6, int, "Subwords: length of the longest n-grams.", least=1, of_subwords=True,
           in_checkpoint=True),
    Option("bucket", 2_000_000, int, "Subwords: number of buckets that n-grams are hashed to.", least=1,
           limit=2**31 - 1, of_subwords=True, in_checkpoint=True),
    Option("column", None, str, "Column of tables (.parquet, .arrow, .jsonl, .csv ...) that holds the text.",
           also=(None,), default_help="the only column of text", of_counts=True),
    Option("covectors", None, is_shown=False, attribute="space"),
)}
# fmt: on


def resolve(given: Mapping[str, Any]) -> dict[str, Any]:
    """Check the arguments of `HilbertMLE`, warn about those without effect, and return the values to work with.

    Whatever could only fail after hours of counting is refused here.
    """
    values = dict(given)
    for name, convert in CONVERTED.items():
        if isinstance(given[name], str | float):
            with suppress(ValueError, OverflowError):  # which the check below complains about
                values[name] = convert(given[name])
    values["sample"] = 0.0 if given["sample"] is None else given["sample"]
    values["seed"] = randbits(31) if given["seed"] is None else given["seed"]
    if values["workers"] is None or (isinstance(values["workers"], Integral) and values["workers"] < 0):
        values["workers"] = default_workers(None)
    for name, option in OPTIONS.items():
        if complaint := option.complaint(values[name]):
            raise ValueError(f"The {name!r} parameter of HilbertMLE {complaint}")
        if option.kind is int and values[name] not in option.also:
            values[name] = int(values[name])  # numpy's numbers are fine, but not for everybody
    values["tokenizer"] = as_tokenizer(given["tokenizer"])
    objective = values["objective"] = resolve_objective(values)
    if given["phrases"] is not None and not is_auto(given["phrases"]):
        values["phrases"] = as_phrases(given["phrases"])
    if values["subwords"] and values["vectors"] == "v+w":
        raise ValueError("vectors='v+w' adds covectors, which unknown words do not have; use subwords=False")
    if values["covectors"] is not None:
        refuse_with_covectors(values)
        values["vector_size"] = values["covectors"].vector_size
    ignored = ignored_options(values["solver"], objective, values["subwords"])
    unused = [name for name, option in ignored.items() if not option.goes_without_saying(values[name])]
    if values["solver"] == "gibbs" and not values["negative"]:  # a script with hierarchical softmax
        unused.append("negative=0")
    if unused:
        warnings.warn(
            f"HilbertMLE with solver={values['solver']!r} and objective={given['objective']!r} has no use for "
            f"{', '.join(unused)}",
            stacklevel=3,
        )
    # The objective may have been given with settings of its own: the model says the same as the objective.
    for name, setting in objective.settings().items():
        if name in OPTIONS and OPTIONS[name].of_objectives:
            if values[name] != setting and not OPTIONS[name].goes_without_saying(values[name]):
                raise ValueError(f"{name} is given twice: as {values[name]}, and in {objective!r}")
            values[name] = setting
    return values


def refuse_with_covectors(values: Mapping[str, Any]) -> None:
    """Raise an error for arguments that do not go with covectors that stay as they are."""
    size = values["covectors"].vector_size
    if values["vector_size"] not in (size, OPTIONS["vector_size"].default):
        raise ValueError(f"vector_size={values['vector_size']} does not fit covectors= of {size} dimensions")
    needed = {"solver": "factorization", "vectors": "v", "subwords": False}
    for name, value in needed.items():
        if values[name] != value:
            raise ValueError(f"{name}={values[name]!r} does not go with covectors=; use {name}={value!r}")
    if not isinstance(values["objective"], Hilbert):
        raise ValueError(f"objective={values['objective']!r} does not go with covectors=; use objective='hilbert'")


def refuse_rates(alpha: float, min_alpha: float) -> None:
    """Raise an error unless two learning rates are such as `HilbertMLE` takes."""
    for name, value in (("alpha", alpha), ("min_alpha", min_alpha)):
        if complaint := OPTIONS[name].complaint(value):
            raise ValueError(f"The learning rate {name!r} {complaint}")


def resolve_objective(values: Mapping[str, Any]) -> Objective:
    """Return the objective that is named or given, if it goes with the other arguments."""
    given, solver = values["objective"], values["solver"]
    objective = named(given, **{name: values[name] for name, option in OPTIONS.items() if option.of_objectives})
    if solver not in objective.solvers:
        raise ValueError(
            f"{solver=} does not fit objective={given!r}; use solver='factorization', or objective='hilbert'"
        )
    if values["subwords"] and not objective.subwords:
        raise ValueError(f"objective={given!r} does not go with subwords=True; use another, or subwords=False")
    return objective


def ignored_options(solver: str, objective: Objective, subwords: bool) -> dict[str, Option]:
    """Return the options that have no effect with this solver and objective, with or without subwords."""
    settings = objective.settings() if solver == "factorization" else {}

    def has_effect(option: Option) -> bool:
        if option.name in objective.ignored_options or (option.of_subwords and not subwords):
            return False
        return solver in option.solvers or (option.of_objectives and option.name in settings)

    return {name: option for name, option in OPTIONS.items() if not has_effect(option)}


def settings_of(model: Any) -> dict[str, Any]:
    """Return the parameters that a model, also one of gensim's own, was made with, except those without effect."""
    attributes, ignored = vars(model), {}
    if isinstance(attributes.get("objective"), Objective):
        ignored = ignored_options(model.solver, model.objective, model.subwords)
    settings = {
        name: attributes[option.attribute or name]
        for name, option in OPTIONS.items()
        if option.is_shown and name not in ignored and (option.attribute or name) in attributes
    }
    for name in ("objective", "phrases", "tokenizer"):
        if not isinstance(settings.get(name), str | None):
            settings[name] = repr(settings[name])
    return {name: value for name, value in settings.items() if isinstance(value, int | float | str | None)}


def checkpoint_settings(model: Any) -> dict[str, Any]:
    """Return the settings of a `HilbertMLE` that its result depends on, apart from words, text and start."""
    ignored = ignored_options(model.solver, model.objective, model.subwords)
    stored = [name for name, option in OPTIONS.items() if option.in_checkpoint and name not in ignored]
    settings = {name: getattr(model, name) for name in stored}
    if model.solver == "factorization":
        settings["objective"] = repr(model.objective)
    if model.space is not None:
        settings["covectors"] = model.space.fingerprint
    return settings

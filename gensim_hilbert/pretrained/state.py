"""From a model to plain values and arrays, and back. Nothing that a file names is imported or called."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gensim_hilbert import objectives
from gensim_hilbert.model_files import LearntFrom
from gensim_hilbert.objectives import CLASSES, Objective
from gensim_hilbert.options import OPTIONS
from gensim_hilbert.pretrained.unknown import UnknownObjective
from gensim_hilbert.tensors import TYPES
from gensim_hilbert.vectors.keyed import WordVectors
from gensim_hilbert.vectors.subwords import SubwordVectors

if TYPE_CHECKING:
    from gensim_hilbert.model import HilbertMLE

Model = TypeVar("Model", bound="HilbertMLE")

# The keywords whose values are not written: objective, tokenizer and phrases have forms of their own, one is a
# function without effect, the place of checkpoints belongs to the machine, and covectors are those of another model.
NOT_SETTINGS = ("objective", "tokenizer", "sentence_ends", "phrases", "hashfxn", "checkpoint", "covectors")
# What else a model knows: the attribute, and the type of its value besides None.
STATE: dict[str, tuple[str, type]] = {
    "train_count": ("train_count", int),
    "total_train_time": ("total_train_time", float),
    "running_training_loss": ("running_training_loss", float),
    "min_alpha_yet_reached": ("min_alpha_yet_reached", float),
    "corpus_count": ("corpus_count", int),
    "corpus_total_words": ("corpus_total_words", int),
    "effective_min_count": ("effective_min_count", int),
    "psi_offset": ("psi_offset", float),
    "thins_on_average": ("thins_on_average", bool),
    "words_are_counted": ("_words_are_counted", bool),
    "vectors_crc": ("_vectors_crc", int),
}
NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}  # which JSON does not have
PATHS = ("fname", "fname_or_handle")  # of gensim's events: where a file lay is nobody's business


# ---------------------------------------------------------------------------------------------------- values


def plain(value: Any) -> Any:
    """Return a value of the model as JSON has it; numbers that are not finite become strings."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return next(name for name, number in NOT_FINITE.items() if repr(number) == repr(value))
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def number_of(value: Any) -> Any:
    """Return a number that `plain` has written."""
    if isinstance(value, str):
        return NOT_FINITE[value]
    if not isinstance(value, bool | int | float):
        raise ValueError(f"{value!r} is not a number")
    return value


def settings_of(model: HilbertMLE) -> dict[str, Any]:
    """Return the keywords of a model by name."""
    settings = {}
    for name, option in OPTIONS.items():
        if name not in NOT_SETTINGS:
            value = getattr(model, option.attribute or name)
            settings[name] = value.item() if isinstance(value, np.generic) else value
            refuse_setting(name, settings[name])
    return settings


def refuse_setting(name: str, value: Any) -> None:
    """Raise an error for a value that a keyword cannot have."""
    if name not in OPTIONS or name in NOT_SETTINGS:
        raise ValueError(f"there is no setting {name!r}")
    if not isinstance(value, bool | int | float | str | None):
        raise ValueError(f"the setting {name!r} must be a number, a string, True, False or None, got {value!r}")
    if complaint := OPTIONS[name].complaint(value):
        raise ValueError(f"the setting {name!r} {complaint}")


def objective_of(model: HilbertMLE) -> dict[str, Any]:
    """Describe the objective of a model: by name and settings if it is built in, and always by what it prints."""
    objective = model.objective
    for name, kind in CLASSES.items():
        if type(objective) is getattr(objectives, kind):
            return {"name": name, "settings": plain(objective.settings()), "shown": repr(objective)}
    return {"name": None, "settings": {}, "shown": repr(objective)}


def built_in_objective(described: dict[str, Any]) -> Objective | None:
    """Return the objective that is described, or None if it is not built in."""
    name = described["name"]
    if name is None:
        return None
    kind = getattr(objectives, CLASSES[name])
    defaults = {field.name: field.default for field in fields(kind)}
    if set(described["settings"]) != set(defaults):
        raise ValueError(f"the objective {name} has other settings than {', '.join(described['settings'])}")
    settings = {
        key: value if value == defaults[key] else number_of(value) for key, value in described["settings"].items()
    }
    made: Objective = kind(**settings)
    return made


def chosen_objective(built_in: Objective | None, shown: str, given: Objective | None) -> Objective:
    """Return the objective of a model: the one that is given, if it prints the same, or the one that is built in."""
    if given is not None and repr(given) != shown:
        raise ValueError(f"this model was trained with the objective {shown}, got {given!r}: give the same one")
    return given or built_in or UnknownObjective(shown)


def state_of(model: HilbertMLE) -> dict[str, Any]:
    """Return what a model knows besides its settings, words and arrays."""
    state = {name: plain(getattr(model, at)) for name, (at, _) in STATE.items() if hasattr(model, at)}
    return {**state, "learnt_from": model.learnt_from.name.lower(), "next_index": int(model.wv.next_index)}


def history_of(model: HilbertMLE) -> dict[str, Any]:
    """Return how a model came about."""
    events = model.lifecycle_events
    if events is not None:
        events = [{key: value for key, value in event.items() if key not in PATHS} for event in events]
    return {"training": plain(model.training_history), "texts": plain(model.trained_on), "events": plain(events)}


# ---------------------------------------------------------------------------------------------------- arrays


def attributes_of(model: HilbertMLE) -> dict[str, np.ndarray]:
    """Return the attributes that words have, such as how often each occurs."""
    for name, values in model.wv.expandos.items():
        if values.dtype.name not in TYPES or len(values) != len(model.wv):
            raise ValueError(
                f"a model folder cannot hold the attribute {name!r} of words, an array of {values.dtype} with the "
                f"shape {values.shape}: remove it by `del model.wv.expandos[{name!r}]`, or use `save`"
            )
    return dict(model.wv.expandos)


def arrays_of(model: HilbertMLE) -> dict[str, np.ndarray]:
    """Return all that has been learnt, by the names that arrays have in a folder."""
    keyed = model.wv
    arrays = {"vectors": keyed.vectors, "covectors": getattr(model, "syn1neg", None)}
    for name in ("vectors_vocab", "vectors_ngrams", *lock_names(keyed)):
        arrays[name] = getattr(keyed, name, None)
    for name in ("biases", "offsets"):
        contexts, terms = getattr(model, name) or (None, None)
        arrays |= {f"context_{name}": contexts, f"term_{name}": terms}
    found = {name: np.asarray(array) for name, array in arrays.items() if array is not None}
    refuse_shapes(
        {name: (array.dtype, array.shape) for name, array in found.items()}, expected_shapes(model, len(keyed))
    )
    return found


def lock_names(keyed: WordVectors | SubwordVectors) -> tuple[str, ...]:
    """Return the attributes that hold the factors by which updates are multiplied."""
    more = ("vectors_vocab_lockf", "vectors_ngrams_lockf") if isinstance(keyed, SubwordVectors) else ()
    return ("vectors_lockf", *more)


Shapes = dict[str, tuple[tuple[int, ...], ...]]


def expected_shapes(model: HilbertMLE, words: int) -> Shapes:
    """Return the shapes that each array may have."""
    size, buckets = model.vector_size, model.bucket
    shapes: Shapes = {name: ((words, size),) for name in ("vectors", "covectors", "vectors_vocab")}
    shapes["vectors_ngrams"] = ((buckets, size),)
    shapes |= {f"{side}_{name}": ((words,),) for side in ("context", "term") for name in ("biases", "offsets")}
    for name in lock_names(model.wv):
        shapes[name] = ((1,), (buckets,) if "ngrams" in name else (words,))
    return shapes


def refuse_shapes(found: Mapping[str, tuple[np.dtype[Any], tuple[int, ...]]], expected: Shapes) -> None:
    """Raise an error for an array that is not what it should be."""
    for name, (dtype, shape) in found.items():
        if shape not in expected.get(name, ()) or dtype.kind != "f" or dtype.name not in TYPES:
            wanted = " or ".join(map(str, expected.get(name, ()))) or "nothing"
            raise ValueError(f"{name} should be floating-point numbers of shape {wanted}, got {dtype} of shape {shape}")


# ---------------------------------------------------------------------------------------------------- back again


def new_model(kind: type[Model], settings: dict[str, Any], objective: Objective) -> Model:
    """Return a model with these settings and without words."""
    from gensim_hilbert.model import HilbertMLE

    for name, value in settings.items():
        refuse_setting(name, value)
    shape = {name: settings[name] for name in ("vector_size", "seed", "subwords")}
    if shape["subwords"]:
        shape |= {name: settings[name] for name in ("min_n", "max_n", "bucket")}
    model = kind.__new__(kind)
    HilbertMLE.__init__(model, **shape)  # As gensim's `load` does, this passes over the constructor of a subclass.
    for name, value in settings.items():
        setattr(model, OPTIONS[name].attribute or name, value)
    model.objective = objective
    return model


def set_state(model: HilbertMLE, state: dict[str, Any]) -> None:
    """Set what a model knows besides its settings, words, arrays and history."""
    for name, (attribute, kind) in STATE.items():
        if name in state:
            setattr(model, attribute, state_value(name, state[name], kind))
    model.learnt_from = LearntFrom[state["learnt_from"].upper()]
    model.wv.next_index = state_value("next_index", state["next_index"], int)


def set_history(model: HilbertMLE, history: dict[str, Any]) -> None:
    """Set how a model came about."""
    model.training_history = [
        {str(key): number_of(value) for key, value in record.items()} for record in history["training"]
    ]
    model.trained_on, model.lifecycle_events = history["texts"], history["events"]
    if not all(isinstance(record, dict) for record in (*model.trained_on, *(model.lifecycle_events or ()))):
        raise ValueError("its texts or events are not records")
    if not all("event" in event for event in model.lifecycle_events or ()):
        raise ValueError("an event has no name")


def state_value(name: str, value: Any, kind: type) -> Any:
    """Return a value of the state if it is of the right type."""
    if value is None:
        return None
    value = number_of(value)
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise ValueError(f"{name} is {value!r}, which is no {kind.__name__}")
    return value


def set_words(model: HilbertMLE, words: list[Any], attributes: dict[str, np.ndarray]) -> None:
    """Give a model its words."""
    index = {word: row for row, word in enumerate(words)}
    if len(index) != len(words):
        raise ValueError("a word stands there twice")
    counts = attributes.get("count")
    if counts is not None and (counts.ndim != 1 or counts.dtype.kind not in "iu" or counts.min(initial=0) < 0):
        raise ValueError("the numbers of occurrences of words are not whole numbers of 0 or more")
    model.wv.index_to_key, model.wv.key_to_index = words, index
    model.wv.expandos = attributes
    if model.negative and words:
        model.make_cum_table()
    if words:
        model.raw_vocab = defaultdict(int)  # as gensim leaves it


def set_arrays(model: HilbertMLE, found: set[str], read: Callable[[str], np.ndarray]) -> None:
    """Give a model, which has its words, all that has been learnt; `read` returns an array by its name."""
    keyed = model.wv
    keyed.vectors = read("vectors")
    if "covectors" in found:
        model.syn1neg = read("covectors")
    for name in found & {"vectors_vocab", "vectors_ngrams", *lock_names(keyed)}:
        setattr(keyed, name, read(name))
    for name in ("biases", "offsets"):
        sides = [f"{side}_{name}" for side in ("context", "term")]
        setattr(model, name, tuple(map(read, sides)) if found & set(sides) else None)
    if isinstance(keyed, SubwordVectors) and "vectors_ngrams" in found:
        keyed.recalc_char_ngram_buckets()


def missing_arrays(model: HilbertMLE, found: set[str]) -> Iterator[str]:
    """Yield the arrays that a model with words must have, and that are not there."""
    needed = {"vectors", "covectors", "vectors_lockf"}
    if isinstance(model.wv, SubwordVectors):
        needed |= {"vectors_vocab", "vectors_ngrams"}
    yield from sorted(needed - found)

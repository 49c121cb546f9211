"""From what the user gives as a tokenizer, or from what was stored of one, to a `Tokenizer`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from gensim_hilbert.corpus.foreign_tokenizers import FunctionTokenizer, HuggingFaceTokenizer, MissingTokenizer
from gensim_hilbert.corpus.tokenizers import Tokenizer
from gensim_hilbert.corpus.words import Words
from gensim_hilbert.named_settings import parse_named

NAMES: dict[str, Callable[..., Words]] = {"words": Words, "simple_preprocess": Words.simple_preprocess}
SETTINGS = {"words": [field.name for field in fields(Words)], "simple_preprocess": ["min_len", "max_len"]}
WAYS = (
    "None, 'words', 'words(numbers=fold)', 'simple_preprocess', the path of a tokenizer.json, a tokenizers.Tokenizer, "
    "or a function from str to a list of str"
)


def as_tokenizer(given: Any) -> Tokenizer | None:
    """Return the tokenizer that is named or given; None if words are separated by white space alone."""
    if given is None or isinstance(given, Tokenizer):
        return given
    if isinstance(given, str | os.PathLike):
        return _named(given)
    if type(given).__module__.partition(".")[0] == "tokenizers" and hasattr(given, "to_str"):
        return HuggingFaceTokenizer(given.to_str())
    if callable(given):
        return FunctionTokenizer(given)
    raise TypeError(f"tokenizer must be {WAYS}, got {given!r}")


def _named(given: str | os.PathLike[str]) -> Tokenizer:
    if isinstance(given, str):
        try:
            name, settings = parse_named(given)
        except ValueError:
            name, settings = "", {}
        if name in NAMES:
            for key in settings:
                if key not in SETTINGS[name]:
                    raise ValueError(f"the tokenizer {name} has no {key}; its settings are {', '.join(SETTINGS[name])}")
            return NAMES[name](**settings)
    path = os.path.expanduser(given)
    if os.path.isfile(path):
        return HuggingFaceTokenizer.from_file(path)
    if os.fspath(given).endswith(".json"):
        raise FileNotFoundError(f"no such tokenizer.json: {os.fspath(given)}")
    raise ValueError(f"tokenizer must be {WAYS}, got {given!r}")


def tokenizer_from(described: Any) -> Tokenizer | None:
    """Return the tokenizer that `describe` has described, or raise an error if the description cannot be right."""
    if described is None:
        return None
    settings = dict(described)
    kind = settings.pop("kind")
    if kind == "words":
        return Words(**settings)
    if kind == "tokenizer.json" and isinstance(settings["json"], str):
        return HuggingFaceTokenizer(settings["json"])
    if kind == "function" and isinstance(settings["name"], str):
        return MissingTokenizer(settings["name"])
    raise ValueError(f"there is no tokenizer {described!r:.200}")

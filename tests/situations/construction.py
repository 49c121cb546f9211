"""Making a model: every argument, with usual and odd values."""

from typing import Any

import numpy as np
from gensim.models import Word2Vec
from gensim.test.utils import common_texts

from situations.outcome import OPTIONS, hangs_in_gensim, situation, trained

VALUES: dict[str, dict[str, Any]] = {
    "vector_size": {"numpy": np.int64(8), "one": 1, "odd": 7, "zero": 0, "negative": -3, "text": "8", "none": None,
                    "fraction": 8.0},
    "alpha": {"high": 0.5, "zero": 0.0, "negative": -0.1, "text": "0.1", "numpy": np.float32(0.03), "none": None},
    "window": {"one": 1, "wide": 100, "numpy": np.int32(3), "zero": 0, "negative": -1, "text": "5", "none": None,
               "fraction": 2.5},
    "min_count": {"zero": 0, "two": 2, "numpy": np.int64(2), "too_high": 100, "negative": -1, "none": None,
                  "text": "1", "fraction": 1.5},
    "max_vocab_size": {"small": 5, "large": 1000, "zero": 0, "none": None},
    "sample": {"usual": 1e-3, "zero": 0, "none": None, "count": 2, "one": 1.0, "negative": -1e-3, "text": "0.1"},
    "seed": {"zero": 0, "large": 2**40, "numpy": np.int64(7), "negative": -1, "none": None, "text": "1"},
    "workers": {"two": 2, "zero": 0, "negative": -1, "numpy": np.int64(1), "none": None, "text": "1"},
    "min_alpha": {"zero": 0.0, "above_alpha": 0.1, "equal": 0.025, "negative": -0.1, "none": None},
    "sg": {"one": 1, "true": True, "two": 2},
    "hs": {"one": 1},
    "negative": {"zero": 0, "twenty": 20, "below_zero": -1, "numpy": np.int64(5)},
    "ns_exponent": {"zero": 0.0, "one": 1.0, "negative": -0.5, "none": None},
    "cbow_mean": {"zero": 0},
    "hashfxn": {"own": len},
    "epochs": {"one": 1, "numpy": np.int64(3), "zero": 0, "negative": -1, "none": None, "text": "2", "fraction": 2.0},
    "null_word": {"one": 1},
    "sorted_vocab": {"zero": 0, "false": False},
    "batch_words": {"ten": 10, "huge": 10**6, "zero": 0},
    "compute_loss": {"true": True},
    "comment": {"text": "mine"},
    "max_final_vocab": {"five": 5, "more": 500, "zero": 0, "numpy": np.int64(4)},
    "shrink_windows": {"false": False},
}  # fmt: skip


def add(name: str, label: str, value: Any) -> None:
    """Add the situation of a model that is made, trained and asked with one argument set."""

    def make(kind, folder):
        model = kind(common_texts, **OPTIONS | {name: value})
        kept = getattr(model, name, "not an attribute")
        word = model.wv.index_to_key[0]
        return model, model.wv[word], len(model.wv.most_similar(word)), None if name == "seed" else kept

    make.__name__ = f"{name}_is_{label}"
    hangs = name == "window" and label in ("zero", "negative")
    (hangs_in_gensim if hangs else situation)(make)


for _name, _values in VALUES.items():
    for _label, _value in _values.items():
        add(_name, _label, _value)


@situation
def negative_and_hs_are_zero(kind, folder):
    return trained(kind, negative=0, hs=0)


@situation
def hierarchical_softmax_alone(kind, folder):
    return trained(kind, hs=1, negative=0, sg=1)


@situation
def an_unknown_argument(kind, folder):
    return kind(common_texts, size=100)


@situation
def an_argument_of_gensim_3(kind, folder):
    return kind(common_texts, min_count=1, iter=3)


@situation
def no_corpus(kind, folder):
    model = kind()
    return model, model.corpus_count, model.corpus_total_words, len(model.wv), model.epochs, model.min_count


@situation
def positional_arguments(kind, folder):
    model = kind(common_texts, None, 8, 0.025, 2, 1)
    return model, model.window, model.min_count


@situation
def both_corpora(kind, folder):
    path = folder / "text.txt"
    path.write_text("a b c\n")
    return kind(common_texts, corpus_file=str(path), min_count=1)


@situation
def trim_rule_without_a_corpus(kind, folder):
    return kind(trim_rule=lambda word, count, least: 1)


@situation
def callbacks_without_a_corpus(kind, folder):
    return kind(callbacks=[object()])


@situation
def trim_rule_with_a_corpus(kind, folder):
    from gensim.utils import RULE_DEFAULT, RULE_DISCARD, RULE_KEEP

    rules = {"human": RULE_DISCARD, "graph": RULE_KEEP}
    model = trained(kind, min_count=3, trim_rule=lambda word, count, least: rules.get(word, RULE_DEFAULT))
    return sorted(model.wv.index_to_key)


@situation
def is_a_word2vec(kind, folder):
    return isinstance(trained(kind), Word2Vec)


@situation
def all_signatures(kind, folder):
    import inspect

    found = {}
    for name, method in inspect.getmembers(Word2Vec, inspect.isfunction):
        if not name.startswith("_"):
            ours = inspect.signature(getattr(kind, name)).parameters.values()
            takes_all = any(one.kind is one.VAR_KEYWORD for one in ours)
            names = {one.name for one in ours}
            gensims = [
                one for one in inspect.signature(method).parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD
            ]
            found[name] = [one.name for one in gensims if one.name not in names and not takes_all]
    return found


@situation
def all_attributes_of_a_trained_model(kind, folder):
    model = trained(kind)
    return [name for name in sorted(vars(trained(Word2Vec))) if not hasattr(model, name)]

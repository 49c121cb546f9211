"""Building, extending and taking over a vocabulary."""

import numpy as np
from gensim.test.utils import common_texts
from gensim.utils import RULE_DISCARD, RULE_KEEP

from situations.outcome import OPTIONS, built, hangs_in_gensim, situation, train, trained

MORE = [["graph", "artificial", "intelligence"], ["human", "intelligence"]] * 3


def state(model):
    """What a script may read of a vocabulary."""
    counts = {word: model.wv.get_vecattr(word, "count") for word in sorted(model.wv.index_to_key)}
    sizes = model.corpus_count, model.corpus_total_words, model.effective_min_count, len(model.cum_table)
    return counts, sizes, dict(model.raw_vocab), model.wv.vectors


@situation
def a_built_vocabulary(kind, folder):
    return state(built(kind))


@situation
def order_by_frequency(kind, folder):
    counts = [built(kind).wv.get_vecattr(word, "count") for word in built(kind).wv.index_to_key]
    return counts == sorted(counts, reverse=True)


@situation
def order_of_equally_frequent_words(kind, folder):
    return built(kind).wv.index_to_key


@situation
def order_of_the_text(kind, folder):
    return built(kind, sorted_vocab=0).wv.index_to_key


@situation
def start_vectors_depend_on_the_seed(kind, folder):
    one, same, other = built(kind), built(kind), built(kind, seed=2)
    return np.array_equal(one.wv.vectors, same.wv.vectors), np.array_equal(one.wv.vectors, other.wv.vectors)


@situation
def raw_vocabulary_is_kept(kind, folder):
    model = kind(**OPTIONS | {"min_count": 3})
    model.build_vocab(common_texts, keep_raw_vocab=True)
    return state(model)


@situation
def vocabulary_is_updated(kind, folder):
    model = built(kind)
    model.build_vocab(MORE, update=True)
    return state(model), model.syn1neg


@situation
def vocabulary_of_a_trained_model_is_updated(kind, folder):
    model = trained(kind)
    before = model.wv["graph"].copy()
    model.build_vocab(MORE, update=True)
    unchanged = np.array_equal(before, model.wv["graph"])
    return state(model), unchanged, train(model, MORE)[1], model


@situation
def vocabulary_is_updated_before_it_exists(kind, folder):
    kind(**OPTIONS).build_vocab(common_texts, update=True)


@situation
def vocabulary_is_built_anew(kind, folder):
    model = trained(kind)
    model.build_vocab(MORE)
    return state(model), train(model, MORE)[1]


@situation
def vocabulary_by_frequencies(kind, folder):
    model = kind(**OPTIONS)
    model.build_vocab_from_freq({"graph": 5, "human": 3, "tree": 1})
    return state(model)


@situation
def vocabulary_by_frequencies_with_their_corpus(kind, folder):
    model = kind(**OPTIONS | {"min_count": 2})
    model.build_vocab_from_freq({"graph": 5, "trees": 3, "tree": 1}, corpus_count=9, keep_raw_vocab=True)
    return state(model), train(model, total_examples=9)[1], model


@situation
def vocabulary_by_frequencies_is_updated(kind, folder):
    model = built(kind)
    model.build_vocab_from_freq({"graph": 5, "zebra": 3}, update=True)
    return state(model)


@situation
def empty_frequencies(kind, folder):
    model = kind(**OPTIONS)
    model.build_vocab_from_freq({})
    return len(model.wv)


@situation
def trim_rule_of_build_vocab(kind, folder):
    model = kind(**OPTIONS)
    model.build_vocab(common_texts, trim_rule=lambda word, count, least: RULE_KEEP if count > 2 else RULE_DISCARD)
    return state(model)


@situation
def progress_per(kind, folder):
    model = kind(**OPTIONS)
    model.build_vocab(common_texts, progress_per=2)
    return state(model)


@situation
def scan_and_prepare_by_hand(kind, folder):
    model = kind(**OPTIONS)
    scanned = model.scan_vocab(common_texts)
    report = model.prepare_vocab(min_count=2, dry_run=True)
    model.corpus_count = scanned[1]
    final = model.prepare_vocab()
    model.prepare_weights()
    return scanned, report, final, model.wv.vectors


@situation
def estimated_memory(kind, folder):
    report = built(kind).estimate_memory()
    return {name: report[name] for name in ("vocab", "vectors", "syn1neg")}, report["total"] > 0


@situation
def build_vocab_without_a_corpus(kind, folder):
    kind(**OPTIONS).build_vocab()


@situation
def build_vocab_of_an_empty_corpus(kind, folder):
    model = kind(**OPTIONS)
    model.build_vocab([])
    return len(model.wv), model.corpus_count, model.corpus_total_words


@situation
def build_vocab_of_a_generator(kind, folder):
    model = kind(**OPTIONS)
    model.build_vocab(text for text in common_texts)
    return state(model)


@situation
def build_vocab_of_a_number(kind, folder):
    kind(**OPTIONS).build_vocab(5)


@hangs_in_gensim
def reset_from_another_model(kind, folder):
    model, other = kind(**OPTIONS), trained(kind, min_count=2)
    model.reset_from(other)
    return sorted(model.wv.index_to_key), model.wv.vectors, model.corpus_count, train(model)[1]


@situation
def init_weights_forgets(kind, folder):
    model = trained(kind)
    model.init_weights()
    return model.wv.vectors, model.syn1neg, np.abs(model.wv.vectors).max() < 0.1


@situation
def seeded_vector_is_gone(kind, folder):
    return trained(kind).seeded_vector("word")


@situation
def words_are_added_by_hand(kind, folder):
    model = trained(kind)
    model.wv.add_vector("zebra", np.ones(8, dtype=np.float32))
    train(model)
    return model.wv["zebra"].tolist() == [1.0] * 8, len(model.wv), model.wv.get_vecattr("zebra", "count")


@situation
def several_words_are_added_by_hand(kind, folder):
    model = trained(kind)
    model.wv.add_vectors(["zebra", "yak"], np.ones((2, 8), dtype=np.float32))
    train(model)
    return model.wv["yak"].tolist() == [1.0] * 8, len(model.wv)


@situation
def words_without_text_keep_their_vectors(kind, folder):
    model = trained(kind)
    model.build_vocab([["zebra", "yak"]] * 3, update=True)
    before = model.wv["zebra"].copy()
    train(model, total_examples=9)
    return np.array_equal(before, model.wv["zebra"])

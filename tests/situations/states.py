"""Attributes at each step of a model's life, its text, its log and its lifecycle."""

import logging

import numpy as np
from gensim.test.utils import common_texts

from situations.outcome import OPTIONS, built, situation, train, trained

NAMES = (
    "vector_size", "alpha", "window", "min_count", "max_vocab_size", "sample", "seed", "workers", "min_alpha", "sg",
    "hs", "negative", "ns_exponent", "cbow_mean", "epochs", "null_word", "sorted_vocab", "batch_words",
    "compute_loss", "comment", "max_final_vocab", "shrink_windows", "train_count", "corpus_count",
    "corpus_total_words", "running_training_loss", "min_alpha_yet_reached", "total_train_time", "layer1_size",
    "effective_min_count", "raw_vocab", "cum_table", "syn1neg", "syn1", "hashfxn", "random", "load", "wv",
    "lifecycle_events",
)  # fmt: skip


def attributes(model):
    """Every attribute that gensim documents or scripts read, apart from what was learnt."""
    found = {name: getattr(model, name, "missing") for name in NAMES}
    found["lifecycle_events"] = sorted({event["event"] for event in model.lifecycle_events or ()})
    found["total_train_time"] = found["total_train_time"] > 0
    found["min_alpha_yet_reached"] = found["min_alpha_yet_reached"] <= model.alpha
    return found


class Lines(logging.Handler):
    def __init__(self):
        super().__init__(logging.INFO)
        self.found = []

    def emit(self, record):
        self.found.append(record.getMessage())


def logged(work):
    """The lines that are logged while a function runs."""
    lines, root = Lines(), logging.getLogger()
    level = root.level
    root.addHandler(lines)
    root.setLevel(logging.INFO)
    try:
        work()
    finally:
        root.setLevel(level)
        root.removeHandler(lines)
    return lines.found


@situation
def attributes_of_a_new_model(kind, folder):
    return attributes(kind(**OPTIONS))


@situation
def attributes_after_build_vocab(kind, folder):
    return attributes(built(kind))


@situation
def attributes_after_training(kind, folder):
    return attributes(trained(kind))


@situation
def attributes_after_training_twice(kind, folder):
    model = trained(kind)
    train(model, epochs=4, compute_loss=True)
    model.running_training_loss = 0.0
    return attributes(model)


@situation
def attributes_after_loading(kind, folder):
    trained(kind).save(str(folder / "model"))
    return attributes(kind.load(str(folder / "model")))


@situation
def text_of_a_model(kind, folder):
    return str(trained(kind)).replace(kind.__name__, "Model")


@situation
def representation_of_a_model(kind, folder):
    return repr(built(kind)).split(" object at ")[0].split(".")[-1].replace(kind.__name__, "Model")


@situation
def lifecycle_event_of_a_script(kind, folder):
    model = trained(kind)
    model.add_lifecycle_event("mine", note=5)
    return model.lifecycle_events[-1]["note"], sorted(model.lifecycle_events[-1])


@situation
def lifecycle_is_switched_off(kind, folder):
    model = trained(kind)
    model.lifecycle_events = None
    model.add_lifecycle_event("mine")
    return model.lifecycle_events


@situation
def the_log_tells_of_vocabulary_and_epochs(kind, folder):
    lines = logged(lambda: trained(kind))
    wanted = ("effective_min_count", "estimated required memory", "EPOCH", "sample=", "deleting the raw counts")
    return {text: any(text in line for line in lines) for text in wanted}


@situation
def the_log_numbers_epochs_from_zero(kind, folder):
    return [line.split(":")[0] for line in logged(lambda: trained(kind)) if line.startswith("EPOCH")]


@situation
def init_sims_of_the_model(kind, folder):
    return trained(kind).init_sims(replace=True)


@situation
def model_as_vocabulary(kind, folder):
    return trained(kind).wv.key_to_index["system"], trained(kind).wv.index_to_key[0]


@situation
def hashing_words(kind, folder):
    model = trained(kind)
    return model.hashfxn("human") == hash("human"), model.layer1_size


@situation
def own_attributes_stay(kind, folder):
    model = trained(kind)
    model.mine = 5
    train(model)
    return model.mine


@situation
def compute_loss_is_switched_off_by_train(kind, folder):
    model = trained(kind, compute_loss=True)
    train(model)
    return model.compute_loss, model.get_latest_training_loss()


@situation
def epochs_of_train_are_kept(kind, folder):
    model = trained(kind)
    train(model, epochs=7)
    return model.epochs


@situation
def script_of_gensims_tutorial(kind, folder):
    model = kind(sentences=common_texts, vector_size=100, window=5, min_count=1, workers=4)
    model.save(str(folder / "word2vec.model"))
    model = kind.load(str(folder / "word2vec.model"))
    model.train([["hello", "world"]], total_examples=1, epochs=1)
    vectors = model.wv
    del model
    return vectors["computer"], vectors.most_similar("computer", topn=10)


@situation
def script_that_goes_on_with_new_sentences(kind, folder):
    model = trained(kind)
    more = [["Advanced", "users", "can", "load", "a", "model", "and", "continue", "training", "it"]]
    model.build_vocab(more, update=True)
    model.train(more, total_examples=model.corpus_count, epochs=model.epochs)
    return len(model.wv), model.wv["Advanced"]


@situation
def script_that_starts_from_pretrained_vectors(kind, folder):
    pretrained = trained(kind, seed=3)
    pretrained.wv.save_word2vec_format(str(folder / "vectors.bin"), binary=False)
    model = kind(**OPTIONS)
    model.build_vocab(common_texts)
    model.build_vocab([list(pretrained.wv.key_to_index)], update=True)
    model.wv.vectors_lockf = np.ones(len(model.wv), dtype=np.float32)
    model.wv.intersect_word2vec_format(str(folder / "vectors.bin"), lockf=1.0)
    return train(model, total_examples=9)[1], model

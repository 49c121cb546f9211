"""Saving, loading, pickling and exporting."""

import copy
import io
import pickle

import numpy as np
from gensim.models import KeyedVectors
from gensim.scripts.word2vec2tensor import word2vec2tensor

from situations.outcome import built, situation, train, trained


def same(model, twin):
    return np.array_equal(model.wv.vectors, twin.wv.vectors), twin, train(twin)[1]


@situation
def saved_and_loaded(kind, folder):
    model = trained(kind)
    model.save(str(folder / "model"))
    return same(model, kind.load(str(folder / "model")))


@situation
def saved_by_a_path_object(kind, folder):
    model = trained(kind)
    model.save(folder / "model")
    return kind.load(str(folder / "model"))


@situation
def loaded_by_a_path_object(kind, folder):
    trained(kind).save(str(folder / "model"))
    return kind.load(folder / "model")


@situation
def saved_with_separate_arrays(kind, folder):
    model = trained(kind)
    model.save(str(folder / "model"), separately=["syn1neg"], sep_limit=1)
    return same(model, kind.load(str(folder / "model")))


@situation
def saved_and_mapped(kind, folder):
    model = trained(kind)
    model.save(str(folder / "model"), sep_limit=1)
    return kind.load(str(folder / "model"), mmap="r").wv.most_similar("human", topn=2)


@situation
def saved_to_a_handle(kind, folder):
    model = trained(kind)
    with (folder / "model").open("wb") as handle:
        model.save(handle)
    return same(model, kind.load(str(folder / "model")))


@situation
def saved_without_an_attribute(kind, folder):
    trained(kind, comment="mine").save(str(folder / "model"), ignore=["comment"])
    return getattr(kind.load(str(folder / "model")), "comment", "nothing")


@situation
def saved_with_an_own_attribute(kind, folder):
    model = trained(kind)
    model.note = {"author": "me"}
    model.save(str(folder / "model"))
    return kind.load(str(folder / "model")).note


@situation
def saved_by_another_protocol(kind, folder):
    model = trained(kind)
    model.save(str(folder / "model"), pickle_protocol=2)
    return same(model, kind.load(str(folder / "model")))


@situation
def saved_into_a_missing_folder(kind, folder):
    trained(kind).save(str(folder / "missing" / "model"))


@situation
def saved_over_another(kind, folder):
    for seed in (1, 2):
        model = trained(kind, seed=seed)
        model.save(str(folder / "model"))
    return same(model, kind.load(str(folder / "model")))


@situation
def saved_before_training(kind, folder):
    built(kind).save(str(folder / "model"))
    model = kind.load(str(folder / "model"))
    return train(model)[1], model


@situation
def loaded_from_nowhere(kind, folder):
    return kind.load(str(folder / "nothing"))


@situation
def loaded_from_text(kind, folder):
    (folder / "model").write_text("this is no model")
    return kind.load(str(folder / "model"))


@situation
def loaded_vectors_as_a_model(kind, folder):
    trained(kind).wv.save(str(folder / "vectors"))
    return kind.load(str(folder / "vectors"))


@situation
def loaded_and_extended(kind, folder):
    trained(kind).save(str(folder / "model"))
    model = kind.load(str(folder / "model"))
    more = [["graph", "zebra"], ["zebra", "human"]] * 3
    model.build_vocab(more, update=True)
    return train(model, more)[1], model


@situation
def pickled(kind, folder):
    model = trained(kind)
    return same(model, pickle.loads(pickle.dumps(model)))


@situation
def deeply_copied(kind, folder):
    model = trained(kind)
    return same(model, copy.deepcopy(model))


@situation
def copied(kind, folder):
    return copy.copy(trained(kind))


@situation
def vectors_saved_and_loaded(kind, folder):
    model = trained(kind)
    model.wv.save(str(folder / "vectors"))
    vectors = KeyedVectors.load(str(folder / "vectors"), mmap="r")
    return vectors, type(vectors), vectors.most_similar("human", topn=2)


@situation
def vectors_pickled(kind, folder):
    return pickle.loads(pickle.dumps(trained(kind).wv))


@situation
def vectors_in_the_text_format(kind, folder):
    model = trained(kind)
    model.wv.save_word2vec_format(str(folder / "vectors.txt"), fvocab=str(folder / "words.txt"))
    vectors = KeyedVectors.load_word2vec_format(str(folder / "vectors.txt"), fvocab=str(folder / "words.txt"))
    return vectors, (folder / "words.txt").read_text(), vectors.get_vecattr("human", "count")


@situation
def vectors_in_the_binary_format(kind, folder):
    trained(kind).wv.save_word2vec_format(str(folder / "vectors.bin"), binary=True)
    return KeyedVectors.load_word2vec_format(str(folder / "vectors.bin"), binary=True)


@situation
def vectors_in_a_compressed_file(kind, folder):
    trained(kind).wv.save_word2vec_format(str(folder / "vectors.txt.gz"))
    return KeyedVectors.load_word2vec_format(str(folder / "vectors.txt.gz"))


@situation
def vectors_without_a_header(kind, folder):
    trained(kind).wv.save_word2vec_format(str(folder / "vectors.txt"), write_header=False)
    return KeyedVectors.load_word2vec_format(str(folder / "vectors.txt"), no_header=True)


@situation
def vectors_with_prefixes(kind, folder):
    trained(kind).wv.save_word2vec_format(str(folder / "vectors.txt"), prefix="w_")
    return KeyedVectors.load_word2vec_format(str(folder / "vectors.txt"))


@situation
def vectors_for_tensorboard(kind, folder):
    trained(kind).wv.save_word2vec_format(str(folder / "vectors.bin"), binary=True)
    word2vec2tensor(str(folder / "vectors.bin"), str(folder / "out"), binary=True)
    return [len((folder / f"out_{name}.tsv").read_text().splitlines()) for name in ("tensor", "metadata")]


@situation
def model_in_the_word2vec_format(kind, folder):
    trained(kind).save_word2vec_format(str(folder / "vectors.txt"))


@situation
def model_loaded_from_the_word2vec_format(kind, folder):
    return kind.load_word2vec_format("vectors.txt")


@situation
def saved_to_memory(kind, folder):
    buffer = io.BytesIO()
    trained(kind).save(buffer)
    return buffer.tell() > 0

"""What a corpus may be, odd ones included."""

import gzip
import itertools

from gensim.models.phrases import Phrases
from gensim.models.word2vec import BrownCorpus, LineSentence, PathLineSentences, Text8Corpus
from gensim.test.utils import common_texts

from situations.outcome import OPTIONS, built, hangs_in_gensim, situation, train, trained


def text_file(folder, name="text.txt", texts=common_texts):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(map(" ".join, texts)) + "\n", encoding="utf8")
    return str(path)


def sizes(model):
    return model, model.corpus_count, model.corpus_total_words, model.train_count


class Stream:
    """A corpus that is read anew each time."""

    def __iter__(self):
        return iter(common_texts)


@situation
def an_iterable_object(kind, folder):
    return sizes(trained(kind, Stream()))


@situation
def a_tuple_of_tuples(kind, folder):
    return sizes(trained(kind, tuple(map(tuple, common_texts))))


@situation
def line_sentences(kind, folder):
    return sizes(trained(kind, LineSentence(text_file(folder))))


@situation
def line_sentences_that_are_compressed(kind, folder):
    path = folder / "text.txt.gz"
    path.write_bytes(gzip.compress("\n".join(map(" ".join, common_texts)).encode()))
    return sizes(trained(kind, LineSentence(str(path))))


@situation
def limited_line_sentences(kind, folder):
    return sizes(trained(kind, LineSentence(text_file(folder), max_sentence_length=2, limit=3)))


@situation
def a_folder_of_line_sentences(kind, folder):
    text_file(folder, "texts/one.txt")
    text_file(folder, "texts/two.txt")
    return sizes(trained(kind, PathLineSentences(str(folder / "texts"))))


@situation
def text8(kind, folder):
    path = folder / "text8"
    path.write_text(" ".join(itertools.chain(*common_texts)))
    return sizes(trained(kind, Text8Corpus(str(path), max_sentence_length=5)))


@situation
def brown(kind, folder):
    (folder / "brown").mkdir()
    (folder / "brown" / "ca01").write_text("The/at graph/nn grows/vbz ./.\nThe/at tree/nn grows/vbz ./.\n" * 3)
    return sizes(trained(kind, BrownCorpus(str(folder / "brown"))))


@situation
def a_corpus_file(kind, folder):
    return sizes(kind(corpus_file=text_file(folder), **OPTIONS))


@situation
def a_corpus_file_in_two_steps(kind, folder):
    model, path = kind(**OPTIONS), text_file(folder)
    model.build_vocab(corpus_file=path)
    done = model.train(corpus_file=path, total_words=model.corpus_total_words, epochs=3)
    return sizes(model), done[1]


@situation
def a_corpus_file_without_the_number_of_words(kind, folder):
    model, path = kind(**OPTIONS), text_file(folder)
    model.build_vocab(corpus_file=path)
    return model.train(corpus_file=path, total_examples=model.corpus_count, epochs=3)[1]


@situation
def a_corpus_file_that_does_not_exist(kind, folder):
    return kind(corpus_file=str(folder / "nothing.txt"), **OPTIONS)


@situation
def a_corpus_file_that_is_empty(kind, folder):
    path = folder / "empty.txt"
    path.touch()
    return kind(corpus_file=str(path), **OPTIONS)


@situation
def a_corpus_file_that_is_a_number(kind, folder):
    return kind(corpus_file=5, **OPTIONS)


@hangs_in_gensim
def a_corpus_file_as_path_object(kind, folder):
    text_file(folder)
    return sizes(kind(corpus_file=folder / "text.txt", **OPTIONS))


@situation
def the_path_of_a_file_as_sentences(kind, folder):
    return kind(text_file(folder), **OPTIONS)


@situation
def a_generator(kind, folder):
    return kind((text for text in common_texts), **OPTIONS)


@situation
def a_generator_after_build_vocab(kind, folder):
    model = built(kind)
    return train(model, (text for text in common_texts), epochs=1)[1], model


@situation
def a_generator_for_several_epochs(kind, folder):
    return train(built(kind), (text for text in common_texts), epochs=3)


@situation
def an_empty_corpus(kind, folder):
    return trained(kind, [])


@situation
def empty_sentences(kind, folder):
    return sizes(trained(kind, [[], *common_texts, [], []]))


@situation
def only_empty_sentences(kind, folder):
    return trained(kind, [[], []])


@situation
def sentences_of_one_word(kind, folder):
    model = trained(kind, [["a"], ["b"]] * 10)
    return sizes(model), model.wv["a"], model.wv.most_similar("a")


@situation
def a_single_sentence(kind, folder):
    return sizes(trained(kind, [["graph", "tree"]]))


@situation
def a_single_word(kind, folder):
    model = trained(kind, [["graph", "graph", "graph"]])
    return sizes(model), model.wv["graph"]


@situation
def sentences_that_are_texts(kind, folder):
    model = trained(kind, ["graph minors", "graph trees"])
    return sizes(model), sorted(model.wv.index_to_key)


@situation
def one_sentence_too_few_brackets(kind, folder):
    return sorted(trained(kind, ["graph", "minors", "trees"]).wv.index_to_key)


@situation
def unicode_words(kind, folder):
    words = ["naïve", "日本語", "🦓", "e\u0301", "\u00e9", "a b", "tab\there", ""]
    model = trained(kind, [words, words[::-1]] * 3)
    return sizes(model), sorted(model.wv.index_to_key), model.wv["🦓"]


@situation
def a_very_long_sentence(kind, folder):
    model = trained(kind, [["graph", "tree", "human", "system"] * 3000])
    return model, model.corpus_count, model.corpus_total_words


@situation
def numbers_inside_sentences(kind, folder):
    model = trained(kind, [[1, 2, 3], [2, 3, 4]] * 3)
    return sorted(model.wv.index_to_key), model.wv.most_similar(positive=[2])[0][0] in (1, 3, 4)


@situation
def none_inside_a_sentence(kind, folder):
    return len(trained(kind, [["graph", None], ["tree", "graph"]]).wv)


@situation
def lists_inside_sentences(kind, folder):
    return trained(kind, [[["graph", "tree"]]])


@situation
def sentences_that_are_none(kind, folder):
    return trained(kind, [None, ["graph"]])


@situation
def sentences_that_are_generators(kind, folder):
    class Nested:
        def __iter__(self):
            return ((word for word in text) for text in common_texts)

    return sizes(trained(kind, Nested()))


@situation
def phrases_before_a_model(kind, folder):
    texts = [["new", "york", "graph"], ["new", "york", "tree"]] * 10
    bigrams = Phrases(texts, min_count=1, threshold=0.1)
    return sorted(trained(kind, bigrams[texts]).wv.index_to_key)


@situation
def itertools_chain_is_spent(kind, folder):
    return kind(itertools.chain(common_texts), **OPTIONS)

"""`train` with all its arguments, repeated training, callbacks, scores and predictions."""

import numpy as np
from gensim.models.callbacks import CallbackAny2Vec
from gensim.test.utils import common_texts

from situations.outcome import OPTIONS, built, situation, train, trained


class Events(CallbackAny2Vec):
    def __init__(self):
        self.seen = []

    def on_train_begin(self, model):
        self.seen.append("train begins")

    def on_epoch_begin(self, model):
        self.seen.append("epoch begins")

    def on_epoch_end(self, model):
        self.seen.append("epoch ends")

    def on_train_end(self, model):
        self.seen.append("train ends")


def facts(model):
    names = ("train_count", "epochs", "corpus_count", "corpus_total_words", "compute_loss", "alpha", "min_alpha")
    return {name: getattr(model, name) for name in names}, model.total_train_time > 0


@situation
def trained_after_build_vocab(kind, folder):
    model = built(kind)
    return train(model)[1], facts(model)


@situation
def trained_without_a_vocabulary(kind, folder):
    kind(**OPTIONS).train(common_texts, total_examples=9, epochs=1)


@situation
def trained_without_totals(kind, folder):
    built(kind).train(common_texts, epochs=1)


@situation
def trained_without_epochs(kind, folder):
    built(kind).train(common_texts, total_examples=9)


@situation
def trained_without_a_corpus(kind, folder):
    built(kind).train(total_examples=9, epochs=1)


@situation
def trained_with_epochs_zero(kind, folder):
    return train(built(kind), epochs=0)


@situation
def trained_with_negative_epochs(kind, folder):
    return train(built(kind), epochs=-1)


@situation
def trained_with_numpy_numbers(kind, folder):
    return train(built(kind), total_examples=np.int64(9), epochs=np.int64(2))[1]


@situation
def trained_with_total_words(kind, folder):
    model = built(kind)
    return model.train(common_texts, total_words=model.corpus_total_words, epochs=2)[1]


@situation
def trained_with_too_many_examples_told(kind, folder):
    return train(built(kind), total_examples=1000)[1]


@situation
def trained_with_too_few_examples_told(kind, folder):
    return train(built(kind), total_examples=2)[1]


@situation
def trained_with_all_arguments(kind, folder):
    model = built(kind)
    done = train(
        model, start_alpha=0.05, end_alpha=0.01, word_count=0, queue_factor=2, report_delay=0.1, compute_loss=True,
        callbacks=[Events()],
    )  # fmt: skip
    return done[1], facts(model), model.get_latest_training_loss() != 0


@situation
def trained_with_a_word_count(kind, folder):
    return train(built(kind), word_count=5)[1]


@situation
def trained_with_an_unknown_argument(kind, folder):
    return train(built(kind), surprise=1)[1]


@situation
def trained_with_positional_arguments(kind, folder):
    return built(kind).train(common_texts, None, 9, None, 2)[1]


@situation
def trained_on_an_empty_corpus(kind, folder):
    model = built(kind)
    return train(model, []), model.wv.vectors, model.train_count


@situation
def trained_on_unknown_words(kind, folder):
    model = trained(kind)
    return train(model, [["zebra", "yak"]] * 3, total_examples=3), model.wv.vectors


@situation
def trained_on_the_path_of_a_file(kind, folder):
    return train(built(kind), "text.txt", total_examples=1)


@situation
def trained_on_a_number(kind, folder):
    return train(built(kind), 5)


@situation
def trained_again(kind, folder):
    model = trained(kind)
    return train(model)[1], facts(model)


@situation
def trained_on_other_texts(kind, folder):
    model = trained(kind)
    before = model.wv.vectors.copy()
    done = train(model, [["graph", "human", "tree"]] * 5, total_examples=5)
    return done[1], facts(model), bool((before != model.wv.vectors).any())


@situation
def loop_over_epochs(kind, folder):
    model = built(kind)
    for _ in range(5):
        train(model, epochs=1)
        model.alpha -= 0.002
        model.min_alpha = model.alpha
    return facts(model), model.wv.vectors


@situation
def rates_that_rise(kind, folder):
    return train(trained(kind), start_alpha=0.01, end_alpha=0.5)[1]


@situation
def rates_that_are_negative(kind, folder):
    return train(built(kind), start_alpha=-1.0)[1]


@situation
def the_last_rate_is_seen(kind, folder):
    model = trained(kind)
    return model.min_alpha_yet_reached <= model.alpha, model.alpha, model.min_alpha


@situation
def callbacks_of_the_constructor(kind, folder):
    events = Events()
    trained(kind, callbacks=[events])
    return events.seen


@situation
def callbacks_of_train(kind, folder):
    events = Events()
    train(built(kind), callbacks=[events, Events()], epochs=3)
    return events.seen


@situation
def a_callback_that_is_none(kind, folder):
    return train(built(kind), callbacks=[None])[1]


@situation
def a_callback_that_lacks_methods(kind, folder):
    class Bare:
        def on_epoch_end(self, model):
            pass

    return train(built(kind), callbacks=[Bare()])[1]


@situation
def a_callback_that_fails(kind, folder):
    class Failing(CallbackAny2Vec):
        def on_epoch_end(self, model):
            raise LookupError("a callback's own error")

    return train(built(kind), callbacks=[Failing()])


@situation
def a_callback_that_saves_the_model(kind, folder):
    class Saving(CallbackAny2Vec):
        def __init__(self):
            self.epoch = 0

        def on_epoch_end(self, model):
            model.save(str(folder / f"epoch-{self.epoch}"))
            self.epoch += 1

    trained(kind, callbacks=[Saving()])
    return [kind.load(str(folder / f"epoch-{k}")) for k in range(2)]


@situation
def a_callback_that_prints_the_loss(kind, folder):
    class Losses(CallbackAny2Vec):
        def __init__(self):
            self.seen = []

        def on_epoch_end(self, model):
            self.seen.append(model.get_latest_training_loss())

    losses = Losses()
    trained(kind, callbacks=[losses], compute_loss=True, epochs=3)
    return len(losses.seen), all(loss > 0 for loss in losses.seen)


@situation
def losses_add_up_over_epochs(kind, folder):
    class Losses(CallbackAny2Vec):
        def __init__(self):
            self.seen = []

        def on_epoch_end(self, model):
            self.seen.append(model.get_latest_training_loss())

    losses = Losses()
    trained(kind, callbacks=[losses], compute_loss=True, epochs=5)
    return losses.seen == sorted(losses.seen)


@situation
def no_loss_unless_asked_for(kind, folder):
    model = trained(kind)
    return model.get_latest_training_loss(), model.running_training_loss


@situation
def the_loss_of_one_training(kind, folder):
    return trained(kind, compute_loss=True).get_latest_training_loss() > 0


@situation
def two_models_with_one_seed(kind, folder):
    return np.array_equal(trained(kind).wv.vectors, trained(kind).wv.vectors)


@situation
def two_models_with_two_seeds(kind, folder):
    return np.array_equal(trained(kind).wv.vectors, trained(kind, seed=2).wv.vectors)


@situation
def score_with_negative_sampling(kind, folder):
    return trained(kind).score(common_texts, total_sentences=9)


@situation
def score_with_hierarchical_softmax(kind, folder):
    return trained(kind, hs=1, negative=0).score(common_texts, total_sentences=9)


@situation
def predicted_words(kind, folder):
    return trained(kind).predict_output_word(["human", "interface"], topn=3)


@situation
def predicted_words_of_unknown_context(kind, folder):
    return trained(kind).predict_output_word(["zebra"])


@situation
def predicted_words_with_hierarchical_softmax(kind, folder):
    return trained(kind, hs=1, negative=0).predict_output_word(["human"])


@situation
def predicted_words_of_indices(kind, folder):
    return trained(kind).predict_output_word([0, 1], topn=2)


@situation
def predicted_words_of_nothing(kind, folder):
    return trained(kind).predict_output_word([])


@situation
def vectors_are_locked(kind, folder):
    model = built(kind)
    model.wv.vectors_lockf = np.ones(len(model.wv), dtype=np.float32)
    model.wv.vectors_lockf[0] = 0.0
    before = model.wv.vectors.copy()
    train(model)
    return np.array_equal(before[0], model.wv.vectors[0]), np.array_equal(before[1], model.wv.vectors[1])


@situation
def own_vectors_to_start_from(kind, folder):
    model = built(kind)
    model.wv.vectors[:] = np.random.default_rng(1).normal(size=model.wv.vectors.shape)
    before = model.wv.vectors.copy()
    train(model, epochs=1)
    cosines = [model.wv.cosine_similarities(a, [b])[0] for a, b in zip(before, model.wv.vectors, strict=True)]
    return bool(np.median(cosines) > 0.8)

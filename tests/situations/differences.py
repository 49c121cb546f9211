"""Where HilbertMLE differs from Word2Vec on purpose: situations by the sentence of docs/migration.md that says so."""

DIFFERENCES = {
    "Wrong values are refused when the model is made": (
        *("vector_size_is_zero", "vector_size_is_text", "vector_size_is_none", "alpha_is_zero", "alpha_is_negative"),
        *("alpha_is_none", "window_is_zero", "window_is_negative", "window_is_none", "min_count_is_text"),
        *(
            "min_count_is_negative",
            "min_count_is_fraction",
            "min_count_is_none",
            "sample_is_negative",
            "sample_is_text",
            "seed_is_text",
            "workers_is_zero",
        ),
        *("min_alpha_is_negative", "min_alpha_is_none", "negative_is_below_zero", "ns_exponent_is_none"),
        *("epochs_is_none", "epochs_is_text", "rates_that_are_negative"),
    ),
    "Arguments without effect are named in a warning": (
        *("sg_is_two", "negative_is_zero", "negative_is_twenty", "ns_exponent_is_zero", "ns_exponent_is_one"),
        *("ns_exponent_is_negative", "cbow_mean_is_zero", "hashfxn_is_own", "null_word_is_one", "batch_words_is_ten"),
        *("batch_words_is_huge", "batch_words_is_zero", "negative_and_hs_are_zero", "hierarchical_softmax_alone"),
        *("score_with_hierarchical_softmax", "predicted_words_with_hierarchical_softmax"),
    ),
    "A rate that is too high is halved": ("alpha_is_high",),
    "`sample=None` becomes 0": ("sample_is_none",),
    "`workers` of -1 or None uses every core": ("workers_is_negative", "workers_is_none"),
    "Whole numbers may be floats": ("vector_size_is_fraction", "epochs_is_fraction"),
    "Totals need not be right": (
        *("a_corpus_file_without_the_number_of_words", "trained_with_too_many_examples_told"),
        "trained_with_too_few_examples_told",
    ),
    "A path may be a `Path`": ("a_corpus_file_as_path_object", "saved_by_a_path_object"),
    "A path is not taken for sentences": ("the_path_of_a_file_as_sentences", "trained_on_the_path_of_a_file"),
    "A generator can be trained on for several epochs": ("a_generator_for_several_epochs",),
    "Sentences may be iterators": ("sentences_that_are_generators",),
    "An iterator that is spent is an error": ("itertools_chain_is_spent",),
    "Text from which nothing can be learnt is warned about": (
        *("sentences_of_one_word", "trained_on_unknown_words", "script_of_gensims_tutorial"),
    ),
    "A model shows what it is": ("representation_of_a_model",),
    "A copy without counts says so": ("saved_to_a_handle", "pickled"),
    "The loss is that of the present vectors": ("losses_add_up_over_epochs",),
    "`score` works without hierarchical softmax": ("score_with_negative_sampling",),
    "`intersect_word2vec_format` works on trained models": ("vectors_of_a_file_are_taken_over",),
    "`reset_from` works": ("reset_from_another_model",),
}
BY_SITUATION = {name: sentence for sentence, names in DIFFERENCES.items() for name in names}

"""Words of any type are those that gensim has, in all ways to count and to learn, and come back as they were."""

import numpy as np
import pytest
from any_tokens import PLAIN, exactly, plain_tokens, sentences, tokens
from gensim.models import Word2Vec
from gensim.utils import RULE_DEFAULT, RULE_DISCARD, RULE_KEEP
from helpers import table_of
from hypothesis import given
from hypothesis import strategies as st
from reference import pairs_of

from gensim_hilbert import HilbertMLE, PairCounts, Vocabulary


def keep_numbers(word, count, min_count):
    if isinstance(word, str):
        return RULE_DEFAULT
    return RULE_KEEP if isinstance(word, int) else RULE_DISCARD


rules = st.fixed_dictionaries(
    {"min_count": st.integers(0, 3)},
    optional={
        "max_vocab_size": st.integers(1, 12),
        "max_final_vocab": st.integers(1, 8),
        "sorted_vocab": st.sampled_from([0, 1]),
        "trim_rule": st.just(keep_numbers),
    },
)


@given(text=sentences(tokens), rules=rules, block=st.sampled_from([1, 30, 1 << 20]))
def test_the_vocabulary_is_gensims(text, rules, block, set_block_bytes):
    set_block_bytes(block)
    trim_rule = {"trim_rule": rules.pop("trim_rule", None)}
    ours, gensims = (kind(vector_size=1, **rules) for kind in (HilbertMLE, Word2Vec))
    for model in (ours, gensims):
        model.build_vocab(text, **trim_rule)
    assert exactly(ours.wv.index_to_key) == exactly(gensims.wv.index_to_key)
    assert ours.wv.key_to_index == gensims.wv.key_to_index
    assert (ours.corpus_count, ours.corpus_total_words) == (gensims.corpus_count, gensims.corpus_total_words)
    if len(gensims.wv):
        assert ours.wv.expandos["count"].tolist() == gensims.wv.expandos["count"].tolist()
        alone = Vocabulary.from_corpus(text, workers=2, **{**rules, **trim_rule})
        assert exactly(alone.words) == exactly(gensims.wv.index_to_key)
        assert alone.counts.tolist() == gensims.wv.expandos["count"].tolist()
        assert (alone.sentences, alone.tokens) == (gensims.corpus_count, gensims.corpus_total_words)


@given(text=sentences(tokens), more=sentences(tokens))
def test_an_updated_vocabulary_has_all_new_words(text, more):
    model = HilbertMLE(vector_size=1, min_count=1)
    model.build_vocab(text)
    if not len(model.wv):
        return
    model.build_vocab(more, update=True)
    counts: dict = {}  # gensim itself takes a new int for the number of a row, and drops it
    for word in (word for sentence in text + more for word in sentence):
        counts[word] = counts.get(word, 0) + 1
    assert {word: model.wv.get_vecattr(word, "count") for word in model.wv.index_to_key} == counts


@given(
    text=sentences(tokens),
    min_count=st.integers(1, 2),
    oov=st.sampled_from(["remove", "gap"]),
    recount=st.booleans(),
    window=st.integers(1, 3),
    block=st.sampled_from([1, 30, 1 << 20]),
)
def test_pairs_are_those_of_the_oracle(text, min_count, oov, recount, window, block, set_block_bytes):
    set_block_bytes(block)
    text = [*text, ["enough", "enough"], [0.25, "enough", 0.25]]  # so that there are words and pairs
    words = Vocabulary.from_corpus(text, min_count=min_count)
    given_words = {"vocabulary": words} if recount else {"min_count": min_count}
    counts = PairCounts.from_corpus(text, window=window, weights="flat", oov=oov, workers=2, **given_words)
    assert exactly(counts.vocabulary.words) == exactly(words.words)
    assert counts.vocabulary.counts.tolist() == words.counts.tolist()
    assert table_of(counts) == pairs_of(text, words.words, window, window, "flat", oov)


@given(words=st.lists(plain_tokens, unique=True, max_size=20))
def test_a_file_holds_words_of_plain_types(words, tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "vocabulary.jsonl"
    before = Vocabulary(words, np.arange(len(words)))
    before.save(path)
    after = Vocabulary.load(path)
    assert exactly(after.words) == exactly(words)
    assert after.counts.tolist() == before.counts.tolist()
    assert after.fingerprint == before.fingerprint


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda part: (
            st.lists(part)
            | st.dictionaries(
                st.sampled_from(["bytes", "float", "object", "numpy.int8", "numpy.float16", "numpy.str"]), part
            )
        ),
    )
)
def test_strange_words_of_a_file_are_refused_or_read(value):
    from gensim_hilbert.keys import key_from_json, key_to_json

    try:
        key = key_from_json(value)
    except ValueError:
        return
    assert exactly([key_from_json(key_to_json(key))]) == exactly([key])


def test_the_same_tokens_give_the_same_vectors_as_text():
    """Vectors depend on counts alone, and counts on which tokens are equal."""
    rng = np.random.default_rng(1)
    numbers = rng.zipf(1.5, size=(300, 12)) % len(PLAIN)
    texts = [[PLAIN[k] for k in row] for row in numbers.tolist()]
    name = {token: f"word{k}" for k, token in enumerate(PLAIN)}
    names = [[name[token] for token in text] for text in texts]
    ours, named = (HilbertMLE(text, vector_size=4, min_count=1, seed=1, workers=1) for text in (texts, names))
    assert [name[key] for key in ours.wv.index_to_key] == named.wv.index_to_key
    assert np.array_equal(ours.wv.vectors, named.wv.vectors)
    streamed = [
        HilbertMLE(text, vector_size=4, min_count=1, seed=1, workers=1, sample=0, solver="gibbs", epochs=2)
        for text in (texts, names)
    ]
    assert np.isfinite(streamed[0].wv.vectors).all()
    assert exactly(streamed[0].wv.index_to_key) == exactly(ours.wv.index_to_key)


@pytest.mark.parametrize("bad", [[["a", "b"], ["a", ["b"]]], [[1], [{}]]])
def test_tokens_that_cannot_be_keys_are_named(bad):
    for solver in ("factorization", "gibbs"):
        with pytest.raises(TypeError, match=r"sentence 1 holds .*, of type (list|dict); words must be hashable"):
            HilbertMLE(bad, min_count=1, solver=solver)

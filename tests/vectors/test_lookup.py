"""Keys of all types are looked up as gensim looks up str: a copy of the vectors with str for keys is the oracle."""

import numpy as np
import pytest
from any_tokens import OTHERS, PLAIN, exactly
from gensim.models import KeyedVectors

from gensim_hilbert.vectors.keyed import WordVectors

KEYS = list({key: None for key in [*PLAIN, *OTHERS]})  # those that are different for a dict
NAMES = {key: f"key{number}" for number, key in enumerate(KEYS)}


@pytest.fixture(scope="module")
def both():
    rows = np.random.default_rng(1).normal(size=(len(KEYS), 8)).astype(np.float32)
    pair = WordVectors(8), KeyedVectors(8)
    for vectors, names in zip(pair, (KEYS, NAMES.values()), strict=True):
        vectors.add_vectors(list(names), rows)
    return pair


def named(found):
    return [(NAMES[key], pytest.approx(value, abs=1e-6)) for key, value in found]


@pytest.mark.parametrize("key", KEYS, ids=NAMES.values())
def test_one_key(both, key):
    ours, gensims = both
    name = NAMES[key]
    np.testing.assert_array_equal(ours[key], gensims[name])
    np.testing.assert_allclose(ours.distances(key), gensims.distances(name), atol=1e-6)
    assert gensims.most_similar([name], topn=len(KEYS)) == named(ours.most_similar([key], topn=len(KEYS)))
    assert gensims.most_similar(name, topn=3) == named(ours.similar_by_key(key, topn=3))
    if key is not None:  # which is what gensim takes for no key at all
        assert gensims.most_similar(name, topn=3) == named(ours.most_similar(key, topn=3))
    other = KEYS[3]
    assert ours.similarity(key, other) == pytest.approx(gensims.similarity(name, NAMES[other]), abs=1e-6)
    assert ours.rank(key, other) == gensims.rank(name, NAMES[other])


def test_several_keys(both):
    ours, gensims = both
    plus, minus = [(1, 2), "a", 0.5, None], [b"a", 7]
    names = [NAMES[key] for key in plus], [NAMES[key] for key in minus]
    assert gensims.most_similar(*names, topn=9) == named(ours.most_similar(plus, minus, topn=9))
    assert gensims.most_similar_cosmul(*names, topn=9) == named(ours.most_similar_cosmul(plus, minus, topn=9))
    weighted = [((1, 2), 0.5), ("a", 2.0), (7, -1.0)]
    by_name = [(NAMES[key], weight) for key, weight in weighted]
    assert gensims.most_similar(by_name, topn=5) == named(ours.most_similar(weighted, topn=5))
    np.testing.assert_array_equal(ours[[(1, 2), "a"]], gensims[[NAMES[1, 2], NAMES["a"]]])
    np.testing.assert_allclose(ours.most_similar([(1, 2)], topn=None), gensims.most_similar([NAMES[1, 2]], topn=None))
    assert ours.most_similar([(1, 2)], topn=0) == []
    assert exactly([ours.doesnt_match([(1, 2), "a", b"a"])]) == exactly(
        [KEYS[int(gensims.doesnt_match([NAMES[1, 2], NAMES["a"], NAMES[b"a"]]).removeprefix("key"))]]
    )
    with pytest.raises(KeyError):
        ours[("neither", "nor")]


def test_word2vec_format_is_gensims_and_never_garbage(tmp_path):
    vectors = WordVectors(2)
    vectors.add_vectors([0, 1, "a", 2.5], np.arange(8, dtype=np.float32).reshape(4, 2))  # gensim writes 0 and 1 twice
    vectors.save_word2vec_format(tmp_path / "v.txt")
    assert (tmp_path / "v.txt").read_text() == "4 2\n0 0.0 1.0\n1 2.0 3.0\na 4.0 5.0\n2.5 6.0 7.0\n"
    assert vectors.index_to_key == [0, 1, "a", 2.5]
    vectors.add_vector((1, 2), np.zeros(2))
    with pytest.raises(ValueError, match=r"the key \(1, 2\) would be written '\(1, 2\)', which is not a word"):
        vectors.save_word2vec_format(tmp_path / "w.txt")
    assert not (tmp_path / "w.txt").exists()

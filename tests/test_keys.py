"""Keys as JSON: what a file can hold comes back as it was, and what it cannot hold is named."""

import json
import math

import numpy as np
import pytest
from any_tokens import OTHERS, PLAIN, Fruit, exactly
from hypothesis import given
from hypothesis import strategies as st

from gensim_hilbert.keys import (
    MOST_NESTED,
    UnwritableKey,
    key_from_json,
    key_to_json,
    pack_keys,
    same_keys,
    text_keys,
    unpack_keys,
    words_of_keys,
)

numbers = st.integers() | st.floats(allow_nan=False) | st.booleans() | st.none()
plain_keys = st.recursive(numbers | st.text() | st.binary(), lambda part: st.lists(part, max_size=3).map(tuple))


@given(plain_keys)
def test_plain_keys_come_back(key):
    assert exactly([key_from_json(json.loads(json.dumps(key_to_json(key))))]) == exactly([key])


def nested(depth):
    key = ()
    for _ in range(depth):
        key = (key,)
    return key


@pytest.mark.parametrize(
    "key", [*(key for key in OTHERS if key != "Paris"), math.nan, np.float32("nan"), (1, frozenset()), 1 << 10000,
            nested(MOST_NESTED + 5), np.datetime64("2020-01-01"), slice(1)], ids=lambda key: type(key).__name__
)  # fmt: skip
def test_other_keys_are_refused_in_one_sentence(key):
    with pytest.raises(
        UnwritableKey, match=rf"of type {type(key).__name__}, cannot be written .* gensim's `save`"
    ) as caught:
        key_to_json(key)
    assert len(str(caught.value)) < 500


def test_lists_of_keys_are_packed():
    packed, are_json = pack_keys(PLAIN, lambda word: word.encode("utf-8", "surrogatepass"))
    assert are_json.tolist() == [type(key) is not str for key in PLAIN]
    assert exactly(unpack_keys(packed, are_json, lambda data: data.decode("utf-8", "surrogatepass"))) == exactly(PLAIN)
    assert pack_keys(["a", "b"], str.encode) == ([b"a", b"b"], None)
    with pytest.raises(ValueError, match="is not a key"):
        unpack_keys([b"{}"], np.ones(1, dtype=np.uint8), bytes.decode)


def test_the_text_of_keys():
    assert text_keys(["a", Fruit.PEAR], None, "it") == ["a", "pear"]
    assert text_keys([5, "a", None, (1, 2)], "str", "it") == ["5", "a", "None", "(1, 2)"]
    with pytest.raises(TypeError, match=r"it can hold only keys that are str, and 5 is of type int: pass keys='str'"):
        text_keys(["a", 5], None, "it")
    with pytest.raises(ValueError, match="the keys 5 and '5' would both be written '5': rename one"):
        text_keys([5, "a", "5"], "str", "it")
    with pytest.raises(ValueError, match="keys must be 'str' or None, got 'repr'"):
        text_keys(["a"], "repr", "it")
    assert words_of_keys([5, "two words", 0.5]) == ["5", "two words", "0.5"]
    with pytest.raises(ValueError, match=r"the key \(1, 2\) would be written '\(1, 2\)', which is not a word"):
        words_of_keys(["a", (1, 2)])


def test_keys_are_the_same_if_a_dict_takes_them_for_one():
    assert same_keys([1, "a", (1.0,)], [True, np.str_("a"), (1,)])
    assert not same_keys([1], [1, 2])
    assert not same_keys([np.float32(0.1)], [()])  # whose == has no truth value

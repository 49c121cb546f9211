"""The kernel that lists words at white space gives what the general scanner gives."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gensim_hilbert.corpus.words import ScannedText, WhiteSpace

PIECES = [
    "a",
    "naïve",
    "日本語",
    "x" * 20,
    "exactly-sixteen!",
    " ",
    "\u00a0",
    "\u3000",
    "\t",
    "\r\n",
    "\n",
    "\n\n",
    "\u2028",
]


@given(parts=st.lists(st.sampled_from(PIECES), max_size=40), inside=st.booleans(), is_open=st.booleans())
def test_both_kernels_list_the_same_words(parts, inside, is_open):
    text = "".join(parts).encode()
    options = dict(errors="strict", inside=inside, is_open=is_open)
    ours, expected = WhiteSpace().prepare(text, **options), ScannedText.prepare(WhiteSpace(), text, **options)
    assert ours.data == expected.data
    assert np.array_equal(ours.places, expected.places)

"""Numbers as a report writes them."""

from gensim_hilbert.markup import number


def test_numbers():
    assert number(-0.001) == "0.00"
    assert number(-1234.5, 1) == "\u22121,234.5"
    assert number(float("nan")) == "–"

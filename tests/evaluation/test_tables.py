"""Tables of scores, as text, Markdown and LaTeX."""

from __future__ import annotations

import math

from gensim_hilbert.evaluation.tables import Score, as_latex, as_markdown, as_text, number, tabulate


def test_marks_of_a_table():
    from gensim_hilbert.evaluation.significance import Difference

    values = {"a_1": {"s": 0.5, "t": 0.25}, "b": {"s": 0.25, "t": 0.2501}, "c": {"s": 0.45, "t": math.nan}}
    p = {0.25: 0.001, 0.45: 0.2}

    def compare(first, second):
        return Difference(first - second, 0, 0, p.get(first, 1.0), 10)

    found = tabulate("T", values, lambda value: Score(value, 0.01, 10, 9), compare)
    assert [(c.embedding, c.best, c.column, c.real) for c in found.comparisons] == [
        ("b", "a_1", "s", True),
        ("c", "a_1", "s", False),
        ("a_1", "b", "t", True),
    ]
    assert as_text(found).splitlines()[:3] == [
        "T  a_1          b            c           covered",
        "s  .500* ±.010  .250↓ ±.010  .450 ±.010  9/10",
        "t  .250* ±.010  .250* ±.010  -           9/10",
    ]
    assert "| a_1 | **.500** ± .010 | **.250** ± .010 |" in as_markdown(found)
    assert "| b | .250↓ ± .010 |" in as_markdown(found)
    assert r"a\_1 & \textbf{.500} $\pm$ .010" in as_latex(found)
    assert r".250$^\downarrow$ $\pm$ .010" in as_latex(found)


def test_numbers_as_the_paper_prints_them():
    assert [number(x) for x in (0.4621, -0.05, 1.0, 0.9996)] == [".462", "-.050", "1.000", "1.000"]

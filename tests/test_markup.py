"""What notebooks show: small tables, in which words cannot do any harm."""

import copy
import json
import pickle
from html.parser import HTMLParser

import pytest

from gensim_hilbert import HilbertMLE, PairCounts, Vocabulary
from gensim_hilbert.markup import notebook_table

EVIL = "<script>alert(1)</script>"
TEXT = [[EVIL, "cat", "x" * 99], ["cat", "sat", EVIL], ["a&b", "sat", "cat"]] * 10


class Cells(HTMLParser):
    """The tags of a page, and the texts of its cells, row by row."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.rows, self.caption, self.depth = set(), [], "", []
        self.feed(page)
        assert not self.depth

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.depth.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.depth.pop() == tag

    def handle_data(self, data):
        if "caption" in self.depth:
            self.caption += data
        else:
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def model():
    return HilbertMLE(TEXT, vector_size=3, min_count=1, sample=0, seed=1, workers=1)


def cells(shown):
    found = Cells(shown._repr_html_())
    assert found.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "bdi"}
    return found


def test_a_model(model):
    found = cells(model)
    facts = dict(found.rows)
    assert found.caption == "HilbertMLE"
    assert (facts["words"], facts["dimensions"], facts["words of text"]) == ("5", "3", "90")
    assert EVIL in facts["most frequent"]
    assert len(facts["most frequent"]) < 120
    assert repr(model) == "HilbertMLE(5 words, vector_size=3, solver='factorization')"


def test_a_model_without_words():
    assert dict(cells(HilbertMLE(vector_size=7)).rows)["dimensions"] == "7"
    assert dict(cells(HilbertMLE(solver="gibbs")).rows)["solver"] == "gibbs"


def test_counts(model):
    facts = dict(cells(model.counts).rows)
    assert facts["words"] == "5"
    assert facts["window"] == "5 to the left, 5 to the right"
    assert facts["total weight"] == f"{model.counts.total:,.3f}"
    assert dict(cells(PairCounts.from_scipy([[0, 1], [1, 0]], ["a", "b"])).rows)["window"] == "unknown"


def test_a_vocabulary(model):
    assert [EVIL, "20"] in cells(model.counts.vocabulary).rows
    many = cells(Vocabulary([f"w{k}" for k in range(1010)], range(1010)))
    assert many.caption == "Vocabulary of 1,010 words"
    assert len(many.rows) == 12
    assert many.rows[-1] == ["and 1,000 more", f"{sum(range(10, 1010)):,}"]
    assert len(cells(Vocabulary([], [])).rows) == 1


def test_what_goes_with_a_word_is_a_list_and_a_table(model):
    found = model.most_cooccurring(EVIL, topn=3)
    shown = cells(found)
    assert shown.caption == f"goes with {EVIL}"
    assert [row[0] for row in shown.rows[1:]] == [str(word)[:39] + "…" * (len(word) > 40) for word, _ in found]
    assert isinstance(found, list)
    assert json.loads(json.dumps(found)) == [[*pair] for pair in found]
    for twin in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert (twin, twin.word) == (found, EVIL)


def test_similar_words_stay_gensims_list(model):
    assert type(model.wv.most_similar("cat")) is list


def test_cells():
    shown = notebook_table("<b>", [("a", 1234, 0.5, None, True)])
    assert "<b>" not in shown
    assert Cells(shown).rows == [["a", "1,234", "0.500", "None", "True"]]

"""HilbertMLE beside Word2Vec in the situations of gensim's users: the same kinds of results, errors and warnings."""

from pathlib import Path

import pytest
from gensim.models import Word2Vec
from situations import SITUATIONS, outcome_of
from situations.differences import BY_SITUATION, DIFFERENCES

from gensim_hilbert import HilbertMLE

PAGE = Path(__file__).parents[2] / "docs" / "migration.md"
pytestmark = pytest.mark.usefixtures("short_training")


@pytest.fixture(autouse=True)
def _workspace(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", SITUATIONS)
def test_outcomes_are_alike(name, tmp_path):
    if name == "wv_wmdistance":
        pytest.importorskip("ot")
    function = SITUATIONS[name]
    gensims, ours = (outcome_of(function, kind, tmp_path / kind.__name__) for kind in (Word2Vec, HilbertMLE))
    if name in BY_SITUATION:
        assert ours != gensims, "this is no difference any more: remove it from differences.py"
    else:
        assert ours == gensims


def test_all_differences_are_known_situations():
    assert set(BY_SITUATION) <= set(SITUATIONS)
    assert len(BY_SITUATION) == sum(map(len, DIFFERENCES.values()))


@pytest.mark.parametrize("sentence", DIFFERENCES)
def test_the_migration_page_names_each_difference(sentence):
    assert f"**{sentence}" in PAGE.read_text()

"""The model card: metadata that is YAML, and text that no odd word can break."""

from __future__ import annotations

import re
import string

import pytest

from gensim_hilbert import HilbertMLE
from gensim_hilbert.pretrained.card import CardFacts, card_of, escaped

ODD = ["---", "|", "`x`", "<script>", "a\nb", "\ud800", "\u202etxt", "[x](y)", "日本", "\\", "# h", "'''", "", "&amp;"]
OPTIONS = {"vector_size": 3, "min_count": 1, "epochs": 1}


@pytest.fixture(scope="module")
def model():
    model = HilbertMLE([ODD, ODD[::-1]] * 4, **OPTIONS, comment="| ``` \n---\n<b>")
    model.trained_on = [{"files": 30, "names": ["a|b`.txt", "<img src=x>", "\n# title"]}, {"counts": "0"}]
    return model


def rows_of(card):
    """The rows of the tables, by their first cells."""
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in card.splitlines() if line.startswith("|")]
    assert all(len(row) == 2 for row in cells), "a table is broken"
    return {row[0].strip(): row[1].strip() for row in cells}


def test_a_card_tells_what_the_model_is(tmp_path, plain):
    trained = HilbertMLE(corpus_file=str(plain), **OPTIONS)
    trained.save_pretrained(tmp_path / "my news", license="cc-by-4.0", language=["en", "no"])
    card = (tmp_path / "my news" / "README.md").read_text(encoding="utf-8")
    yaml = pytest.importorskip("yaml", reason="PyYAML is missing: it comes with huggingface_hub")
    metadata = yaml.safe_load(card.split("---\n")[1])
    assert metadata["library_name"] == "gensim-hilbert"
    assert metadata["license"] == "cc-by-4.0"
    assert metadata["language"] == ["en", "no"], "without quotes, no would be false"
    assert "word-embeddings" in metadata["tags"]
    rows = rows_of(card)
    assert rows["words"] == f"{len(trained.wv):,}"
    assert rows["tokens of text"] == f"{trained.corpus_total_words:,}"
    assert rows["trained on"] == r"text\.txt"
    assert rows["`vector_size`"] == "3"
    code = re.search(r"```python\n(.*?)```", card, re.DOTALL)[1]
    assert "from_pretrained('my news')" in code
    compile(code, "card", "exec")
    trained.save_pretrained(tmp_path / "other")
    bare = (tmp_path / "other" / "README.md").read_text(encoding="utf-8")
    assert "license" not in yaml.safe_load(bare.split("---\n")[1])


def test_odd_words_and_names_do_not_break_a_card(model):
    card = card_of(model, CardFacts(repository="jane/x"), "``` \n| --- <odd> \ud800")
    assert card.encode()
    assert card.count("\n---\n") == 1, "the end of the metadata"
    assert card.count("\n```") == 4, "two blocks of code"
    assert "<" not in card.replace("\\<", "")
    rows = rows_of(card)
    assert rows["trained on"] == (
        r"a\|b\`\.txt, \<img src\=x\>, \\n\# title, 27 more files, pair counts that were made before"
    )
    assert rows["`comment`"] == r"\| \`\`\` \\n\-\-\-\\n\<b\>"
    assert "pip install 'gensim-hilbert[hub]'" in card
    folder = card_of(model, CardFacts(), "a'b\n```")
    assert r'from_pretrained("a\'b\n```")' in folder or r"""from_pretrained("a'b\n```")""" in folder


def test_markdown_shows_what_was_escaped():
    for text in ODD:
        shown = escaped(text)
        assert re.sub(r"\\([^\w\s])", r"\1", shown) == "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
        bare = re.sub(r"\\.", "", shown)
        assert not set(bare) & set(string.punctuation)
    assert escaped("x" * 100) == "x" * 80 + r"\.\.\."


@pytest.mark.parametrize("facts", [CardFacts("my license: yes"), CardFacts("mit\nx: y"), CardFacts(None, ["en", "?"])])
def test_other_metadata_is_refused(facts, model):
    with pytest.raises(ValueError, match=r"(license|language) must be an identifier such as 'cc-by-4\.0' or 'en', got"):
        card_of(model, facts, "folder")


def test_a_card_of_sums_and_one_of_subwords():
    sums = HilbertMLE([["a", "b"]] * 9, **OPTIONS, vectors="v+w")
    assert "model.pmi" not in card_of(sums, CardFacts(), "x")
    subwords = HilbertMLE([["a", "b"]] * 9, **OPTIONS, subwords=True, bucket=9)
    assert "- fasttext\n" in card_of(subwords, CardFacts(), "x")

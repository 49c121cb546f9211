"""Tokenizers of Hugging Face, as objects and as files."""

import pickle
import sys

import pytest

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.corpus.tokenizer_names import as_tokenizer, tokenizer_from

tokenizers = pytest.importorskip("tokenizers")

TEXTS = ["Hello there, world!", "the lower newest widest", "low lower lowest"] * 10


@pytest.fixture(scope="module")
def trained():
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=60, special_tokens=["[UNK]", "[CLS]"])
    tokenizer.train_from_iterator(TEXTS, trainer)
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A", special_tokens=[("[CLS]", tokenizer.token_to_id("[CLS]"))]
    )
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=8)
    return tokenizer


def expected(trained, text):
    plain = tokenizers.Tokenizer.from_str(trained.to_str())
    plain.no_truncation()
    plain.no_padding()
    return plain.encode(text, add_special_tokens=False).tokens


def test_words_are_its_tokens_without_special_ones(trained, tmp_path):
    trained.save(str(tmp_path / "tokenizer.json"))
    for given in (trained, tmp_path / "tokenizer.json", str(tmp_path / "tokenizer.json")):
        found = as_tokenizer(given)
        for one in (found, pickle.loads(pickle.dumps(found)), tokenizer_from(found.describe())):
            assert one.tokenize(TEXTS[:3]) == [expected(trained, text) for text in TEXTS[:3]]
            assert one == found
    assert trained.truncation is not None  # The user's own object stays as it is.


def test_it_is_counted_with_and_kept(trained, tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(TEXTS))
    lists = [expected(trained, text) for text in TEXTS]
    counts = PairCounts.from_corpus(path, tokenizer=trained, min_count=1, directory=tmp_path / "counts")
    assert counts.fingerprint == PairCounts.from_corpus(lists, min_count=1).fingerprint
    model = HilbertMLE.from_counts(PairCounts.open(tmp_path / "counts"), vector_size=2, passes=1)
    model.save_pretrained(tmp_path / "model")
    assert HilbertMLE.from_pretrained(tmp_path / "model").tokenize(TEXTS[0]) == lists[0]


def test_what_is_no_tokenizer_json_is_an_error_that_names_the_file(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")
    with pytest.raises(ValueError, match=r"tokenizer.json: the tokenizer.json cannot be read"):
        as_tokenizer(path)


def test_a_missing_package_is_named_when_it_is_needed(trained, monkeypatch, tmp_path):
    HilbertMLE(tokenizer=trained).save_pretrained(tmp_path / "model")
    trained.save(str(tmp_path / "tokenizer.json"))
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    for needed in (
        lambda: as_tokenizer(tmp_path / "tokenizer.json"),
        lambda: HilbertMLE.from_pretrained(tmp_path / "model").tokenize("a"),
    ):
        with pytest.raises(ImportError, match=r"pip install 'gensim-hilbert\[tokenizers\]'"):
            needed()
    assert HilbertMLE.from_pretrained(tmp_path / "model").tokenizer == as_tokenizer(trained)

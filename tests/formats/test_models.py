"""Model folders of schema 1 hold what they held, are written now as they were, and are read by what formats.md says."""

import numpy as np
import pytest
from documents import BLOCKS, ROOT
from frozen_models import FOLDER, MODELS, WORDS, make

from gensim_hilbert import HilbertMLE
from gensim_hilbert.pretrained.state import arrays_of


@pytest.mark.parametrize("name", MODELS)
def test_model_folders_load_and_hold_what_they_held(name):
    loaded, expected = HilbertMLE.from_pretrained(FOLDER / name), make(name)
    assert sorted(loaded.wv.index_to_key) == sorted(WORDS)
    assert loaded.wv.get_vecattr("the", "count") == 3
    assert (loaded.comment, loaded.objective, loaded.corpus_total_words) == (name, expected.objective, 9)
    assert (loaded.counts is not None) == (name == "model")
    ours, theirs = arrays_of(loaded), arrays_of(expected)
    assert ours.keys() == theirs.keys()
    for array, values in theirs.items():
        assert np.array_equal(ours[array], values), array
        assert ours[array].dtype == values.dtype
    sentences = [[*WORDS, "new"]] * 3
    loaded.build_vocab(sentences, update=True)
    loaded.train(sentences, total_examples=3, epochs=1)


@pytest.mark.parametrize("name", MODELS)
def test_the_same_bytes_are_written_now(name, tmp_path):
    make(name).save_pretrained(tmp_path / name)
    for file in ("words.safetensors", "model.safetensors"):
        assert (tmp_path / name / file).read_bytes() == (FOLDER / name / file).read_bytes(), "the format has changed"


@pytest.mark.parametrize("name", MODELS)
def test_the_reader_in_the_documentation_reads_model_folders(name):
    names = {}
    blocks = [block.text for block in BLOCKS[ROOT / "docs" / "formats.md"] if block.text.startswith(("import", "def"))]
    exec("\n".join(blocks), names)
    manifest, occurrences, tensors = names["read_model"](FOLDER / name)
    model = make(name)
    assert list(occurrences.items()) == [(word, model.wv.get_vecattr(word, "count")) for word in model.wv.index_to_key]
    assert manifest["settings"]["comment"] == name
    arrays = arrays_of(model)
    assert tensors.keys() == arrays.keys()
    for array, (shape, numbers) in tensors.items():
        assert tuple(shape) == arrays[array].shape
        assert numbers == arrays[array].ravel().tolist()
    if manifest["counts"]:
        words, table = names["read_counts"](FOLDER / name / "counts")
        assert dict(words) == occurrences
        assert table

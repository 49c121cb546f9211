"""Model folders with fewer bits, words or dimensions hold the same model, as nearly as they can."""

import json

import numpy as np
import pytest
from gensim.test.utils import common_texts
from helpers import short_training

from gensim_hilbert import HilbertMLE
from gensim_hilbert.tensors import DamagedFile


@pytest.fixture(scope="module")
def model():
    return HilbertMLE(common_texts * 5, vector_size=6, min_count=1, workers=1)


@pytest.fixture(scope="module")
def subwords():
    with short_training():
        return HilbertMLE(common_texts, vector_size=6, min_count=1, workers=1, subwords=True, bucket=50)


@pytest.mark.parametrize("dtype", ["float16", "int8"])
@pytest.mark.parametrize("kind", ["model", "subwords"])
def test_fewer_bits(kind, dtype, tmp_path, request):
    model = request.getfixturevalue(kind)
    model.save_pretrained(tmp_path / "model", dtype=dtype)
    loaded = HilbertMLE.from_pretrained(tmp_path / "model")
    step = 2.0**-11 if dtype == "float16" else 1 / 254
    for ours, theirs in ((loaded.wv.vectors, model.wv.vectors), (loaded.syn1neg, model.syn1neg)):
        assert ours.dtype == np.float32
        assert ours.flags.writeable
        assert (np.abs(ours - theirs) <= np.abs(theirs).max(axis=1, keepdims=True) * step * 1.01).all()
    assert loaded.wv.index_to_key == model.wv.index_to_key
    np.testing.assert_allclose(loaded.pmi("system", "user"), model.pmi("system", "user"), atol=0.1)
    if kind == "subwords":
        assert loaded.wv["never-seen"] @ model.wv["never-seen"] > 0
    # The text is known and its fit complete: rounded vectors are no vectors that the user has set.
    before = loaded.wv.vectors.copy()
    loaded.train(common_texts * (5 if kind == "model" else 1), total_examples=9, epochs=1)
    if kind == "model":
        np.testing.assert_array_equal(loaded.wv.vectors, before)


def test_int8_takes_a_quarter_of_the_space(tmp_path):
    words = [[f"word{k}", f"word{k + 1}"] for k in range(500)]
    with short_training():
        model = HilbertMLE(words, vector_size=128, min_count=1, workers=1)
    sizes = {}
    for dtype in ("float32", "float16", "int8"):
        model.save_pretrained(tmp_path / dtype, dtype=dtype, counts=False)
        sizes[dtype] = (tmp_path / dtype / "model.safetensors").stat().st_size
    assert sizes["float16"] < 0.51 * sizes["float32"]
    assert sizes["int8"] < 0.27 * sizes["float32"]


def test_fewer_words_and_dimensions(model, tmp_path):
    model.save_pretrained(tmp_path / "small", max_vocab=8, pca=5, dtype="float16")
    small = HilbertMLE.from_pretrained(tmp_path / "small")
    assert small.wv.index_to_key == model.wv.index_to_key[:8]
    assert small.vector_size == small.wv.vector_size == 5
    assert small.counts is None
    assert small.wv.get_vecattr("user", "count") == model.wv.get_vecattr("user", "count")
    products, expected = (one.syn1neg[:8] @ one.wv.vectors[:8].T for one in (small, model))
    assert np.corrcoef(products.ravel(), expected.ravel())[0, 1] > 0.95
    assert len(model.wv) == 12, "the model itself stays as it is"
    assert model.counts is not None
    model.save_pretrained(tmp_path / "turned", pca=6)
    turned = HilbertMLE.from_pretrained(tmp_path / "turned")
    np.testing.assert_allclose(turned.pmi("system", "user"), model.pmi("system", "user"), atol=1e-4)
    with short_training():
        small.train(common_texts, total_examples=9, epochs=1)


def test_wrong_sizes_are_refused_and_nothing_is_written(model, subwords, tmp_path):
    for options, why in (
        ({"dtype": "int4"}, "dtype must be"),
        ({"pca": 7}, "pca must be"),
        ({"max_vocab": 0}, "max_v"),
    ):
        with pytest.raises(ValueError, match=why):
            model.save_pretrained(tmp_path / "model", **options)
    with pytest.raises(ValueError, match="do not work for a model with subwords"):
        subwords.save_pretrained(tmp_path / "model", pca=3)
    assert not list(tmp_path.iterdir())


def test_scales_that_do_not_fit_are_damage(model, tmp_path):
    from gensim_hilbert.files import manifest_checksum, to_json
    from gensim_hilbert.pretrained.folder import written
    from gensim_hilbert.pretrained.smaller import packed
    from gensim_hilbert.pretrained.state import arrays_of
    from gensim_hilbert.tensors import write_tensors

    model.save_pretrained(tmp_path / "model", dtype="int8")
    arrays = packed(arrays_of(model), "int8")
    for name, wrong in (("vectors.scales", np.ones(3, np.float32)), ("vectors.scales", None), ("odd.scales", [1.0])):
        changed = {**arrays, name: None if wrong is None else np.asarray(wrong, dtype=np.float32)}
        changed = {key: value for key, value in changed.items() if value is not None}
        facts = written(tmp_path / "model" / "model.safetensors", lambda file: write_tensors(file, changed))  # noqa: B023  # called at once
        manifest = json.loads((tmp_path / "model" / "config.json").read_text())
        manifest["files"]["model.safetensors"] = facts
        manifest["crc32"] = manifest_checksum(manifest)
        (tmp_path / "model" / "config.json").write_bytes(to_json(manifest, indent=1).encode())
        with pytest.raises(DamagedFile, match=r"model\.safetensors is damaged"):
            HilbertMLE.from_pretrained(tmp_path / "model")

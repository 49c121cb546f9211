"""Files of vectors are read, whoever wrote them; what is wrong with one is said in one sentence."""

import gzip
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import smart_open
from consumers import random_vectors
from gensim.models import KeyedVectors, Word2Vec
from gensim.test.utils import common_texts, datapath

from gensim_hilbert.export import export, load_vectors


def test_servers_are_read_from(http_folder):
    pytest.importorskip("requests")
    address, folder = http_folder
    vectors = random_vectors(["cat", "dog"])
    for name in ("v.vec.gz", "v.bin", "v.npy"):
        export(vectors, folder / name)
        np.testing.assert_array_equal(load_vectors(f"{address}/{name}").vectors, vectors.vectors)
    with pytest.raises(OSError, match="404"):
        load_vectors(f"{address}/missing.vec")


def test_saved_models_and_vectors_are_read(tiny_model, tmp_path):
    others = Word2Vec(common_texts, vector_size=4, min_count=1)
    for name, saved, expected in (
        ("hilbert", tiny_model, tiny_model.wv),
        ("hilbert.wv", tiny_model.wv, tiny_model.wv),
        ("word2vec", others, others.wv),
        ("word2vec.wv", others.wv, others.wv),
    ):
        saved.save(str(tmp_path / name))
        read = load_vectors(tmp_path / name, trust_pickle=True)
        assert isinstance(read, KeyedVectors)
        assert read.index_to_key == expected.index_to_key
        np.testing.assert_array_equal(read.vectors, expected.vectors)


def test_what_gensim_wrote_is_read(tmp_path):
    vectors = random_vectors(["cat", "dog", "naïve"])
    vectors.save_word2vec_format(tmp_path / "text")
    vectors.save_word2vec_format(tmp_path / "binary", binary=True)
    vectors.save_word2vec_format(tmp_path / "headless", write_header=False)
    for name in ("text", "binary", "headless"):
        np.testing.assert_array_equal(load_vectors(tmp_path / name).vectors, vectors.vectors)
    assert "night" in load_vectors(datapath("lee_fasttext_new.bin"))


def test_gloves_own_words_with_spaces_and_repetitions_are_read(tmp_path, caplog):
    (tmp_path / "v.txt").write_text("the 1 2\n. . . 3 4\nat name@domain.com 5 6\nthe 7 8\n\n", encoding="utf-8")
    read = load_vectors(tmp_path / "v.txt")
    assert read.index_to_key == ["the", ". . .", "at name@domain.com"]
    assert read.vectors.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert "repeats 1 words" in caplog.text


def npy(dtype, shape):
    """The beginning of an .npy file, whose header may promise anything."""
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header + bytes(8)


class RunsWhenLoaded:
    """A pickle of this makes a folder while it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("protocol", [0, 1, 2, 5])
@pytest.mark.parametrize("name", ["vectors.vec", "x.model", "v.bin", "v.npy", "v.vec.gz", "v.parquet", "v.words.json"])
def test_nothing_is_unpickled_on_a_guess(name, protocol, tmp_path):
    data = pickle.dumps(RunsWhenLoaded(tmp_path / "has-run"), protocol)
    with smart_open.open(tmp_path / name, "wb") as file:
        file.write(data)
    if name == "v.words.json":
        name = "v.npy"
        np.save(tmp_path / "v.npy", np.zeros((1, 2), dtype=np.float32))
    for trust in (False, True):
        with pytest.raises(ValueError, match=f"{name.split('.')[0]}."):
            load_vectors(tmp_path / name, trust_pickle=trust)
        assert not (tmp_path / "has-run").exists() or trust
    (tmp_path / "x").write_bytes(pickle.dumps({}, 4))
    with pytest.raises(ValueError, match=r"is a pickle, as gensim's save writes it.*trust_pickle=True"):
        load_vectors(tmp_path / "x")


def test_a_truncated_fasttext_file_is_refused_and_not_waited_for(tmp_path):
    whole = Path(datapath("lee_fasttext_new.bin")).read_bytes()
    path = tmp_path / "model.bin"
    for length in [*range(4, 600, 13), *range(600, len(whole), len(whole) // 60), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"model\.bin is not a model in fastText's format, or damaged: it ends"):
            load_vectors(path)
    with gzip.open(tmp_path / "model.bin.gz", "wb", compresslevel=1) as file:
        file.write(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"model\.bin\.gz is not a model in fastText's format, or damaged: it ends"):
        load_vectors(tmp_path / "model.bin.gz")


@pytest.mark.parametrize(
    ("place", "width"), [(8, 4), (40, 4), (44, 4), (48, 4), (64, 4), (68, 4), (72, 4), (76, 8), (84, 8)]
)
@pytest.mark.parametrize("value", [-1, 2**31 - 1, -(2**31)])
def test_odd_numbers_in_the_header_of_a_fasttext_file(place, width, value, tmp_path):
    """None of them takes more memory or time than the file has bytes."""
    data = bytearray(Path(datapath("lee_fasttext_new.bin")).read_bytes())
    expected = load_vectors(datapath("lee_fasttext_new.bin"))
    data[place : place + width] = value.to_bytes(width, "little", signed=True)
    path = tmp_path / "model.bin"
    path.write_bytes(data)
    try:
        found = load_vectors(path)
    except ValueError as error:
        assert str(path) in str(error)  # noqa: PT017  # Some numbers do not matter.
    else:
        assert found.index_to_key == expected.index_to_key


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tokenizer.json", b"[" * 100_000),
        ("tokenizer.json", b'{"model": 1}'),
        ("tokenizer.json", b'{"model": {"vocab": {"cat": "x", "dog": [], "[UNK]": 2}}}'),
        ("tokenizer.json", b'{"model": {"vocab": [["cat"], 2, 3]}}'),
        ("tokenizer.json", b'{"model": {"vocab": {"cat": 0, "dog": 1, "[UNK]": 99999999999999999999}}}'),
        ("tokenizer.json", b"\xff\xfe"),
        ("model.safetensors", (10**12).to_bytes(8, "little") + b"{}"),
        ("model.safetensors", safetensors.numpy.save({"x": np.zeros(2)})),
        ("model.safetensors", safetensors.numpy.save({"embeddings": np.zeros((3, 2)), "mapping": np.array([9, 9, 9])})),
        ("model.safetensors", safetensors.numpy.save({"embeddings": np.zeros((3, 2)), "weights": np.zeros(2)})),
        ("model.safetensors", safetensors.numpy.save({"embeddings": np.zeros(3)})),
    ],
)
def test_damaged_folders_are_refused(name, content, tmp_path):
    export(random_vectors(["cat", "dog"]), tmp_path / "folder", format="model2vec")
    (tmp_path / "folder" / name).write_bytes(content)
    with pytest.raises(ValueError, match="folder") as caught:
        load_vectors(tmp_path / "folder")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v", b"", "is empty"),
        ("v", b"<html>\n", "line 1 is neither a header nor a word with numbers"),
        ("v", b"\xff\xd8\xff\xe0\x00\x10JFIF\n", "line 1 is neither"),
        ("v", b"2 2\ncat 1 2\ndog 1\n", "line 3: there are 1 numbers, not 2"),
        ("v", b"2 2\ncat 1 2\ndog 1 2 3\n", "line 3: there are 3 numbers, not 2"),
        ("v", b"2 2\ncat 1 x\ndog 1 2\n", "line 2: could not convert"),
        ("v", b"cat 1 2\ndog 1\n", "line 2: there are 1 numbers, not 2"),
        ("v", b"cat 1 2\nd\xffg 1 2\n", "line 2: 'utf-8' codec"),
        ("v", b"3 2\ncat 1 2\ndog 1 2\n", "has 2 vectors, but its first line says 3"),
        ("v", b"1 2\ncat 1 2\ndog 1 2\n", "has 2 vectors, but its first line says 1"),
        ("v", b"2 0\ncat\ndog\n", "no vectors: its first line says 2 of 0 dimensions"),
        ("v", b"0 2\n", "no vectors: its first line says 0 of 2 dimensions"),
        ("v.bin", b"\xba\x16\x4f\x2f and no more", "damaged"),
        ("v.bin", b"2 2\ncat \0\0\0\0\0\0\0\0\ndog \0\0\0", "ends within vector 2 of 2"),
        ("v.bin", b"99999999999 99999999999\ncat \0\0\0\0", "ends within vector 1 of"),
        ("v.bin", b"1 1\nc\xfft \0\0\0\0\n", "word 1: 'utf-8' codec"),
        ("v", b"\x80\x04broken", "is a pickle"),
        ("v.bin", b"1000000000000 2\ncat \0\0\0\0\0\0\0\0", "ends within vector 2 of 1000000000000"),
        ("v", b"1000000000000 2\ncat 1 2\n", "has 1 vectors, but its first line says 1000000000000"),
        ("v", b"1 1000000000000\ncat 1 2\n", "line 2: there are 2 numbers, not 1000000000000"),
        ("v.npy", npy("<f4", (10**12, 100)), "ends after 8 of the 400000000000000 bytes"),
        ("v.npy", npy("<f4", (-1, 2)), r"impossible shape \(-1, 2\)"),
        ("v.npy", npy("|O", (1,)), "array of type object"),
        ("v.npy", npy("|V0", (10**12,)), r"array of type \|V0"),
        ("v", b"PAR1 and no more", "damaged"),
        ("v.npy", b"", "is not vectors in NumPy's format, or damaged"),
        ("v.npy", b"\x93NUMPY\x01", "is not vectors in NumPy's format, or damaged"),
        ("v.vec.gz", gzip.compress(b"1 2\ncat 1 2\n" * 100, mtime=0)[:-12], "cannot be decompressed"),
        ("v.vec.gz", b"1 2\ncat 1 2\n", "cannot be decompressed"),
        ("v.vec.xz", b"1 2\ncat 1 2\n", "cannot be decompressed"),
    ],
)
def test_one_sentence_says_what_is_wrong_with_a_file(name, content, message, tmp_path):
    if content.startswith(b"PAR1"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        load_vectors(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_and_mismatched_parts_are_reported(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_vectors(tmp_path / "nothing.bin")
    with pytest.raises(FileNotFoundError, match=r"is a folder without model\.safetensors"):
        load_vectors(tmp_path)
    np.save(tmp_path / "v.npy", np.zeros((3, 2)))
    with pytest.raises(FileNotFoundError, match=r"v\.words\.json should be beside it"):
        load_vectors(tmp_path / "v.npy")
    (tmp_path / "v.words.json").write_text('{"words": ["cat"]}')
    with pytest.raises(ValueError, match=r"shape \(3, 2\), which does not match the 1 words"):
        load_vectors(tmp_path / "v.npy")
    (tmp_path / "v.words.json").write_text("[1")
    with pytest.raises(ValueError, match="is not a JSON object with words"):
        load_vectors(tmp_path / "v.npy")
    export(random_vectors(["cat", "dog"]), tmp_path / "folder", format="model2vec")
    (tmp_path / "folder" / "tokenizer.json").write_text('{"model": {"vocab": {"cat": 0}}}')
    with pytest.raises(ValueError, match=r"shape \(3, 3\), which do not match its 1 tokens"):
        load_vectors(tmp_path / "folder")
    (tmp_path / "folder" / "model.safetensors").write_bytes(b"broken")
    with pytest.raises(ValueError, match=r"model\.safetensors is not a file of vectors, or damaged"):
        load_vectors(tmp_path / "folder")

"""The verb encode."""

import json

import numpy as np
import pytest
from shell import assert_one_sentence, run_here
from texts import write_gzip


@pytest.fixture(scope="module")
def folder(small_model, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "folder"
    small_model.save_pretrained(path)
    return path


def test_vectors_are_those_of_the_model(folder, small_model, tmp_path):
    texts = write_gzip(tmp_path / "texts.gz", b"The police\n\nthe court\n")
    done = run_here("encode", folder, texts, "-o", tmp_path / "vectors.npy", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    facts = {"output": str(tmp_path / "vectors.npy"), "texts": 3, "without_known_words": 1, "vector_size": 8}
    assert json.loads(done.stdout) == facts
    expected = small_model.encode(["The police", "", "the court"])
    np.testing.assert_array_equal(np.load(tmp_path / "vectors.npy"), expected)
    done = run_here("encode", folder, texts, "-o", tmp_path / "mean.npy", "--weighting", "mean", "--no-normalize")
    assert done.stdout == f"{tmp_path / 'mean.npy'}: 3 texts, 1 without known words, 8 dimensions\n"
    expected = small_model.encode(["The police", "", "the court"], weighting="mean", normalize=False)
    np.testing.assert_array_equal(np.load(tmp_path / "mean.npy"), expected)


@pytest.mark.parametrize(
    ("texts", "output", "message"),
    [
        ("missing.txt", "v.npy", "no such file"),
        ("texts.txt", "texts.npy.txt", "must end in .npy"),
        ("v.npy", "v.npy", "cannot be the output"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_sentence(folder, tmp_path, texts, output, message):
    (tmp_path / "texts.txt").write_text("the court\n")
    (tmp_path / "v.npy").write_text("the court\n")
    done = run_here("encode", folder, tmp_path / texts, "-o", tmp_path / output)
    assert_one_sentence(done, message)

"""Every verb that reads a model reads a model folder, without a flag and without unpickling anything."""

import json
import pickle
import shutil

import numpy as np
import pytest
from shell import assert_one_sentence, run_here
from texts import some_text

from gensim_hilbert import HilbertMLE
from gensim_hilbert.export import load_vectors

SENTENCES = [line.split() for line in some_text().splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "hilbert"
    HilbertMLE(SENTENCES, vector_size=10, min_count=2, comment="for tests").save_pretrained(path)
    return path


@pytest.fixture
def no_pickle(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("something was unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)


def answer(*arguments):
    done = run_here(*arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.usefixtures("no_pickle")
def test_all_verbs_read_a_model_folder(folder, tmp_path):
    model = HilbertMLE.from_pretrained(folder)
    facts = answer("info", folder)
    assert (facts["kind"], facts["class"], facts["words"]) == ("a model folder", "HilbertMLE", len(model.wv))
    assert facts["settings"]["comment"] == "for tests"
    assert facts["training"] == model.training_history
    assert facts["counts"] == str(folder / "counts")
    assert "a model folder" in run_here("info", folder).stdout
    assert answer("info", folder / "counts")["fingerprint"] == model.counts.fingerprint
    (found,) = answer("neighbors", folder, "cat", "--topn", 2)
    assert [near["word"] for near in found["contexts"]] == [w for w, _ in model.most_cooccurring("cat", topn=2)]
    pmi = answer("pmi", folder, "cat", "mat")
    assert pmi["counted"] == pytest.approx(model.fitted_counts.pmi("cat", "mat"))
    assert len(answer("analogy", folder, "cat", "mat", "sat", "--topn", 3)) == 3
    assert answer("export", folder, "-o", tmp_path / "c.vec", "--what", "covectors")["words"] == len(model.wv)
    assert np.array_equal(load_vectors(tmp_path / "c.vec").vectors, model.syn1neg)
    assert np.array_equal(load_vectors(folder).vectors, model.wv.vectors)
    (tmp_path / "own.tsv").write_text("cat\tmat\t3\ncat\tsat\t2\nthe\tof\t1\nthe\tcat\t2.5\n")
    options = ["--pairs", tmp_path / "own.tsv", "--sets", "own", "--tasks", "similarity"]
    assert answer("evaluate", folder, "--what", "sum", *options)["embeddings"]["hilbert, sum"]["words"] == len(model.wv)
    assert run_here("report", folder, "-o", tmp_path / "report.html").returncode == 0
    done = run_here("train", "--counts", folder / "counts", "-o", tmp_path / "again", "--epochs", 1)
    assert done.returncode == 0, done.stderr


def test_a_damaged_folder_is_one_sentence(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "model")
    (tmp_path / "model" / "words.safetensors").write_bytes(b"")
    assert_one_sentence(run_here("info", tmp_path / "model"), "words.safetensors is damaged: it has 0 bytes")
    (tmp_path / "model" / "words.safetensors").unlink()
    assert_one_sentence(run_here("neighbors", tmp_path / "model", "cat"), "words.safetensors is damaged: it is missing")

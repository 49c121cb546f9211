"""Outputs of the verbs: URIs that cannot be written to are refused at once, and inputs are never replaced."""

import os

import pytest
from helpers import contents
from shell import assert_one_sentence, run_here

from gensim_hilbert import PairCounts
from gensim_hilbert.export import export, load_vectors


@pytest.fixture
def files(news_model, plain, tmp_path, monkeypatch):
    """A text, counts and a model in the present folder."""
    monkeypatch.chdir(tmp_path)
    news_model.save("model")
    PairCounts.from_corpus(plain, directory="store", min_count=1)
    export(news_model, "static", format="model2vec")
    export(news_model, "v.npy")
    news_model.wv.save("parts", sep_limit=1)
    return tmp_path


@pytest.mark.parametrize(
    "command", [["count", "text.txt"], ["merge", "store"], ["train", "text.txt"], ["report", "model"]], ids=" ".join
)
def test_a_uri_is_refused_at_once(command, files):
    before = contents(files)
    done = run_here(*command, "-o", "gs://bucket/result")
    assert_one_sentence(done, "gs://bucket/result is no place for", code=2)
    assert "write them to a local path, and copy them to gs:// afterwards" in " ".join(done.stderr.split())
    assert contents(files) == before


def test_exports_are_written_to_buckets(s3, files, news_model):
    _, bucket = s3
    before = contents(files)
    done = run_here("export", "model", "-o", f"s3://{bucket}/v.vec", "--trust-pickle")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"s3://{bucket}/v.vec: vectors of" in done.stdout
    assert load_vectors(f"s3://{bucket}/v.vec").index_to_key == news_model.wv.index_to_key
    assert contents(files) == before


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (["count", "text.txt", "--overwrite"], "."),
        (["count", "./*.txt", "--overwrite"], "../{name}"),
        (["count", "text.txt", "--vocabulary", "store", "--overwrite"], "store"),
        (["count", "text.txt", "--overwrite"], "text.txt"),
        (["merge", "store", "store", "--overwrite"], "store"),
        (["merge", "store", "store", "--overwrite"], "link"),
        (["merge", "store", "store"], "store/sum"),
        (["export", "model", "--format", "glove"], "model"),
        (["export", "model", "--format", "glove"], "./model"),
        (["export", "static", "--format", "model2vec"], "static"),
        (["export", "static", "--format", "glove"], "static/v.glove"),
        (["report", "model"], "model"),
        (["export", "v.npy", "--format", "glove"], "v.words.json"),
        (["export", "v.npy", "--format", "numpy"], "v.npy"),
        (["export", "parts", "--format", "numpy", "--trust-pickle"], "parts.vectors.npy"),
        (["export", "model", "--format", "projector", "--trust-pickle"], "model.counts"),
        (["report", "model", "--trust-pickle"], "model.counts/manifest.json"),
    ],
)
def test_an_input_is_never_an_output(command, output, files):
    os.symlink("store", "link")
    before = contents(files)
    done = run_here(*command, "-o", output.format(name=files.name))
    assert_one_sentence(done, "cannot be the output")
    assert contents(files) == before


@pytest.mark.parametrize(
    "verb", [["count", "text.txt"], ["merge", "store"], ["export", "model", "--trust-pickle", "--format", "projector"]]
)
def test_a_folder_of_somebody_else_stays(verb, files):
    os.mkdir("thesis")
    (files / "thesis" / "chapter.tex").write_text("precious")
    before = contents(files)
    done = run_here(*verb, "-o", "thesis", *(["--overwrite"] if verb[0] != "export" else []))
    assert_one_sentence(done, "thesis is not replaced, because")
    assert contents(files) == before

"""Uploads and downloads through huggingface_hub itself, against a small Hub on loopback."""

from __future__ import annotations

import os
import sys

import pytest
from hub_server import TOKEN, Hub, HubHandler
from shell import run_python

from gensim_hilbert import HilbertMLE
from gensim_hilbert.pretrained.hub import may_be_repository

# What a user would write, in a process of its own: huggingface_hub reads HF_ENDPOINT when it is imported.
SCRIPT = """
import os, sys
import numpy as np
from gensim_hilbert import HilbertMLE

def same(one, other):
    return np.array_equal(one.wv.vectors, other.wv.vectors) and one.wv.index_to_key == other.wv.index_to_key

model = HilbertMLE.from_pretrained(sys.argv[1])
address = model.push_to_hub("jane/news", license="mit", language="en", token=sys.argv[2])
loaded = HilbertMLE.from_pretrained("jane/news")
print(address.partition("/commit/")[0], same(loaded, model), loaded.counts, loaded.learnt_from.name)
model.push_to_hub("jane/news", counts=True, token=sys.argv[2])
loaded = HilbertMLE.from_pretrained("jane/news")
loaded.counts.verify()
print(any(path.is_symlink() for path in loaded.counts.directory.rglob("*")))
print(same(loaded, model), loaded.counts.fingerprint == model.counts.fingerprint)
model.wv.vectors[:] = 1
model.push_to_hub("jane/news", revision="other", token=sys.argv[2])
print(same(HilbertMLE.from_pretrained("jane/news", revision="other"), model))
print(same(HilbertMLE.from_pretrained("jane/news"), loaded))
print(same(HilbertMLE.from_pretrained("jane/news", local_files_only=True), loaded))
try:
    HilbertMLE.from_pretrained("jane/nothing")
except FileNotFoundError as error:
    print(str(error).partition(":")[0])
try:
    model.push_to_hub("jane/news", token="hf_wrong")
except Exception as error:
    print(type(error).__name__)
os.makedirs("jane/news")
try:
    HilbertMLE.from_pretrained("jane/news")
except ValueError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model"
    HilbertMLE([["a", "b", "c", "d"]] * 9, vector_size=3, min_count=1, epochs=1).save_pretrained(path)
    return path


@pytest.mark.parametrize("large", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["regular", "large"])
def test_a_model_goes_to_the_hub_and_comes_back(large, folder, serve, tmp_path, monkeypatch):
    """Files go within the commit, or by Git LFS, as the server says. Xet's storage is not served here."""
    pytest.importorskip("huggingface_hub", reason="huggingface_hub is missing: pip install 'gensim-hilbert[hub]'")
    server = serve(HubHandler)
    server.hub = Hub(large)
    address = f"http://127.0.0.1:{server.server_address[1]}"
    for name, value in (("HF_ENDPOINT", address), ("HF_HOME", str(tmp_path / "home")), ("HF_HUB_DISABLE_XET", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    done = run_python(SCRIPT, folder, TOKEN, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"{address}/jane/news True None LOST_COUNTS",
        "False",
        "True True",
        "True",
        "True",
        "True",
        "there is no folder jane/nothing here, and no such model could be found on the Hugging Face Hub",
        "HfHubHTTPError",
        "jane/news is not a model folder: it has no config.json",
    ]
    main, other = (server.hub.repos["jane/news"][branch] for branch in ("main", "other"))
    assert len(main) == 3, "one commit for each upload"
    assert b'license: "mit"' in main[1]["README.md"]
    assert main[2]["README.md"] == main[1]["README.md"], "a card that is there stays"
    assert "counts/manifest.json" in main[2]
    assert not any(name.startswith("counts") for name in other[-1]), "stale counts are removed"
    assert bool(server.hub.objects) == large


def test_without_the_extra_one_sentence_says_how_to_install_it(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ImportError, match=r"no folder jane/news here, and .*pip install 'gensim-hilbert\[hub\]'"):
        HilbertMLE.from_pretrained("jane/news")
    model = HilbertMLE.from_pretrained(folder)
    with pytest.raises(ImportError, match=r"pip install 'gensim-hilbert\[hub\]'"):
        model.push_to_hub("jane/news")
    model.save_pretrained("jane/news")  # a local folder wins
    assert HilbertMLE.from_pretrained("jane/news").vector_size == 3
    assert os.listdir("jane") == ["news"]


def test_only_names_with_one_slash_are_looked_for_on_the_hub(tmp_path):
    assert may_be_repository("jane/news-2.model")
    for name in ("news", "./news", "../news", "/jane/news", "a/b/c", "jane/", "~/news", tmp_path / "news", "s3://a"):
        assert not may_be_repository(name)
    with pytest.raises(FileNotFoundError, match="/news does not exist"):
        HilbertMLE.from_pretrained(tmp_path / "news")

"""Folders that are damaged, or made by somebody who means harm: one sentence that names the file, and nothing else."""

from __future__ import annotations

import json
import os
import random
import shutil
import zlib

import numpy as np
import pytest
from folder_damage import craft, craft_tensors, damage
from helpers import assert_same_vectors, contents

from gensim_hilbert import HilbertMLE, files
from gensim_hilbert.files import manifest_checksum
from gensim_hilbert.pretrained import layout
from gensim_hilbert.pretrained.layout import FILES, MANIFEST, is_model_folder

FEW = 150
MANIFESTS = (MANIFEST, "counts/manifest.json")


@pytest.fixture(scope="module")
def model():
    sentences = [["the", "heron", "fishes"], ["the", "river", "flows", "on"], ["heron", "and", "river"]] * 5
    return HilbertMLE(sentences, vector_size=3, min_count=1, epochs=2, subwords=True, bucket=20, workers=1)


@pytest.fixture(scope="module")
def whole(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "model"
    model.save_pretrained(folder)
    return folder


@pytest.fixture
def folder(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "model")


def sign(folder) -> None:
    """Give a manifest the sizes and checksums of the files, as somebody would who means harm."""
    manifest = json.loads((folder / MANIFEST).read_text())
    if isinstance(manifest.get("files"), dict) and all(isinstance(facts, dict) for facts in manifest["files"].values()):
        for name in set(manifest["files"]) & set(FILES):
            data = (folder / name).read_bytes()
            manifest["files"][name] |= {"bytes": len(data), "crc32": zlib.crc32(data)}
    manifest["crc32"] = manifest_checksum(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest))


def attempt(folder, verify=False):
    """(model, None), or (None, what the error tells); shards of counts are checked only when they are read."""
    try:
        loaded = HilbertMLE.from_pretrained(folder)
        if verify and loaded.counts is not None:
            loaded.counts.verify()
    except (ValueError, FileNotFoundError) as error:
        return None, str(error)
    return loaded, None


def attempts(number):
    return pytest.mark.parametrize("number", [number, pytest.param(40 * number, marks=pytest.mark.slow)])


@attempts(FEW)
def test_damage_is_an_error_that_names_the_file(number, model, whole, tmp_path):
    draw = random.Random(number)
    names = sorted(str(path.relative_to(whole)) for path in whole.rglob("*") if path.is_file())
    refused = 0
    for k in range(number):
        folder = shutil.copytree(whole, tmp_path / str(k))
        name = draw.choice(names)
        done = damage(folder / name, draw)
        if (folder / name).exists() and (folder / name).read_bytes() == (whole / name).read_bytes():
            continue
        loaded, told = attempt(folder, verify=True)
        if loaded is None:
            known = name if (folder / name).exists() or name != MANIFEST else folder.name
            assert os.path.basename(known) in told or f"{folder}/counts is damaged" in told, done
            refused += 1
        else:
            is_only_white_space = name.endswith(MANIFESTS) and json.loads((folder / name).read_text()) == json.loads(
                (whole / name).read_text()
            )
            assert name == "README.md" or is_only_white_space, done
            assert_same_vectors(loaded, model)
        shutil.rmtree(folder)
    assert refused > number // 2


@attempts(FEW)
def test_crafted_folders_are_refused_or_harmless(number, whole, tmp_path):
    """Whatever a manifest says with a right checksum, nothing is opened, imported or allocated because of it."""
    draw = random.Random(number)
    refused = 0
    for k in range(number):
        folder = shutil.copytree(whole, tmp_path / str(k))
        name = draw.choice([MANIFEST, MANIFEST, *FILES])
        if name.endswith(".json"):
            (folder / name).write_text(json.dumps(craft(json.loads((folder / name).read_text()), draw)))
        else:
            craft_tensors(folder / name, draw)
        sign(folder)
        loaded, told = attempt(folder)
        if loaded is None:
            assert str(folder) in told or "objective" in told, told
            refused += 1
        else:
            loaded.wv.most_similar("heron")
            loaded.pmi("heron", "river")
        shutil.rmtree(folder)
    assert refused > number // 3


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{"bytes": "00"}', b'{"bytes": " 0"}'),
        (b'{"bytes": "00"}', b'{"object": "x"}'),
        (b'{"bytes": "00"}', b'{"numpy.x": 12}'),
        (b'{"bytes": "00"}', b"[[[[[[[[[[[[[[["),
        (b"[1, 2]", b"[1,NaN"),
        (b"[1, 2]", b"\xff\xff\xff\xff\xff\xff"),
        (b"1234", b"5678"),  # It stands there twice now.
        (b"1234", b"1,23"),
    ],
)
def test_strange_keys_are_refused(before, after, tmp_path):
    folder = tmp_path / "model"
    text = [[b"\x00", (1, 2), 1234, 5678, "text"]] * 5
    HilbertMLE(text, vector_size=2, min_count=1, epochs=1, workers=1).save_pretrained(folder, counts=False)
    data = (folder / "words.safetensors").read_bytes()
    assert data.count(before) == 1
    (folder / "words.safetensors").write_bytes(data.replace(before, after))
    sign(folder)
    loaded, told = attempt(folder)
    assert loaded is None
    assert f"{folder}/words.safetensors is damaged" in told


def test_vectors_are_compared_with_their_checksum_unless_told_otherwise(folder):
    data = bytearray((folder / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (folder / "model.safetensors").write_bytes(data)
    with pytest.raises(ValueError, match=r"model\.safetensors is damaged: its checksum does not match"):
        HilbertMLE.from_pretrained(folder)
    assert HilbertMLE.from_pretrained(folder, verify=False)


@pytest.mark.parametrize("name", [MANIFEST, *FILES])
def test_only_regular_files_are_opened(name, folder):
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(ValueError, match=f"{name} is damaged: it is not a regular file"):
        HilbertMLE.from_pretrained(folder)
    assert not is_model_folder(folder) or name != MANIFEST
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")
    with pytest.raises(ValueError, match=f"{name} is damaged: it is not a regular file"):
        HilbertMLE.from_pretrained(folder)


def test_huge_numbers_allocate_nothing(folder):
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["words"] = 2**40
    (folder / MANIFEST).write_text(json.dumps(manifest))
    sign(folder)
    with pytest.raises(ValueError, match=r"words\.safetensors is damaged: attribute.count has the shape"):
        HilbertMLE.from_pretrained(folder)
    (folder / "words.safetensors").write_bytes((2**62).to_bytes(8, "little") + b"{}")
    sign(folder)
    with pytest.raises(ValueError, match="its header has 4611686018427387904 bytes, the whole file 10"):
        HilbertMLE.from_pretrained(folder)
    (folder / MANIFEST).write_text("[" * 100_000)
    with pytest.raises(ValueError, match=r"config\.json is damaged"):
        HilbertMLE.from_pretrained(folder)


def test_other_files_and_folders_are_told_apart(folder, tmp_path, model):
    for name, error, message in (
        ("nowhere", FileNotFoundError, "nowhere does not exist"),
        ("model/history.json", NotADirectoryError, "is a file, not a model folder; HilbertMLE.load reads"),
        ("model/counts", ValueError, "is not a model folder: it has no config.json"),
    ):
        with pytest.raises(error, match=message):
            HilbertMLE.from_pretrained(tmp_path / name)
    (folder / MANIFEST).write_text('{"model_type": "model2vec"}')
    with pytest.raises(ValueError, match="does not describe a model of gensim_hilbert"):
        HilbertMLE.from_pretrained(folder)
    assert not is_model_folder(folder)
    (folder / MANIFEST).write_text(json.dumps({"format": layout.FORMAT, "schema": 2}))
    with pytest.raises(ValueError, match="has schema 2, this version reads up to 1: upgrade gensim_hilbert"):
        HilbertMLE.from_pretrained(folder)


@pytest.mark.parametrize(
    "name",
    ["letter", "counts/letter", "counts/shards/letter", ".cache/letter", "README.md/letter", "history.json/letter"],
)
def test_whatever_is_not_of_the_model_stays(name, folder, tmp_path, model):
    path = folder / name
    if path.parent.is_file():
        path.parent.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("dear")
    before = contents(tmp_path)
    with pytest.raises(FileExistsError, match=r"model holds '.*' besides a model, which would be lost"):
        model.save_pretrained(folder)
    assert contents(tmp_path) == before


def test_what_appears_at_the_last_moment_stays(tmp_path, model, monkeypatch):
    rename_to_new = files.rename_to_new

    def late(fresh, target):
        os.mkdir(target)
        (tmp_path / "new" / "letter").write_text("dear")
        rename_to_new(fresh, target)

    monkeypatch.setattr(files, "rename_to_new", late)
    with pytest.raises(FileExistsError, match="new exists and is not a model folder"):
        model.save_pretrained(tmp_path / "new")
    assert contents(tmp_path) == {"new": None, "new/letter": b"dear"}


def test_the_counts_of_another_model_are_refused(folder, tmp_path):
    HilbertMLE([["a", "b", "c"]] * 9, vector_size=3, min_count=1, epochs=1).save_pretrained(tmp_path / "other")
    shutil.rmtree(folder / "counts")
    shutil.move(tmp_path / "other" / "counts", folder / "counts")
    with pytest.raises(ValueError, match=r"counts is damaged: it holds the counts of another model; from_pretrained\("):
        HilbertMLE.from_pretrained(folder)
    assert HilbertMLE.from_pretrained(folder, counts=False).counts is None


def test_words_of_one_folder_do_not_fit_into_another(folder, tmp_path, model):
    other = HilbertMLE([["a", "b", "c"]] * 9, vector_size=3, min_count=1, epochs=1)
    other.save_pretrained(tmp_path / "other")
    before = contents(folder)
    for name in FILES:
        shutil.copy(tmp_path / "other" / name, folder / name)
        with pytest.raises(ValueError, match=f"{name} is damaged"):
            HilbertMLE.from_pretrained(folder)
        (folder / name).write_bytes(before[name])
    assert np.array_equal(HilbertMLE.from_pretrained(folder).wv.vectors, model.wv.vectors)

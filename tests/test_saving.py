"""gensim's saving, all or nothing: parts that belong together, links, full disks, and what is left in memory."""

import contextlib
import copy
import os
import re
import shutil
import subprocess
import threading

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from gensim.models.fasttext import FastTextKeyedVectors
from helpers import SMALL_OPTIONS, assert_same_vectors, contents

from gensim_hilbert import HilbertMLE
from gensim_hilbert.saving import saving

pytestmark = pytest.mark.usefixtures("short_training")
TAGGED = re.compile(r"model\.parts-[0-9a-f]{8}\.(.*)")


@pytest.fixture(scope="module")
def other_model(some_news):
    return HilbertMLE(some_news[:60], **SMALL_OPTIONS)


def parts_of(folder):
    return sorted(found[1] for name in os.listdir(folder) if (found := TAGGED.fullmatch(name)))


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_parts_are_found_by_any_class_and_those_before_are_removed(suffix, small_model, other_model, tmp_path):
    path = str(tmp_path / f"model{suffix}")
    for model, limit in ((small_model, 1), (other_model, 1), (small_model, 10**9), (other_model, 1)):
        model.save(path, sep_limit=limit)
        mmap = None if suffix else "r"
        assert_same_vectors(HilbertMLE.load(path, mmap=mmap), model)
        assert_same_vectors(Word2Vec.load(path, mmap=mmap), model)
        tags = {name.split("parts-")[1][:8] for name in os.listdir(tmp_path) if "parts-" in name}
        assert len(tags) == (limit == 1)
    assert sorted(name for name in os.listdir(tmp_path) if "parts" not in name) == [
        f"model{suffix}", f"model{suffix}.counts",
    ]  # fmt: skip


def test_arrays_of_a_loaded_model_stay_as_they_are_when_it_is_replaced(small_model, other_model, tmp_path):
    path = str(tmp_path / "model")
    small_model.save(path, sep_limit=1)
    loaded = HilbertMLE.load(path, mmap="r")
    other_model.save(path, sep_limit=1)
    assert_same_vectors(loaded, small_model)
    loaded.save(path, sep_limit=1)
    assert_same_vectors(HilbertMLE.load(path), small_model)
    assert parts_of(tmp_path)


def test_files_of_others_are_left_alone(small_model, tmp_path):
    names = ["model.parts-1234567.npy", "model.wv.vectors.npy", ".12345678.saving.model2", "model.parts-list.txt"]
    for name in names:
        (tmp_path / name).write_text("dear")
    small_model.save(str(tmp_path / "model"), sep_limit=1)
    assert [(tmp_path / name).read_text() for name in names] == ["dear"] * len(names)


def test_what_killed_processes_have_left_is_removed(small_model, tmp_path):
    left = tmp_path / ".12345678.saving.model"
    (left / "files").mkdir(parents=True)
    (tmp_path / "model.parts-12345678.wv.vectors.npy").touch()
    (tmp_path / ".model.lock").touch()
    small_model.save(str(tmp_path / "model"))
    assert sorted(os.listdir(tmp_path)) == ["model", "model.counts"]


def test_counts_are_found_where_a_killed_process_has_left_them(small_model, other_model, tmp_path):
    path, counts = tmp_path / "model", tmp_path / "model.counts"
    other_model.save(str(tmp_path / "other"))
    small_model.save(str(path))
    counts.rename(tmp_path / f"model.{small_model.save_tag}.counts")
    (tmp_path / "other.counts").rename(counts)
    loaded = HilbertMLE.load(str(path))
    assert loaded.counts.fingerprint == small_model.counts.fingerprint
    loaded.save(str(path))
    assert sorted(os.listdir(tmp_path)) == ["model", "model.counts", "other"]
    assert HilbertMLE.load(str(path)).counts.directory == counts


def test_an_existing_file_stays_unless_it_may_be_overwritten(small_model, other_model, tmp_path):
    path = tmp_path / "model"
    other_model.save(str(path), overwrite=False)
    before = contents(tmp_path)
    with pytest.raises(FileExistsError):
        small_model.save(str(path), sep_limit=1, overwrite=False)
    assert contents(tmp_path) == before
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        small_model.save(str(tmp_path / "folder"))


def test_a_symbolic_link_stays_one(small_model, tmp_path):
    shelf = next((shelf for shelf in ("/dev/shm", "/run") if os.access(shelf, os.W_OK)), None)  # another file system
    for folder in filter(None, (tmp_path / "elsewhere", shelf)):
        real = os.path.join(folder, f"gensim_hilbert-test-{os.getpid()}")
        os.makedirs(folder, exist_ok=True)
        link = tmp_path / "link"
        link.symlink_to(real)
        try:
            small_model.save(link, sep_limit=1)
            small_model.save(link, sep_limit=1)
            assert link.is_symlink()
            assert_same_vectors(HilbertMLE.load(str(link), mmap="r"), small_model)
        finally:
            link.unlink()
            os.unlink(real)


def test_a_model_that_is_part_of_something_else_is_saved_with_that(small_model, tmp_path):
    from gensim.utils import SaveLoad

    small_model.save(str(tmp_path / "model"), sep_limit=1)
    shelf = SaveLoad()
    shelf.model = small_model
    shelf.save(str(tmp_path / "shelf"), sep_limit=1)
    assert_same_vectors(SaveLoad.load(str(tmp_path / "shelf")).model, small_model)


def test_an_open_file_holds_all_arrays_also_after_a_save_in_parts(small_model, tmp_path):
    small_model.save(str(tmp_path / "model"), sep_limit=1)
    with open(tmp_path / "one", "wb") as file:
        small_model.save(file)
    assert_same_vectors(HilbertMLE.load(str(tmp_path / "one")), small_model)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_pipes_are_written_to(small_model, tmp_path, caplog):
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    small_model.save(str(tmp_path / "pipe"), sep_limit=1)
    reader.join()
    (tmp_path / "model").write_bytes(read[0])
    assert_same_vectors(HilbertMLE.load(str(tmp_path / "model")), small_model)
    assert "the counts of the model are not saved" in caplog.text


@pytest.mark.usefixtures("s3_environment")
def test_buckets_are_written_to(s3, small_model, tmp_path, monkeypatch):
    _, bucket = s3
    monkeypatch.chdir(tmp_path)
    small_model.save(f"s3://{bucket}/model", sep_limit=1)
    assert_same_vectors(HilbertMLE.load(f"s3://{bucket}/model"), small_model)
    assert not os.listdir(tmp_path)


# ---------------------------------------------------------------------------------------------------- KeyedVectors


@pytest.mark.parametrize("subwords", [False, True])
def test_vectors_in_parts_replace_each_other(subwords, some_news, tmp_path):
    path, options = str(tmp_path / "vectors"), {**SMALL_OPTIONS, "subwords": subwords, "bucket": 100}
    if not subwords:
        del options["bucket"]
    for text in (some_news[:60], some_news):
        vectors = HilbertMLE(text, **options).wv
        vectors.save(path, sep_limit=1)
        loaded = KeyedVectors.load(path, mmap="r")
        assert type(loaded) is (FastTextKeyedVectors if subwords else KeyedVectors)
        assert loaded.index_to_key == vectors.index_to_key
        np.testing.assert_array_equal(loaded.vectors, vectors.vectors)
        assert isinstance(loaded.vectors_ngrams if subwords else loaded.vectors, np.memmap)
        assert (tmp_path / ("vectors.vectors_ngrams.npy" if subwords else "vectors.vectors.npy")).exists()
    assert [event["fname_or_handle"] for event in loaded.lifecycle_events if event["event"] == "saving"] == [path]
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


@pytest.mark.parametrize("binary", [False, True])
def test_word2vec_format_is_whole_and_gensims_options_work(binary, small_model, other_model, tmp_path):
    path, words = str(tmp_path / "v.gz"), str(tmp_path / "words")
    small_model.wv.save_word2vec_format(path, binary=binary)
    before = contents(tmp_path)
    broken = copy.deepcopy(other_model.wv)
    broken.expandos, broken.index_to_key[-1] = {}, "missing"
    with pytest.raises(KeyError):
        broken.save_word2vec_format(path, binary=binary)
    assert contents(tmp_path) == before
    other_model.wv.save_word2vec_format(path, words, binary, len(other_model.wv))
    read = KeyedVectors.load_word2vec_format(path, fvocab=words, binary=binary)
    np.testing.assert_allclose(read.vectors, other_model.wv[read.index_to_key], rtol=1e-5)
    other_model.wv.save_word2vec_format(str(tmp_path / "twice"), total_vec=2 * len(other_model.wv), prefix="a")
    other_model.wv.save_word2vec_format(str(tmp_path / "twice"), write_header=False, append=True)
    assert len(KeyedVectors.load_word2vec_format(str(tmp_path / "twice"))) == 2 * len(other_model.wv)
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


# ---------------------------------------------------------------------------------------------------- full disks


@pytest.fixture
def small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small tmpfs cannot be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("free", [0, 4, 20, 60])
def test_a_full_disk_leaves_the_old_model_and_the_one_in_memory(free, small_model, other_model, small_disk, tmp_path):
    path = str(small_disk / "model")
    other_model.save(path, sep_limit=1)
    size = os.statvfs(small_disk)
    with contextlib.suppress(OSError), open(small_disk / "ballast", "wb", buffering=0) as file:
        file.write(bytes(max(0, size.f_bavail * size.f_bsize - 1024 * free)))
    before, attributes = contents(small_disk), set(vars(small_model))
    with pytest.raises(OSError, match=r"No space left on device: .*model'$|the disk may be full"):
        small_model.save(path, sep_limit=1)
    assert contents(small_disk) == before
    assert_same_vectors(HilbertMLE.load(path), other_model)
    with pytest.raises(OSError, match=r"No space|the disk may be full"):
        small_model.wv.save(path, sep_limit=1)
    assert contents(small_disk) == before
    assert attributes <= set(vars(small_model))
    small_model.save(str(tmp_path / "model"), sep_limit=1)
    assert_same_vectors(HilbertMLE.load(str(tmp_path / "model")), small_model)
    assert small_model.counts is not None


def test_an_error_while_saving_leaves_nothing(tmp_path):
    with pytest.raises(ArithmeticError), saving(str(tmp_path / "model")):
        raise ArithmeticError
    assert not os.listdir(tmp_path)

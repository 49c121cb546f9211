"""Only counts are replaced by counts: `overwrite` deletes nothing that cannot be told to be ours."""

import json
import os

import numpy as np
import pytest
from helpers import assert_same_counts, contents

from gensim_hilbert import PairCounts
from gensim_hilbert.counting import build, workspace
from gensim_hilbert.counting.ownership import reason_to_keep, reason_to_keep_saved


@pytest.fixture
def store(tmp_path):
    return PairCounts.from_corpus([["a", "b"]], min_count=1, directory=tmp_path / "store").directory


def test_a_store_and_an_empty_folder_may_be_replaced(store, tmp_path):
    assert reason_to_keep(str(store)) is None
    (tmp_path / "empty").mkdir()
    assert reason_to_keep(str(tmp_path / "empty")) is None
    assert "holds something else" in reason_to_keep_saved(str(store))
    (store / "saved-with-model").touch()
    assert reason_to_keep_saved(str(store)) is None


def foreign_file(path):
    path.write_text("dear")


def foreign_folder(path):
    path.mkdir()
    (path / "letter").write_text("dear")


def store_with(name):
    def make(path):
        PairCounts.from_corpus([["a", "b"]], min_count=1, directory=path)
        (path / name).write_text("dear")

    return make


def store_with_folder(name):
    def make(path):
        PairCounts.from_corpus([["a", "b"]], min_count=1, directory=path)
        foreign_folder(path / name)

    return make


def other_manifest(path):
    path.mkdir()
    (path / "manifest.json").write_text(json.dumps({"format": "web app", "schema": 1}))


def odd_manifest(path):
    path.mkdir()
    (path / "manifest.json").write_text("[1]")


FOREIGN = [
    foreign_file,
    foreign_folder,
    store_with("letter"),
    store_with("shards/letter"),
    store_with("lock"),  # which is empty if it is ours
    store_with_folder("shards/77.bin"),
    store_with_folder("saved-with-model"),
    other_manifest,
    odd_manifest,
]


@pytest.mark.parametrize("make", FOREIGN)
def test_nothing_else_is_replaced(make, tmp_path):
    target = tmp_path / "thesis"
    make(target)
    before = contents(tmp_path)
    for overwrite in (False, True):
        with pytest.raises(FileExistsError, match=r"thesis (exists|is not replaced)"):
            PairCounts.from_corpus([["c", "d"]], min_count=1, directory=target, overwrite=overwrite)
        assert contents(tmp_path) == before


def test_nothing_else_is_replaced_by_other_calls(store, tmp_path):
    foreign_folder(tmp_path / "thesis")
    counts, options = PairCounts.open(store), {"directory": tmp_path / "thesis", "overwrite": True}
    counts.to_npz(tmp_path / "table.npz")
    counts.to_glove(tmp_path / "pairs", tmp_path / "words")
    before = contents(tmp_path)
    for call in (
        lambda: PairCounts.merge([counts], **options),
        lambda: PairCounts.from_scipy(np.eye(2), ["c", "d"], **options),
        lambda: PairCounts.from_npz(tmp_path / "table.npz", **options),
        lambda: PairCounts.from_glove(tmp_path / "pairs", tmp_path / "words", **options),
    ):
        with pytest.raises(FileExistsError, match="thesis is not replaced"):
            call()
        assert contents(tmp_path) == before


def folder_with_lock(path):
    foreign_folder(path)
    (path / "lock").touch()


def lock_with_words(path):
    path.mkdir()
    (path / "lock").write_text("dear")


def link_to_folder(path):
    folder_with_lock(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def store_of_that_name(path):
    PairCounts.from_corpus([["a", "b"]], min_count=1, directory=path)


@pytest.mark.parametrize(
    "make", [foreign_folder, folder_with_lock, lock_with_words, link_to_folder, store_of_that_name]
)
def test_a_folder_of_somebody_else_is_not_worked_in(make, plain, tmp_path):
    make(tmp_path / "out.partial")
    before = contents(tmp_path)
    with pytest.raises(FileExistsError, match=r"out\.partial is not replaced"):
        PairCounts.from_corpus(plain, directory=tmp_path / "out", overwrite=True)
    assert contents(tmp_path) == before


def test_an_input_is_not_worked_in(plain, tmp_path):
    counts = PairCounts.from_corpus([["a", "b"]], min_count=1, directory=tmp_path / "out.partial")
    (counts.directory / "lock").touch()
    before = contents(tmp_path)
    with pytest.raises(ValueError, match="cannot be the output"):
        PairCounts.merge([counts], directory=tmp_path / "out", overwrite=True)
    for write in (counts.to_npz, lambda path: counts.to_glove(path, tmp_path / "words")):
        with pytest.raises(ValueError, match="cannot be the output"):
            write(counts.directory / "manifest.json")
    with pytest.raises(ValueError, match="cannot be the output"):
        PairCounts.from_corpus(counts.directory / "manifest.json", directory=tmp_path / "out")
    assert contents(tmp_path) == before


def test_the_root_of_a_disk_is_no_place_for_counts():
    with pytest.raises(ValueError, match="/ is no place for counts"):
        PairCounts.from_corpus([["a", "b"]], min_count=1, directory="/", overwrite=True)


@pytest.mark.parametrize("corpus", ["corpus/text.txt", "corpus", "corpus/*.txt", "link.txt"])
def test_the_corpus_is_not_replaced(corpus, plain, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").mkdir()
    plain.rename(tmp_path / "corpus" / "text.txt")
    (tmp_path / "link.txt").symlink_to("corpus/text.txt")
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=r"corpus cannot be the output, because the input .*\.txt is there"):
        PairCounts.from_corpus(corpus, directory="corpus", overwrite=True)
    assert contents(tmp_path) == before


def test_a_store_is_not_added_up_into_itself(store, tmp_path):
    """If that were killed after the sum is in its place, the same command would add the other parts once more."""
    counts, before = PairCounts.open(store), contents(tmp_path)
    (tmp_path / "link").symlink_to("store")
    for directory in (store, tmp_path / "link", store / "sum"):
        with pytest.raises(ValueError, match="cannot be the output"):
            PairCounts.merge([counts, counts], directory=directory, overwrite=True)
    (tmp_path / "link").unlink()
    assert contents(tmp_path) == before


@pytest.mark.parametrize("there", ["a store", "nothing"])
def test_a_symbolic_link_stays_one(there, plain, tmp_path):
    real, link = tmp_path / "elsewhere" / "real", tmp_path / "link"
    real.parent.mkdir()
    link.symlink_to("elsewhere/real")
    if there == "a store":
        PairCounts.from_corpus([["a", "b"]], min_count=1, directory=real)
    counts = PairCounts.from_corpus(plain, directory=link, overwrite=there == "a store")
    assert link.is_symlink()
    assert_same_counts(PairCounts.open(real), counts)
    assert sorted(os.listdir(tmp_path)) == ["elsewhere", "link", "text.txt"]
    assert os.listdir(real.parent) == ["real"]


def test_a_link_to_a_file_is_refused_before_anything_is_counted(plain, tmp_path, monkeypatch):
    monkeypatch.setattr(build, "count_blocks", lambda *_: pytest.fail("it has been counted"))
    (tmp_path / "link").symlink_to("text.txt")
    (tmp_path / "circle").symlink_to("circle")
    before = plain.read_bytes()
    for name in ("link", "circle"):
        with pytest.raises((FileExistsError, ValueError)):
            PairCounts.from_corpus([["a", "b"]], directory=tmp_path / name, min_count=1)
    assert plain.read_bytes() == before


def test_another_process_may_finish_just_before_the_lock_is_taken(store, tmp_path, monkeypatch):
    """The first look at the target comes before the lock; there is another one as soon as it is held."""
    target, locked = tmp_path / "target", workspace.locked

    def late(work):
        store.rename(target)
        return locked(work)

    monkeypatch.setattr(workspace, "locked", late)
    monkeypatch.setattr(build, "count_blocks", lambda *_: pytest.fail("it has been counted"))
    before = contents(store)
    with pytest.raises(FileExistsError, match="target exists"):
        PairCounts.from_corpus([["c", "d"]], min_count=1, directory=target)
    assert contents(target) == before
    assert os.listdir(tmp_path) == ["target"]


def test_counts_that_a_killed_process_has_just_replaced_are_removed_by_the_same_command(plain, tmp_path):
    target, old = tmp_path / "out", tmp_path / "out.partial"
    for overwrite in (True, False):
        PairCounts.from_corpus([["a", "b"]], min_count=1, directory=old)  # where they are once names are exchanged
        (old / "lock").touch()
        PairCounts.from_corpus(plain, directory=target, window=2, overwrite=overwrite)
    assert not old.exists()

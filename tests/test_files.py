"""Files and folders appear whole or not at all; one process at a time holds a lock."""

import gzip
import os
import shutil
import stat
import subprocess
import sys

import numpy as np
import pytest

from gensim_hilbert import files
from gensim_hilbert.files import (
    Staging,
    as_read_back,
    remove,
    remove_leftovers,
    rename_to_new,
    replace_folder,
    temporary_name,
    to_json,
    write_whole,
)
from gensim_hilbert.locks import LOCK, locked, turn_of


@pytest.fixture(params=["exchange", "rename"])
def system(request, monkeypatch):
    """Systems that can exchange two names, and systems that cannot."""
    if request.param == "rename":
        monkeypatch.setattr(files, "exchange", lambda one, other: False)
    return request.param


def contents(folder):
    return {
        str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


def write_all(staging, folder, data):
    for name in "abc":
        with staging.create(str(folder / name)) as file:
            file.write(data)


def test_a_lock_follows_no_link_and_waits_for_no_pipe(tmp_path):
    (tmp_path / "precious").write_text("kept")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "lock").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic links"), locked(tmp_path / "linked"):
        pass
    assert (tmp_path / "precious").read_text() == "kept"
    (tmp_path / "piped").mkdir()
    os.mkfifo(tmp_path / "piped" / "lock")
    with pytest.raises(FileExistsError, match="lock is where a lock would be"), locked(tmp_path / "piped"):
        pass


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path):
    write_whole(tmp_path / "a", b"old")
    write_whole(tmp_path / "a", b"new")
    assert contents(tmp_path) == {"a": b"new"}


def test_files_have_the_permissions_that_the_user_has_chosen(tmp_path):
    umask = os.umask(0o027)
    try:
        write_whole(tmp_path / "a", b"")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_the_name_says_how_to_compress(tmp_path):
    write_whole(tmp_path / "a.gz", b"text")
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"text"


@pytest.mark.parametrize("never_mixed", [False, True])
@pytest.mark.parametrize("failure", ["while writing", "when placed"])
def test_after_a_failure_all_targets_are_as_they_were(failure, never_mixed, system, tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"old a")
    (tmp_path / "c").write_bytes(b"old c")
    before = contents(tmp_path)

    replace = os.replace

    def fail_at_last(fresh, target):
        if failure == "when placed" and target.endswith("/c") and "partial" in fresh and staged(fresh) == b"new":
            raise OSError("the disk is gone")
        replace(fresh, target)

    def staged(path):
        with open(path, "rb") as file:
            return file.read()

    monkeypatch.setattr(os, "replace", fail_at_last)

    def write():
        with Staging(never_mixed=never_mixed) as staging:
            write_all(staging, tmp_path, b"new")
            if failure == "while writing":
                raise ValueError

    with pytest.raises((OSError, ValueError)):
        write()
    assert contents(tmp_path) == before


def test_several_files_are_replaced(system, tmp_path):
    (tmp_path / "a").write_bytes(b"old a")
    with Staging() as staging:
        write_all(staging, tmp_path, b"new")
        assert (tmp_path / "a").read_bytes() == b"old a"
    assert contents(tmp_path) == dict.fromkeys("abc", b"new")


def test_a_new_folder_appears_whole(tmp_path):
    target = tmp_path / "folder"
    with Staging() as staging:
        assert staging.folder(f"{target}/") == str(target)
        write_all(staging, target, b"new")
        assert not target.exists()
    assert contents(tmp_path) == {"folder": None, **dict.fromkeys(["folder/a", "folder/b", "folder/c"], b"new")}


def keep_letters(path):
    return "is not replaced, because of a letter" if "letter" in os.listdir(path) else None


@pytest.mark.parametrize("judge", [None, keep_letters])
def test_a_folder_that_is_there_stays_unless_it_is_judged_replaceable(judge, system, tmp_path):
    target = tmp_path / "folder"
    target.mkdir()
    (target / "letter").write_bytes(b"dear")

    def write():
        with Staging() as staging:
            staging.folder(str(target), judge)
            write_all(staging, target, b"new")

    with pytest.raises(FileExistsError, match=r"folder (exists|is not replaced)"):
        write()
    assert contents(target) == {"letter": b"dear"}
    if judge:
        (target / "letter").rename(target / "a")
        write()
        assert contents(tmp_path) == {"folder": None, **{f"folder/{name}": b"new" for name in "abc"}}


def test_what_appears_in_a_folder_at_the_last_moment_is_put_back(system, tmp_path, monkeypatch):
    """Between the last look at a folder and the moment when it loses its name, somebody writes a letter to it."""
    target = tmp_path / "folder"
    target.mkdir()
    (target / "a").write_bytes(b"old")
    looks = []

    def judge(path):
        reason = keep_letters(path)
        looks.append(path)
        if len(looks) == 2:  # the look just before the names are exchanged
            (target / "letter").write_bytes(b"dear")
        return reason

    def write():
        with Staging() as staging:
            staging.folder(str(target), judge)
            write_all(staging, target, b"new")

    with pytest.raises(FileExistsError, match="folder is not replaced, because of a letter"):
        write()
    assert contents(tmp_path) == {"folder": None, "folder/a": b"old", "folder/letter": b"dear"}


@pytest.mark.parametrize("exclusive", ["renameat2", "links", "neither"])
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_rename_to_a_new_name_replaces_nothing(kind, exclusive, tmp_path, monkeypatch):
    if exclusive != "renameat2":
        monkeypatch.setattr(files, "_system_rename", lambda exclusive: None)
    if exclusive == "neither":
        monkeypatch.setattr(files, "_linked", lambda path, name: False)
    fresh, target = tmp_path / "fresh", tmp_path / "target"
    for path in (fresh, target):
        if kind == "folder":
            path.mkdir()
        else:
            path.write_bytes(path.name.encode())
    before = contents(tmp_path)
    with pytest.raises(FileExistsError):
        rename_to_new(str(fresh), str(target))
    assert contents(tmp_path) == before
    remove(target)
    rename_to_new(str(fresh), str(target))
    assert os.listdir(tmp_path) == ["target"]


@pytest.mark.parametrize("kind", ["file", "link", "pipe"])
def test_a_file_of_somebody_else_is_no_lock(kind, tmp_path):
    lock = tmp_path / ".target.lock"
    (tmp_path / "letter").write_text("dear")
    if kind == "file":
        lock.write_text("dear")
    elif kind == "link":
        lock.symlink_to("letter")
    else:
        os.mkfifo(lock)
    with pytest.raises(OSError, match=r"\.target\.lock"), turn_of(str(tmp_path / "target")):
        pytest.fail("it was taken for a lock")
    assert os.path.lexists(lock)
    assert (tmp_path / "letter").read_text() == "dear"
    assert not lock.is_file() or lock.read_text() == "dear"


def test_processes_that_replace_one_target_take_turns(tmp_path):
    script = (
        "import os, sys\nfrom gensim_hilbert.locks import turn_of\n"
        "for _ in range(200):\n"
        "    with turn_of(sys.argv[1]):\n"
        "        os.mkdir(sys.argv[1])\n"
        "        os.rmdir(sys.argv[1])\n"
    )
    command = [sys.executable, "-c", script, tmp_path / "target"]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [(process.communicate()[1], process.returncode) for process in processes] == [("", 0)] * 2
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("fails", [False, True])
def test_others_may_write_to_a_folder_that_will_appear_whole(fails, system, tmp_path):
    file, folder = tmp_path / "file", tmp_path / "folder"
    file.write_bytes(b"old")
    folder.mkdir()
    (folder / "a").write_bytes(b"old")
    before = contents(tmp_path)

    def write():
        with Staging() as staging:
            with staging.create(str(file)) as written:
                written.write(b"new")
            fresh = staging.local_folder(str(folder), lambda path: None)
            with open(os.path.join(fresh, "b"), "wb") as written:
                written.write(b"new")
            if fails:
                raise ArithmeticError

    if fails:
        with pytest.raises(ArithmeticError):
            write()
        assert contents(tmp_path) == before
    else:
        write()
        assert contents(tmp_path) == {"file": b"new", "folder": None, "folder/b": b"new"}


def test_a_folder_that_has_appeared_meanwhile_is_not_replaced(tmp_path):
    target = tmp_path / "folder"

    def write():
        with Staging() as staging:
            staging.folder(str(target))
            write_all(staging, target, b"new")
            target.mkdir()
            (target / "letter").write_bytes(b"dear")

    with pytest.raises(FileExistsError):
        write()
    assert contents(tmp_path) == {"folder": None, "folder/letter": b"dear"}


def test_a_folder_is_removed_under_a_temporary_name(tmp_path, monkeypatch):
    """A process that is killed half-way leaves nothing that could be taken for the folder."""
    folder, removed = tmp_path / "folder", []
    (folder / "inside").mkdir(parents=True)
    monkeypatch.setattr(shutil, "rmtree", lambda path, **options: removed.append(path))
    remove(folder)
    assert not folder.exists()
    assert [os.path.basename(path)[9:] for path in removed] == [".partial.folder"]
    monkeypatch.undo()
    remove_leftovers(tmp_path, "other")
    assert len(list(tmp_path.iterdir())) == 1
    remove_leftovers(tmp_path, "folder")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("old", ["nothing", "a folder", "a file"])
def test_a_finished_folder_takes_the_place_of_what_was_there(old, system, tmp_path):
    fresh, target = tmp_path / "fresh", tmp_path / "target"
    fresh.mkdir()
    (fresh / "a").write_bytes(b"new")
    if old == "a folder":
        target.mkdir()
        (target / "b").write_bytes(b"old")
    elif old == "a file":
        target.write_bytes(b"old")
    if old != "nothing":
        with pytest.raises(FileExistsError, match="target exists"):
            replace_folder(fresh, target)
    replace_folder(fresh, target, lambda path: None)
    assert contents(tmp_path) == {"target": None, "target/a": b"new"}


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_an_error_names_the_target_and_not_a_temporary_file(kind, tmp_path):
    target = str(tmp_path / "missing" / "name")

    def write():
        with Staging() as staging:
            if kind == "folder":
                staging.folder(target)
            else:
                with staging.create(target) as file:
                    file.write(b"")

    with pytest.raises(FileNotFoundError) as refused:
        write()
    assert refused.value.filename == target


def test_what_killed_processes_have_left_is_removed(tmp_path):
    with open(temporary_name(str(tmp_path / "a")), "wb"):
        pass
    (tmp_path / "a.partial").write_bytes(b"something else")
    remove_leftovers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.partial"]


def test_a_lock_keeps_other_processes_out(tmp_path):
    script = (
        "import sys\nfrom pathlib import Path\nfrom gensim_hilbert.locks import locked\n"
        "with locked(Path(sys.argv[1])):\n    pass\n"
    )
    command = [sys.executable, "-c", script, tmp_path / "work"]
    with locked(tmp_path / "work"):
        refused = subprocess.run(command, capture_output=True, text=True)
    assert "another process is working in" in refused.stderr
    assert subprocess.run(command).returncode == 0


def test_a_lock_that_its_owner_has_removed_is_not_the_one_to_hold(tmp_path, monkeypatch):
    """The owner renames its folder between the moment when another process opens the lock and the moment it gets it."""
    import fcntl

    work, moved = tmp_path / "work", tmp_path / "moved"
    flock, calls = fcntl.flock, []

    def renamed_meanwhile(file, how):
        calls.append(how)
        if len(calls) == 1:
            work.rename(moved)
        return flock(file, how)

    monkeypatch.setattr(fcntl, "flock", renamed_meanwhile)
    with locked(work):
        assert (work / LOCK).exists()
    assert len(calls) == 2


def test_numbers_of_numpy_become_those_of_json():
    assert to_json({"b": np.float32(0.5), "a": [np.int64(3), True]}) == '{"b": 0.5, "a": [3, true]}'
    assert as_read_back({"window": (1, np.uint8(2))}) == {"window": [1, 2]}

"""Objects in a bucket, on a real server."""

import threading
import time

import pytest

from gensim_hilbert.counting import bucket
from gensim_hilbert.counting.bucket import leased
from gensim_hilbert.objects import ObjectPath, created, opened_at, place_of


@pytest.fixture
def folder(s3):
    return ObjectPath(s3[1], "folder")


@pytest.mark.parametrize("uri", ["s3://", "s3://bucket", "s3://bucket/", "s3:///key", "s3://bucket/a//b", "gs://b/key"])
def test_what_is_no_place_is_refused(uri):
    with pytest.raises(ValueError, match="is no place in a bucket; give one such as"):
        ObjectPath.parse(uri)


def test_names():
    place = place_of("s3://bucket/a/b.counts/")
    assert str(place / "c") == "s3://bucket/a/b.counts/c"
    assert (place.name, str(place.with_name("d"))) == ("b.counts", "s3://bucket/a/d")


def test_an_object_is_read_in_any_part(folder):
    place = folder / "data"
    place.write_bytes(bytes(range(200)))
    assert place.read_bytes() == bytes(range(200))
    assert place.read_bytes(10, 20) == bytes(range(10, 20))
    assert place.read_bytes(10, 10) == b""
    with opened_at(place, 50, 60) as file:
        assert file.read(4) + file.read(100) == bytes(range(50, 60))
    with place.open("rb") as file:
        assert file.read() == bytes(range(200))
    assert folder.below() == {"data": 200}
    assert place.exists()
    assert not folder.exists()


def test_an_object_appears_whole_or_not_at_all(folder):
    def fail():
        with created(folder / "half") as file:
            file.write(b"half")
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        fail()
    assert folder.below() == {}
    with created(folder / "whole") as file:
        file.write(b"whole")
    assert (folder / "whole").read_bytes() == b"whole"


def test_what_is_missing_is_named(folder):
    with pytest.raises(FileNotFoundError, match=r"s3://.*/folder/none does not exist"):
        (folder / "none").read_bytes()
    with pytest.raises(OSError, match=r"s3://no-such-bucket/x cannot be used: .*bucket does not exist"):
        ObjectPath("no-such-bucket", "x").below()


def test_only_one_of_many_creates_an_object(folder):
    found = []
    threads = [threading.Thread(target=lambda k=k: found.append((folder / "lock").create(b"%d" % k))) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [False] * 7 + [True]


def test_a_lease_keeps_others_out_while_it_is_renewed(folder, monkeypatch):
    monkeypatch.setattr(bucket, "RENEWAL_SECONDS", 0.3)
    with leased(folder / "lock") as lease:
        with pytest.raises(RuntimeError, match="another process is working in s3://"), leased(folder / "lock"):
            pass
        lease.check()
    assert not (folder / "lock").exists()


def test_a_lease_whose_owner_was_killed_is_taken_over(folder, monkeypatch):
    monkeypatch.setattr(bucket, "LEASE_SECONDS", 1)
    (folder / "lock").write_bytes(b"somebody")
    begun = time.monotonic()
    with leased(folder / "lock") as lease:
        lease.check()
        (folder / "lock").write_bytes(b"another one")
        with pytest.raises(RuntimeError, match="another process has taken over the work"):
            lease.check()
    assert time.monotonic() - begun < 10
    assert (folder / "lock").read_bytes() == b"another one"

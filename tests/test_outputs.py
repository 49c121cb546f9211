"""Results are written to this machine, and never over what they are made from."""

import os

import pytest

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.outputs import local_path, refuse_inputs, refuse_no_file


def test_a_uri_is_no_place_for_what_must_be_local(tmp_path):
    with pytest.raises(ValueError, match=r"s3://bucket/counts is no place for counts.*copy them to s3:// afterwards"):
        local_path("s3://bucket/counts", "counts")
    assert local_path(f"file://{tmp_path}/a", "counts") == tmp_path / "a"
    assert local_path("~/a", "counts") == local_path(os.path.expanduser("~/a"), "counts")


@pytest.mark.parametrize("output", ["text.txt", "folder", "folder/sub", "link", "folder/sub/../sub", "loop/sub"])
def test_an_input_is_never_an_output(output, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder" / "sub").mkdir(parents=True)
    (tmp_path / "folder" / "sub" / "text.txt").write_text("a b")
    (tmp_path / "text.txt").symlink_to("folder/sub/text.txt")
    (tmp_path / "link").symlink_to("folder")
    (tmp_path / "loop").symlink_to("folder")
    with pytest.raises(ValueError, match=f"^{output} cannot be the output, because the input text.txt is there"):
        refuse_inputs(output, ["s3://bucket/text.txt", "missing.txt", "text.txt"])


def test_an_output_may_lie_beside_an_input_and_within_only_where_that_does_no_harm(tmp_path):
    store = tmp_path / "store"
    store.mkdir()
    for output in (tmp_path / "store2", tmp_path / "other", store / "sum"):
        refuse_inputs(output, [store, store / "missing"])
    with pytest.raises(ValueError, match=r"sum cannot be the output, because it lies in the input .*store"):
        refuse_inputs(store / "sum", [store], inside=True)


def test_counts_and_checkpoints_are_not_written_to_buckets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for call in (
        lambda: PairCounts.from_corpus([["a", "b"]], min_count=1, directory="gs://bucket/result"),
        lambda: HilbertMLE([["a", "b"]], min_count=1, checkpoint="gs://bucket/result"),
    ):
        with pytest.raises(ValueError, match="gs://bucket/result is no place for c"):
            call()
    assert not os.listdir(tmp_path)


def test_files_that_cannot_appear_are_refused(tmp_path):
    refuse_no_file(tmp_path / "file")
    (tmp_path / "file").touch()
    refuse_no_file(tmp_path / "file")
    with pytest.raises(IsADirectoryError, match="is a folder; choose the name of a file"):
        refuse_no_file(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere for file; make it first"):
        refuse_no_file(tmp_path / "nowhere" / "file")

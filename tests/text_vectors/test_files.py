"""Vectors of the lines of files are those of `encode`, wherever blocks end."""

from __future__ import annotations

import io
import json

import numpy as np
import pyarrow as pa
import pytest
from shell import run_here
from table_files import WRITERS, write_parquet
from texts import write_gzip

from gensim_hilbert.text_vectors.files import encode_file

LINES = ["the court said", "", "   ", "police and the\u2028court", "Police!", "unheard-of", "x " * 300, "a \r", "end"]
TEXT = "\ufeff" + "\n".join(LINES)


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("size", [16, 1 << 20])
@pytest.mark.parametrize("compressed", [False, True])
def test_one_row_per_line(small_model, tmp_path, set_block_bytes, end, size, compressed):
    set_block_bytes(size)
    path = tmp_path / "text.txt"
    path.write_text(TEXT + end, encoding="utf-8", newline="")
    if compressed:
        path = write_gzip(tmp_path / "text.txt.gz", path.read_bytes())
    numbers = encode_file(small_model, path, tmp_path / "vectors.npy", workers=2)
    expected = small_model.encode(LINES)
    assert numbers == (len(LINES), int((~expected.any(axis=1)).sum()))
    np.testing.assert_array_equal(np.load(tmp_path / "vectors.npy"), expected)


def test_several_files_and_streams(small_model, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("the court", encoding="utf-8")  # and no newline between the files
    encode_file(small_model.wv, [tmp_path / "a", tmp_path / "b"], tmp_path / "two.npy", weighting="mean")
    np.testing.assert_array_equal(
        np.load(tmp_path / "two.npy"), small_model.encode(["the court"] * 2, weighting="mean")
    )
    encode_file(small_model, io.BytesIO(b""), tmp_path / "none.npy")
    assert np.load(tmp_path / "none.npy").shape == (0, small_model.vector_size)


def test_after_an_error_there_is_what_was_there(small_model, tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"the court\n\xff\xff\n")
    (tmp_path / "vectors.npy").write_bytes(b"before")
    with pytest.raises(UnicodeError, match=r"bad\.txt, in the text that begins b'\\xff\\xff'"):
        encode_file(small_model, tmp_path / "bad.txt", tmp_path / "vectors.npy")
    assert (tmp_path / "vectors.npy").read_bytes() == b"before"
    assert {path.name for path in tmp_path.iterdir()} == {"bad.txt", "vectors.npy"}


@pytest.mark.parametrize(
    ("output", "message"), [("vectors.txt", "must end in .npy"), ("s3://bucket/vectors.npy", "no place for vectors")]
)
def test_places_that_cannot_be_written_to(small_model, tmp_path, output, message):
    (tmp_path / "text.txt").write_text("the court")
    with pytest.raises(ValueError, match=message):
        encode_file(small_model, tmp_path / "text.txt", output if "://" in output else tmp_path / output)


# ---------------------------------------------------------------------------------------------------- tables

ROWS = ["the court said", None, "police and\nthe court", "", "unheard-of", "Police!", "\n"]
TEXTS = [(row or "").replace("\n", " ") for row in ROWS]


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("size", [16, 1 << 20])
def test_one_vector_per_row_of_a_table(small_model, tmp_path, set_block_bytes, name, size):
    set_block_bytes(size)
    numbers = encode_file(small_model, WRITERS[name](tmp_path / name, ROWS), tmp_path / "vectors.npy", column="text")
    expected = small_model.encode(TEXTS)
    assert numbers == (len(ROWS), 3)
    np.testing.assert_array_equal(np.load(tmp_path / "vectors.npy"), expected)


def test_rows_may_be_lists_of_words(small_model, tmp_path, set_block_bytes):
    set_block_bytes(8)
    rows = [["the", "court"], None, [], ["police"], ["unheard-of"]]
    write_parquet(tmp_path / "t.parquet", rows, pa.list_(pa.string()))
    encode_file(small_model, tmp_path / "t.parquet", tmp_path / "vectors.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "vectors.npy"), small_model.encode([row or [] for row in rows]))
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps({"text": row}) + "\n" for row in rows))
    encode_file(small_model, path, tmp_path / "vectors.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "vectors.npy"), small_model.encode([row or [] for row in rows]))


def test_commands_take_a_column_of_tables(small_model, tmp_path):
    small_model.save_pretrained(tmp_path / "model")
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps({"title": "a", "text": f"new york {k}"}) + "\n" for k in range(30)))
    assert "choose one" in run_here("encode", tmp_path / "model", path, "-o", tmp_path / "v.npy").stderr
    run_here("encode", tmp_path / "model", path, "-o", tmp_path / "v.npy", "--column", "text")
    assert len(np.load(tmp_path / "v.npy")) == 30
    found = run_here("phrases", path, "-o", tmp_path / "p.jsonl", "--column", "text", "--threshold", "0.1").stdout
    assert "new_york" in found

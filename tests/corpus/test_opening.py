"""Files are opened wherever they are and however they are compressed; damage is named."""

import bz2
import gzip
import lzma
from functools import partial

import numpy as np
import pytest
from faulty_server import cut, cut_silently, reset, status
from helpers import assert_same_counts, count
from texts import TEXT, halves, pieces, write_gzip

from gensim_hilbert.corpus.identity import FileFacts
from gensim_hilbert.corpus.sources import as_corpus


@pytest.mark.usefixtures("block_bytes")
def test_compressed_files_are_read(tmp_path, expected):
    for suffix, data in (
        (".gz", gzip.compress(TEXT)),
        (".GZ", gzip.compress(TEXT)),
        (".bz2", bz2.compress(TEXT)),
        (".xz", lzma.compress(TEXT)),
        (".members.gz", b"".join(map(gzip.compress, pieces(7)))),
    ):
        path = tmp_path / f"text{suffix}"
        path.write_bytes(data)
        assert_same_counts(count(path), expected)


@pytest.mark.usefixtures("block_bytes")
def test_zst_is_read(tmp_path, expected):
    zstd = pytest.importorskip("backports.zstd", reason="pip install 'gensim-hilbert[zst]'")
    path = tmp_path / "text.zst"
    path.write_bytes(zstd.compress(TEXT))
    assert_same_counts(count(path), expected)


@pytest.mark.usefixtures("block_bytes")
def test_many_compressed_files_are_read_by_each_worker(tmp_path, expected):
    for k, piece in enumerate(pieces(9)):
        write_gzip(tmp_path / f"{k}.txt.gz", piece)
    for workers in (1, 2, 4, 5):
        assert_same_counts(count(tmp_path, workers=workers), expected)


@pytest.mark.usefixtures("block_bytes")
def test_some_plain_some_compressed(tmp_path, expected):
    for k, piece in enumerate(pieces(5)):
        write_gzip(tmp_path / f"{k}.txt.gz", piece) if k % 2 else (tmp_path / f"{k}.txt").write_bytes(piece)
    for workers in (1, 2, 3):
        assert_same_counts(count(tmp_path, workers=workers), expected)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("how", ["flipped", "truncated"])
def test_damaged_compressed_files_are_named(suffix, how, tmp_path, refused):
    text = np.random.default_rng(1).bytes(300_000).hex().encode()
    if suffix == ".zst":
        zstd = pytest.importorskip("backports.zstd", reason="pip install 'gensim-hilbert[zst]'")
        pack = partial(zstd.compress, options={zstd.CompressionParameter.checksum_flag: 1})
    else:
        pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[suffix]
    data = bytearray(pack(text))
    half = len(data) // 2
    if how == "flipped":
        data[half : half + 40] = bytes(byte ^ 0xFF for byte in data[half : half + 40])
    else:
        del data[half:]
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(data)
    refused(OSError, rf"bad\{suffix} cannot be read past byte \d+", path)
    # With several files each worker reads its own.
    for k in range(6):
        write_gzip(tmp_path / f"{k}.txt.gz", TEXT)
    refused(OSError, rf"bad\{suffix} cannot be read past byte \d+", [*tmp_path.glob("?.txt.gz"), path])


def test_not_compressed_at_all(tmp_path, refused):
    (tmp_path / "text.gz").write_bytes(TEXT)
    refused(OSError, r"text\.gz .*[Nn]ot a gzipped file", tmp_path / "text.gz")


def test_http_serves_plain_and_compressed_files(http_folder, expected):
    pytest.importorskip("requests", reason="requests is not installed: pip install 'gensim-hilbert[http]'")
    address, folder = http_folder
    first, second = halves()
    for name, data in (
        ("text.txt", TEXT),
        ("text.txt.gz", gzip.compress(TEXT)),
        ("a.txt", first),
        ("b.txt.gz", gzip.compress(second)),
    ):
        (folder / name).write_bytes(data)
    for corpus in (
        f"{address}/text.txt",
        f"{address}/text.txt.gz",
        [f"{address}/a.txt", f"{address}/b.txt.gz"],
        [folder / "a.txt", f"{address}/b.txt.gz"],
    ):
        assert_same_counts(count(corpus), expected)


def test_http_without_the_page(http_folder, tmp_path):
    pytest.importorskip("requests", reason="requests is not installed: pip install 'gensim-hilbert[http]'")
    with pytest.raises(OSError, match="404"):
        count(f"{http_folder[0]}/missing.txt", directory=tmp_path / "counts")
    assert not list(tmp_path.glob("counts*"))


@pytest.fixture
def put(s3):
    client, bucket = s3
    return lambda key, data: client.put_object(Bucket=bucket, Key=key, Body=data)


def test_s3_one_object(s3, put, expected):
    put("text.txt", TEXT)
    put("text.txt.gz", gzip.compress(TEXT))
    for name in ("text.txt", "text.txt.gz"):
        assert_same_counts(count(f"s3://{s3[1]}/{name}"), expected)


def test_s3_globs_and_prefixes(s3, put, expected):
    for k, piece in enumerate(pieces(6)):
        put(f"wiki/part-{k}.txt.gz", gzip.compress(piece))
    put("wiki/notes.md", b"not to be read " * 50)
    put("other/part-0.txt.gz", gzip.compress(b"not to be read " * 50))
    assert_same_counts(count(f"s3://{s3[1]}/wiki/part-*.txt.gz"), expected)
    assert_same_counts(count(f"s3://{s3[1]}/wiki/part-?.txt.gz", workers=3), expected)
    for k, piece in enumerate(pieces(3)):
        put(f"all/{k}.txt", piece)
    assert_same_counts(count(f"s3://{s3[1]}/all/"), expected)


@pytest.mark.slow
def test_s3_more_objects_than_one_listing_holds(s3, put):
    for k in range(1003):
        put(f"many/{k:04d}", b"one two" if k < 1002 else b"one three")
    names = as_corpus(f"s3://{s3[1]}/many/*").names
    assert len(names) == 1003
    assert names == sorted(names)


def test_s3_without_the_object(s3, tmp_path):
    for name, message in (
        ("missing-*.txt", "no object matches"),
        ("none/", "no object matches"),
        ("no.txt", "no.txt"),
    ):
        with pytest.raises(OSError, match=message):
            count(f"s3://{s3[1]}/{name}", directory=tmp_path / "counts")
    assert not list(tmp_path.glob("counts*"))


def test_s3_objects_that_have_changed_are_another_count(s3, put, target):
    put("text.txt", TEXT)
    first = count(f"s3://{s3[1]}/text.txt", directory=target)
    assert count(f"s3://{s3[1]}/text.txt", directory=target).fingerprint == first.fingerprint
    put("text.txt", TEXT[::-1].decode("utf-8", "ignore").encode().ljust(len(TEXT), b"x"))
    with pytest.raises(FileExistsError):
        count(f"s3://{s3[1]}/text.txt", directory=target)


@pytest.fixture
def s3_site(site, monkeypatch):
    """(parameters, a server that fails as it is told), which boto3 takes for S3."""
    boto3 = pytest.importorskip("boto3", reason="boto3 is not installed: pip install 'gensim-hilbert[s3]'")
    monkeypatch.setattr("smart_open.s3.time.sleep", lambda seconds: None)
    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x", "region_name": "us-east-1"}
    # A connection that is closed while it waits to be used again costs an attempt, besides those that fail on purpose.
    config = pytest.importorskip("botocore.config").Config(retries={"total_max_attempts": 10})
    return {"client": boto3.client("s3", endpoint_url=site.address, config=config, **keys)}, site


@pytest.mark.parametrize("name", ["text.txt", "text.txt.gz"])
def test_s3_objects_that_end_early(name, s3_site):
    params, site = s3_site
    members = [gzip.compress(piece) for piece in pieces(3)]
    key, end = f"bucket/{name}", len(members[0])
    site.files[key] = b"".join(members) if name.endswith(".gz") else TEXT

    def read(facts=None):
        corpus = as_corpus(f"s3://{key}", params)
        corpus.facts = corpus.facts if facts is None else [facts]
        return b"".join(block.data for block in corpus.blocks(streams=True))

    site.faults[key] = [status(500), cut(end), cut_silently(end), reset(end)]
    assert read() == TEXT
    assert {request.method for request in site.log} == {"HEAD", "GET"}
    assert len(site.requested("HEAD")) == 1
    size = len(site.files[key])
    with pytest.raises(OSError, match=f"{name} cannot be read .* the answer ends at byte {size} of {size + 1}"):
        read(FileFacts(size + 1))
    with pytest.raises(OSError, match=f"{name} is longer than it was"):
        read(FileFacts(end))


def test_gcs_objects_globs_and_prefixes(gcs, expected):
    client, bucket = gcs
    for k, piece in enumerate(pieces(5)):
        client.bucket(bucket).blob(f"wiki/part-{k}.txt.gz").upload_from_string(gzip.compress(piece))
    client.bucket(bucket).blob("wiki.md").upload_from_string(b"not to be read " * 50)
    client.bucket(bucket).blob("text.txt").upload_from_string(TEXT)
    for name in ("text.txt", "wiki/part-*.txt.gz", "wiki/"):
        assert_same_counts(count(f"gs://{bucket}/{name}", transport_params={"client": client}), expected)
    with pytest.raises(FileNotFoundError, match="no object matches"):
        count(f"gs://{bucket}/missing-*", transport_params={"client": client})

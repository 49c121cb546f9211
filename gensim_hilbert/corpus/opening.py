"""How files of a corpus are opened, listed and looked up: local ones, and those of buckets and servers."""

from __future__ import annotations

import fnmatch
import logging
import os
import re
import stat
import urllib.request
from typing import Any, BinaryIO, NamedTuple

import smart_open
from smart_open.compression import compression_wrapper

from gensim_hilbert.locations import (
    S3_SCHEMES,
    bucket_and_key,
    compression_of,
    is_local,
    missing_package,
    path_of,
    scheme_of,
)

logger = logging.getLogger(__name__)

TransportParams = dict[str, Any] | None
BUCKET_SCHEMES = (*S3_SCHEMES, "gs")
LOOK_UP_SECONDS = 30  # how long a web server may take to answer


class FileFacts(NamedTuple):
    """What is known of a file before it is read."""

    size: int | None = None  # bytes as they are stored; None if the server does not tell
    version: Any = None  # something that changes when the file does; None if nothing of that kind is known
    is_stream: bool = True  # it must be read from its beginning: it is compressed, remote, or a pipe
    can_repeat: bool = True  # it can be read more than once


def facts_of(name: str, transport_params: TransportParams) -> FileFacts:
    """Look up one file."""
    return local_facts(name) if is_local(name) else remote_facts(name, transport_params)


def local_facts(path: str) -> FileFacts:
    """Look up a local file, and raise an error if it cannot be read."""
    info = os.stat(path)
    if not stat.S_ISREG(info.st_mode):
        return FileFacts(can_repeat=False)
    os.close(os.open(path, os.O_RDONLY))
    return FileFacts(info.st_size, info.st_mtime_ns, is_stream=bool(compression_of(path)))


def remote_facts(uri: str, transport_params: TransportParams) -> FileFacts:
    """Look up a remote file; what its server does not tell stays unknown."""
    try:
        if scheme_of(uri) in S3_SCHEMES:
            bucket, key = bucket_and_key(uri)
            head = s3_client(transport_params).head_object(Bucket=bucket, Key=key)
            return FileFacts(head["ContentLength"], head["ETag"])
        if scheme_of(uri) == "gs":
            bucket, key = bucket_and_key(uri)
            blob = gs_client(transport_params).bucket(bucket).get_blob(key)
            return FileFacts(blob.size, blob.etag)
        if scheme_of(uri) in ("http", "https"):
            request = urllib.request.Request(uri, method="HEAD")
            with urllib.request.urlopen(request, timeout=LOOK_UP_SECONDS) as answer:
                size, headers = answer.headers["Content-Length"], answer.headers
                return FileFacts(size and int(size), headers["ETag"] or headers["Last-Modified"])
    except Exception as error:  # Each client raises its own errors. If this one matters, opening the file tells more.
        logger.debug("nothing is known of %s: %s", uri, error)
    return FileFacts()


def list_bucket(uri: str, transport_params: TransportParams) -> list[tuple[str, FileFacts]]:
    """List the objects that match a pattern, or lie under a prefix that ends in a slash, in the order of their names.

    The listing tells their facts, too, so that the objects need not be looked up one by one.
    """
    bucket, pattern = bucket_and_key(uri)
    prefix = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
    try:
        if scheme_of(uri) == "gs":
            blobs = gs_client(transport_params).list_blobs(bucket, prefix=prefix)
            listed = {blob.name: FileFacts(blob.size, blob.etag) for blob in blobs}
        else:
            pages = s3_client(transport_params).get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
            items = (item for page in pages for item in page.get("Contents", []))
            listed = {item["Key"]: FileFacts(item["Size"], item["ETag"]) for item in items}
    except ImportError as error:
        raise missing_package(uri, error) from error
    except Exception as error:  # Each client raises its own errors.
        raise OSError(f"{uri} cannot be listed: {error}") from error
    is_prefix = pattern.endswith("/") or not pattern
    wanted = re.compile(fnmatch.translate(pattern + "*" if is_prefix else pattern))
    keys = sorted(key for key in listed if wanted.match(key) and not key.endswith("/"))
    if not keys:
        raise FileNotFoundError(f"no object matches {uri}")
    return [(f"{scheme_of(uri)}://{bucket}/{key}", listed[key]) for key in keys]


def s3_client(transport_params: TransportParams) -> Any:
    """Return the user's client, or boto3's default one."""
    import boto3

    return (transport_params or {}).get("client") or boto3.client("s3")


def gs_client(transport_params: TransportParams) -> Any:
    """Return the user's client, or google's default one."""
    from google.cloud import storage

    return (transport_params or {}).get("client") or storage.Client()


# ---------------------------------------------------------------------------------------------------- streams


class Stream:
    """A decompressor together with the file below it, which decompressors leave open."""

    def __init__(self, stream: BinaryIO, raw: BinaryIO):
        self.read = stream.read
        self.bytes_read = raw.tell if raw.seekable() else None
        self.files = (stream, raw)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exc: object) -> None:
        for file in self.files:
            file.close()


def open_stream(uri: str, transport_params: TransportParams) -> Stream:
    """Open anything that smart_open can open, and decompress it."""
    try:
        if is_local(uri):
            raw: Any = open(uri, "rb")  # noqa: SIM115  # closed by Stream
        else:
            raw = smart_open.open(uri, "rb", compression="disable", transport_params=transport_params)
    except ImportError as error:
        raise missing_package(uri, error) from error
    try:
        return Stream(decompressed(raw, uri), raw)
    except ImportError as error:
        raw.close()
        raise missing_package(uri, error) from error


def decompressed(raw: BinaryIO, uri: str) -> Any:
    """Wrap a file in the decompressor that smart_open would choose by its name."""
    if compression_of(uri) == ".gz":
        try:
            from isal import igzip  # the same as gzip, and three times as fast
        except ImportError:
            pass
        else:
            return igzip.open(raw, "rb")
    return compression_wrapper(raw, "rb", filename=path_of(uri))

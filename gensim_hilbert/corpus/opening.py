"""How files of a corpus are opened, listed and looked up: local ones, and those of buckets and servers."""

from __future__ import annotations

import fnmatch
import io
import logging
import os
import re
from collections.abc import Callable
from typing import Any, BinaryIO

import smart_open

from gensim_hilbert.corpus.decompression import decompressed
from gensim_hilbert.corpus.identity import NOTHING_KNOWN, CorpusChanged, FileFacts, local_facts, refuse_change
from gensim_hilbert.corpus.web import TransportParams, WebFile, look_up
from gensim_hilbert.locations import (
    S3_SCHEMES,
    bucket_and_key,
    is_local,
    missing_package,
    scheme_of,
)

logger = logging.getLogger(__name__)

BUCKET_SCHEMES = (*S3_SCHEMES, "gs")
WEB_SCHEMES = ("http", "https")


def facts_of(name: str, transport_params: TransportParams) -> FileFacts:
    """Look up one file; a local one raises an error if it cannot be read."""
    if not is_local(name):
        return remote_facts(name, transport_params)
    facts = local_facts(name, os.stat(name))
    if facts.can_repeat:
        os.close(os.open(name, os.O_RDONLY))
    return facts


def remote_facts(uri: str, transport_params: TransportParams) -> FileFacts:
    """Look up a remote file; what its server does not tell stays unknown."""
    if scheme_of(uri) in WEB_SCHEMES:
        try:
            return look_up(uri, transport_params)
        except ImportError as error:
            raise missing_package(uri, error) from error
    try:
        if scheme_of(uri) in S3_SCHEMES:
            bucket, key = bucket_and_key(uri)
            version = (transport_params or {}).get("version_id")
            options = {"VersionId": version} if version else {}
            head = s3_client(transport_params).head_object(Bucket=bucket, Key=key, **options)
            return FileFacts(head["ContentLength"], head["ETag"])
        if scheme_of(uri) == "gs":
            bucket, key = bucket_and_key(uri)
            blob = gs_client(transport_params).bucket(bucket).get_blob(key)
            return FileFacts(blob.size, blob.etag)
    except Exception as error:  # Each client raises its own errors. If this one matters, opening the file tells more.
        logger.debug("nothing is known of %s: %s", uri, error)
    return NOTHING_KNOWN


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

    def __init__(self, stream: BinaryIO, raw: Any, check: Callable[[], None]):
        self.read = stream.read
        self.bytes_read = raw.tell if raw.seekable() or isinstance(raw, WebFile) else None
        self.check_unchanged = check  # raises an error if the file is not the one that was looked up
        self.files = (stream, raw)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exc: object) -> None:
        for file in self.files:
            file.close()


def open_stream(uri: str, transport_params: TransportParams, facts: FileFacts) -> Stream:
    """Open anything that smart_open can open, if it is still what the facts tell of it, and decompress it."""
    raw: Any
    if is_local(uri):
        raw = open(uri, "rb")  # noqa: SIM115  # closed by Stream

        def check() -> None:
            refuse_change(uri, facts, local_facts(uri, os.fstat(raw.fileno())))
    else:
        raw = open_remote(uri, transport_params, facts)

        def check() -> None:
            """Do nothing: remote files watch themselves."""

    try:
        check()
        return Stream(decompressed(raw, uri), raw, check)
    except ImportError as error:
        raw.close()
        raise missing_package(uri, error) from error
    except BaseException:
        raw.close()
        raise


def open_remote(uri: str, transport_params: TransportParams, facts: FileFacts) -> Any:
    """Open a remote file as it is stored."""
    try:
        if scheme_of(uri) in WEB_SCHEMES:
            return WebFile(uri, transport_params, facts)
        if scheme_of(uri) in S3_SCHEMES and facts.etag:
            transport_params = only_if_match(transport_params, facts.etag)
        return BucketFile(uri, transport_params, facts)
    except ImportError as error:
        raise missing_package(uri, error) from error
    except (CorpusChanged, MemoryError, NotImplementedError, TypeError, ValueError):
        raise
    except Exception as error:  # Each client raises its own errors.
        raise OSError(f"{uri} cannot be opened: {error}") from error


def only_if_match(transport_params: TransportParams, etag: str) -> dict[str, Any]:
    """Return parameters by which S3 refuses to send an object, or the rest of one, that is another one by now."""
    params = transport_params or {}
    of_client = params.get("client_kwargs") or {}
    of_get = {**of_client.get("S3.Client.get_object", {}), "IfMatch": etag}
    return {**params, "client_kwargs": {**of_client, "S3.Client.get_object": of_get}}


class BucketFile(io.RawIOBase):
    """A file that smart_open reads, which must have the size that was told at the first look."""

    def __init__(self, uri: str, transport_params: TransportParams, facts: FileFacts):
        self.uri, self.transport_params, self.facts = uri, transport_params, facts
        self.position = 0
        self.file: Any = None
        self.file = self._guarded(smart_open.open, uri, "rb", compression="disable", transport_params=transport_params)

    def readable(self) -> bool:
        """Return True: this file can be read."""
        return True

    def seekable(self) -> bool:
        """Only `tell` is wanted, which tells how much has been read."""
        return True

    def tell(self) -> int:
        """Return how many bytes have been read."""
        return self.position

    def readinto(self, buffer: Any) -> int:
        """Read some bytes; 0 only at the end that was promised."""
        data = self._guarded(self.file.read, len(buffer))
        buffer[: len(data)] = data
        self.position += len(data)
        size = self.facts.size
        if size is not None and self.position > size:
            raise CorpusChanged(self.uri, f"is longer than it was: more than {size} bytes")
        if size is not None and self.position < size and not data and len(buffer):
            raise OSError(f"the answer ends at byte {self.position} of {size}")
        return len(data)

    def read_at(self, start: int, wanted: int) -> bytes:
        """Return so many bytes from a place on, fewer only at the end of the file."""
        self._guarded(self.file.seek, start)
        parts = []
        while wanted > 0 and (part := self._guarded(self.file.read, wanted)):
            parts.append(part)
            wanted -= len(part)
        return b"".join(parts)

    def close(self) -> None:
        """Close the connection."""
        if getattr(self, "file", None) is not None:
            self.file.close()
        super().close()

    def _guarded(self, action: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Do something that S3 refuses if the object has changed."""
        try:
            return action(*arguments, **options)
        except OSError as error:
            if "PreconditionFailed" not in str(error) and "(412)" not in str(error):
                raise
            refuse_change(self.uri, self.facts, remote_facts(self.uri, self.transport_params))
            raise CorpusChanged(self.uri, f"has changed: its ETag is no longer {self.facts.etag}") from error

"""Buckets and servers: what lies there, and what to install to get at it."""

from __future__ import annotations

import fnmatch
import logging
import re
import urllib.request
from typing import Any

from gensim_hilbert.locations import S3_SCHEMES, missing_package, scheme_of

logger = logging.getLogger(__name__)


def s3_client(transport_params: dict[str, Any] | None) -> Any:
    """The user's client, or boto3's default one."""
    import boto3

    return (transport_params or {}).get("client") or boto3.client("s3")


def gs_client(transport_params: dict[str, Any] | None) -> Any:
    """The user's client, or google's default one."""
    from google.cloud import storage

    return (transport_params or {}).get("client") or storage.Client()


def list_bucket(uri: str, transport_params: dict[str, Any] | None) -> list[str]:
    """The objects of an S3 or GCS bucket that match a pattern, or lie under a prefix that ends in a slash."""
    bucket, _, pattern = uri.partition("://")[2].partition("/")
    prefix = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
    try:
        if scheme_of(uri) == "gs":
            keys = [blob.name for blob in gs_client(transport_params).list_blobs(bucket, prefix=prefix)]
        else:
            pages = s3_client(transport_params).get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
            keys = [item["Key"] for page in pages for item in page.get("Contents", [])]
    except ImportError as error:
        raise missing_package(uri, error) from error
    except Exception as error:  # each client has its own
        raise OSError(f"{uri} cannot be listed: {error}") from error
    wanted = re.compile(fnmatch.translate(pattern + "*" if pattern.endswith("/") or not pattern else pattern))
    found = sorted(f"{scheme_of(uri)}://{bucket}/{key}" for key in keys if wanted.match(key) and not key.endswith("/"))
    if not found:
        raise FileNotFoundError(f"no object matches {uri}")
    return found


def facts(uri: str, transport_params: dict[str, Any] | None) -> tuple[int | None, str | None]:
    """Size and version tag of a remote file, each None where its server does not tell."""
    try:
        if scheme_of(uri) in S3_SCHEMES:
            bucket, _, key = uri.partition("://")[2].partition("/")
            head = s3_client(transport_params).head_object(Bucket=bucket, Key=key)
            return head["ContentLength"], head["ETag"]
        if scheme_of(uri) in ("http", "https"):
            with urllib.request.urlopen(urllib.request.Request(uri, method="HEAD"), timeout=30) as answer:
                size, tag = answer.headers["Content-Length"], answer.headers["ETag"] or answer.headers["Last-Modified"]
                return size and int(size), tag
    except Exception as error:  # opening the file, which comes next, says it better if this matters
        logger.debug("nothing is known of %s: %s", uri, error)
    return None, None

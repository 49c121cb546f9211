"""Paths and URIs: what a name tells of the file behind it, before anything is opened."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from smart_open.compression import get_supported_extensions

AnyPath = str | os.PathLike[str]
S3_SCHEMES = ("s3", "s3a", "s3n")
# What to install for a scheme or a compression, where it is not installed with this package.
PACKAGES = dict.fromkeys(S3_SCHEMES, "gensim-hilbert[s3]") | {
    "gs": "gensim-hilbert[gcs]",
    "http": "gensim-hilbert[http]",
    "https": "gensim-hilbert[http]",
    ".zst": "gensim-hilbert[zst]",
    ".lz4": "smart_open[lz4]",
}


def is_local(name: str) -> bool:
    """Tell whether a name is a path on this machine and not a URI."""
    return "://" not in name


def name_of(path: AnyPath) -> str:
    """Return a path or a URI as a str that smart_open understands."""
    name = os.fsdecode(path).removeprefix("file://")
    return os.path.expanduser(name) if is_local(name) else name


def scheme_of(uri: str) -> str:
    """Return what stands before `://` in a URI."""
    return uri.partition("://")[0]


def bucket_and_key(uri: str) -> tuple[str, str]:
    """Return the two parts of the URI of an object in a bucket."""
    bucket, _, key = uri.partition("://")[2].partition("/")
    return bucket, key


def path_of(uri: str) -> str:
    """Return a name without the query that a web address may have."""
    return urlsplit(uri).path if uri.startswith(("http://", "https://")) else uri


def compression_of(name: str) -> str:
    """Return the suffix by which smart_open decompresses a file, such as ".gz", or "" if it is not compressed."""
    suffix = Path(path_of(name)).suffix.lower()
    return suffix if suffix in get_supported_extensions() else ""


def uncompressed_name(name: str) -> str:
    """Return the last part of a path in lower case, without the suffix of a compression."""
    return path_of(name).rpartition("/")[2].lower().removesuffix(compression_of(name))


def missing_package(uri: str, error: ImportError) -> ImportError:
    """Return an error that tells which package to install to open a file."""
    package = PACKAGES.get(compression_of(uri)) or PACKAGES.get(scheme_of(uri))
    how = f"pip install '{package}'" if package else "see smart_open's documentation for what it needs"
    return ImportError(f"{uri} needs a package that is not installed ({error}): {how}")

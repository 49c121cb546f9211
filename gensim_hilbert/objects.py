"""Objects in a bucket of S3, with the part of pathlib's interface that stores of counts need.

An object appears whole or not at all, and cannot be changed or renamed. Credentials and addresses are found as boto3
finds them: in the environment (AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID ...), in ~/.aws, or in the role of the machine. A
request that gets no answer within a minute, or is refused for a reason that may pass, is repeated a few times.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from gensim_hilbert.files import remove, temporary_name
from gensim_hilbert.locations import S3_SCHEMES, bucket_and_key, missing_package, scheme_of

CONNECT_SECONDS, ANSWER_SECONDS, ATTEMPTS = 10, 60, 6
AHEAD_BYTES = 1 << 20  # fetched at once from an object that is read from its beginning to its end
MOST_DELETED = 1000  # objects by one request
MISSING = ("404", "NoSuchKey", "NotFound")
EXISTING = ("412", "PreconditionFailed", "409", "ConditionalRequestConflict")


@dataclass(frozen=True, order=True)
class ObjectPath:
    """The place of an object, or of a folder: what the names of many objects begin with."""

    bucket: str
    key: str  # without a slash at its end

    @classmethod
    def parse(cls, uri: str) -> ObjectPath:
        """Make one of a URI, or raise a ValueError if that is no place in a bucket."""
        bucket, key = bucket_and_key(uri)
        key = key.strip("/")
        if scheme_of(uri) not in S3_SCHEMES or not bucket or not key or "//" in key:
            raise ValueError(f"{uri} is no place in a bucket; give one such as s3://bucket/name")
        return cls(bucket, key)

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}"

    def __fspath__(self) -> str:
        return str(self)

    def __truediv__(self, name: str) -> ObjectPath:
        return ObjectPath(self.bucket, f"{self.key}/{name}")

    @property
    def name(self) -> str:
        """The last part of its key."""
        return self.key.rpartition("/")[2]

    def with_name(self, name: str) -> ObjectPath:
        """Return a place beside this one."""
        folder, slash, _ = self.key.rpartition("/")
        return ObjectPath(self.bucket, folder + slash + name)

    # ------------------------------------------------------------------ looking

    def exists(self) -> bool:
        """Tell whether there is such an object."""
        try:
            self.facts()
        except FileNotFoundError:
            return False
        return True

    def facts(self) -> tuple[int, datetime, datetime]:
        """Return its size, the time it was written, and the time of now by the same clock."""
        with _named(self):
            head = _client().head_object(**self._address)
        now = _http_time(head["ResponseMetadata"]["HTTPHeaders"].get("date"), head["LastModified"])
        return head["ContentLength"], head["LastModified"], now

    def below(self) -> dict[str, int]:
        """Return the sizes of all objects in this folder, by their names within it."""
        prefix = self.key + "/"
        with _named(self):
            pages = _client().get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
            return {item["Key"][len(prefix) :]: item["Size"] for page in pages for item in page.get("Contents", [])}

    # ------------------------------------------------------------------ reading

    def read_bytes(self, start: int = 0, stop: int | None = None) -> bytes:
        """Return its bytes, or those from `start` to `stop`."""
        if stop is not None and stop <= start:
            return b""
        wanted = {"Range": f"bytes={start}-{'' if stop is None else stop - 1}"} if start or stop is not None else {}
        for left in reversed(range(ATTEMPTS)):
            with _named(self):
                answer = _client().get_object(**self._address, **wanted)
            try:
                data: bytes = answer["Body"].read()
            except Exception as error:  # The connection broke in the midst of an answer, which boto3 does not repeat.
                if not left:
                    raise OSError(f"{self} cannot be read: {error}") from error
            else:
                return data
        raise AssertionError

    def open(self, mode: str = "rb", encoding: str | None = None) -> Any:
        """Open the object to be read, as bytes or as text."""
        if mode not in ("r", "rb"):
            raise ValueError(f"an object can be opened to be read only, got mode {mode!r}")
        size, _, _ = self.facts()
        stream = io.BufferedReader(ObjectReader(self, 0, size), AHEAD_BYTES)
        return stream if mode == "rb" else io.TextIOWrapper(stream, encoding=encoding)

    def download(self, path: Path) -> None:
        """Copy it to a local file."""
        with _named(self):
            _client().download_file(self.bucket, self.key, os.fspath(path))

    # ------------------------------------------------------------------ writing

    def write_bytes(self, data: bytes) -> None:
        """Write it anew."""
        with _named(self):
            _client().put_object(**self._address, Body=data)

    def create(self, data: bytes) -> bool:
        """Write it if there is no such object yet, and tell whether there was none; no two processes can both do so."""
        with _named(self):
            try:
                _client().put_object(**self._address, Body=data, IfNoneMatch="*")
            except _errors().ClientError as error:
                if error.response.get("Error", {}).get("Code") not in EXISTING:
                    raise
                return False
        return True

    @contextmanager
    def created(self) -> Iterator[BinaryIO]:
        """Yield a local file that becomes the object when it is complete."""
        with tempfile.TemporaryFile(prefix="gensim_hilbert-") as file:
            yield file
            file.seek(0)
            with _named(self):
                _client().upload_fileobj(file, self.bucket, self.key)

    def copy_to(self, other: ObjectPath) -> None:
        """Have the server copy the object."""
        with _named(self):
            _client().copy({"Bucket": self.bucket, "Key": self.key}, other.bucket, other.key)

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove the object; S3 does not tell whether there was one."""
        with _named(self):
            _client().delete_object(**self._address)

    def remove_below(self, names: list[str]) -> None:
        """Remove objects of this folder by their names within it."""
        for first in range(0, len(names), MOST_DELETED):
            wanted = [{"Key": f"{self.key}/{name}"} for name in names[first : first + MOST_DELETED]]
            with _named(self):
                answer = _client().delete_objects(Bucket=self.bucket, Delete={"Objects": wanted, "Quiet": True})
            if failed := answer.get("Errors"):
                raise OSError(f"s3://{self.bucket}/{failed[0]['Key']} cannot be removed: {failed[0].get('Message')}")

    def mkdir(self, **options: Any) -> None:
        """Do nothing: folders of a bucket are but names."""

    @property
    def _address(self) -> dict[str, str]:
        return {"Bucket": self.bucket, "Key": self.key}


class ObjectReader(io.RawIOBase):
    """Reads the bytes from `start` to `stop` of an object, one request for each piece."""

    def __init__(self, path: ObjectPath, start: int, stop: int):
        self.name = str(path)
        self._path, self._position, self._stop = path, start, stop

    def readable(self) -> bool:
        """Return True: this file can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, unless the end comes before."""
        data = self._path.read_bytes(self._position, min(self._stop, self._position + len(buffer)))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)


Place = Path | ObjectPath


def place_of(name: str) -> Place:
    """Return a local path, or a place in a bucket if the name is a URI of one."""
    return ObjectPath.parse(name) if scheme_of(name) in S3_SCHEMES else Path(name)


@contextmanager
def created(place: Place) -> Iterator[BinaryIO]:
    """Open a file or an object to be written, which appears when it is complete."""
    if isinstance(place, ObjectPath):
        with place.created() as file:
            yield file
        return
    temporary = temporary_name(os.fspath(place))  # A task may be run twice at the same time.
    try:
        with open(temporary, "wb") as file:
            yield file
        os.replace(temporary, place)
    except BaseException:
        remove(temporary)
        raise


def opened_at(place: Place, start: int, stop: int, buffering: int = -1) -> Any:
    """Open a file or an object to be read from `start`, to `stop` at most; `buffering` of a file is as for `open`."""
    if isinstance(place, ObjectPath):
        return ObjectReader(place, start, stop)
    file = open(place, "rb", buffering)  # noqa: SIM115  # closed by whoever asked for it
    file.seek(start)
    return file


# ---------------------------------------------------------------------------------------------------- boto3


def _client() -> Any:
    """Return the client of this process; a fork must not share its connections."""
    return _client_of(os.getpid())


@cache
def _client_of(process: int) -> Any:
    try:
        import boto3
        from botocore.config import Config
    except ImportError as error:
        raise missing_package("s3://", error) from error
    return boto3.client(
        "s3",
        config=Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=ANSWER_SECONDS,
            retries={"mode": "standard", "max_attempts": ATTEMPTS},
            max_pool_connections=64,
        ),
    )


def _errors() -> Any:
    from botocore import exceptions

    return exceptions


@contextmanager
def _named(path: ObjectPath) -> Iterator[None]:
    """Turn the errors of boto3 into those of files, with the name of the object."""
    try:
        yield
    except (OSError, ImportError):
        raise
    except Exception as error:  # boto3 has many kinds.
        code = getattr(error, "response", {}).get("Error", {}).get("Code")
        if code in MISSING:
            raise FileNotFoundError(f"{path} does not exist") from error
        if code in ("403", "AccessDenied"):
            raise PermissionError(f"{path} may not be used: {error}") from error
        raise OSError(f"{path} cannot be used: {error}") from error


def _http_time(text: str | None, otherwise: datetime) -> datetime:
    from email.utils import parsedate_to_datetime

    return parsedate_to_datetime(text) if text else otherwise

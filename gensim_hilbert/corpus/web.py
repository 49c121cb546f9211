"""Reads files from web servers: goes on after failures from where it was, and notices files that change or end early.

A request that fails in a way that may pass (the connection is refused, reset or silent for too long, the body ends too
early, or the status is one of RETRIED) is repeated after a pause, which doubles each time. The rest of the file is
asked for by `Range`, guarded by `If-Range`; from a server that sends the whole file all the same, what has been read
already is skipped, if it is the same file.
"""

from __future__ import annotations

import io
import logging
import random
import re
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from zlib import crc32

from gensim_hilbert.corpus.identity import NOTHING_KNOWN, CorpusChanged, FileFacts, refuse_change

logger = logging.getLogger(__name__)

TransportParams = dict[str, Any] | None
Result = TypeVar("Result")

TRIES = 6  # in a row that bring nothing, before an error is raised
MOST_FAILURES = 100  # while one file is read: a server that breaks off every time must bring large pieces
PAUSE_SECONDS = 0.5  # after the first failure
LONGEST_PAUSE_SECONDS = 60.0  # whatever the server asks for by Retry-After
TIMEOUT_SECONDS = 60.0  # how long a server may be silent; `timeout` in the transport parameters takes precedence
LONG_READING_SECONDS = 5.0  # A file that takes longer to be read is looked up again at its end.
PIECE_BYTES = 1 << 17
RETRIED = (408, 425, 429, 500, 502, 503, 504)
_CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")


class TemporaryFailure(Exception):
    """Raised for a request that may succeed if it is repeated."""

    def __init__(self, reason: str, pause: float | None = None):
        super().__init__(reason)
        self.pause = pause  # seconds that the server asks to wait


class Patience:
    """Counts failures, pauses after each of them, and raises an error when there have been too many."""

    def __init__(self, uri: str):
        self.uri = uri
        self.in_a_row = self.in_all = 0

    def wait(self, failure: TemporaryFailure) -> None:
        """Pause before the next try, or raise an error."""
        self.in_a_row += 1
        self.in_all += 1
        if self.in_a_row >= TRIES or self.in_all >= MOST_FAILURES:
            raise OSError(f"{failure}, after {self.in_all} failures") from failure
        doubled = PAUSE_SECONDS * 2 ** (self.in_a_row - 1) * random.uniform(0.75, 1.25)  # so that workers spread out
        pause = min(LONGEST_PAUSE_SECONDS, doubled if failure.pause is None else failure.pause)
        logger.info("%s: %s; trying again in %.1f s", self.uri, failure, pause)
        time.sleep(pause)

    def repeat(self, action: Callable[[], Result]) -> Result:
        """Return the result of the first time that an action does not fail."""
        while True:
            try:
                return action()
            except TemporaryFailure as failure:
                self.wait(failure)


# ---------------------------------------------------------------------------------------------------- requests


def send(method: str, uri: str, transport_params: TransportParams, headers: dict[str, str]) -> Any:
    """Send one request, with the transport parameters that smart_open has for it; return the response, unread."""
    import requests

    params = transport_params or {}
    try:
        response = (params.get("session") or requests).request(
            method,
            uri,
            headers={"Accept-Encoding": "identity", **(params.get("headers") or {}), **headers},
            auth=credentials(params),
            cert=params.get("cert"),
            timeout=params.get("timeout") or TIMEOUT_SECONDS,
            stream=True,
            allow_redirects=True,
        )
    except (requests.ConnectionError, requests.Timeout) as error:
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            raise OSError(f"the server's certificate is refused: {error}") from error
        raise TemporaryFailure(f"no answer from the server: {error}") from error
    except requests.RequestException as error:
        raise OSError(f"no request can be sent: {error}") from error
    if response.status_code in RETRIED:
        response.close()
        raise TemporaryFailure(status_of(response), asked_pause(response))
    return response


def credentials(params: dict[str, Any]) -> Any:
    """Return what requests takes as `auth`."""
    if params.get("kerberos"):
        from requests_kerberos import HTTPKerberosAuth

        return HTTPKerberosAuth()
    given = params.get("user"), params.get("password")
    return None if None in given else given


def status_of(response: Any) -> str:
    """Return a status as people know it, such as 404 Not Found."""
    return f"{response.status_code} {response.reason or ''}".rstrip()


def asked_pause(response: Any) -> float | None:
    """Return the seconds that a server asks for by Retry-After, which holds seconds or a date."""
    value = response.headers.get("Retry-After", "")
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def facts_in(response: Any) -> FileFacts:
    """Return what the headers of a response tell of the whole file."""
    headers = response.headers
    length = headers.get("Content-Length", "")
    size = int(length) if length.isdecimal() and response.status_code == 200 else None
    if response.status_code in (206, 416):
        size = range_in(response)[1]
    return FileFacts(size, etag=headers.get("ETag"), modified=headers.get("Last-Modified"))


def range_in(response: Any) -> tuple[int | None, int | None]:
    """Return where the body of a response starts in the file, and the size of that, as Content-Range tells them."""
    match = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if match is None:
        return None, None
    start, size = match.groups()
    return None if start is None else int(start), None if size == "*" else int(size)


def look_up(uri: str, transport_params: TransportParams) -> FileFacts:
    """Return what a server tells of a file, of which nothing may be known: opening it then tells why."""

    def ask(method: str, **headers: str) -> tuple[int, FileFacts]:
        with send(method, uri, transport_params, headers) as response:
            return response.status_code, facts_in(response)

    patience = Patience(uri)
    try:
        status, facts = patience.repeat(lambda: ask("HEAD"))
        if status not in (200, 404, 410):  # Some servers have no HEAD, or refuse it.
            status, facts = patience.repeat(lambda: ask("GET", Range="bytes=0-0"))
    except OSError as error:
        raise ConnectionError(f"{uri} cannot be read: {error}") from error
    if status not in (200, 206):
        return NOTHING_KNOWN
    return facts if facts.size else facts._replace(size=None)  # To HEAD, some answer that the size is 0.


# ---------------------------------------------------------------------------------------------------- reading


class WebFile(io.RawIOBase):
    """A file on a web server, read from its beginning to its end.

    Parameters
    ----------
    uri : str
        Its address.
    transport_params : dict, optional
        Parameters of smart_open's transport for web addresses.
    facts : FileFacts
        What was known of it at the first look; if it is found to be another file now, an error is raised.
    """

    def __init__(self, uri: str, transport_params: TransportParams, facts: FileFacts):
        self.uri, self.transport_params = uri, transport_params
        self.facts = facts
        self.position = self.checksum = 0
        self.ended = False
        self.patience = Patience(uri)
        self.response: Any = None
        self.started = time.monotonic()
        self.patience.repeat(self._request)

    def readable(self) -> bool:
        """Return True: this file can be read."""
        return True

    def tell(self) -> int:
        """Return how many bytes have been read."""
        return self.position

    def readinto(self, buffer: Any) -> int:
        """Read some bytes, after failures also by further requests; 0 only at the end that was promised."""
        data = self.patience.repeat(lambda: self._read(min(len(buffer), PIECE_BYTES)))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the connection."""
        self._hang_up()
        super().close()

    def _hang_up(self) -> None:
        if getattr(self, "response", None) is not None:
            self.response.close()
            self.response = None

    def _read(self, wanted: int) -> bytes:
        if self.response is None and not self.ended:
            self._request()
        if self.ended:
            return b""
        size = self.facts.size
        try:
            data = self._receive(wanted)
        except TemporaryFailure:
            if self.position != size:
                raise
            data = b""  # Only the end of the message is missing.
        if not data and size is not None and self.position < size:
            self._hang_up()
            raise TemporaryFailure(f"the answer ends at byte {self.position} of {size}")
        self.position += len(data)
        if size is not None and self.position > size:
            raise CorpusChanged(self.uri, f"is longer than it was: more than {size} bytes")
        self.checksum = crc32(data, self.checksum)
        if data:
            self.patience.in_a_row = 0
        else:
            self.ended = True
            if time.monotonic() - self.started > LONG_READING_SECONDS:
                refuse_change(self.uri, self.facts, look_up(self.uri, self.transport_params))
        return data

    def _receive(self, wanted: int) -> bytes:
        """Return what has arrived, at most as many bytes as wanted, and at least one before the end."""
        import urllib3

        try:
            # `read` would wait for all of them, and forget the first if the last do not come.
            data: bytes = self.response.raw.read1(wanted, decode_content=False) or b""
        except (urllib3.exceptions.HTTPError, OSError) as error:
            self._hang_up()
            raise TemporaryFailure(f"the connection failed at byte {self.position}: {error}") from error
        return data

    def _validator(self) -> str | None:
        """Return what tells a server for certain which file is meant: a strong ETag, or else the time."""
        etag = self.facts.etag
        if etag and not etag.startswith("W/"):
            return etag
        return None if self.facts.modified is None else str(self.facts.modified)

    def _request(self) -> None:
        """Ask for the file, or for its rest."""
        headers = {}
        if self.position and (validator := self._validator()):
            headers = {"Range": f"bytes={self.position}-", "If-Range": validator}
        response = send("GET", self.uri, self.transport_params, headers)
        try:
            self._accept(response)
        except BaseException:
            response.close()
            self.response = None
            raise

    def _accept(self, response: Any) -> None:
        """Take over a response that continues what has been read so far, from there on."""
        status, found = response.status_code, facts_in(response)
        if status == 416 and self.position and found.size == self.position:
            self.ended = True
            response.close()
            return
        if status not in (200, 206, 416):
            raise OSError(status_of(response))
        refuse_change(self.uri, self.facts, found)
        self.facts = self.facts.completed(found)
        if status == 416 or (status == 206 and range_in(response)[0] != self.position):
            raise OSError(f"the server answers bytes={self.position}- by {response.headers.get('Content-Range')}")
        self.response = response
        if status == 200 and self.position:
            self._skip()

    def _skip(self) -> None:
        """Read again what has been read before, and make sure that it is the same."""
        left, checksum = self.position, 0
        while left:
            data = self._receive(min(left, PIECE_BYTES))
            if not data:
                self._hang_up()
                raise TemporaryFailure(f"the answer ends at byte {self.position - left}, before byte {self.position}")
            checksum = crc32(data, checksum)
            left -= len(data)
        if checksum != self.checksum:
            raise CorpusChanged(self.uri, f"has changed: its first {self.position} bytes are others than before")

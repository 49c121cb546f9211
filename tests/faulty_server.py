"""A real web server that fails in the ways in which servers do, once or for ever, as a test tells it."""

from __future__ import annotations

import contextlib
import http.server
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

DATE = "Sat, 01 Aug 2020 10:00:00 GMT"


class Request(NamedTuple):
    """What a client has asked for."""

    method: str
    name: str
    range: str | None
    if_range: str | None


@dataclass
class Site:
    """What the server has, and how it answers."""

    files: dict[str, bytes] = field(default_factory=dict)
    etag: str | None = '"1"'
    modified: str | None = None
    has_ranges: bool = True
    has_head: bool = True
    faults: dict[str, list[Callable]] = field(default_factory=dict)  # for each file those of the next GETs
    always: dict[str, Callable] = field(default_factory=dict)  # for each file the one of every GET
    log: list[Request] = field(default_factory=list)

    def requested(self, method: str, name: str | None = None) -> list[Request]:
        """The requests of a kind."""
        return [request for request in self.log if request.method == method and name in (None, request.name)]


class FaultyHandler(http.server.BaseHTTPRequestHandler):
    """Serves the files of `server.site`, with strong or weak validators or none, and with the faults it is told."""

    protocol_version = "HTTP/1.1"

    def do_HEAD(self):  # the names are http.server's
        self.answer("HEAD")

    def do_GET(self):
        self.answer("GET")

    def answer(self, method):
        site, name = self.server.site, self.path.strip("/")
        asked, if_range = self.headers["Range"], self.headers["If-Range"]
        site.log.append(Request(method, name, asked, if_range))
        self.close_connection = True
        if name not in site.files:
            return self.send_plain(404)
        if method == "HEAD" and not site.has_head:
            return self.send_plain(405)
        data, start, stop = site.files[name], 0, len(site.files[name])
        if asked and site.has_ranges and if_range in (None, site.etag, site.modified):
            first, _, last = asked.removeprefix("bytes=").partition("-")
            start, stop = int(first), min(stop, int(last) + 1) if last else stop
        fault = whole
        if method == "GET":
            fault = site.always.get(name) or (site.faults[name].pop(0) if site.faults.get(name) else whole)
        if start >= len(data) > 0:
            return self.send_plain(416, {"Content-Range": f"bytes */{len(data)}"})
        headers = {"ETag": site.etag, "Last-Modified": site.modified}
        if asked and site.has_ranges and if_range in (None, site.etag, site.modified):
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{len(data)}"
        body = data[start:stop]
        if method == "HEAD":
            return self.send_head({**headers, "Content-Length": str(len(body))})
        return fault(self, headers, body)

    def send_plain(self, status, headers=()):
        self.send_response(status)
        for name, value in {**dict(headers), "Content-Length": "0"}.items():
            self.send_header(name, value)
        self.end_headers()

    def send_head(self, headers):
        self.send_response(206 if "Content-Range" in headers else 200)
        for name, value in headers.items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()

    def send_body(self, body):
        with contextlib.suppress(ConnectionError):
            self.wfile.write(body)

    def log_message(self, *args):
        pass


# ---------------------------------------------------------------------------------------------------- faults


def whole(handler, headers, body):
    handler.send_head({**headers, "Content-Length": str(len(body))})
    handler.send_body(body)


def status(code, **headers):
    return lambda handler, _, body: handler.send_plain(
        code, {name.replace("_", "-"): value for name, value in headers.items()}
    )


def cut(at):
    """The connection is closed after so many bytes; the headers have promised more."""

    def fault(handler, headers, body):
        handler.send_head({**headers, "Content-Length": str(len(body))})
        handler.send_body(body[:at])

    return fault


def cut_silently(at):
    """The same, but the headers of this answer do not tell its length."""

    def fault(handler, headers, body):
        handler.send_head({**headers, "Connection": "close"})
        handler.send_body(body[:at])

    return fault


def cut_chunked(at):
    """The last chunk is missing."""

    def fault(handler, headers, body):
        handler.send_head({**headers, "Transfer-Encoding": "chunked"})
        handler.send_body(b"%x\r\n%s\r\n" % (len(body[:at]), body[:at]))

    return fault


def end_chunked(at):
    """The server has ended the message properly, but too early."""

    def fault(handler, headers, body):
        handler.send_head({**headers, "Transfer-Encoding": "chunked"})
        handler.send_body(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body[:at]), body[:at]))

    return fault


def reset(at):
    """The connection is reset after so many bytes."""

    def fault(handler, headers, body):
        handler.send_head({**headers, "Content-Length": str(len(body))})
        handler.send_body(body[:at])
        handler.wfile.flush()
        time.sleep(0.05)  # or what is on its way would be lost, too
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()

    return fault


def stall(at, seconds):
    """Nothing comes for a while."""

    def fault(handler, headers, body):
        handler.send_head({**headers, "Content-Length": str(len(body))})
        handler.send_body(body[:at])
        time.sleep(seconds)

    return fault


def then(at, action):
    """Something happens while the file is being sent."""

    def fault(handler, headers, body):
        handler.send_head({**headers, "Content-Length": str(len(body))})
        handler.send_body(body[:at])
        action()
        handler.send_body(body[at:])

    return fault

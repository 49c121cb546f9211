"""The explorer as an ASGI application that answers its own page only."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from gensim_hilbert.explore.desk import Desk
from gensim_hilbert.explore.encoding import as_json
from gensim_hilbert.explore.endpoints import ENDPOINTS, Explorer
from gensim_hilbert.explore.refusals import BusyError, RefusalsAsAnswers, refusal
from gensim_hilbert.explore.static_files import STATIC
from gensim_hilbert.explore.words import UnknownWordError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

API = "/api/"
STATUS = {UnknownWordError: 404, ValueError: 400, BusyError: 503}
LONGEST_QUERY = 16_000  # bytes: four times the longest sentence, with every character escaped
HEADERS = {
    "content-security-policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}
ADDED_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


class Gate:
    """Lets a request through only if it comes from the explorer's own page.

    The token is the first part of every path. The headers Host and Origin must name this machine: a foreign page whose
    name has been made to lead here (DNS rebinding) sends its own name.
    """

    def __init__(self, app: ASGIApp, token: str, port: int):
        self.app = app
        self.token = token.encode()
        self.hosts = {f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost")}
        self.origins = {b"http://" + host for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on without the token."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        hosts = [value for name, value in headers if name == b"host"]
        origins = [value for name, value in headers if name == b"origin"]
        _, token, rest = (*scope["path"].split("/", 2), "", "")[:3]
        right_token = secrets.compare_digest(token.encode(), self.token)
        if len(hosts) != 1 or hosts[0] not in self.hosts or not set(origins) <= self.origins or not right_token:
            await refuse(send)
            return

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *ADDED_HEADERS]}
            await send(message)

        path = "/" + rest
        await self.app({**scope, "path": path, "raw_path": path.encode()}, receive, send_with_headers)


async def refuse(send: Send) -> None:
    """Answer a request that does not come from the page."""
    text = b"Forbidden: open the address that gensim-hilbert explore has printed.\n"
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(text)).encode())]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": text})


class Api:
    """Answers the endpoints, which come by the path /api/ENDPOINT."""

    def __init__(self, explorer: Explorer):
        self.desk = Desk(explorer)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        status, body = await self.answer(scope)
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if status == 405:
            headers.append((b"allow", b"GET, HEAD"))
        if status == 503:
            headers.append((b"retry-after", b"1"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    async def answer(self, scope: Scope) -> tuple[int, bytes]:
        """Return the status and the body of an answer."""
        name = scope["path"].removeprefix(API)
        if scope["method"] not in ("GET", "HEAD"):
            return 405, as_json({"error": f"the explorer only answers GET, got {scope['method']}"})
        if name not in ENDPOINTS:
            return 404, as_json({"error": f"there is no endpoint {name!r}"})
        if len(scope["query_string"]) > LONGEST_QUERY:
            return 414, as_json({"error": f"a query must have at most {LONGEST_QUERY:,} bytes"})
        try:
            query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
            return 200, await self.desk.ask(name, query)
        except Exception as error:
            status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 500)
            return status, refusal(name, error)


def application(explorer: Explorer, token: str, port: int) -> ASGIApp:
    """Return the ASGI application; its paths are /TOKEN/, /TOKEN/static/FILE and /TOKEN/api/ENDPOINT."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import FileResponse, Response
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles

    async def page(request: Request) -> Response:
        return FileResponse(STATIC / "index.html", media_type="text/html; charset=utf-8")

    pages, api = Starlette(routes=[Route("/", page), Mount("/static", StaticFiles(directory=STATIC))]), Api(explorer)

    async def either(scope: Scope, receive: Receive, send: Send) -> None:
        # Questions do not take the way through routes and middleware, which would double what they cost.
        await (api if scope.get("path", "").startswith(API) else pages)(scope, receive, send)

    return Gate(RefusalsAsAnswers(either), token, port)

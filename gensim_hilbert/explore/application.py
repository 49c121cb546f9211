"""The explorer as an ASGI application that answers its own page only."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gensim_hilbert.explore.endpoints import ENDPOINTS, Explorer, as_json
from gensim_hilbert.explore.refusals import RefusalsAsAnswers
from gensim_hilbert.explore.words import UnknownWordError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

STATIC = Path(__file__).parent / "static"
HEADERS = {
    "content-security-policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}


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
                added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        path = "/" + rest
        await self.app({**scope, "path": path, "raw_path": path.encode()}, receive, send_with_headers)


async def refuse(send: Send) -> None:
    """Answer a request that does not come from the page."""
    text = b"Forbidden: open the address that gensim-hilbert explore has printed.\n"
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(text)).encode())]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": text})


def application(explorer: Explorer, token: str, port: int) -> ASGIApp:
    """Return the ASGI application; its paths are /TOKEN/, /TOKEN/static/FILE and /TOKEN/api/ENDPOINT."""
    from anyio import CapacityLimiter, to_thread
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import FileResponse, Response
    from starlette.routing import Mount, Route
    from starlette.staticfiles import StaticFiles

    limiters: list[CapacityLimiter] = []  # made in the loop that it belongs to

    async def answer(request: Request) -> Response:
        if not limiters:
            # More threads than cores would only compete for memory.
            limiters.append(CapacityLimiter(max(2, os.cpu_count() or 1)))
        name = request.path_params["name"]
        if name not in ENDPOINTS:
            return json_response({"error": f"there is no endpoint {name!r}"}, 404)
        try:
            body = await to_thread.run_sync(explorer.encoded, name, dict(request.query_params), limiter=limiters[0])
        except UnknownWordError as error:
            return json_response({"error": str(error.args[0])}, 404)
        except ValueError as error:
            return json_response({"error": str(error)}, 400)
        return Response(body, media_type="application/json")

    def json_response(value: Any, status: int) -> Response:
        return Response(as_json(value), status, media_type="application/json")

    async def page(request: Request) -> Response:
        return FileResponse(STATIC / "index.html", media_type="text/html; charset=utf-8")

    routes = [
        Route("/", page),
        Route("/api/{name}", answer),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Gate(RefusalsAsAnswers(Starlette(routes=routes)), token, port)

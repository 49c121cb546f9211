"""Refusals as answers: browsers report failed requests on the console, however well the page tells them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

PREFERENCE = (b"prefer", b"status=200")


class RefusalsAsAnswers:
    """Changes the status of refusals to 200 where the header `Prefer: status=200` asks for it; the body stays."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""

        async def send_as_answer(message: Any) -> None:
            if message["type"] == "http.response.start" and 400 <= message["status"] < 500:
                message = {**message, "status": 200}
            await send(message)

        preferred = PREFERENCE in scope.get("headers", [])
        await self.app(scope, receive, send_as_answer if preferred else send)

"""What the page is told if a question is not answered."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from gensim_hilbert.explore.encoding import as_json
from gensim_hilbert.explore.words import UnknownWordError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

logger = logging.getLogger(__name__)

PREFERENCE = (b"prefer", b"status=200")


class BusyError(Exception):
    """Too many requests are waiting."""


def refusal(name: str, error: Exception) -> bytes:
    """Return as JSON why a question was not answered; errors that are no mistake of whoever asked are logged."""
    if isinstance(error, UnknownWordError | ValueError | BusyError):
        return as_json({"error": str(error.args[0] if isinstance(error, KeyError) else error)})
    logger.error("the question %s could not be answered", name, exc_info=error)
    return as_json({"error": f"this could not be answered: {error}"})


class RefusalsAsAnswers:
    """Changes the status of refusals to 200 where the header `Prefer: status=200` asks for it; the body stays.

    Browsers report failed requests on the console, however well the page tells them.
    """

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

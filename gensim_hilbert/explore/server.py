"""Serves the explorer on 127.0.0.1."""

from __future__ import annotations

import logging
import secrets
import socket
from collections.abc import Callable
from types import FrameType

from gensim_hilbert.explore.endpoints import Explorer

HOST = "127.0.0.1"
SHUTDOWN_SECONDS = 0  # that open connections are given, beyond the tenth of a second that uvicorn always waits


def require_server() -> None:
    """Raise an error that names the extra if the packages of the server are not installed."""
    try:
        import starlette  # noqa: F401  # only to see whether it is there
        import uvicorn  # noqa: F401  # the same
    except ImportError as error:
        raise ImportError(
            f"the explorer needs a package that is missing ({error}): pip install 'gensim-hilbert[explore]'"
        ) from error


def listen(port: int = 0) -> socket.socket:
    """Return a socket that listens on 127.0.0.1, on a free port unless one is asked for."""
    # asyncio sends packets without delay (TCP_NODELAY) only if the socket says that it is one of TCP. Otherwise the
    # second packet of an answer waits for 40 ms until the first one is acknowledged.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        reason = f"cannot serve on port {port} of {HOST} ({error.strerror}); without a port, a free one is taken"
        raise OSError(error.errno, reason) from error
    listener.listen(512)
    return listener


def serve(explorer: Explorer, *, port: int = 0, announce: Callable[[str], object]) -> None:
    """Serve the page until the process is interrupted by Ctrl-C or SIGTERM.

    Parameters
    ----------
    explorer : Explorer
        The models.
    port : int
        The port to serve on; 0 takes a free one.
    announce : function
        Called with the address of the page as soon as it can be opened.
    """
    require_server()
    import uvicorn

    from gensim_hilbert.explore.application import application

    listener = listen(port)
    try:
        number = listener.getsockname()[1]
        token = secrets.token_urlsafe(24)

        class Server(uvicorn.Server):
            """Ends at once: whoever waits for an answer then has no use for it any more."""

            def handle_exit(self, sig: int, frame: FrameType | None) -> None:
                """Stop, and do not tell about requests that are cut off."""
                logging.getLogger("uvicorn.error").disabled = True
                super().handle_exit(sig, frame)

        config = uvicorn.Config(
            application(explorer, token, number),
            log_level="error",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        explorer.start()
        announce(f"http://{HOST}:{number}/{token}/")
        try:
            Server(config).run(sockets=[listener])
        except KeyboardInterrupt:  # uvicorn has ended in good order, and passes the signal on
            return
    finally:
        explorer.stop()
        listener.close()

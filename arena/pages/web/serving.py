"""Serves an application on a socket that was bound before, until somebody asks it to end.

Laws:
1. The socket listens before the address is told, so that whoever opens the address is answered.
2. It is bound to this machine alone unless the operator names another address, and `Listening.warning` says then who
   can connect.
3. SIGINT, SIGTERM and SIGHUP end it politely: streams end, answers in progress have `GRACE_S`. Then the signal reaches
   the handler that was there before, so that a command ends as it does otherwise. A signal that was ignored stays so.
"""

from __future__ import annotations

import asyncio
import errno
import re
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from ssl import SSLContext
from typing import Any, Final

import msgspec
import uvicorn
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from arena.core.face import errors
from arena.pages.web.guard import KEY
from arena.pages.web.limits import HEAD_S, Handshake, LimitedConnection, Room, Shares, WebSocket, most_connections

BIND: Final = "127.0.0.1:0"
"""Address at which commands listen unless told otherwise: this machine alone, on a free port."""
GRACE_S: Final = 2
"""Seconds that answers in progress may take at the end."""
STALLED_MS: Final = 30_000
"""A connection is dropped when its other end takes nothing that was sent for so long."""
_BACKLOG: Final = 4_096
"""Connections that wait to be taken. One that finds no place tries again after a second, and then after two."""
_AT_ONCE: Final = 16
"""Connections that are taken before anything else is done."""
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_REMEDIES: Final = {
    errno.EADDRINUSE: "end what listens there, or choose another port (0: any that is free)",
    errno.EACCES: "choose a port from 1024 on",
}
_BIND: Final = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]]+):(\d{1,5})\Z")


class Listening(msgspec.Struct, frozen=True):
    """A socket that is bound and listens."""

    socket: socket.socket
    host: str
    port: int
    is_local: bool

    def url(self, key: str | None = None, path: str = "/") -> str:
        """Returns the address to open, with the key that opens it."""
        host = "localhost" if self.host in ("0.0.0.0", "[::]") else self.host
        return f"http://{host}:{self.port}{path}{'' if key is None else f'?{KEY}={key}'}"

    @property
    def warning(self) -> str:
        """A sentence about who else can connect; empty if nobody can."""
        if self.is_local:
            return ""
        return (
            f"This listens on {self.host}:{self.port}: everybody who reaches that address can connect, and the network "
            "can read what is sent. Without that, use 127.0.0.1, or a web server with TLS in front."
        )


def listen(bind: str = BIND) -> Listening:
    """Binds a socket.

    Args:
        bind: Address and port: `127.0.0.1:8080`, `[::1]:8080`, `localhost:0`. Port 0 is a free one.

    Raises:
        ConfigError: It cannot be bound. Show the message to the operator.
    """
    found = _BIND.fullmatch(bind)
    if found is None or int(found[2]) > 65_535:
        raise errors.ConfigError(f"expected an address and a port like 127.0.0.1:8080, got: {bind!r}; correct it")
    host, port = found[1].strip("[]"), int(found[2])
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except UnicodeError as error:
        raise errors.ConfigError(f"expected the name of a host, got: {error} - at {bind}; correct it") from None
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "give an address of this machine, such as 127.0.0.1")
        reason = str(error.strerror).partition(" (")[0]
        raise errors.ConfigError(f"expected an address to listen at, got: {reason} - at {bind}; {remedy}") from None
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # connections inherit it
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALLED_MS)
    name, port = bound.getsockname()[:2]
    shown = f"[{name}]" if family == socket.AF_INET6 else name
    return Listening(bound, shown, port, ip_address(name.partition("%")[0]).is_loopback)


class Server:
    """Serves an application. `run` may be called once; `stop` ends it, from whatever thread.

    Args:
        app: The application. Its lifespan, if it has one, begins and ends with the server, in the same event loop.
        listening: The socket; it is closed at the end.
        ready: Called once the server answers.
        on_stop: Called when the server begins to end, before it waits for answers in progress. It ends streams.
        on_error: Called with what the application raised: a bug of ours. The browser is told no more than that.
        room: Says of a request how many more bytes and seconds than others its body may take.
        message_bytes: The most that a message of a WebSocket may have; 0: there are no WebSockets.
        tls: The certificate, if it serves TLS itself.
        until: Says several times a second whether it is to end.
    """

    def __init__(
        self,
        app: ASGIApp,
        listening: Listening,
        *,
        ready: Callable[[], object] = lambda: None,
        on_stop: Callable[[], object] = lambda: None,
        on_error: Callable[[Exception], object] = lambda error: None,
        room: Callable[[Scope], Room] = lambda scope: (0, 0.0),
        message_bytes: int = 0,
        tls: SSLContext | None = None,
        until: Callable[[], bool] = lambda: False,
    ) -> None:
        self._listening = listening
        most = most_connections()
        self._shares = Shares(most)

        def connection(**others: Any) -> LimitedConnection | Handshake:
            made = LimitedConnection(self._shares, room, **others)
            return made if tls is None else Handshake(made, tls)

        config = uvicorn.Config(
            _Reporting(app, on_error),
            loop="asyncio",
            http=connection,  # type: ignore[arg-type]
            ws=WebSocket if message_bytes else "none",
            ws_max_size=message_bytes,
            ws_ping_interval=None,
            ws_per_message_deflate=False,
            h11_max_incomplete_event_size=16_384,
            log_config=None,
            log_level="critical",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            backlog=_AT_ONCE,
            timeout_keep_alive=int(HEAD_S),
            timeout_graceful_shutdown=GRACE_S,
        )
        self._uvicorn = _Uvicorn(config, ready, on_stop, until)
        self._signal: int | None = None

    def run(self) -> None:
        """Serves until `stop` is called, or a signal asks for it: then that signal is raised again at the end."""
        with self._heeding(), asyncio.Runner() as runner:
            runner.run(self._uvicorn.serve(sockets=[self._listening.socket]))
        if self._signal is not None:
            signal.raise_signal(self._signal)

    def traffic(self) -> tuple[int, Counter[str]]:
        """Returns how many connections there are, and how many were closed, by reason."""
        return len(self._shares), self._shares.closed

    def stop(self) -> None:
        """Asks the server to end."""
        self._uvicorn.should_exit = True

    def _asked(self, number: int, frame: object) -> None:
        if self._signal is not None:  # once more: whoever asks does not want to wait
            self._uvicorn.force_exit = True
        self._signal = number
        self.stop()

    @contextmanager
    def _heeding(self) -> Iterator[None]:
        """Takes the signals while the block runs. Only the first thread of a process can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        heeded = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self._asked) for number in heeded}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class _Uvicorn(uvicorn.Server):
    """uvicorn that says when it begins and ends, and leaves signals to us."""

    def __init__(
        self,
        config: uvicorn.Config,
        ready: Callable[[], object],
        on_stop: Callable[[], object],
        until: Callable[[], bool],
    ) -> None:
        super().__init__(config)
        self._until = until
        self._ready = ready
        self._on_stop = on_stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(_BACKLOG)  # asyncio has one number for this and for how many it takes at once
        self._ready()

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or self._until()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stop()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Reporting:
    """Passes on what an application raises."""

    def __init__(self, app: ASGIApp, on_error: Callable[[Exception], object]) -> None:
        self._app = app
        self._on_error = on_error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with suppress(ClientDisconnect):  # whoever asked has gone
                await self._app(scope, receive, send)
        except Exception as error:
            self._on_error(error)
            raise

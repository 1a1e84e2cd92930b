"""The door: the one process of a league that the network reaches, as an ASGI application. It has no database.

Laws:
1. Who asks is said by one header, `Authorization: Bearer TOKEN`. It is read nowhere else, and written nowhere.
2. Nothing in it holds up the loop: what takes long is read in parts (`published.py`), or done in a thread (`checks`).
3. An author is bounded in requests, bytes and connections (`limits.py`). Who reads or sends too much is slowed down, so
   that a command comes through; who asks too often is told when to come again.
4. It reads only `published/` and `site/`, and writes only `incoming/` and its own folder, `door/`.
"""

from __future__ import annotations

import asyncio
import base64
import re
import resource
import tarfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route, Router, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from arena.core.face import errors, files
from arena.league.door import checks
from arena.league.door import messages as m
from arena.league.door.author_seats import read_said
from arena.league.door.health import DoorFiles
from arena.league.door.limits import MIB, MOST_OPEN, MOST_SAID, Usage
from arena.league.door.local_requests import LocalRequests, Who
from arena.league.door.orders import Orders
from arena.league.door.published import File, Published
from arena.league.door.refusals import Refusal
from arena.league.door.sockets import Sockets
from arena.league.door.tokens import hash_of, is_token
from arena.league.door.uploads import Announced, Uploads

DESCRIPTORS: Final = 8_192
DATA_BYTES: Final = 512 * MIB
"""What the process may have: so an attack ends the door, and nothing else."""
_TICK_S: Final = 1.0
_LLMS: Final = files.read_text(Path(__file__).with_name("llms.txt"), "a file", files.MOST_TEXT, errors.InternalError)
"""Text that a model reads first when it is given the league's address."""
_NO_STORE: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
_RANGE: Final = re.compile(r"bytes=([0-9]{0,15})-([0-9]{0,15})")
_T = TypeVar("_T")


class Door:
    """A league's door."""

    def __init__(
        self,
        folder: Path,
        check: checks.Check = checks.check,
        *,
        site: ASGIApp | None = None,
        tell: Callable[[str], None] = lambda sentence: None,
        clock: Callable[[], float] = time.monotonic,
        room: Callable[[Path], bool] | None = None,
        falls: int = 0,
    ) -> None:
        """Puts it together; `app` serves.

        Args:
            folder: The league's.
            check: What says whether an archive keeps the rules.
            site: Pages for everybody, at the addresses that the door does not need.
            tell: Called with sentences for the operator.
            clock: The time in seconds; it never goes back.
            room: Says whether the disk has room; None means to look.
            falls: How often it fell over before.
        """
        for name in ("incoming/uploads", "published"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self._tell = tell
        self._clock = clock
        self._published = Published(folder / "published")
        self._usage = Usage()
        orders = Orders(folder / "incoming", self._published, self._usage)
        orders.tidy()
        self._uploads = Uploads(folder / "incoming" / "uploads", **({} if room is None else {"room": room}))
        self._checks = checks.ArchiveChecks(check)
        self._requests = LocalRequests(self._published, orders, self._uploads, self._usage, self._checks, clock)
        self._telling = DoorFiles(folder, clock, falls)
        self._sockets = Sockets(folder, self._published, self._requests, self._usage, self._telling, clock)
        self._open: Counter[str] = Counter()
        """Number of requests and WebSockets in progress by author."""
        self.traffic: Callable[[], tuple[int, Mapping[str, int]]] = lambda: (0, {})
        """Says how many connections the server has, and how many it has closed, by reason."""
        llms = PlainTextResponse(_LLMS, headers=_NO_STORE)
        routes: list[BaseRoute] = [Mount(m.API, app=self._of_authors(_Routes(self))), Route("/llms.txt", llms)]
        if site is not None:
            routes.append(Mount("/", app=site))
        self.app = Starlette(routes=routes, lifespan=self._lifespan, exception_handlers=self._failures())

    @asynccontextmanager
    async def _lifespan(self, app: object) -> AsyncIterator[None]:
        with self._sockets.listening():
            ticking = asyncio.create_task(self._tick())
            try:
                yield
            finally:
                ticking.cancel()
                self._telling.end()
                self._checks.close()

    async def _tick(self) -> None:
        while True:
            now = self._clock()
            self._usage.forget(now)
            with suppress(OSError):
                self._uploads.expire(now)
            self._telling.look(self._sockets.presence(), *self.traffic())
            self._sockets.tick(self._clock())  # last: pings are sent once this yields, and their journeys are measured
            await asyncio.sleep(_TICK_S)

    # Who asks

    def _of_authors(self, app: ASGIApp) -> ASGIApp:
        """Returns an application that only authors reach; `scope["who"]` says which."""

        async def admitted(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["path"] == f"{m.API}/openapi.json":
                return await app(scope, receive, send)
            scope["who"] = who = self._admit(scope)
            self._open[who.author] += 1
            try:
                await app(scope, receive, send)
            finally:
                self._open[who.author] -= 1
                self._open += Counter()  # forgets who has none

        return admitted

    def _admit(self, scope: Scope) -> Who:
        given = Headers(scope=scope).getlist("authorization")
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        key = hash_of(token) if scheme.lower() == "bearer" and is_token(token) else ""
        author = self._published.author_of(key)
        if author is None:
            self._telling.turned_away += 1
            got = "none" if not given else "more than one" if len(given) > 1 else "another" if key else "another form"
            raise Refusal(
                "unknown_token",
                f"expected the header `Authorization: Bearer TOKEN` with a token that the league knows, got: {got}",
                "make one on the page /me or with `arena league token new NAME`; its hash goes to the operator to add",
            )
        self._telling.messages += 1
        if self._open[author] >= MOST_OPEN:
            raise Refusal(
                "too_many", f"expected at most {MOST_OPEN} requests of an author in progress, got: one more",
                "wait for the others", limit="open", retry_after_s=1,
            )  # fmt: skip
        of_http = "plays" if scope["path"] == f"{m.API}/seat" else "requests"
        self._usage.take(key, "handshakes" if scope["type"] == "websocket" else of_http, 1, self._clock())
        return Who(key, author)

    # Errors

    def _failures(self) -> Mapping[Any, Any]:
        async def refused(request: Request | WebSocket, error: Exception) -> Response | None:
            return await self._say(request, self._problem(request, error))

        async def gone(request: Request, error: Exception) -> Response:
            return Response(status_code=400)  # nobody reads it, and it is no fault of the door

        refusals = (Refusal, msgspec.ValidationError, HTTPException, OSError, Exception)
        return {**dict.fromkeys(refusals, refused), ClientDisconnect: gone}

    def _problem(self, request: Request | WebSocket, error: Exception) -> m.Problem:
        if isinstance(error, Refusal):
            return error.problem
        if isinstance(error, msgspec.ValidationError):
            reason = f"expected a request as {m.API}/openapi.json has it, got: {error}"
            return Refusal("malformed", reason, "correct the request").problem
        if isinstance(error, HTTPException):
            there = f"{request.scope.get('method', 'a WebSocket')} {request.url.path}"
            reason = f"expected a request that {m.API}/openapi.json has, got: {there:.200}"
            found = Refusal("unknown", reason, "correct the address or the method").problem
            return msgspec.structs.replace(found, title=error.detail, status=error.status_code)
        if isinstance(error, OSError):
            self._tell(f"could not answer a request: {error}")
            reason = "expected to write to the league's disk, got: an error"
        else:
            reason = "expected an answer, got: a mistake of the door"
        return Refusal("internal", reason, "try again later").problem

    async def _say(self, request: Request | WebSocket, problem: m.Problem) -> Response | None:
        self._telling.refused[problem.code] += 1
        numbers = {"retry-after": problem.retry_after_s, "upload-offset": problem.have}
        headers = _NO_STORE | {name: str(value) for name, value in numbers.items() if value is not None}
        if problem.status == 401:
            headers["www-authenticate"] = "Bearer"
        answer = Response(_json(problem), problem.status, headers, "application/problem+json")
        if isinstance(request, WebSocket):
            await request.send_denial_response(answer)
            return None
        return answer


class _Routes(Router):
    """The requests."""

    def __init__(self, door: Door) -> None:
        self._published = door._published
        self._requests = door._requests
        self._seats = door._sockets.author_seats
        routes = [
            Route("/", self._welcome),
            Route("/openapi.json", self._openapi),
            Route("/versions", self._versions),
            Route("/versions/{bot}/{number}/reports/{kind}", self._report),
            Route("/games", self._games),
            Route("/games/{rules}", self._game),
            Route("/games/{game}/log", self._log),
            Route("/log.zdict", self._dictionary),
            Route("/standings", self._standings),
            Route("/seasons/{tournament}/logs.tar", self._logs),
            Route("/seasons/{tournament}/{file}", self._season),
            Route("/bots/{bot}", self._submit, methods=["PUT"]),
            *(Route(kind.path, self._ordering(kind), methods=[kind.method.upper()]) for kind in m.ORDERS),
            Route("/bots/{bot}/uploads/{digest}", self._have, methods=["HEAD"]),
            Route("/seat", self._seat),
            Route("/seat", self._play, methods=["POST"]),
            WebSocketRoute("/remote", door._sockets.serve),
            WebSocketRoute("/seat", door._sockets.sit),
        ]
        super().__init__(routes)

    async def _welcome(self, request: Request) -> Response:
        return _answer(self._requests.welcome(_who(request)))

    async def _openapi(self, request: Request) -> Response:
        from arena.league.door.openapi import document

        return Response(document(), media_type="application/json")

    async def _versions(self, request: Request) -> Response:
        return _answer(await self._requests.versions(_who(request), _query(request, m.VersionsQuery)))

    async def _games(self, request: Request) -> Response:
        query = msgspec.structs.asdict(_query(request, m.GamesQuery))
        return _answer(self._published.games(_who(request).author, **query))

    async def _game(self, request: Request) -> Response:
        return self._file(request, self._published.game(request.path_params["rules"]), "application/json")

    async def _standings(self, request: Request) -> Response:
        return _answer(self._published.standings(_query(request, m.StandingsQuery).after))

    async def _report(self, request: Request) -> Response:
        bot, number, kind = request.path_params.values()
        file = self._published.report(_who(request).author, f"{bot}/{number}", kind)
        return self._file(request, file, "application/json")

    async def _log(self, request: Request) -> Response:
        public = _query(request, m.LogQuery).public is not None
        file = self._published.log("" if public else _who(request).author, request.path_params["game"])
        return self._file(request, file, "application/zstd")

    async def _dictionary(self, request: Request) -> Response:
        return self._file(request, self._published.dictionary(), "application/octet-stream")

    async def _season(self, request: Request) -> Response:
        tournament, name = request.path_params.values()
        kind = "application/json" if name.endswith(".json") else "application/jsonl"
        return self._file(request, self._published.season(tournament, name), kind)

    def _ordering(self, kind: m.OrderKind) -> Callable[[Request], Awaitable[Response]]:
        """Returns what answers an order of a kind."""

        async def answer(request: Request) -> Response:
            arguments = {name: _named(request, name, m.BotName) for name in request.path_params}
            if kind.query is not None:
                arguments |= msgspec.structs.asdict(_query(request, kind.query))
            ordered = await self._requests.ordered(_who(request), kind.verb, arguments)
            if kind.verb == "seat" and ordered.game:
                await self._seats.expect(_who(request).author, ordered.game)
            return _answer(ordered, 202 if ordered == m.Ordered(order=ordered.order) else 200)

        return answer

    async def _seat(self, request: Request) -> Response:
        return _answer(await self._seats.state(_who(request).author, _query(request, m.WaitQuery).wait))

    async def _play(self, request: Request) -> Response:
        author, query = _who(request).author, _query(request, m.WaitQuery)
        body = bytearray()
        async for piece in request.stream():
            if len(body := body + piece) > MOST_SAID:
                expected = f"expected at most {MOST_SAID} bytes, got: more"
                raise Refusal("too_large", expected, "leave something out", limit="size")
        self._seats.say(author, read_said(body))
        return _answer(msgspec.structs.replace(await self._seats.state(author, query.wait), start={}))

    async def _logs(self, request: Request) -> Response:
        logs = self._published.logs(request.path_params["tournament"], _query(request, m.LogsQuery).games)
        length = 1_024 + sum(tarfile.BLOCKSIZE + one.size + -one.size % tarfile.BLOCKSIZE for one in logs)
        sent = self._tar(_who(request), logs)
        return StreamingResponse(sent, 200, {**_NO_STORE, "content-length": str(length)}, "application/x-tar")

    async def _tar(self, who: Who, logs: list[tarfile.TarInfo]) -> AsyncIterator[bytes]:
        for one in logs:
            yield one.tobuf(tarfile.GNU_FORMAT)
            if (file := self._published.log("", one.name.removesuffix(".jsonl.zst"))).size != one.size:
                raise ConnectionError(f"{one.name} has changed")
            async for piece in self._bytes(who, file, 0, one.size):
                yield piece
            yield bytes(-one.size % tarfile.BLOCKSIZE)
        yield bytes(1_024)  # the end of a tar

    async def _have(self, request: Request) -> Response:
        have = self._requests.have(_who(request), _named(request, "digest", m.Digest))
        return Response(status_code=204, headers={**_NO_STORE, "upload-offset": str(have)})

    async def _submit(self, request: Request) -> Response:
        sent = request.stream()
        try:
            size, offset = _number(request, "content-length"), _number(request, "upload-offset", "0")
            digest = _query(request, m.SubmitQuery).digest
            begun = Announced(_named(request, "bot", m.BotName), digest, offset + size)
            answer = await self._requests.submit(_who(request), begun, offset, sent)
        finally:
            await self._rest(request, sent)
        return _answer(answer, 202 if not answer.version else 200 if answer.same else 201)

    async def _rest(self, request: Request, sent: AsyncIterator[bytes]) -> None:
        """Reads the rest of a body: proxies take an answer before its end for a fault. Who waits for 100 sends none."""
        waits = request.headers.get("expect", "").lower() == "100-continue"
        if waits or _number(request, "content-length", "0") > self._requests.most(_who(request)):
            return
        with suppress(RuntimeError):  # it was read to its end
            async for piece in sent:
                await self._requests.pay(_who(request), "uploads", len(piece))

    # Files

    def _file(self, request: Request, file: File, kind: str) -> Response:
        """Answers with a file, or the part of it that is asked for."""
        etag = f'"{file.digest}"'
        headers = {
            "etag": etag,
            "repr-digest": f"sha-256=:{base64.b64encode(bytes.fromhex(file.digest)).decode()}:",
            "accept-ranges": "bytes",
            "cache-control": "private, no-cache",
        }
        asked = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
        if asked & {etag, "*"}:
            return Response(status_code=304, headers=headers)
        begin, end, status = 0, file.size, 200
        found = _RANGE.fullmatch(request.headers.get("range", ""))
        if found and any(found.groups()) and request.headers.get("if-range", etag) == etag:
            first, last = found.groups()
            begin = int(first) if first else max(0, file.size - int(last))
            end = min(file.size, int(last) + 1) if first and last else file.size
            if begin >= end:
                headers["content-range"] = f"bytes */{file.size}"
                return Response(status_code=416, headers=headers)
            status = 206
            headers["content-range"] = f"bytes {begin}-{end - 1}/{file.size}"
        headers["content-length"] = str(end - begin)
        if request.method == "HEAD":
            return Response(status_code=status, headers=headers, media_type=kind)
        return StreamingResponse(self._bytes(_who(request), file, begin, end), status, headers, kind)

    async def _bytes(self, who: Who, file: File, begin: int, end: int) -> AsyncIterator[bytes]:
        while begin < end:
            piece = self._published.part(file, begin)[: end - begin]
            await self._requests.pay(who, "logs", len(piece))
            yield piece
            begin += len(piece)


def room(scope: Scope) -> tuple[int, float]:
    """Returns how many bytes more than every other the body of a request may have, and how many seconds more take."""
    is_archive = scope["method"] == "PUT" and PurePosixPath(scope["path"]).parent == PurePosixPath(f"{m.API}/bots")
    return (m.MAX_ARCHIVE, 600.0) if is_archive else (MOST_SAID, 0.0)  # what is too long is refused, and not cut


def confine() -> None:
    """Limits what this process may have, so that an attack on it ends it alone."""
    for what, most in ((resource.RLIMIT_NOFILE, DESCRIPTORS), (resource.RLIMIT_DATA, DATA_BYTES)):
        _, hard = resource.getrlimit(what)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(what, (limit, limit))


def _who(request: Request) -> Who:
    who: Who = request.scope["who"]
    return who


def _query(request: Request, kind: type[_T]) -> _T:
    """Returns what stands behind the question mark, which must be of a kind."""
    return msgspec.convert(dict(request.query_params), kind, strict=False)


def _named(request: Request, name: str, kind: Any) -> str:
    text: str = msgspec.convert(request.path_params[name], kind)
    return text


def _number(request: Request, name: str, default: str = "none") -> int:
    """Returns the number in a header, or the default; it raises `Refusal` if that is none."""
    text = request.headers.get(name, default)
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        reason = f"expected the header {name.title()} with a number of bytes, got: {text:.40}"
        raise Refusal("malformed", reason, "send it; curl does with `-T FILE`")
    return int(text)


def _json(answer: msgspec.Struct) -> bytes:
    return msgspec.json.encode(answer) + b"\n"


def _answer(answer: msgspec.Struct, status: int = 200) -> Response:
    return Response(_json(answer), status, _NO_STORE, "application/json")

"""Asks a league elsewhere over HTTP, for one author.

Requests go one by one over a connection that is kept. All may be asked twice: one that was cut is asked again over a
new connection, a few times with backoff, for a door under a flood closes some unread. An upload goes on where it was
cut.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import tarfile
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from itertools import count
from typing import Annotated, Any, Final, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from arena.core.face import Payload, errors, files
from arena.league.door import messages
from arena.league.door.addresses import Address, connect, headers, reached
from arena.league.door.messages import Submitted

LONGEST_PAUSE_S: Final = 90
"""Longest wait of the client when a rate limit is reached, in seconds."""
_SHORT_PAUSE_S: Final = 2
"""Of pauses up to this the author is told once for each limit: a long list may have dozens."""
TRIES: Final = 5
"""Number of retries of an upload before it must have got further."""
_IDLE_S: Final = 5.0
"""Seconds after which a connection is not used again: the league, or what is before it, may have closed it."""
_BACKOFFS_S: Final = (0.0, 0.05, 0.2)
_PIECE: Final = 65_536
_CUT: Final = (http.client.BadStatusLine, ConnectionError)
"""Errors of a connection that the other end has closed: `RemoteDisconnected` is a `BadStatusLine`."""
_T = TypeVar("_T")


class ShownSeason(msgspec.Struct, frozen=True):
    """A season, as a league elsewhere says which there are."""

    name: str
    tournament: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")]
    closed: str | None = None
    head: dict[str, Any] | None = None
    """Number of its lines, and the hash of the last (`rounds.Head`)."""


class _Request(NamedTuple):
    method: str
    path: str
    body: bytes | None = None
    have: int = 0
    """Bytes of the body that the league has already."""
    progress: Callable[[int], None] = lambda have: None


class _Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class _Refused(errors.DoorError):
    """A problem that the league has sent."""

    def __init__(self, problem: messages.Problem) -> None:
        super().__init__(sentence(problem.detail, problem.rule, problem.path, problem.remedy), problem.code)
        self.problem = problem


class Client:
    """A connection to a league, by an author's token. Use it with `with`."""

    def __init__(self, league: Address, token: str, *, tell: Callable[[str], None] = lambda sentence: None) -> None:
        """Takes whom to ask.

        Args:
            league: The league.
            token: The author's token.
            tell: Called with sentences for the author, when something takes time.
        """
        self._league = league
        self._headers = headers(token)
        self._tell = tell
        self._told: set[str] = set()
        """The limits of which the author was told that they are reached."""
        self._connection: http.client.HTTPConnection | None = None
        self._used_at = 0.0

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    # What an author asks

    def hello(self) -> messages.Welcome:
        """Asks who the league is.

        Raises:
            DoorError: The league cannot be reached, or refuses. This holds for all calls.
        """
        return self._got("/", messages.Welcome)

    def seasons(self) -> list[ShownSeason]:
        """Returns the seasons that there are, the first first. What is none is left out."""
        told, found = self.hello().league.get("seasons"), list[ShownSeason]()
        for one in told if isinstance(told, list) else ():
            with suppress(msgspec.ValidationError):
                found.append(msgspec.convert(one, ShownSeason))
        return found

    def submit(self, archive: bytes, bot: str, digest: str, progress: Callable[[int], None]) -> Submitted | None:
        """Sends a bot's archive. What was sent before is not sent again.

        Args:
            archive: The archive.
            bot: The bot's name.
            digest: The archive's digest.
            progress: Called with the number of bytes that are there.

        Returns:
            What it has become; None if the league has not answered yet.
        """
        path, tried_at = f"/bots/{quote(bot)}", -1
        have = self._uploaded(path, digest)
        for tries in count(1):
            try:
                answer = self._asked(_Request("PUT", f"{path}?digest={digest}", archive, have, progress))
                return None if answer.status == HTTPStatus.ACCEPTED else _read(answer.body, Submitted)
            except errors.DoorError as error:
                if error.refusal not in ("bad_offset", "expired", "no_answer"):
                    raise
                have = self._uploaded(path, digest)
                if tries >= TRIES and have <= tried_at:
                    raise
                tried_at = have
                self._tell(f"{error}; going on where it stopped")
        raise AssertionError

    def _uploaded(self, path: str, digest: str) -> int:
        """Returns how many bytes of an archive the league has."""
        answer = self._asked(_Request("HEAD", f"{path}/uploads/{digest}"))
        have = answer.headers.get("upload-offset", "")
        return min(int(have), messages.MAX_ARCHIVE) if have.isascii() and have.isdigit() else 0

    def ordered(self, verb: str, **arguments: str) -> messages.Ordered | None:
        """Gives an order of `ORDERS`. Returns what became of it, or None if the league has not answered yet."""
        kind = next(kind for kind in messages.ORDERS if kind.verb == verb)
        path = kind.path.format_map({name: quote(value, safe="") for name, value in arguments.items()})
        query = {name: value for name, value in arguments.items() if f"{{{name}}}" not in kind.path}
        answer = self._asked(_Request(kind.method.upper(), f"{path}{'?' if query else ''}{urlencode(query)}"))
        return None if answer.status == HTTPStatus.ACCEPTED else _read(answer.body, messages.Ordered)

    def seat(self, said: messages.SeatSaid | None = None, wait_s: int = 0) -> messages.SeatState:
        """Returns how the author's seat stands, once they have said something, if that is given."""
        path, body = f"/seat?wait={wait_s}", None if said is None else msgspec.json.encode(said)
        return _read(self._asked(_Request("GET" if said is None else "POST", path, body)).body, messages.SeatState)

    def status(self, bot: str = "", wait_s: int = 0) -> messages.Versions:
        """Returns how the author's versions stand, of one bot or of all.

        Args:
            bot: The bot; empty means all.
            wait_s: How long the league may wait for the bot's newest version to be tried; less than `ANSWER_S`.
        """
        return self._got("/versions", messages.Versions, bot=bot, wait=wait_s)

    def games(self, *, bot: str = "", only: str = "", most: int = 100) -> Iterator[Payload]:
        """Yields games of the author's versions, the latest first, as many as there are and are wanted.

        The league answers a search for few among many in parts: they are asked for one after another.

        Args:
            bot: Of this bot only.
            only: `lost` or `forfeits`: those only.
            most: The most that are returned.
        """
        after = ""
        while most > 0:
            page = self._got("/games", messages.Played, bot=bot, only=only, after=after, limit=min(most, 100))
            yield from page.games[:most]
            most -= len(page.games)
            after = page.next
            if not after:
                return

    def standings(self) -> tuple[str, list[Payload]]:
        """Returns the season's name and the rows of its standings, the best first."""
        rows: list[Payload] = []
        digest = None
        while True:
            page = self._got("/standings", messages.Table, after=len(rows))
            if digest not in (None, page.digest):
                rows.clear()
                digest = None
                continue
            digest = page.digest
            rows += page.items
            if len(rows) >= page.total or not page.items:
                return page.season, rows

    def log(self, game: str, *, public: bool = False) -> bytes:
        """Returns the log of a game, compressed with zstd: as this author may see it, or as everybody may."""
        return self._whole(f"/games/{quote(game, safe='')}/log{'?public=1' if public else ''}")

    def logs(self, tournament: str, games: str) -> dict[str, bytes]:
        """Returns public logs of a season's games (as in `LogsQuery`) by file name: those there are, or the first."""
        data = self._whole(f"/seasons/{quote(tournament, safe='')}/logs.tar?games={games}")
        try:
            tar = tarfile.TarFile(fileobj=io.BytesIO(data))
            return {one.name: file.read(len(data)) for one in tar if one.isreg() and (file := tar.extractfile(one))}
        except (tarfile.TarError, ValueError, OverflowError) as error:
            raise _strange(str(error)) from None

    def season(self, tournament: str, file: str) -> bytes:
        """Returns a file of a season."""
        return self._whole(f"/seasons/{quote(tournament, safe='')}/{quote(file, safe='')}")

    def report(self, version: str, kind: str) -> Payload:
        """Returns the report on a step of a version's life."""
        return _read(self._whole(f"/versions/{quote(version)}/reports/{quote(kind, safe='')}"), dict[str, Any])

    def _whole(self, path: str) -> bytes:
        answer = self._asked(_Request("GET", path))
        digest = answer.headers.get("repr-digest")
        if digest not in (None, f"sha-256=:{b64encode(hashlib.sha256(answer.body).digest()).decode()}:"):
            raise errors.DoorError(
                "expected what the league published, got: it changed meanwhile; try again", "no_answer"
            )
        return answer.body

    # One request

    def _got(self, path: str, kind: type[_T], **query: object) -> _T:
        given = urlencode({name: value for name, value in query.items() if value})
        return _read(self._asked(_Request("GET", f"{path}{'?' if given else ''}{given}")).body, kind)

    def _asked(self, request: _Request) -> _Answer:
        """Returns the answer to a request, waiting as long as a limit says; of HEAD whatever it is."""
        while True:
            answer = self._answer(request)
            if answer.status < HTTPStatus.MULTIPLE_CHOICES or request.method == "HEAD":
                return answer
            error = refused(self._league, answer.status, answer.headers, answer.body)
            pause = error.problem.retry_after_s if isinstance(error, _Refused) and error.refusal == "too_many" else None
            if not isinstance(error, _Refused) or pause is None or pause > LONGEST_PAUSE_S:
                raise error
            if pause > _SHORT_PAUSE_S or error.problem.limit not in self._told:
                self._told.add(error.problem.limit)
                self._tell(f"{error.problem.detail}; waiting {pause} s")
            time.sleep(pause)

    def _answer(self, request: _Request) -> _Answer:
        if time.monotonic() > self._used_at + _IDLE_S:
            self._close()
        with reached(self._league):
            for backoff_s in (*_BACKOFFS_S, None):
                if self._connection is None or self._connection.sock is None:  # the last answer closed it
                    self._connection = connect(self._league)
                try:
                    return self._over(self._connection, request)
                except _CUT:
                    if request.body is not None or backoff_s is None:
                        raise  # what is there of a body has to be asked first
                    time.sleep(backoff_s)
        raise AssertionError

    def _over(self, connection: http.client.HTTPConnection, request: _Request) -> _Answer:
        pieces, more = None, {}
        if request.body is not None:
            pieces = _pieces(request)
            more = {"Content-Length": str(max(0, len(request.body) - request.have)), "Upload-Offset": str(request.have)}
        try:
            try:
                connection.request(request.method, f"{messages.API}{request.path}", pieces, self._headers | more)
            except ConnectionError:
                if pieces is None:
                    raise  # else it may have been answered before all of it had come
            response = connection.getresponse()
            data = response.read(files.MOST_DOCUMENT + 1)
        except BaseException:
            self._close()
            raise
        if len(data) > files.MOST_DOCUMENT:
            self._close()
            raise _strange(f"more than {files.MOST_DOCUMENT} bytes")
        self._used_at = time.monotonic()
        return _Answer(response.status, {name.lower(): value for name, value in response.headers.items()}, data)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _pieces(request: _Request) -> Iterator[bytes]:
    assert request.body is not None
    for begin in range(request.have, len(request.body), _PIECE):
        yield request.body[begin : begin + _PIECE]
        request.progress(min(begin + _PIECE, len(request.body)))


def _read(body: bytes, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (ValueError, RecursionError) as error:
        raise _strange(str(error)) from None


def _strange(got: str) -> errors.DoorError:
    return errors.DoorError(
        f"expected an answer as leagues give it, got: {got}; use the version of arena that the league has", "internal"
    )


def sentence(message: str, rule: str, path: str, remedy: str) -> str:
    """Returns the sentence of an error of a league."""
    where = " - at ".join(filter(None, (rule, path)))
    return f"{message}{f' ({where})' if where else ''}; {remedy}"


def refused(league: Address, status: int, headers: Mapping[str, str], body: bytes) -> errors.DoorError:
    """Returns the exception for an answer that is a refusal: of the league, or of what is between here and it."""
    try:
        return _Refused(msgspec.json.decode(body, type=messages.Problem))
    except (ValueError, RecursionError):
        pass
    known = {each.value: each.phrase for each in HTTPStatus}
    got = f"expected an answer of the league, got: {status} {known.get(status, '')} - at {league.place}"
    if location := headers.get("location"):
        return errors.DoorError(f"{got}, with another address; try {location[:200]!r}", "moved")
    if status in (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT):
        return errors.DoorError(f"{got}: its door is not open now; try again, or tell its operator", "nobody")
    if status == HTTPStatus.NOT_FOUND:
        return errors.DoorError(f"{got}: this is no league of arena; check the address", "nobody")
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return errors.DoorError(
            f"{got}, of the proxy before it; ask its operator to let through what the league takes", "too_large"
        )
    return errors.DoorError(f"{got}; check the address, and ask its operator what is before the league", "strange")

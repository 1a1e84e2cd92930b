"""A person at a table, in a browser: the referee's messages go to the page, what they do there goes to the referee.

1. All that the browser is sent comes from `SeatPage`, which knows what the seat was told. Only once a game is over, and
   its log is written, can the whole game be asked for.
2. One page plays. Whoever opens the address takes over; the page before is told so, and its actions are refused.
3. An action names the request and the state that its page has seen. A late or repeated one is refused (409).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import asynccontextmanager, suppress
from functools import partial
from random import randrange
from typing import Any, Final, Literal

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from arena.core.face import GameResult, Job, Payload, catalogue, errors, log_records, plain
from arena.pages import seat as pages
from arena.pages.agents.seat import ASKED, OVER, WAIT_S, read_json
from arena.pages.frames import film
from arena.pages.play.seat import Front, Start, when_done
from arena.pages.seat import SeatPage
from arena.pages.web.site import fixed
from arena.pages.web.streams import EventStreams

_RESIGNED: Final = "You have resigned."
_LATE: Final = "Your time was over: you have forfeited."
_FORFEITED: Final = "Your seat has forfeited; its log says why."


class PageAction(msgspec.Struct):
    """What a page asks for."""

    page: int
    do: str
    """`choose`, `fill`, `undo`, `send`, `resign`, `again` or `leave`."""
    id: int = 0
    n: int = -1
    """The number of the state that it shows."""
    place: int = -1


class AgentSaid(msgspec.Struct):
    """What an agent says over HTTP."""

    do: Literal["play", "resign", "again"] = "play"
    request: int = 0
    """The number of the request that the plays answer."""
    plays: list[Any] = []
    note: str = ""
    cost: dict[str, int] = {}


class _Game:
    def __init__(self, set_table: Callable[[Front], Start], play: Callable[[Job], Future[GameResult]]) -> None:
        self.front = Front()
        try:
            self.table = set_table(self.front)
            self.page = SeatPage(self.table.header, self.table.seat)
            self.agent = self.page.agent
            self.future = play(self.table.job)
        except BaseException:
            self.front.__exit__()
            raise
        self.sent = 1
        self.layout = 0

    @property
    def is_over(self) -> bool:
        """Whether there is a result, and nothing more will be heard."""
        return self.future.done() and (self.agent.phase == OVER or self.front.closed)

    @property
    def is_late(self) -> bool:
        """Whether the person lost on time by the word of the referee, whose clock it is."""
        if self.future.done() and self.future.exception() is None:
            forfeit = self.future.result().seats[self.table.seat].forfeit
            return forfeit is not None and forfeit.code == "timeout"
        return False


class Playing:
    """Lets a person play games, one after another. `app` is the application for the browser.

    Args:
        set_table: Sets the table of a game, with the person's end of their seat.
        play: What the worker does with a job.
    """

    def __init__(
        self, set_table: Callable[[Front], Start], worker: Executor, play: Callable[[Job], GameResult]
    ) -> None:
        self._set_table = set_table
        self._play = lambda job: worker.submit(play, job)
        self._event_streams = EventStreams(self._scene)
        self._changed = asyncio.Event()
        self._tab = 0
        self._stopped = False
        self.leave: Callable[[], object] = lambda: None
        """Called when the person ends it."""
        self.played: list[tuple[Start, Future[GameResult]]] = []
        """The tables so far, with their results."""
        self._game = self._sit_down()
        self.app = Starlette(
            routes=[
                Route("/", self._page),
                fixed("/play.js", pages.script()),
                Route("/play.css", self._style),
                Route("/stream", self._event_streams),
                Route("/act", self._act, methods=["POST"]),
                Route("/replay", self._replay),
                Route("/api/v1/game", self._described),
                Route("/api/v1/seat", self._seat),
                Route("/api/v1/seat", self._say, methods=["POST"]),
            ],
            lifespan=self._while_served,
        )

    @property
    def is_over(self) -> bool:
        """Whether the last game is over."""
        return self._game.is_over

    def stop(self) -> None:
        """Tells the page that nothing more comes."""
        words = f"`arena play` has ended. The log: {self._log()}"
        self._event_streams.tell("end", {"words": words if self.is_over else "`arena play` ended; there is no log."})
        self._event_streams.close()
        self._stopped = True
        self._changed.set()

    # The game

    def _sit_down(self) -> _Game:
        game = _Game(self._set_table, self._play)
        self.played.append((game.table, game.future))
        return game

    @asynccontextmanager
    async def _while_served(self, app: Starlette) -> AsyncIterator[None]:
        self._listen()
        try:
            yield
        finally:
            self._game.front.__exit__()

    def _listen(self) -> None:
        loop, game = asyncio.get_running_loop(), self._game
        game.front.attend(loop, self._hear)
        when_done(game.future, loop, partial(self._ended, game))

    def _hear(self) -> None:
        game = self._game
        before = game.page.number
        for message in game.front.hear():
            game.page.hear(message)
        if game.front.closed:
            self._lost(game)
        if game.page.number != before or game.is_over:
            self._tell()

    def _lost(self, game: _Game) -> None:
        """The seat's process has ended: after the game, or because the seat forfeited."""
        game.page.close(_LATE if game.is_late else _FORFEITED)

    def _ended(self, game: _Game) -> None:
        if game.is_late and game.front.closed:
            game.page.close(_LATE)
        if game is self._game:
            self._tell()

    def _log(self) -> str:
        return plain(os.path.relpath(self._game.table.log))

    # The page

    def _scene(self) -> Iterator[tuple[str, Payload]]:
        """Begins another page; the one before is told that it is not the one any more."""
        self._event_streams.tell("other", {})
        self._tab += 1
        yield "whole", self._whole()

    def _whole(self) -> Payload:
        game = self._game
        game.sent, game.layout = game.page.length, game.page.layout
        return self._state() | {"page": self._tab, "data": game.page.data()}

    def _state(self) -> Payload:
        game = self._game
        left = game.agent.left_s
        return {
            "now": game.page.now(),
            "clock": None if left is None else max(0, round(left * 1000)),
            "over": self._over() if game.is_over else None,
        }

    def _over(self) -> Payload:
        error = self._game.future.exception()
        if error is not None:
            return {"error": plain(f"The game ended without a log: {error}")}
        return {"log": self._log()}

    def _tell(self) -> None:
        game = self._game
        self._changed.set()
        if game.layout != game.page.layout:
            watched_from = game.sent
            self._event_streams.tell("whole", self._whole() | {"from": watched_from})
            return
        frames = game.page.frames(game.sent)
        game.sent = game.page.length
        self._event_streams.tell("news", self._state() | {"frames": frames})

    async def _page(self, request: Request) -> Response:
        header = self._game.table.header
        return Response(pages.page(header), media_type="text/html")

    async def _style(self, request: Request) -> Response:
        return Response(pages.style(self._game.page.style), media_type="text/css")

    async def _replay(self, request: Request) -> Response:
        game = self._game
        if not game.is_over or game.future.exception() is not None:
            return _refused(409, "expected a game that is over, got one that is not; play it to its end")
        data, _ = await asyncio.to_thread(lambda: film(log_records.read_log(game.table.log)))
        return _json(data)

    async def _act(self, request: Request) -> Response:
        try:
            action = read_json(await request.body(), PageAction, "an action")
        except ValueError as error:
            return _refused(400, str(error))
        if action.page != self._tab:
            return _refused(409, "expected an action of the page that plays, got one of another; reload it")
        try:
            return self._do(action)
        except errors.ArenaError as error:
            return _refused(400, plain(str(error)))

    def _do(self, action: PageAction) -> Response:
        game, page = self._game, self._game.page
        match action.do:
            case "choose" | "fill" | "undo" | "send":
                if game.agent.phase != ASKED or (action.id, action.n) != (game.agent.request, page.number):
                    return _refused(409, "expected an action on what is asked now, got one on what was asked before")
                self._decide(action)
            case "resign" if game.agent.phase != OVER and not game.front.closed:
                game.front.leave()
                page.close(_RESIGNED)
            case "again" if game.is_over:
                self._game.front.__exit__()
                self._game = self._sit_down()
                self._listen()
                self._event_streams.tell("whole", self._whole())
                self._changed.set()
                return Response(status_code=204)
            case "leave" if game.is_over:
                self.leave()
                return Response(status_code=204)
            case _:
                return _refused(409, f"expected an action that fits the game now, got: {plain(action.do)}")
        self._tell()
        return Response(status_code=204)

    def _decide(self, action: PageAction) -> None:
        game = self._game
        match action.do:
            case "choose":
                answer = game.page.choose(action.place)
            case "fill":
                answer = game.page.fill(randrange)
            case "send":
                answer = game.page.send()
            case _:
                answer = None
                game.page.undo()
        if answer is not None:
            self._answer(game, {"action": answer})

    def _answer(self, game: _Game, line: Payload) -> None:
        game.front.answer(line)
        if game.front.closed:
            self._lost(game)

    # The seat for programs

    async def _described(self, request: Request) -> Response:
        return _json(catalogue.described(self._game.table.header.settings.rules))

    async def _seat(self, request: Request) -> Response:
        """Answers with all that the seat knows; `?wait=50` waits until it is asked or the game is over."""
        wait = request.query_params.get("wait", "0")
        with suppress(TimeoutError):
            async with asyncio.timeout(min(int(wait), WAIT_S) if wait.isdecimal() and len(wait) < 4 else 0):
                while self._game.agent.phase != ASKED and not self._game.is_over and not self._stopped:
                    self._changed.clear()
                    await self._changed.wait()
        game = self._game
        known = {"start": game.agent.start, **game.agent.state(), **self._state(), "view": game.agent.known}
        return _json({key: value for key, value in known.items() if key != "now"})

    async def _say(self, request: Request) -> Response:
        """Does what an agent says."""
        try:
            said = read_json(await request.body(), AgentSaid, "what an agent says")
        except ValueError as error:
            return _refused(400, str(error))
        game = self._game
        if said.do != "play":
            return self._do(PageAction(page=self._tab, do=said.do))
        try:
            line = game.agent.play(said.request, said.plays, said.note, said.cost)
        except errors.ArenaError as error:
            return _refused(409 if isinstance(error, errors.ConfigError) else 422, plain(str(error)))
        game.page.decided()
        self._answer(game, line)
        self._tell()
        return Response(status_code=204)


def _json(told: object) -> Response:
    return Response(msgspec.json.encode(told), media_type="application/json")


def _refused(status: int, sentence: str) -> Response:
    return PlainTextResponse(sentence, status)

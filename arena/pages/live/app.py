"""What runs now, as an application for `arena.pages.web`: the page, its streams, one for each game that is followed.

Laws:
1. One process folds each game once, whoever looks at it, and only while somebody does.
2. What only some seats know is in no answer while a game goes on, unless the operator asked for all hands; and
   afterwards only where games are `revealed`: a league's games share deals until their match is over.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

import arena
from arena.core.face import errors, feeds, log_records
from arena.pages.game_page import game_page
from arena.pages.live.games import SOURCE, Games, LiveFilm, LiveGame, ended
from arena.pages.live.scores import LiveStandings
from arena.pages.parts import read_part, render, tools, viewer_script, viewer_style
from arena.pages.security import own_script
from arena.pages.web.guard import POLICY
from arena.pages.web.site import fixed, site_app
from arena.pages.web.streams import EventStreams

TICK_S: Final = 0.1
"""Seconds between new frames."""
LISTS_S: Final = 0.5
"""Seconds between lists of games, at least."""
UNREADABLE: Final = "The standings cannot be read now."
"""Text for strangers about an error."""
MOST_REPLAYS: Final = 8
"""Replays that are kept to be sent again."""
FRAMED: Final = POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
FRAMING: Final = f"{POLICY}; frame-src 'self'"
_OWN: Final = Path(__file__).parent / "pages"


class _Followed:
    def __init__(self, game: LiveGame, *, hands: bool, over: Callable[[LiveGame], Any]) -> None:
        self.film = LiveFilm(game, hands=hands)
        self._over = over
        self._told_end = False
        self.event_streams = EventStreams(self._scene)

    def _scene(self) -> Iterable[tuple[str, Any]]:
        self.tick()
        yield "film", self._whole()
        if self._told_end:
            yield "over", self._over(self.film.game)

    def _whole(self) -> Any:
        return self.film.head() | {"frames": self.film.frames}

    def tick(self) -> None:
        """Sends what is new."""
        frames = list(self.film.go_on(time.monotonic()))
        if self.film.renewed:
            self.film.renewed = False
            self.event_streams.tell("film", self._whole())
        elif frames:
            self.event_streams.tell("frames", {"frames": frames, "strings": self.film.new_strings()})
        if not self._told_end and self.film.is_over:
            self._told_end = True
            self.event_streams.tell("over", self._over(self.film.game))


class Watching:
    """All that runs now, and its application. It listens while the application runs.

    Args:
        feed_reader: What the feed tells. The caller closes it.
        hands: Whether all hands are shown while games go on.
        revealed: Whether they are when a game is over.
        public: Whether strangers look: then what is said of errors names no files of this machine.
    """

    def __init__(
        self,
        feed_reader: feeds.FeedReader,
        board: LiveStandings,
        *,
        hands: bool = False,
        revealed: bool = True,
        public: bool = False,
    ) -> None:
        self.games = Games()
        self.board = board
        self.event_streams = EventStreams(self._scene)
        self._feed_reader = feed_reader
        self._hands = hands
        self._revealed = revealed
        self._public = public
        self._followed: dict[str, _Followed] = {}
        self._replays: OrderedDict[str, str] = OrderedDict()
        self._replaying = asyncio.Lock()
        self._told = -1, ""
        self._tell_at = 0.0
        game, stream = "/game/{id:str}", read_part(_OWN / "stream.js")
        self.routes = [
            Route("/", self._page),
            Route("/events", self.event_streams),
            fixed("/tools.js", tools()),
            fixed("/viewer.js", viewer_script()),
            fixed("/viewer.css", viewer_style()),
            *(fixed(f"/{name}", stream + read_part(_OWN / name)) for name in ("watch.js", "game.js")),
            fixed("/watch.css", read_part(_OWN / "watch.css")),
            Route(f"{game}/", self._game),
            Route(f"{game}/events", self._events),
            Route(f"{game}/style.css", self._style),
            Route(f"{game}/replay", self._replay),
        ]

    def app(self) -> Starlette:
        """Returns the application."""
        return Starlette(routes=self.routes, lifespan=self.lifespan)

    def close(self) -> None:
        """Ends all streams."""
        self.event_streams.close()
        for followed in self._followed.values():
            followed.event_streams.close()

    @asynccontextmanager
    async def lifespan(self, app: object) -> AsyncIterator[None]:
        """Listens to the feed and reads the standings while the block runs."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self._feed_reader, self._hear)
        tasks = [asyncio.create_task(self._tick()), asyncio.create_task(self._read())]
        try:
            yield
        finally:
            loop.remove_reader(self._feed_reader)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    def _hear(self) -> None:
        for heard in self._feed_reader.hear():
            self.games.take(heard)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            now = time.monotonic()
            self.games.rest(now)
            for id, followed in list(self._followed.items()):
                if followed.event_streams.watchers:
                    followed.tick()
                else:
                    del self._followed[id]
            lists = self.games.version, self._none(now)
            if self._told != lists and now >= self._tell_at:
                self._told, self._tell_at = lists, now + LISTS_S
                self.event_streams.tell("games", self._lists())

    async def _read(self) -> None:
        while True:
            if (
                self.event_streams.watchers
                and self.board.due(time.monotonic())
                and await asyncio.to_thread(self.board.read)
            ):
                self.event_streams.tell("scores", self._standings())
            await asyncio.sleep(TICK_S)

    def _scene(self) -> Iterable[tuple[str, Any]]:
        yield "scores", self._standings()
        yield "games", self._lists()

    def _standings(self) -> Any:
        error = self.board.error if self.board.is_there else ""  # a match has no database
        return {**msgspec.to_builtins(self.board.scores), "error": UNREADABLE if error and self._public else error}

    def _lists(self) -> Any:
        running = [game.summary() for game in self.games.running.values()]
        finished = [game.summary() for game in self.games.listed()]
        return {"running": running[::-1], "finished": finished, "none": self._none(time.monotonic())}

    def _none(self, now: float) -> str:
        return self.games.none_running(now, played=self.board.scores.running)

    def _over(self, game: LiveGame) -> Any:
        return {"sentence": ended(game.summary()), "replay": self._revealed and game.is_whole}

    # Answers

    def _find(self, request: Request) -> LiveGame:
        game = self.games.find(request.path_params["id"])
        if game is None:
            raise HTTPException(404, "expected a game that runs or has just ended")
        return game

    async def _page(self, request: Request) -> Response:
        return HTMLResponse(
            page("watch", self.board.scores.title or "arena", home=self._public),
            headers={"content-security-policy": FRAMING},
        )

    async def _game(self, request: Request) -> Response:
        game = self._find(request).summary()
        names = f" {game.between} ".join(game.names)
        return HTMLResponse(page("game", names), headers={"content-security-policy": FRAMED})

    async def _style(self, request: Request) -> Response:
        return Response(self._follow(self._find(request)).film.style, media_type="text/css")

    async def _replay(self, request: Request) -> Response:
        game = self._find(request)
        if not self._revealed or game.outcome is None or not game.is_whole:
            raise HTTPException(404, "expected a game that is over and was seen whole, where games are shown then")
        async with self._replaying:  # one at a time: it is work
            if game.id not in self._replays:
                log = log_records.Log(SOURCE, game.header, game.records, "")
                try:
                    self._replays[game.id] = await asyncio.to_thread(game_page, log)
                except errors.ArenaError:
                    raise HTTPException(404, "this game cannot be shown") from None
                while len(self._replays) > MOST_REPLAYS:
                    self._replays.popitem(last=False)
            made = self._replays[game.id]
        script = own_script(made.encode())
        loose = f"default-src 'none'; script-src {script}; style-src 'unsafe-inline'; img-src data:"
        return HTMLResponse(made, headers={"content-security-policy": f"{loose}; frame-ancestors 'none'"})

    def _follow(self, game: LiveGame) -> _Followed:
        followed = self._followed.get(game.id)
        if followed is None or followed.film.game is not game:
            followed = self._followed[game.id] = _Followed(game, hands=self._hands, over=self._over)
        return followed

    async def _events(self, request: Request) -> ASGIApp:
        return self._follow(self._find(request)).event_streams


def page(template: str, title: str, *, home: bool = False) -> str:
    """Returns a page made of one of the templates. It may have a link to the pages that it is served beside."""
    return render(_OWN / f"{template}.html.jinja", title=title, version=arena.__version__, home=home)


def public_app(site: Path, watching: Watching) -> Starlette:
    """Returns a folder of pages, which may be empty, with the live view under `/live/`, as one application."""

    def live(request: Request) -> Response:
        return RedirectResponse("/live/")

    routes = [Route("/live", live), Mount("/live", routes=watching.routes)]
    return site_app(site, ("live/", "live"), routes, watching.lifespan)

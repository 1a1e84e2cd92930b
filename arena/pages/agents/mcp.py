"""A seat over MCP: the tools and resources that an agent is offered, and the games that it plays, one after another.

The SDK speaks the protocol over stdin and stdout. All that is said of the seat comes from `AgentSeat`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from typing import Any, Final

import msgspec
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resources import TextResource

from arena.core.face import GameResult, Job, Payload, catalogue, errors
from arena.pages.agents.seat import ASKED, GONE, OVER, WAIT_S, AgentSeat
from arena.pages.play.seat import Front, Start, when_done

_HOW: Final = (
    "A seat in a board game against bots. Call `rules` once, then `new_game`, then `play` until `phase` is `over`. A "
    "play is made from one of the products under `legal`: under each key stands a list, of which a play has one value, "
    'or {"choose": n, "of": [...]}, of which it has a list of n. `view` has all that your seat may know now.'
)


class Seating:
    """The games of one agent. Its methods are the tools: their docstrings are what the agent reads.

    Args:
        set_table: Sets the table of a game, with the agent's end of its seat.
        play: Begins to play a job.
    """

    def __init__(
        self, rules: str, set_table: Callable[[Front], Start], play: Callable[[Job], Future[GameResult]]
    ) -> None:
        self._game = catalogue.described(rules)
        self._set_table = set_table
        self._begin = play
        self._front: Front
        self._seat: AgentSeat
        self._changed = asyncio.Event()
        self._begins: asyncio.Task[None] | None = None
        """The game that waits for a place."""
        self.played: list[tuple[Start, Future[GameResult]]] = []
        """The tables so far, with their results."""
        self.server = MCPServer("arena", instructions=_HOW, log_level="CRITICAL")
        for tool in (self.rules, self.new_game, self.state, self.view, self.play, self.notes, self.resign):
            self.server.add_tool(tool, structured_output=False)
        texts = {"rules": ("text/markdown", self._game["text"])}
        texts |= {f"schemas/{name}": ("application/json", _json(one)) for name, one in self._game["schemas"].items()}
        for name, (kind, text) in texts.items():
            self.server.add_resource(TextResource(uri=f"arena://game/{name}", name=name, mime_type=kind, text=text))

    async def serve(self) -> None:
        """Serves stdin and stdout until the client closes them. In a game that means to resign."""
        try:
            await self.server.run_stdio_async()
        finally:
            self._rise()

    # The tools

    async def rules(self) -> str:
        """The rules of the game: what a view, an event and a play are, and how it is won. Markdown, long."""
        return str(self._game["text"])

    async def new_game(self) -> str:
        """Begins a game and waits until you are asked. Answers with how the game is set up, and as `state` does.

        Where others have all places, it answers after a while with `phase` `waiting` alone: call it again.
        """
        if self._begins is None:
            if self.played and self._seat.phase not in (OVER, GONE):
                raise ToolError("expected a game that is over, got: one that is played; end it, or `resign`")
            self._rise()
            self._begins = asyncio.create_task(self._sit_down())
        begins = self._begins
        if not (await asyncio.wait([begins], timeout=WAIT_S))[0]:
            return _json({"phase": "waiting", "why": "there is no place yet: call `new_game` again to go on waiting"})
        self._begins = None
        try:
            begins.result()
        except errors.ArenaError as error:
            raise ToolError(str(error)) from None
        await self._settle()
        bots = self.played[-1][0].header.bots
        return _json({"start": self._seat.start, "bots": [bot.name for bot in bots], **self._state()})

    async def _sit_down(self) -> None:
        """Begins a game, as soon as there is a place for it. Meanwhile other tools are answered."""
        self._front = front = Front()
        try:
            table = await asyncio.wrap_future(_aside(self._set_table, front))
            self._seat = AgentSeat(catalogue.rules_of(table.header.settings), table.seat)
            game = self._begin(table.job)
        except BaseException:
            front.__exit__()
            raise
        self.played.append((table, game))
        loop = asyncio.get_running_loop()
        when_done(game, loop, self._changed.set)
        front.attend(loop, self._hear)

    async def state(self) -> str:
        """How the game stands; waits for your next decision. `phase` is `asked`, `waiting`, `over` or `gone`.

        If asked: the number of the `request`, the `kind` of decision, the `events` since your last one, the `legal`
        plays, and the `seconds` that are left, unless the clock is off. Once over: `ranks` by seat, 1 is best.
        """
        await self._settle()
        return _json(self._state())

    async def view(self) -> str:
        """All that your seat may know now: the board, your hand, what lies open."""
        await self._settle()
        return _json(self._seat.known)

    async def play(
        self, request: int, plays: list[dict[str, Any]], note: str = "", cost: dict[str, int] | None = None
    ) -> str:
        """Answers a request with plays, mostly one; then waits for your next decision, and answers as `state` does.

        What is not legal is refused with the reason, and you may try again while your time runs. `note` is what you
        thought, for the log: nobody sees it during the game. `cost` is what the decision has cost, if you know:
        tokens_in, tokens_out, microdollars, retries.
        """
        self._check()
        try:
            line = self._seat.play(request, plays, note, cost or {})
        except errors.ArenaError as error:
            raise ToolError(str(error)) from None
        self._front.answer(line)
        await self._settle()
        return _json(self._state())

    async def notes(self) -> str:
        """What you have noted in this game so far, oldest first."""
        self._check()
        return _json(self._seat.notes)

    async def resign(self) -> str:
        """Gives the game up. It counts as lost."""
        self._rise()
        await self._settle()
        return _json(self._state())

    # The game

    def _state(self) -> Payload:
        state = self._seat.state()
        if (left := self._seat.left_s) is not None:
            state["seconds"] = max(0, round(left, 1))
        table, game = self.played[-1]
        if game.done():
            error = game.exception()
            state |= {"log": str(table.log)} if error is None else {"error": f"the game ended without a log: {error}"}
        return state

    async def _settle(self) -> None:
        """Waits until the agent is asked, or the game is over and its log is there; not for ever."""
        self._check()
        with suppress(TimeoutError):
            async with asyncio.timeout(WAIT_S):
                while self._seat.phase != ASKED and not self.played[-1][1].done():
                    self._changed.clear()
                    await self._changed.wait()

    def _check(self) -> None:
        if not self.played or self._begins is not None:
            raise ToolError("expected a game, got: none; call `new_game`")

    def _hear(self) -> None:
        for message in self._front.hear():
            self._seat.hear(message)
        if self._front.closed:
            self._seat.close()
        self._changed.set()

    def _rise(self) -> None:
        """Leaves the table, if it sits at one. In a game that means to resign."""
        if self.played:
            self._front.__exit__()
            self._seat.close()


def _aside(do: Callable[[Front], Start], front: Front) -> Future[Start]:
    """Does something in a thread that nobody waits for when the program ends."""
    done = Future[Start]()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(do(front))
        except BaseException as error:
            done.set_exception(error)

    Thread(target=run, daemon=True).start()
    return done


def _json(told: object) -> str:
    return msgspec.json.encode(told).decode()

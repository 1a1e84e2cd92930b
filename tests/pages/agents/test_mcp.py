"""An agent's seat over MCP: whole games by a real session of the SDK's client, and what the seat is sent in them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from web_kit import run_apart

from arena.core.errors import ConfigError
from arena.core.record.log import ActionRecord, ForfeitRecord, cost_of, read_log
from arena.core.record.result import result_of
from arena.core.referee.replay import replay
from arena.core.rules.base import Decision
from arena.core.rules.course import Course
from tests.acting import first_play
from tests.command_kit import ARENA, arena, environment

pytest.importorskip("mcp")


class Agent:
    """A client."""

    def __init__(self, session: Any) -> None:
        self.session = session

    async def say(self, tool: str, refused: bool = False, **arguments: Any) -> str:
        answer = await self.session.call_tool(tool, arguments)
        assert answer.is_error is refused, answer.content[0].text
        return str(answer.content[0].text)

    async def ask(self, tool: str, **arguments: Any) -> Any:
        return json.loads(await self.say(tool, **arguments))


@asynccontextmanager
async def at_table(folder: Path, *words: str) -> AsyncIterator[Agent]:
    from mcp import ClientSession, StdioServerParameters, stdio_client

    args = [*ARENA[1:], "play", "--mcp", *words]
    server = StdioServerParameters(command=ARENA[0], args=args, env=environment(), cwd=folder)
    with (folder / "stderr").open("w") as errors:
        async with stdio_client(server, errlog=errors) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            yield Agent(session)


def log_of(folder: Path) -> Path:
    return next(folder.glob("logs/play-*/*.jsonl"))


async def whole_game(folder: Path, *words: str) -> tuple[list[Any], list[Any]]:
    """Plays a game. Returns by request what was asked, and the view."""
    asked, views = [], []
    async with at_table(folder, *words) as agent:
        state = await agent.ask("new_game")
        while state["phase"] == "asked":
            asked.append(state)
            views.append(await agent.ask("view"))
            plays = [first_play(state["legal"])]
            cost = {"tokens_in": 800, "microdollars": 90}
            state = await agent.ask("play", request=state["request"], plays=plays, note="so", cost=cost)
        assert state["phase"] == "over"
        assert Path(state["log"]) == log_of(folder)
        assert await agent.ask("notes") == ["so"] * len(asked)
        return asked, views


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "words", [("greedy", "--ruleset", "classic", "--players", "3"), ("--rules", "gardener", "--rule", "target=4")]
)
def test_an_agent_plays_a_whole_game_and_is_sent_what_a_bot_is_sent(tmp_path: Path, words: tuple[str, ...]) -> None:
    asked, views = run_apart(whole_game(tmp_path, "--seat", "1", *words))
    arena(tmp_path, "verify", str(log_of(tmp_path)))
    log = read_log(log_of(tmp_path))
    assert log.header.bots[1].version == "agent"
    assert str(log.header.time(1)) == "600/move", "a clock of its own"
    own = [record for record in log.records if isinstance(record, ActionRecord) and record.seat == 1]
    assert {record.note for record in own} == {"so\ncost: tokens_in=800 microdollars=90"}
    cost = {"tokens_in": 800 * len(own), "microdollars": 90 * len(own)}
    assert result_of(log.header, log.records, "").seats[1].cost == cost
    owed: list[list[Any]] = []

    def listen(course: Course, decision: Decision) -> None:
        if decision.seat == 1:
            state, rules = course.asked[1].state, course.rules
            owed.append([decision.kind, course.news(1), rules.view(state, 1), rules.write_legal(state, 1)])

    for _ in replay(log, listen):
        pass
    got = [[one["kind"], one["events"], view, one["legal"]] for one, view in zip(asked, views, strict=True)]
    assert got == json.loads(json.dumps(owed))
    assert {*asked[0], *asked[1]} == {"start", "bots", "phase", "request", "kind", "events", "legal", "seconds"}
    start = "rules rules_version ruleset options seat seats board time commitment bot_seed"
    assert asked[0]["start"].keys() == {*start.split()}


def test_what_is_wrong_is_refused_and_can_be_played_again(tmp_path: Path) -> None:
    async def course() -> None:
        async with at_table(tmp_path, "--ruleset", "basic", "--seed", "tea") as agent:
            assert "expected a game, got: none; call `new_game`" in await agent.say("state", refused=True)
            names = {str(one.uri) for one in (await agent.session.list_resources()).resources}
            assert names >= {"arena://game/rules", "arena://game/schemas/view", "arena://game/schemas/plays"}
            rules = (await agent.session.read_resource("arena://game/rules")).contents[0].text
            assert rules == await agent.say("rules")
            state = await agent.ask("new_game")
            assert "expected a game that is over" in await agent.say("new_game", refused=True)
            play = first_play(state["legal"])
            for request, plays, reason in (
                (1, [{"tile": "rice9", "space": 1}], "got: 'rice9' - at $.plays[0].tile"),
                (1, [play, play], "at $.plays[1]"),
                (1, [], "a turn must play at least one tile"),
                (2, [play], "expected plays for an open request, got: request 1, asked - at request 2"),
            ):
                assert reason in await agent.say("play", refused=True, request=request, plays=plays)
            assert "got: euros" in await agent.say("play", refused=True, request=1, plays=[play], cost={"euros": 1})
            state = await agent.ask("play", request=1, plays=[play | {"why": 0.5}], note="é" * 2_000)
            assert (state["phase"], state["request"]) == ("asked", 2)
            assert (await agent.ask("resign"))["phase"] == "gone"
            assert (await agent.ask("new_game"))["phase"] == "asked"

    run_apart(course())
    logs = sorted(tmp_path.glob("logs/play-*/*.jsonl"), key=lambda log: log.stat().st_mtime)
    assert len(logs) == 2, "who leaves in a game has resigned"
    arena(tmp_path, "verify", *map(str, logs))
    [first] = [record for record in read_log(logs[0]).records if isinstance(record, ActionRecord) and record.seat == 0]
    assert cost_of(first.note) == {"retries": 3}
    assert "Traceback" not in (tmp_path / "stderr").read_text()


def test_the_clock_of_an_agent_runs(tmp_path: Path) -> None:
    async def course() -> Any:
        async with at_table(tmp_path, "--ruleset", "basic", "--own-time", "300ms/move") as agent:
            assert (await agent.ask("new_game"))["seconds"] <= 0.3
            await asyncio.sleep(0.5)
            return await agent.ask("state")

    assert run_apart(course())["phase"] == "gone"
    [forfeit] = [record for record in read_log(log_of(tmp_path)).records if isinstance(record, ForfeitRecord)]
    assert forfeit.forfeits[0].code == "timeout"


def test_who_waits_for_a_place_is_answered_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    from arena.pages.agents import mcp

    monkeypatch.setattr(mcp, "WAIT_S", 0.1)
    there_is_none = Event()

    def set_table(front: Any) -> Any:
        there_is_none.wait(60)
        raise ConfigError("expected a place, got: none")

    async def course() -> None:
        seating = mcp.Seating("samurai", set_table, lambda job: Future())
        for _ in range(2):
            assert json.loads(await seating.new_game())["phase"] == "waiting"
            assert (await seating.rules()).startswith("#")
        there_is_none.set()
        with pytest.raises(mcp.ToolError, match="expected a place"):
            await seating.new_game()
        with pytest.raises(mcp.ToolError, match="expected a game, got: none"):
            await seating.state()

    run_apart(course())


def test_a_signal_ends_it_while_the_client_stays(tmp_path: Path) -> None:
    with subprocess.Popen([*ARENA, "play", "--mcp"], cwd=tmp_path, env=environment(), stdin=-1, stdout=-1) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        server.stdin.flush()
        assert server.stdout.readline()
        server.terminate()
        assert server.wait(60) == 143


def test_without_the_extra_a_sentence_says_what_to_install(tmp_path: Path) -> None:
    hidden = "from arena.core import extras; extras.find_spec = lambda name: None; from arena.cli import main; main()"
    words = [sys.executable, "-c", hidden, "play", "--mcp"]
    done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "expected the modules that --mcp needs, got: no mcp; install them: pip install" in done.stderr
    assert not done.stdout

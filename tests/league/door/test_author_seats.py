"""Authors who play themselves: whole games under a real referee, over HTTP and a WebSocket, and what goes wrong."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from websockets.sync.client import connect

from arena.cli import cli
from arena.core.link.bots import load_bot
from arena.core.link.pool import worker_pool
from arena.core.record.compressed import compress
from arena.core.record.log import ActionRecord, read_log
from arena.core.referee import worker
from arena.core.referee.verify import verify
from arena.core.types import Level
from arena.league.commands import play as command
from arena.league.door.author_seats import ABSENT_S, PUBLISHED_S, AuthorSeats
from arena.league.door.messages import SeatSaid
from arena.league.door.published import Published
from arena.league.door.refusals import Refusal
from arena.league.door.relay import SEAT, SOCKET, is_open, seat_of, tell_end
from arena.league.door.seats import ENDED, FRAME, VERSION, SeatConnection
from arena.sandbox.doctor import examine
from tests.door_kit import League, OpenDoor, answering, asked, client, opened
from tests.referee_kit import SECRET, make_job, revealed

GAME = "match-7-0"


@pytest.fixture
def league(tmp_path: Path) -> League:
    return League(tmp_path / "cup")


def begin(league: League, folder: Path, level: Level = Level.TRUSTED, clock: str = "20m+10") -> Callable[[], Any]:
    """Begins the game of anna's seat against `random` in a thread, and returns what waits for its result."""

    def run() -> Any:
        bots = (seat_of(league.folder, "anna", GAME, clock), load_bot("random"))
        try:
            return worker.play(replace(make_job(folder, 2, ruleset="basic"), bots=bots, level=level))
        finally:
            worker_pool().enter("another block")

    return ThreadPoolExecutor(1).submit(run).result


def say(door: OpenDoor, token: str, body: dict[str, Any] | None = None, wait: int = 50) -> Any:
    """Asks how the seat stands, or plays in it; returns the state or the problem."""
    sent = None if body is None else json.dumps(body).encode()
    return json.loads(asked(door, token, f"seat?wait={wait}", "GET" if body is None else "POST", sent).body)


def happens(does_it: Callable[[], bool]) -> bool:
    """Waits until something happens."""
    until = time.monotonic() + 30
    while time.monotonic() < until and not does_it():
        time.sleep(0.3)
    return does_it()


def first(state: dict[str, Any]) -> dict[str, Any]:
    """What plays the first legal play."""
    values = state["legal"][0].items()
    play = {key: one[0] if isinstance(one, list) else one["of"][: one["choose"]] for key, one in values}
    return {"request": state["request"], "plays": [play]}


@pytest.mark.parametrize("level", [Level.TRUSTED, Level.ISOLATED])
def test_an_author_plays_a_whole_game_and_its_log_is_right(league: League, tmp_path: Path, level: Level) -> None:
    """§D10-7, §D10-9."""
    if missing := examine([level]).levels[level].missing:
        pytest.skip(f"this machine does not give level {level}: {', '.join(missing)}")
    anna, ben = league.author("anna"), league.author("ben")
    with opened(league) as door:
        assert say(door, anna, wait=0)["code"] == "unknown"
        league.publish("authors/anna/status.json", {"versions": [], "seat": GAME})
        with answering(league, "seat", {"code": "argument", "message": "expected a seat from 0 to 1, got: 7"}):
            assert asked(door, anna, "seat?against=random&seat=7", "PUT").problem.remedy == "correct the request"
        with answering(league, "seat", {"against": "random/1", "game": GAME, "before": 0}):
            answer = asked(door, anna, "seat?against=random&seat=0", "PUT")
        assert (answer.status, json.loads(answer.body)["game"]) == (200, GAME)
        assert say(door, anna, wait=0) == {"phase": "waiting", "game": GAME}
        over = begin(league, tmp_path, level)
        state = say(door, anna)
        assert (state["phase"], state["request"], state["start"]["seat"], state["game"]) == ("asked", 1, 0, GAME)
        assert 1_000_000 < state["clock"] <= 1_210_000, "a clock of its own"
        assert say(door, ben, wait=0)["code"] == "unknown", "nobody else is told of it"
        late = first(state) | {"request": 9}
        wrong = first(state) | {"plays": [dict.fromkeys(first(state)["plays"][0], 7.5)]}
        refused = [late, wrong, {"plays": [{}, {}], "request": 1}, {**first(state), "cost": {"beer": 1}}]
        assert [say(door, anna, one, 0)["code"] for one in refused] == ["state", "illegal", "illegal", "malformed"]
        bodies = b'{"plays":[{"a":' + b"[" * 9_000, b" " * 2**20
        deep, large = (asked(door, anna, "seat", "POST", body) for body in bodies)
        assert (deep.problem.code, deep.problem.detail[-22:]) == ("malformed", "that is nested too deeply"[-22:])
        assert (large.problem.code, large.problem.limit) == ("too_large", "size"), "it can be read"
        state = say(door, anna, {**first(state), "note": "hm", "cost": {"tokens_in": 9}})
        while state["phase"] == "asked":
            assert "start" not in state
            state = say(door, anna, first(state))
        result = over()
        ended = state["phase"], state["result"]["ranks"], state["result"]["termination"]
        assert ended == ("over", list(result.ranks), "finished")
        assert say(door, anna, first({**state, "legal": [{}]}))["code"] == "state"
        league.publish("authors/anna/status.json", {"versions": [], "seat": "match-8-0"})
        assert say(door, anna, wait=0) == {"phase": "waiting", "game": "match-8-0"}, "the next one"
    log = read_log(tmp_path / result.log)
    assert verify(tmp_path / result.log, revealed(SECRET)).draws_checked
    me = log.header.bots[0]
    assert (me.name, me.version, str(me.time)) == ("guest", "agent", "1200+10")
    note = next(one.note for one in log.records if isinstance(one, ActionRecord) and one.seat == 0)
    assert note == "hm\ncost: tokens_in=9 retries=2"


def test_a_websocket_tells_each_decision_and_an_author_may_go_and_come_back(league: League, tmp_path: Path) -> None:
    """§D10-8."""
    anna = league.author("anna")
    with opened(league) as door:
        league.publish("authors/anna/status.json", {"versions": [], "seat": GAME})
        assert say(door, anna, wait=0) == {"phase": "waiting", "game": GAME}, "whatever became of the door meanwhile"
        over = begin(league, tmp_path)
        at, headers = f"ws://{door.address.host}:{door.address.port}/api/v1/seat", {"Authorization": f"Bearer {anna}"}
        with connect(at, additional_headers=headers) as one:
            while (state := json.loads(one.recv(60)))["phase"] == "waiting":
                pass
            one.send('{"plays": 7}')
            assert json.loads(one.recv(60))["code"] == "malformed"
            one.send(json.dumps(first(state)))
            while (state := json.loads(one.recv(60)))["request"] < 2 or state["phase"] == "waiting":
                pass
        with connect(at, additional_headers=headers) as one:
            assert json.loads(one.recv(60))["request"] == 2
            one.send('{"do": "resign"}')
            assert json.loads(one.recv(60))["why"] == "you have resigned"
        assert over().seats[0].forfeit.stderr == ("the author resigned",)
        league.revoke(anna)
        with pytest.raises(Exception, match="401"), connect(at, additional_headers=headers):
            pass


def test_a_door_that_ends_and_a_clock_that_runs_out_cost_the_game_alone(league: League, tmp_path: Path) -> None:
    anna = league.author("anna")
    with opened(league) as door:
        over = begin(league, tmp_path)
        assert happens(lambda: "code" not in say(door, anna, wait=0))
    assert str(over().seats[0].forfeit.code) == "crashed"
    with opened(league) as door:
        (tmp_path / "late").mkdir()
        over = begin(league, tmp_path / "late", clock="1s")
        assert happens(lambda: "code" not in say(door, anna, wait=0))
        assert str(over().seats[0].forfeit.code) == "timeout"
        tell_end(league.folder, "anna", GAME, "timeout")
        assert happens(lambda: say(door, anna, wait=0).get("why") == "your time was over: you have forfeited")


def test_the_command_lets_a_person_play_and_fetches_the_log(league: League, tmp_path: Path) -> None:
    """Turns of several plays go play by play; whoever leaves resigns."""
    anna, asks = league.author("anna"), list[str]()
    league.publish("league.json", {"name": "cup", "rules": "samurai", "board": "japan"})
    league.publish("authors/anna/status.json", {"versions": [], "seat": GAME})
    for leaves in (False, True):
        (logs := tmp_path / str(leaves)).mkdir()
        (league.folder / f"published/own/anna/{GAME}.jsonl.zst").unlink(missing_ok=True)
        with opened(league) as door, client(door, anna) as there, socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(tmp_path / f"{leaves}.sock"))
            listener.listen()
            over = begin(league, logs)
            with answering(league, "seat", {"against": "random/1", "game": GAME}):
                job, seat = command._find(there, "random", 0, tmp_path / "mine")
            with ThreadPoolExecutor(1) as worker:
                playing = worker.submit(command._play, there, job, listener.getsockname())
                front, _ = listener.accept()
                with front, front.makefile("rb") as lines:
                    for line in lines:
                        asks.append((said := json.loads(line))["type"])
                        if leaves and said["type"] == "request":
                            front.shutdown(socket.SHUT_RDWR)
                        elif said["type"] == "request":
                            action = {"plays": first(said | {"request": 0})["plays"]}
                            front.sendall(json.dumps({"action": action}).encode() + b"\n")
                result = over()
                league.publish(f"own/anna/{GAME}.jsonl.zst", compress((logs / result.log).read_bytes()))
                assert playing.result(60).play_digest == result.play_digest
        assert (Path(job.logs) / f"{GAME}.jsonl").exists()
        assert (seat, [bot.name for bot in job.bots], job.settings.ruleset) == (0, ["guest", "random/1"], "basic")
    assert asks.count("game_over") == 1
    assert asks[-2:] == ["game_start", "request"]


def test_a_door_that_hangs_holds_up_no_league(tmp_path: Path) -> None:
    (tmp_path / SEAT).mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as hangs:
        hangs.bind(str(tmp_path / SEAT / SOCKET))
        hangs.listen(1)
        (tmp_path / "league.toml").touch()
        second = CliRunner().invoke(cli, ["league", "open", str(tmp_path), "--bind", "127.0.0.1:0", "--once"])
        assert "expected a league whose door is closed, got: an open one" in second.output
        assert [is_open(tmp_path) for _ in range(9)][::8] == [True, False]
        tell_end(tmp_path, "anna", GAME, "timeout")


class Scene:
    """Seats without a door, whose other ends are here."""

    def __init__(self, folder: Path) -> None:
        self.now, self.ends, self.all = 0.0, list[socket.socket](), list[SeatConnection]()
        self.authors = {name: folder / "authors" / name / "status.json" for name in ("anna", "ben")}
        for status in self.authors.values():
            status.parent.mkdir(parents=True)
            status.write_text('{"versions": []}')
        self.seats = AuthorSeats(Published(folder), lambda: self.now)

    def seat(self, game: str = GAME, author: str = "anna") -> SeatConnection:
        return self.say(VERSION, f"@{author} {game}".encode())

    def say(self, kind: bytes, content: bytes) -> SeatConnection:
        ours, theirs = socket.socketpair()
        self.ends += [theirs]
        self.all.append(seat := SeatConnection(ours))
        assert self.seats.takes(seat, kind, content)
        return seat

    def phase(self) -> str:
        with ThreadPoolExecutor(1) as apart:  # a loop of another test may run here
            return apart.submit(asyncio.run, self.seats.state("anna")).result().phase


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    yield scene
    for end in scene.ends:
        end.close()
    for seat in scene.all:
        seat.close()


def test_why_a_game_ended_is_the_leagues_word_which_is_waited_for(scene: Scene) -> None:
    for first, word in (("left", GAME), ("word", GAME), ("left", "match-8-0")):
        acts = [partial(scene.seats.left, scene.seat()), partial(scene.say, ENDED, f"@anna {word} timeout".encode())]
        for act in acts if first == "left" else reversed(acts):
            assert scene.phase() == "waiting"
            act()
        assert (scene.phase() == "gone") is (word == GAME)
    scene.seats.tick(PUBLISHED_S + 1)
    assert scene.phase() == "gone", "a service that is stopped says nothing"


def test_a_seat_that_nobody_takes_is_given_up_and_one_that_was_seen_is_not(scene: Scene) -> None:
    left, met = scene.seat(author="ben"), scene.seat()
    assert scene.phase() == "waiting"
    scene.seats.tick(ABSENT_S)
    assert not left.ended
    scene.seats.tick(ABSENT_S + 1)
    assert (left.ended, met.ended) == (True, False)
    assert b"did not come within 120 seconds" in scene.ends[0].recv(9_999)


def test_the_seat_of_an_author_who_has_left_is_given_up_and_nobody_with_their_name_sees_it(scene: Scene) -> None:
    seat = scene.seat()
    scene.authors["anna"].unlink()
    scene.seats.tick(1)
    assert seat.ended
    scene.authors["anna"].write_text('{"versions": []}')
    with pytest.raises(Refusal, match="a seat that you have asked for"):
        scene.phase()


def test_a_new_seat_takes_the_place_and_what_no_referee_says_ends_one(scene: Scene) -> None:
    first, second = scene.seat(), scene.seat("match-8-1")
    assert (first.ended, second.ended) == (True, False)
    assert scene.seats.left(first)
    assert scene.phase() == "waiting"
    for data in (b"\xc1", b"\x01", msgspec.msgpack.encode({"type": "request", "id": 1})):
        last = scene.seat("match-9-0")
        assert scene.seats.takes(last, FRAME, data)
        assert (last.ended, scene.phase()) == (True, "gone")
    assert scene.seat("match").ended
    with pytest.raises(Refusal, match="one that is over"):
        scene.seats.say("anna", SeatSaid(do="resign"))

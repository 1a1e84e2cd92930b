"""A person's table as it is served, without a browser: all bytes that are sent, and every action that is refused.

The game is played in a thread that speaks as the seat's process does, so that the test knows what is hidden.
"""

from __future__ import annotations

import http.client
import random
import re
import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from golden.logs import FOLDER
from web_kit import Answer, ask, served

from arena.core.catalogue import make_settings, rules_of
from arena.core.link.bots import BotSpec
from arena.core.rules.course import Course
from arena.core.show.presenter import header_of
from arena.core.types import GameSettings, Payload
from arena.pages.play.seat import Front, Start
from arena.pages.web.seat_app import Playing
from arena.pages.web.serving import Listening
from tests.acting import first_play, over, requests

PATIENCE_S = 60.0


class Game:
    """A game with the person in one seat; the others and chance are played at random."""

    def __init__(
        self, settings: GameSettings, seat: int = 0, *, seed: int = 1, clock: bool = False, late: bool = False
    ) -> None:
        self.settings, self.seat, self.clock, self.late = settings, seat, clock, late
        did = SimpleNamespace(forfeit=SimpleNamespace(code="timeout") if late else None)
        self.result = SimpleNamespace(seats=[did] * settings.players)
        self.rng = random.Random(seed)
        self.course = Course(rules_of(settings))
        self.hidden: set[str] = set()
        """The tiles that other seats ever held and never showed, as symbols."""

    def set_table(self, front: Front) -> Start:
        bots = [
            BotSpec(name="you" if seat == self.seat else f"bot{seat}", version="", command=("x",), folder="/",
                    digest="0" * 64)
            for seat in range(self.settings.players)
        ]  # fmt: skip
        job: Any = SimpleNamespace(logs=str(FOLDER), game="samurai-basic", front=front.path)
        return Start(job, header_of("g1", self.settings, bots), self.seat)

    def play(self, job: Any) -> Any:
        with socket.socket(socket.AF_UNIX) as end:
            end.connect(job.front)
            file = end.makefile("rwb")

            def tell(message: Payload) -> None:
                file.write(msgspec.json.encode(message) + b"\n")
                file.flush()

            tell({"type": "game_start", "time": {} if self.clock else {"off": True}})
            for request in requests(self.course, self.rng, self.seat):
                tell(request | {"clock": {"limit_ms": 60_000, "bank_ms": None}})
                line = b"" if self.late else file.readline()
                if not line:
                    return self.result
                self.course.answer(self.seat, msgspec.json.decode(line)["action"])
            tell(over(self.course, self.seat))
            return self.result


class Page:
    """What a page does: reads the stream, and acts."""

    def __init__(self, listening: Listening) -> None:
        self.listening = listening
        self.connection = http.client.HTTPConnection("127.0.0.1", listening.port, timeout=PATIENCE_S)
        self.connection.request("GET", "/stream")
        self.stream = self.connection.getresponse()
        self.bytes = b""
        self.told: Payload = {}
        self.events: list[str] = []

    def hear(self, until: Any = lambda told: True) -> Payload:
        """Reads on until a message is as wanted."""
        event = ""
        while True:
            line = self.stream.readline()
            assert line, "the stream has ended"
            self.bytes += line
            if line.startswith(b"event: "):
                event = line[7:].strip().decode()
                self.events.append(event)
            elif line.startswith(b"data: "):
                self.told |= msgspec.json.decode(line[6:])
                if event in ("other", "end") or until(self.told):
                    return self.told

    def act(self, do: str, **more: Any) -> Answer:
        now = self.told["now"]
        action = {"page": self.told["page"], "id": now["id"], "n": now["n"], "do": do} | more
        return self.post(msgspec.json.encode(action))

    def post(self, body: bytes) -> Answer:
        return ask(self.listening, "/act", "POST", body)

    def close(self) -> None:
        self.stream.close()
        self.connection.close()


@contextmanager
def table(game: Game) -> Iterator[tuple[Playing, Listening]]:
    with ThreadPoolExecutor(1) as worker:
        playing = Playing(game.set_table, worker, game.play)
        with served(playing.app, on_stop=playing.stop) as listening:
            yield playing, listening


@contextmanager
def sat(game: Game) -> Iterator[Page]:
    with table(game) as (_, listening):
        page = Page(listening)
        try:
            page.hear(lambda told: told["now"]["phase"] == "asked")
            yield page
        finally:
            page.close()


def play_on(page: Page, rng: random.Random, turns: int) -> None:
    """Chooses what is listed, until so many turns were sent or the game is over."""
    while turns and (now := page.told["now"])["phase"] == "asked":
        items = now["ask"]["items"]
        if now["ask"]["end"] and (not items or rng.random() < 0.5):
            assert page.act("send").status == 204
            page.hear(lambda told, n=now["n"]: told["now"]["n"] > n and told["now"]["phase"] != "waiting")
            turns -= 1
        else:
            assert page.act("choose", place=rng.randrange(len(items))).status == 204
            page.hear(lambda told, n=now["n"]: told["now"]["n"] > n)


def samurai(ruleset: str = "basic", seats: int = 2) -> GameSettings:
    return make_settings("samurai", seats, ruleset=ruleset, time="off")


def test_nothing_hidden_is_in_the_bytes_that_are_sent() -> None:
    game = Game(samurai("classic", 3), seat=1)
    with sat(game) as page:
        play_on(page, random.Random(2), turns=14)
        sent = page.bytes.decode()
        for path in ("/", "/play.js", "/play.css"):
            sent += ask(page.listening, path).body.decode()
        state, rules = game.course.state, game.course.rules
    laid = {f"T{seat}{tile}" for _, seat, tile in rules.view(state, 1)["tiles"]}
    # The drawings of all tiles are sent, by name; what lies somewhere or in a hand names one of them.
    placed = set(re.findall(r'"(T[02]\w+)"[],]', sent))
    assert placed
    assert placed <= laid | {"T0switch", "T2switch"}
    for seat in (0, 2):
        hand = {f"T{seat}{tile}" for tile in rules.view(state, seat)["hand"]}
        assert hand - laid
        assert not (hand - laid) & placed


def test_a_whole_game_and_another_one() -> None:
    game = Game(samurai())
    with sat(game) as page:
        assert page.told["clock"] is None
        play_on(page, random.Random(3), turns=-1)
        told = page.hear(lambda told: told["over"] is not None) if page.told["over"] is None else page.told
        assert told["now"]["phase"] == "over"
        assert told["data"]["end"] == "finished"
        assert told["over"]["log"].endswith("samurai-basic.jsonl")
        assert page.act("choose", place=0).status == 409
        assert page.act("resign").status == 409
        replay = ask(page.listening, "/replay")
        assert replay.status == 200
        assert msgspec.json.decode(replay.body)["eyes"] == ["all", "0", "1"]
        game.course = Course(rules_of(game.settings))
        assert page.act("again").status == 204
        page.hear(lambda told: told["over"] is None and told["now"]["phase"] == "asked")
        assert page.told["now"]["id"] == 1


def test_a_program_plays_the_seat_and_the_page_shows_it() -> None:
    game = Game(samurai("classic", 3), seat=1)
    with sat(game) as page:

        def seat(wait: str = "?wait=50") -> Any:
            return msgspec.json.decode(ask(page.listening, f"/api/v1/seat{wait}").body)

        def say(**said: Any) -> Answer:
            return ask(page.listening, "/api/v1/seat", "POST", msgspec.json.encode(said))

        told = seat("")
        assert msgspec.json.decode(ask(page.listening, "/api/v1/game").body)["schemas"].keys() >= {"view", "plays"}
        while told["phase"] == "asked":
            state, rules = game.course.asked[1].state, game.course.rules
            known = {"view": rules.view(state, 1), "legal": rules.write_legal(state, 1)}
            assert {name: told[name] for name in known} == msgspec.json.decode(msgspec.json.encode(known))
            assert told.keys() == {"phase", "request", "start", "kind", "events", "legal", "view", "clock", "over"}
            assert say(request=told["request"] + 1, plays=[]).status == 409
            assert say(request=told["request"], plays=[{"tile": "rice9"}]).status == 422
            play = first_play(told["legal"])
            assert say(request=told["request"], plays=[play], note="so").status == 204
            told = seat()
        assert told["phase"] == "over"
        assert page.hear(lambda told: told["over"] is not None)["now"]["phase"] == "over"
        assert say(do="resign").status == 409


def test_late_repeated_and_strange_actions_are_refused() -> None:
    with sat(Game(samurai())) as page:
        now = page.told["now"]
        assert ask(page.listening, "/replay").status == 409
        assert page.act("choose", place=0).status == 204
        assert page.act("choose", place=0).status == 409, "the page has not seen what followed"
        page.hear(lambda told: told["now"]["n"] > now["n"])
        assert page.act("undo", id=now["id"] - 1).status == 409
        assert page.act("undo", page=77).status == 409
        assert page.act("again").status == 409
        assert page.act("leave").status == 409
        assert page.act("dance").status == 409
        assert page.act("send").status == 204, "nothing can be sent yet: nothing happens"
        assert page.act("choose", place=99).status == 204
        no_number, large = b'{"page":"1","do":"undo"}', b'{"page":1,"do":"choose","place":1e99}'
        deep = b'{"plays":[' + b'{"a":' * 10_000
        for body in (b"", b"{}", b"[1]", no_number, b"\xff", large, deep):
            assert page.post(body).status == 400
        assert ask(page.listening, "/api/v1/seat", "POST", deep).status == 400
        with socket.create_connection(("127.0.0.1", page.listening.port)) as half:  # who goes in the midst is no fault
            half.sendall(b"POST /act HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nhalf")
        assert ask(page.listening, "/act").status == 405
        assert page.told["now"]["ask"]["undo"]


def test_who_was_late_is_told_so_by_the_referee_s_word() -> None:
    with table(Game(samurai(), clock=True, late=True)) as (_, listening):
        page = Page(listening)
        over = page.hear(lambda told: told["over"] is not None)
        assert over["now"]["end"] == "Your time was over: you have forfeited."
        page.close()


def test_a_reload_shows_the_turn_as_it_is_and_the_older_page_is_told() -> None:
    with sat(Game(samurai())) as page:
        number = page.told["now"]["n"]
        assert page.act("choose", place=1).status == 204
        now = page.hear(lambda told: told["now"]["n"] > number)["now"]
        again = Page(page.listening)
        again.hear()
        assert again.told["now"] == now
        assert again.told["data"]["frames"]
        page.hear()
        assert page.events[-1] == "other"
        assert page.act("undo").status == 409
        assert again.act("undo").status == 204
        again.hear()
        assert again.act("fill").status == 204
        assert again.hear(lambda told: told["now"]["ask"]["end"])["now"]["ask"]["items"] == []
        again.close()


def test_to_resign_ends_the_seat_and_the_game_goes_on() -> None:
    with sat(Game(samurai(), clock=True)) as page:
        assert 0 < page.told["clock"] <= 60_000
        assert page.act("resign").status == 204
        page.hear(lambda told: told["now"]["phase"] == "gone")
        assert page.told["now"]["end"] == "You have resigned."
        page.hear(lambda told: told["over"] is not None)
        assert page.act("choose", place=0).status == 409


def test_a_game_that_breaks_down_is_told() -> None:
    class Broken(Game):
        def play(self, job: Any) -> Any:
            with socket.socket(socket.AF_UNIX) as end:
                end.connect(job.front)
            raise OSError("no space left on device")

    with table(Broken(samurai())) as (_, listening):
        page = Page(listening)
        page.hear(lambda told: told["over"] is not None)
        assert "no space left on device" in page.told["over"]["error"]
        assert ask(listening, "/replay").status == 409
        page.close()


def test_the_end_of_the_command_is_told() -> None:
    game = Game(samurai())
    with ThreadPoolExecutor(1) as worker:
        playing = Playing(game.set_table, worker, game.play)
        with served(playing.app, on_stop=playing.stop) as listening:
            page = Page(listening)
            page.hear(lambda told: told["now"]["phase"] == "asked")
        page.hear()
        assert page.events[-1] == "end"
        page.close()
    assert playing.played[0][1].done()


def test_a_table_that_cannot_be_set_leaves_nothing() -> None:
    def broken(front: Front) -> Start:
        raise ValueError(front.path)

    with pytest.raises(ValueError, match="arena-play-") as raised:
        Playing(broken, ThreadPoolExecutor(1), lambda job: Future())  # type: ignore[arg-type, return-value]
    assert not Path(str(raised.value)).parent.exists()

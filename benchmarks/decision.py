"""What a decision costs, beside a bare exchange of the same bytes with the same bots, in Python and in C.

The bare exchange is what any referee must pay. In Python: pack the request, send it from a ROUTER, wait, receive, and
unpack the answer, by the fastest calls of pyzmq and msgspec. In C (`floor.c`): the same frames over ZMTP of its own,
and no look at the answer. All play the same whole games, game_start and game_over included, turn about, pinned to one
processor: arena some of them in each round, as no process meets a deal twice; the others all of them. All processor
time counts, of bots, referee and log; starts do not.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import msgpack
import msgspec
import zmq
from costs import INSTANT, wants_view
from rows import Row, living_processor_s, pin, turn_about

from arena.core.catalogue import make_settings, rules_of
from arena.core.link.bots import BotSpec, load_bot
from arena.core.link.local import LocalLink
from arena.core.link.pool import worker_pool
from arena.core.link.runtimes import resolved
from arena.core.record.log import read_log
from arena.core.referee.game import Game
from arena.core.referee.job import Job
from arena.core.referee.worker import play

SEATS = 2
GAMES = 25
ROUNDS = 7

Dialogue = list[tuple[int, bytes, bool]]
"""Seat, frame from the referee, and whether an answer is due."""


class RecordingLink(LocalLink):
    """Keeps the frames that the referee sent."""

    sent: Dialogue

    def send(self, seat: int, data: bytes) -> int:
        kind = msgpack.unpackb(data)["type"]
        self.sent.append((seat, data, kind in ("game_start", "request")))
        return super().send(seat, data)


def job(bot: BotSpec, deal: int, logs: str) -> Job:
    return Job(
        game=f"bench-{deal}",
        tournament=None,
        settings=make_settings("samurai", SEATS, time="60+0"),
        bots=(bot,) * SEATS,
        deal=deal,
        rotation=0,
        secret=bytes(32),
        logs=logs,
    )


def record_dialogues(bot: BotSpec, logs: str) -> list[Dialogue]:
    dialogues = []
    for deal in range(GAMES * ROUNDS):
        work = job(bot, deal, logs)
        rules = rules_of(work.settings)
        link = RecordingLink(worker_pool(), work.bots)
        link.sent = []
        result = Game(work, rules, link).play()
        read_log(Path(logs) / result.log)
        dialogues.append(link.sent)
    return dialogues


def environment(endpoint: str) -> dict[str, str]:
    return {**os.environ, "ARENA_ENDPOINT": f"ipc://{endpoint}", "ARENA_TOKEN": secrets.token_hex(8)}


class Bare:
    """A ROUTER and the same bots, and nothing between them."""

    def __init__(self, bot: BotSpec, folder: Path, dialogues: list[Dialogue]) -> None:
        self._games = [[(seat, msgpack.unpackb(frame), due) for seat, frame, due in each] for each in dialogues]
        self.router = zmq.Context.instance().socket(zmq.ROUTER)
        self.router.rcvtimeo = 10_000
        self.router.bind(f"ipc://{folder}/bare")
        words, told = resolved(bot.command), environment(f"{folder}/bare")
        self._bots = [subprocess.Popen(words, cwd=bot.folder, env=told) for _ in range(SEATS)]
        self._routes = [self.router.recv_multipart()[0] for _ in range(SEATS)]

    def play(self) -> None:
        """Plays all games. A decision asked of several seats at once is sent to all, then awaited."""
        send, receive = self.router.send, self.router.recv
        encode, decode = msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder().decode
        for dialogue in self._games:
            owed = 0
            for position, (seat, message, due) in enumerate(dialogue):
                send(self._routes[seat], zmq.SNDMORE)
                send(encode(message))
                owed += due
                together = is_together(dialogue, position)
                while owed and not together:
                    receive()
                    decode(receive())
                    owed -= 1

    def close(self) -> None:
        for bot in self._bots:
            bot.kill()
            bot.wait()
        self.router.close(0)


class Floor:
    """The same in C."""

    def __init__(self, bot: BotSpec, folder: Path, dialogues: list[Dialogue]) -> None:
        with open(folder / "dialogues", "wb") as file:
            for each in dialogues:
                told = [(seat, msgpack.unpackb(frame), due) for seat, frame, due in each]
                for position, (seat, frame, due) in enumerate(each):
                    flags = due | is_together(told, position) << 1
                    file.write(bytes([seat, flags]) + len(frame).to_bytes(4, "little") + frame)
        source = Path(__file__).parent / "floor.c"
        subprocess.run(["cc", "-O2", "-o", folder / "floor", source], check=True)
        words = [folder / "floor", folder / "socket", folder / "dialogues", str(SEATS)]
        self._floor = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._floor.stdout is not None
        self._floor.stdout.readline()
        words, told = resolved(bot.command), environment(f"{folder}/socket")
        self._bots = [subprocess.Popen(words, cwd=bot.folder, env=told) for _ in range(SEATS)]

    def play(self) -> None:
        """Plays all games."""
        assert self._floor.stdin is not None
        assert self._floor.stdout is not None
        self._floor.stdin.write(b"\n")
        self._floor.stdin.flush()
        if self._floor.stdout.readline() != b"played\n":
            raise RuntimeError("floor.c has failed")

    def close(self) -> None:
        for process in (self._floor, *self._bots):
            process.kill()
            process.wait()


def is_together(dialogue: list[tuple[int, dict, bool]], position: int) -> bool:
    """Says whether the next frame is sent before answers are awaited: another seat's request of the same decision."""
    seat, _, due = dialogue[position]
    after = dialogue[position + 1 :][:1]
    return bool(due and after and after[0][2] and after[0][0] > seat and after[0][1].get("kind", "hand") == "hand")


def measure(what: str, bot: BotSpec) -> Iterator[Row]:
    """Yields a decision of whole games of a bot, beside each exchange without a referee."""
    with tempfile.TemporaryDirectory() as logs:
        dialogues = record_dialogues(bot, logs)
        decisions = [sum(msgpack.unpackb(frame)["type"] == "request" for _, frame, _ in each) for each in dialogues]
        deals = iter(range(len(dialogues)))

        def each(plays: Callable[[], int]) -> Callable[[], float]:
            def measured() -> float:
                before = living_processor_s()
                played = plays()
                return (living_processor_s() - before) / played * 1e6

            return measured

        def referee() -> int:
            played = [(play(job(bot, deal, logs)), decisions[deal]) for deal in islice(deals, GAMES)]
            return sum(number for _, number in played)

        def whole(other: Bare | Floor) -> int:
            other.play()
            return sum(decisions)

        others: dict[str, Bare | Floor] = {
            "a bare exchange of the same bytes in Python": Bare(bot, Path(logs), dialogues)
        }
        if shutil.which("cc"):
            others["the same in C"] = Floor(bot, Path(logs), dialogues)
        ours, *floors = turn_about([each(referee), *(each(partial(whole, other)) for other in others.values())], ROUNDS)
        for (name, other), figures in zip(others.items(), floors, strict=True):
            other.close()
            yield Row(f"a decision of whole games, {what}, all processes", "us", ours, name, figures)


def rows() -> Iterator[Row]:
    """Yields rows for bots that want the legal plays, and for bots that want the view as well."""
    pin()
    with tempfile.TemporaryDirectory() as folder:
        yield from measure("`legal`", load_bot(INSTANT))
        yield from measure("`view, legal`", load_bot(wants_view(Path(folder))))
    worker_pool().shutdown()

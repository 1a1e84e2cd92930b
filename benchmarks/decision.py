"""The referee's time for a decision, beside a bare exchange of the same bytes with the same bots.

The bare exchange is what any referee must pay: pack the request, send it from a ROUTER, wait, receive, unpack the
answer. Both sides play the same whole games, game_start and game_over included, turn about, pinned to one processor,
because processes that wake each other on two idle cores vary by more than the difference.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import msgpack
import zmq
from costs import INSTANT, wants_view
from rows import Row, pin, turn_about

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


def referee_games(bot: BotSpec, logs: str) -> Iterator[tuple[float, int]]:
    """Seconds and decisions of each game under the referee."""
    for deal in range(GAMES):
        result = play(job(bot, deal, logs))
        yield result.seconds, result.actions


def record_dialogues(bot: BotSpec, logs: str) -> list[Dialogue]:
    dialogues = []
    for deal in range(GAMES):
        work = job(bot, deal, logs)
        rules = rules_of(work.settings)
        link = RecordingLink(worker_pool(), work.bots)
        link.sent = []
        result = Game(work, rules, link).play()
        read_log(Path(logs) / result.log)
        dialogues.append(link.sent)
    return dialogues


class Bare:
    """A ROUTER and the same bots, and nothing between them."""

    def __init__(self, bot: BotSpec) -> None:
        self._folder = tempfile.TemporaryDirectory()
        endpoint = f"ipc://{self._folder.name}/bare"
        self.router = zmq.Context.instance().socket(zmq.ROUTER)
        self.router.rcvtimeo = 10_000
        self.router.bind(endpoint)
        environment = {**os.environ, "ARENA_ENDPOINT": endpoint, "ARENA_TOKEN": secrets.token_hex(8)}
        self._bots = [subprocess.Popen(resolved(bot.command), cwd=bot.folder, env=environment) for _ in range(SEATS)]
        self.routes = [self.router.recv_multipart()[0] for _ in range(SEATS)]

    def play(self, dialogue: list[tuple[int, dict, bool]]) -> float:
        """Seconds for one recorded game. A decision asked of several seats at once is sent to all, then awaited."""
        router, routes = self.router, self.routes
        begun = perf_counter()
        owed = 0
        for position, (seat, message, due) in enumerate(dialogue):
            router.send_multipart([routes[seat], msgpack.packb(message)])
            owed += due
            after = dialogue[position + 1 :][:1]
            together = after and after[0][2] and after[0][0] > seat and after[0][1].get("kind", "hand") == "hand"
            while owed and not (due and together):
                _, answer = router.recv_multipart()
                msgpack.unpackb(answer)
                owed -= 1
        return perf_counter() - begun

    def close(self) -> None:
        for bot in self._bots:
            bot.kill()
            bot.wait()
        self.router.close(0)


def measure(what: str, bot: BotSpec) -> Row:
    """A decision of whole games of a bot, with and without a referee."""
    with tempfile.TemporaryDirectory() as logs:
        recorded = record_dialogues(bot, logs)
        dialogues = [[(seat, msgpack.unpackb(frame), due) for seat, frame, due in each] for each in recorded]
        decisions = sum(sum(message["type"] == "request" for _, message, _ in each) for each in dialogues)
        bare = Bare(bot)
        floor, ours = turn_about(
            [
                lambda: sum(map(bare.play, dialogues)) / decisions * 1e6,
                lambda: sum(seconds for seconds, _ in referee_games(bot, logs)) / decisions * 1e6,
            ],
            ROUNDS,
        )
        bare.close()
    return Row(f"a decision of whole games, {what}", "us", ours, "a bare exchange of the same bytes", floor)


def rows() -> Iterator[Row]:
    """Yields a row for bots that want the legal plays, and one for bots that want the view as well."""
    pin()
    with tempfile.TemporaryDirectory() as folder:
        yield measure("`legal`", load_bot(INSTANT))
        yield measure("`view, legal`", load_bot(wants_view(Path(folder))))
    worker_pool().shutdown()

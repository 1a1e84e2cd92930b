"""Whether a race favours a seat: identical bots grab the same card, thousands of times, under the real referee.

Two processes of one bot change seats from game to game, so that nothing but the seat can matter. A race counts where
both grabbed the same card. Measured are bots that answer at once, where nearly every race is a tie and chance decides,
and bots that react after 2 to 8 ms, where mostly who comes first has the card. Both with the window for ties that is
the default, and with none: then microseconds decide, which may favour the one seat on one machine and the other on
another. That is what the window is for.

What can be concluded: a p-value (of the exact two-sided binomial test of even shares) below 0.001 says that a seat is
favoured, and errs in one of 1,000 fair measurements. Above it, any advantage is too small for the test to see: with
2,000 races, about 4 points of 100.
"""

from __future__ import annotations

import argparse
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace
from shares import fair_coin_p

from arena.core.catalogue import make_settings
from arena.core.link.bots import BotSpec, load_bot
from arena.core.link.pool import worker_pool
from arena.core.record.log import ActionRecord, Chance, LateRecord, Log, read_log
from arena.core.referee.job import Job
from arena.core.referee.worker import play
from arena.core.types import Termination

SIGNIFICANT = 0.001
REACTIONS = {"at once": (), "after 2 to 8 ms": ("2", "8")}
"""What the bots do, and the arguments that make them do it."""
WINDOWS_MS = (1.0, 0.0)


class Tally(msgspec.Struct):
    """Of the races so far: how many, how many seat 0 won, and how many were ties."""

    races: int = 0
    won: int = 0
    tied: int = 0

    def add(self, log: Log) -> None:
        """Count the races of one game: one a round, where somebody was late for the card that another had taken."""
        first: ActionRecord | None = None
        tied = False
        for record in log.records:
            if isinstance(record, Chance):
                tied |= record.tied is not None
            elif isinstance(record, LateRecord):
                assert first is not None
                assert record.action == first.action
                self.races += 1
                self.won += first.seat == 0
                self.tied += tied
            elif isinstance(record, ActionRecord) and record.kind == "seize":
                first = first or record
            elif isinstance(record, ActionRecord):
                first, tied = None, False


def games(bots: tuple[BotSpec, BotSpec], window_ms: float, logs: str) -> Iterator[Log]:
    """The logs of one game after another, on deals that nobody knows."""
    settings = make_settings("gardener", 2, ruleset="race", time="60+0", race_window_ms=window_ms)
    secret = secrets.token_bytes(32)
    deal = 0
    while True:
        job = Job(
            game=f"race-{deal}",
            tournament=None,
            settings=settings,
            bots=bots if deal % 2 else bots[::-1],
            deal=deal,
            rotation=deal % 2,
            secret=secret,
            logs=logs,
        )
        result = play(job)
        assert result.termination is Termination.FINISHED, result
        path = Path(logs) / result.log
        yield read_log(path)
        path.unlink()
        deal += 1


def measure(arguments: tuple[str, ...], window_ms: float, races: int) -> Tally:
    """At least so many races; always an even number of games, so that each process has each seat equally often."""
    bot = load_bot(str(Path(__file__).parent / "racer"))
    bot = replace(bot, command=(*bot.command, *arguments))
    tally = Tally()
    with tempfile.TemporaryDirectory() as logs:
        for number, log in enumerate(games((bot, replace(bot, name="rival")), window_ms, logs)):
            tally.add(log)
            if tally.races >= races and number % 2:
                return tally
    raise AssertionError("games never end")


def main() -> None:
    parser = argparse.ArgumentParser(description="Whether a race favours a seat.")
    parser.add_argument("--races", type=int, default=2000, help="at least so many of each sort (2000)")
    races = parser.parse_args().races
    for window_ms in WINDOWS_MS:
        for reaction, arguments in REACTIONS.items():
            tally = measure(arguments, window_ms, races)
            p = fair_coin_p(tally.won, tally.races)
            verdict = "a seat is favoured" if p < SIGNIFICANT else "no seat is favoured"
            print(
                f"a race         window {window_ms:.0f} ms, bots answer {reaction:15}   {tally.races} races"
                f"   ties {tally.tied / tally.races:4.0%}   seat 0 has {tally.won / tally.races:5.1%}"
                f"   p = {p:.3f}: {verdict}",
                flush=True,
            )
    worker_pool().shutdown()


if __name__ == "__main__":
    main()

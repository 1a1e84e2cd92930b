"""A bot over JeroMQ, which shares no code with libzmq, plays whole games against the referee's own ZMTP."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from referee_kit import make_job

from arena.core.catalogue import rules_of
from arena.core.link.bots import BotSpec, load_bot
from arena.core.link.local import LocalLink
from arena.core.link.pool import Pool
from arena.core.referee.game import Game

FOLDER = Path(__file__).parents[2] / "jeromq"
LIBRARIES = ("org/zeromq/jeromq/0.6.0", "eu/neilalexander/jnacl/1.0.0", "org/msgpack/msgpack-core/0.9.9")


def jar(folder: str) -> str:
    """The path of a library that Maven has fetched for the tests of the Java client."""
    found = sorted((Path.home() / ".m2" / "repository" / folder).glob("*.jar"))
    if not found:
        pytest.skip(f"needs {folder}, which Maven fetches: make -C bots test-java")
    return str(found[0])


@pytest.mark.long(1)
@pytest.mark.parametrize("rules", ["samurai", "gardener"])
def test_a_bot_over_jeromq_plays(tmp_path: Path, needs: Callable[..., None], rules: str) -> None:
    """With heartbeats of its own, and beside a bot over libzmq."""
    needs("java")
    command = ("java", "-cp", ":".join(map(jar, LIBRARIES)), "Bot.java")
    bot = BotSpec(name="jeromq", version="", command=command, folder=str(FOLDER), digest="", tcp=True, start_ms=60_000)
    job = make_job(tmp_path, 2, rules=rules, time="60+1")
    pool = Pool()
    try:
        result = Game(job, rules_of(job.settings), LocalLink(pool, [bot, load_bot("random")])).play()
        assert [seat.forfeit for seat in result.seats] == [None, None]
        assert result.termination == "finished"
        assert result.seats[0].decisions > 3
    finally:
        pool.shutdown()

"""What a game leaves is carried and checked, and nothing else is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from referee_kit import make_job

from arena.cluster.block import Block, BlockOutcome, Failed, GameDone, decode_block, decode_outcome, encode
from arena.cluster.delivery import Delivery, play_away, take
from arena.core.errors import InternalError
from arena.core.link.bots import load_bot
from arena.core.record.log import read_log
from arena.core.referee.job import Job


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "packed"])
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Job, Delivery]:
    """A game between real bots whose folder for logs is not there."""
    bots = (load_bot("random"), load_bot("greedy"))
    job = replace(make_job(Path("/nowhere"), 2), bots=bots, packed=request.param)
    delivery = play_away(job, folder := tmp_path_factory.mktemp("private"))
    assert list(folder.iterdir()) == []
    return job, delivery


def test_a_game_is_carried_whole(played: tuple[Job, Delivery], tmp_path: Path) -> None:
    job, delivery = played
    assert decode_block(encode(Block((job,)))) == Block((job,))
    outcome = BlockOutcome("t", "w", (GameDone(delivery), Failed("why", begun=False, bot="c")), "it ended", killed=True)
    assert decode_outcome(encode(outcome)) == outcome
    answer = outcome.answers[0]
    assert isinstance(answer, GameDone)
    result = take(replace(job, logs=str(tmp_path)), answer.delivery)
    assert result == delivery.result
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == delivery.files
    assert read_log(tmp_path / result.log).sha256 == result.log_sha256


def _renamed(name: str) -> Callable[[Delivery], Delivery]:
    return lambda delivery: replace(delivery, files={**delivery.files, name: b"x"})


@pytest.mark.parametrize(
    "spoil",
    [
        _renamed("../test-000000.seat0.output"),
        _renamed("test-000000.seat2.output"),
        _renamed("test-000000.seat00.output"),
        _renamed("test-000000.seat0.output\n"),
        _renamed("test-000001.jsonl"),
        _renamed("commitment.json"),
        lambda delivery: replace(delivery, files={}),
        lambda delivery: replace(delivery, files={"test-000000.jsonl": b"another"}),
        lambda delivery: replace(delivery, result=replace(delivery.result, game="test-000001")),
        lambda delivery: replace(delivery, result=replace(delivery.result, log="../x.jsonl")),
        lambda delivery: replace(delivery, result=replace(delivery.result, seats=delivery.result.seats[:1])),
    ],
)
def test_what_a_game_cannot_leave_is_refused_whole(
    played: tuple[Job, Delivery], tmp_path: Path, spoil: Callable[[Delivery], Delivery]
) -> None:
    job, delivery = played
    folder = tmp_path / "logs"
    folder.mkdir()
    with pytest.raises(InternalError):
        take(replace(job, logs=str(folder)), spoil(delivery))
    assert [path.name for path in tmp_path.rglob("*")] == ["logs"]

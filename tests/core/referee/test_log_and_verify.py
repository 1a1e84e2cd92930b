"""Logs: every flipped byte is caught, a doctored game is caught even if its sums are made anew, draws are checked."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
import pytest
from referee_kit import SECRET, first_legal, on_turn, referee, revealed

from arena.core.errors import LogError, ReplayMismatch
from arena.core.record.log import parse_log, play_digest, read_log
from arena.core.record.published import SECRET_FILE
from arena.core.record.receipts import receipts_of
from arena.core.referee.chance import NO_MIX, bot_seed, commitment, deal_secret, game_salt
from arena.core.referee.verify import verify
from tests.memory_link import MemoryBot

Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A game of three in which seat 2 forfeits."""
    folder = tmp_path_factory.mktemp("log")
    bots = [MemoryBot(first_legal), MemoryBot(first_legal), MemoryBot(on_turn(3, lambda request: []))]
    result, _ = referee(folder, bots)
    return folder / result.log


def test_whatever_byte_is_flipped_the_line_is_named(log: Path) -> None:
    """All bytes but those of long lines, of which a sample will do: each line is covered by its own sum."""
    data = log.read_bytes()
    chance = random.Random(3)
    places = {*chance.sample(range(len(data)), 1_500), *range(200), *range(len(data) - 200, len(data))}
    for place in sorted(places):
        bit = 1 << chance.randrange(8)
        flipped = data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :]
        line = data.count(b"\n", 0, place) + 1
        with pytest.raises((ReplayMismatch, LogError)) as caught:
            parse_log(flipped, "log")
        if isinstance(caught.value, ReplayMismatch):
            assert caught.value.line in (line, line + 1)


@pytest.mark.parametrize("cut", [1, 10, 500, -1])
def test_a_log_that_was_cut_off_or_prolonged_is_caught(log: Path, cut: int) -> None:
    data = log.read_bytes()
    with pytest.raises(ReplayMismatch):
        parse_log(data[:-cut] if cut > 0 else data + b"{}\n", "log")
    with pytest.raises(ReplayMismatch):
        parse_log(b"".join(data.splitlines(keepends=True)[:-1]), "log")


def summed(lines: Lines) -> bytes:
    """A log of these records with right sums: what a forger would write."""
    out = b""
    for line in lines:
        record = {key: value for key, value in line.items() if key != "sum"}
        out += json.dumps(record, separators=(",", ":"), ensure_ascii=False)[:-1].encode()
        out += b',"sum":"%08x"}\n' % crc32(out)
    return out


def index(lines: Lines, record: str, nth: int = 0, **fields: Any) -> int:
    found = [at for at, line in enumerate(lines) if line["record"] == record and fields.items() <= line.items()]
    return found[nth]


def reseal(lines: Lines) -> None:
    """Makes the play digest and the receipts again."""
    log = parse_log(summed(lines), "log")
    lines[-1]["play_digest"] = play_digest([log.header, *log.records])
    outcome = log.outcome
    found = receipts_of(log.header, log.records, outcome.termination, outcome.ranks, outcome.scores)
    lines[-1]["receipts"] = [msgspec.to_builtins(receipt.logged) for receipt in found if receipt is not None]


def forge_rank(lines: Lines) -> int:
    lines[-1]["ranks"][:2] = lines[-1]["ranks"][1::-1]
    return len(lines)


def forge_event(lines: Lines) -> int:
    at = index(lines, "action", 4, kind="turn")
    lines[at]["events"][0]["data"]["space"] += 1
    return at + 1


def forge_order_of_seats(lines: Lines) -> int:
    """Of two seats that choose their hands at the same time, the second is served first."""
    at = index(lines, "action", kind="hand")
    lines[at : at + 2] = lines[at + 1], lines[at]
    assert [line["seat"] for line in lines[at : at + 2]] == [1, 0]
    reseal(lines)
    return at + 2


def forge_no_time(lines: Lines) -> int:
    lines[0]["settings"]["time"] |= {"bank_ms": None, "limit_ms": None}
    return 1


def forge_audience(lines: Lines) -> int:
    at = index(lines, "action", kind="hand")
    del lines[at]["events"][0]["to"]
    return at + 1


def forge_action(lines: Lines) -> int:
    at = index(lines, "action", 2, kind="turn")
    lines[at]["action"]["plays"] = []
    return at + 1


def forge_early_forfeit(lines: Lines) -> int:
    at = index(lines, "action", kind="setup")
    guilty = {"seat": 1, "code": "timeout", "sentence": "seat 1 did not answer in time"}
    events = [{"data": {"event": "forfeited", "seat": 1}}]
    forfeit = {"record": "forfeit", "forfeits": [guilty], "turn": 0, "events": events, "ms": lines[at]["ms"]}
    lines.insert(at, forfeit)
    return at + 1


def forge_seat(lines: Lines) -> int:
    at = index(lines, "action", kind="setup")
    lines[at]["seat"] = 1
    return at + 1


def forge_removed_line(lines: Lines) -> int:
    at = index(lines, "chance", 3)
    del lines[at]
    return at + 1


def forge_forfeit_seat(lines: Lines) -> int:
    at = index(lines, "forfeit")
    lines[at]["forfeits"][0]["seat"] = 7
    return at + 1


def forge_forfeit_code(lines: Lines) -> int:
    at = index(lines, "forfeit")
    lines[at]["forfeits"][0]["code"] = "finished"
    return at + 1


def forge_board(lines: Lines) -> int:
    board = lines[0]["settings"]["board"]
    board["text"] = board["text"].replace("v4", ".4", 3)
    return 1


def forge_options(lines: Lines) -> int:
    lines[0]["settings"]["options"]["setup"] = "sideways"
    return 1


@pytest.mark.parametrize("forge", [value for name, value in sorted(globals().items()) if name.startswith("forge_")])
def test_a_forged_game_with_right_sums_is_caught_where_it_departs(
    log: Path, tmp_path: Path, forge: Callable[[Lines], int]
) -> None:
    lines = [json.loads(line) for line in log.read_bytes().splitlines()]
    before = json.dumps(lines)
    line = forge(lines)
    assert json.dumps(lines) != before
    forged = tmp_path / "forged.jsonl"
    forged.write_bytes(summed(lines))
    with pytest.raises(ReplayMismatch) as caught:
        verify(forged)
    assert caught.value.line == line


def test_the_order_of_keys_means_nothing(log: Path, tmp_path: Path) -> None:
    """A writer in a language whose maps have no order writes logs, too, and with the same digest."""
    lines = [json.loads(line) for line in log.read_bytes().splitlines()]
    at = index(lines, "action", kind="turn")
    play = lines[at]["action"]["plays"][0]
    lines[at]["action"]["plays"][0] = dict(reversed(play.items()))
    lines[at] = {"record": "action"} | dict(reversed(lines[at].items()))
    turned = tmp_path / "turned.jsonl"
    turned.write_bytes(summed(lines))
    assert turned.read_bytes() != log.read_bytes()
    assert verify(turned, revealed(SECRET)).draws_checked


def test_a_draw_that_the_secret_does_not_give_is_caught(log: Path, tmp_path: Path) -> None:
    """A game that is right by the rules, and was not dealt from the secret that it was committed to."""
    lines = [json.loads(line) for line in log.read_bytes().splitlines()]
    other = bytes(32)
    header = lines[0]
    header |= {"commitment": commitment(deal_secret(other, 0)), "salt": game_salt(other, header["game"]).hex()}
    for seat, bot in enumerate(header["bots"]):
        bot["bot_seed"] = bot_seed(other, header["game"], header["tournament"], NO_MIX, seat)
    reseal(lines)
    forged = tmp_path / "forged.jsonl"
    forged.write_bytes(summed(lines))
    assert not verify(forged).draws_checked
    with pytest.raises(ReplayMismatch, match="the secret gives the draw") as caught:
        verify(forged, revealed(other))
    assert lines[caught.value.line - 1]["record"] == "chance"


def test_the_secret_is_found_beside_the_log_once_it_is_revealed(log: Path, tmp_path: Path) -> None:
    copy = tmp_path / log.name
    copy.write_bytes(log.read_bytes())
    assert not verify(copy).draws_checked
    told = {"tournament": "test", "secret": SECRET.hex(), "commitment": commitment(SECRET)}
    (tmp_path / SECRET_FILE).write_text(json.dumps(told))
    assert verify(copy).draws_checked
    (tmp_path / SECRET_FILE).write_text(json.dumps(told | {"secret": "00" * 32}))
    with pytest.raises(LogError, match="commitment"):
        verify(copy)
    other = told | {"secret": "00" * 32, "commitment": commitment(bytes(32))}
    (tmp_path / SECRET_FILE).write_text(json.dumps(other))
    with pytest.raises(ReplayMismatch, match="does not belong to the revealed secret"):
        verify(copy)


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"expected a game's log, got: No such file"):
        read_log(tmp_path / "missing")
    (tmp_path / "other").write_text("hello\n")
    with pytest.raises(LogError, match="expected a game log"):
        read_log(tmp_path / "other")

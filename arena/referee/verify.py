"""Checks a log from end to end: its sums, every record against the rules, and every draw against the secret."""

from __future__ import annotations

from pathlib import Path

import msgspec

from arena.errors import LogError, ReplayMismatch
from arena.record.log import Chance, Log, read_log
from arena.record.secret import SECRET_FILE, revealed
from arena.referee.chance import Deal, bot_seed, commitment, deal_secret, game_salt
from arena.referee.replay import replay


class Verdict(msgspec.Struct, frozen=True):
    """What was checked in a log that has no fault."""

    game: str
    turns: int
    records: int
    draws: int
    """How many draws it holds."""
    draws_checked: bool
    """Whether they were computed again from the secret. Without it, only their form can be checked."""


def find_secret(path: Path, tournament: str | None) -> bytes | None:
    """Returns the secret that was revealed beside a log, or None if there is none for this tournament.

    Raises:
        LogError: The file is there and cannot be used.
    """
    found = revealed(path.parent)
    if found is None or found.tournament != tournament:
        return None
    secret = bytes.fromhex(found.secret)
    if commitment(secret) != found.commitment:
        raise LogError(f"expected the secret of the commitment {found.commitment} - at {path.parent / SECRET_FILE}")
    return secret


def verify(path: Path, secret: bytes | None = None) -> Verdict:
    """Checks a log.

    Args:
        path: The log.
        secret: The tournament's secret; by default, the one revealed beside the log, if any.

    Raises:
        LogError: It cannot be read.
        ReplayMismatch: Something is wrong with it; the message says what and on which line.
    """
    log = read_log(path)
    if secret is None:
        secret = find_secret(path, log.header.tournament)
    deal = _deal(log, secret) if secret is not None else None
    draws = 0
    for step in replay(log):
        record = step.record
        if isinstance(record, Chance):
            draws += 1
            if deal is not None and (drawn := deal.draw(record.stream, record.n)) != record.draw:
                raise ReplayMismatch(
                    log.source, step.line, f"the secret gives the draw {drawn}, the log says {record.draw}"
                )
    return Verdict(log.header.game, log.outcome.turns, len(log.records) + 1, draws, deal is not None)


def _deal(log: Log, secret: bytes) -> Deal:
    header = log.header
    derived = deal_secret(secret, header.deal, bytes.fromhex(header.mix))
    if commitment(derived) != header.commitment:
        raise ReplayMismatch(log.source, 1, "the deal's commitment does not belong to the revealed secret")
    if game_salt(secret, header.game).hex() != header.salt:
        raise ReplayMismatch(log.source, 1, "the salt does not belong to the revealed secret")
    for seat, bot in enumerate(header.bots):
        if bot.bot_seed != bot_seed(secret, header.deal, seat):
            raise ReplayMismatch(log.source, 1, f"the bot's seed of seat {seat} does not belong to the revealed secret")
    return Deal(derived)

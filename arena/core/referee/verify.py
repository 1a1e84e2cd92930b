"""Checks a log from end to end: its sums, every record against the rules, times, and chance against what was published.

Whether a folder holds every game of its tournament is the business of `arena.core.standings.audit`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from arena.core import plugs
from arena.core.errors import LaterVersion, LogError, ReplayMismatch
from arena.core.record.log import Chance, Log, read_log
from arena.core.record.published import (
    COMMITMENT_FILE,
    CONTRIBUTIONS_FILE,
    SECRET_FILE,
    Commitment,
    Contributions,
    Secret,
    is_date,
    published,
)
from arena.core.record.receipts import contradictions
from arena.core.referee.beacon import moment, out_at, round_of
from arena.core.referee.chance import VERSION, Deal, bot_seed, commitment, deal_secret, game_salt, mix
from arena.core.referee.replay import replay
from arena.core.referee.times import Times


class Publication(msgspec.Struct, frozen=True):
    """What is published in a folder of logs."""

    commitment: Commitment | None
    contributions: Contributions | None
    secret: Secret | None
    deals: Mapping[int, bytes] = {}
    """Secrets by deal, of a league's season whose own secret is not out yet."""
    season: Mapping[str, Any] = {}

    @property
    def key(self) -> bytes | None:
        """The tournament's secret, once it is out."""
        return None if self.secret is None else bytes.fromhex(self.secret.secret)

    @property
    def beacon(self) -> str | None:
        """The public value that was to be taken, as the commitment names it."""
        named = None if self.commitment is None else self.commitment.settings.get("beacon")
        return named if isinstance(named, str) else None

    def of_beacon(self) -> list[str]:
        """Returns what is wrong with the beacon, as far as the files contradict each other."""
        before, given = self.commitment, self.contributions
        value = "" if given is None else given.beacon
        if before is None or (self.beacon is None and not value):
            return []
        if self.beacon is None:
            return [f"{CONTRIBUTIONS_FILE}: expected no beacon, as {COMMITMENT_FILE} names none, got: {value!r:.80}"]
        wrong = []
        if not value:
            wrong.append(f"{CONTRIBUTIONS_FILE}: expected the value of {self.beacon:.200}, got none")
        if given is not None and any(given.entropy):
            wrong.append(
                f"{CONTRIBUTIONS_FILE}: expected no contribution beside a beacon, got some: whoever gave them may have "
                "known its value"
            )
        if (round := round_of(self.beacon)) is not None and not (
            is_date(before.created) and datetime.fromisoformat(before.created) < out_at(round)
        ):
            wrong.append(
                f"{COMMITMENT_FILE}: expected a round that was not out yet at {before.created:.80}, "
                f"got: {round}, which was out at {moment(round)}"
            )
        return wrong

    def contradictions(self) -> list[str]:
        """Returns what is wrong with the files, each by itself and beside each other. Call it before all else."""
        before, given, secret = self.commitment, self.contributions, self.secret
        wrong = []
        try:
            if secret is not None and commitment(bytes.fromhex(secret.secret)) != secret.commitment:
                wrong.append(f"{SECRET_FILE}: expected the secret of the commitment {secret.commitment}, got: another")
            if (
                given is not None
                and mix(given.beacon, map(bytes.fromhex, filter(None, given.entropy))).hex() != given.mix
            ):
                wrong.append(f"{CONTRIBUTIONS_FILE}: expected the mix of these contributions, got: {given.mix:.80}")
        except ValueError as error:
            wrong.append(f"expected hexadecimal digits, got: {error}")
        if before is None:
            return wrong
        for other, file in ((secret, SECRET_FILE), (given, CONTRIBUTIONS_FILE)):
            if other is not None and other.tournament != before.tournament:
                wrong.append(f"{file}: expected one of tournament {before.tournament}, got: {other.tournament:.80}")
        if given is not None and len(given.entropy) != len(before.bots):
            wrong.append(
                f"{CONTRIBUTIONS_FILE}: expected what each of {len(before.bots)} entrants put into chance, "
                f"got: {len(given.entropy)} entries"
            )
        if secret is not None and secret.commitment != before.commitment:
            wrong.append(
                f"{SECRET_FILE}: expected the secret that was committed to before the first game, "
                f"{before.commitment:.80}, got: one of the commitment {secret.commitment:.80}"
            )
        return wrong


def published_in(folder: Path) -> Publication:
    """Returns what is published in a folder of logs.

    Raises:
        LogError: A file is there and cannot be read.
    """
    secret = published(folder, SECRET_FILE, Secret)
    deals, season = plugs.revealed(folder, deals=secret is None)
    return Publication(
        published(folder, COMMITMENT_FILE, Commitment),
        published(folder, CONTRIBUTIONS_FILE, Contributions),
        secret,
        deals,
        season,
    )


class Verdict(msgspec.Struct, frozen=True):
    """What was checked in a log that has no fault."""

    log: Log
    turns: int
    records: int
    draws: int
    draws_checked: bool
    """Whether they were computed again from the secret. Without it, only their form can be checked."""
    margins: tuple[int, ...] | None
    """Leads of each seat over all others, if the game counts them."""


def verify(path: Path, published: Publication | None = None) -> Verdict:
    """Checks a log.

    Args:
        published: What is published of its tournament; by default, what lies beside the log.

    Raises:
        LogError: It cannot be read.
        ReplayMismatch: Something is wrong with it; the message says what and on which line.
    """
    log = read_log(path)
    if published is None:
        published = published_in(path.parent)
        if wrong := published.contradictions() + published.of_beacon():
            raise LogError(f"{wrong[0]} - at {path.parent}")
    deal = _deal(log, published)
    _check_rules(log, published)
    draws = 0
    for line, record in enumerate(log.records, start=2):
        if isinstance(record, Chance):
            draws += 1
            if deal is not None and record.n > 0 and (drawn := deal.draw(record.stream, record.n)) != record.draw:
                reason = f"the secret gives the draw {drawn}, the log says {record.draw}"
                raise ReplayMismatch(log.source, line, reason, check="deals")
    times = Times(log)
    margins = None
    for step in replay(log, times.asked):
        times.check(step.line, step.record)
        margins = step.margins
    for reason in contradictions(log.header, log.records, log.outcome):
        raise ReplayMismatch(log.source, len(log.records) + 1, reason)
    return Verdict(log, log.outcome.turns, len(log.records) + 1, draws, deal is not None, margins)


def _check_rules(log: Log, published: Publication) -> None:
    """Checks that a log names the rules that were committed to: by others it might not be checked at all."""
    before, header = published.commitment, log.header
    game = (published.season if before is None else before.settings).get("game")
    due = (game.get("rules"), game.get("rules_version")) if isinstance(game, dict) else (None, None)
    got = (header.settings.rules, header.settings.rules_version)
    if None not in due and got != due and (before is None or before.tournament == header.tournament):
        reason = f"expected version {due[1]} of the rules of {due[0]}, as was committed to, got: {got[1]} of {got[0]}"
        raise ReplayMismatch(log.source, 1, reason, check="schedule")


def _deal(log: Log, published: Publication) -> Deal | None:
    """Returns the deal by the secret, and checks all in the header that follows from it; None without a secret."""
    header, before, secret = log.header, published.commitment, published.secret
    given = published.contributions
    if header.chance > VERSION and before is None:
        raise LaterVersion(f"with chance {header.chance}, where this one knows up to {VERSION}", f"{log.source}:1")
    for of in (before, secret, given):
        if of is not None and of.tournament != header.tournament:
            return None  # another tournament's: `audit` says so
    if given is not None and header.mix != given.mix:
        raise _chance(log, f"the mix does not follow from {CONTRIBUTIONS_FILE}")
    if given is None and before is not None and header.mix != mix().hex():
        raise _chance(log, "the mix does not follow from nobody having put anything into chance")
    for seat, bot in enumerate(header.bots):
        if (given or before) is not None and bot.entropy not in (None, *(given.entropy if given is not None else ())):
            raise _chance(log, f"what the bot in seat {seat} put into chance is not in {CONTRIBUTIONS_FILE}")
    key = published.key
    if key is None:
        if (secret_of_deal := published.deals.get(header.deal)) is None:
            return None
        if commitment(secret_of_deal) != header.commitment:
            raise _chance(log, "the deal's commitment does not belong to the secret that was revealed of it")
        return Deal(secret_of_deal)
    mixed = bytes.fromhex(header.mix)
    derived = deal_secret(key, header.deal, mixed)
    if commitment(derived) != header.commitment:
        raise _chance(log, "the deal's commitment does not belong to the revealed secret")
    if game_salt(key, header.game).hex() != header.salt:
        raise _chance(log, "the salt does not follow from the secret and the game's identifier")
    for seat, bot in enumerate(header.bots):
        seeds = {bot_seed(key, header.game, header.tournament, mixed, seat)}
        settings = published.season if before is None else before.settings
        if settings.get("chance", 1) == 2:
            from arena.core.record.old import bot_seed_2

            # A season that began so went on with the seeds of the next version of arena.
            seeds = {bot_seed_2(key, header.deal, seat), *(seeds if before is None else ())}
        if bot.bot_seed not in seeds:
            raise _chance(log, f"the seed of the bot in seat {seat} does not follow from the secret")
    if (given or before) is not None and header.beacon != (given.beacon if given is not None else ""):
        raise _chance(log, f"the beacon {header.beacon!r} is not the one in contributions.json")
    return Deal(derived)


def _chance(log: Log, reason: str) -> ReplayMismatch:
    return ReplayMismatch(log.source, 1, reason, check="deals")

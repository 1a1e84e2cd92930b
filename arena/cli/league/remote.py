"""The authors' commands for a league elsewhere. Each is what the command does with `--at`."""

from __future__ import annotations

import time
from io import BytesIO
from typing import TYPE_CHECKING

from arena.cli.league.away import show_maps
from arena.cli.league.reports import show_reports
from arena.cli.league.tables import received, show_standings, show_versions
from arena.cli.output import echo, say, show_json
from arena.errors import CheckFailed, DoorError
from arena.files import MIB
from arena.text import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arena.cli.league.away import Elsewhere
    from arena.door.client import Client
    from arena.types import Payload

LOOK_S = 3
"""Seconds between two looks at a version that is waited for."""
SETTLED = frozenset({"active", "superseded", "suspended", "rejected", "retired"})
"""States in which a submission has come to its end."""
GAMES = ("game", "version", "rank", "lost", "forfeit", "turn", "sentence", "log", "rerun")


def submit(elsewhere: Elsewhere, bot: str, *, wait: bool) -> None:
    """Packs a bot, sends it, and says what became of it; with `wait` until it has come to its end.

    Raises:
        CheckFailed: It was waited for, and is not active in the end.
    """
    from arena.link.bots import check_name, find_bot, read_manifest
    from arena.parcels import pack

    name = read_manifest(find_bot(bot)).name
    check_name(name)
    parcel = pack(bot)
    for path in parcel.left_out:
        say(plain(f"left out: {path}"))
    with elsewhere.client() as client:
        accepted = client.submit(BytesIO(parcel.data), name, parcel.digest, _progress(parcel.size))
        if accepted.answer is None:
            say("The league has the bot and has not answered yet; its service may be stopped. Ask: arena league status")
            return
        version = str(accepted.answer.get("version", ""))
        echo(_received(accepted.answer))
        if wait and version:
            _follow(client, name, version)


def _progress(size: int) -> Callable[[int], None]:
    """Returns what says how much of an archive was sent, about once for each MiB; nothing of a small one."""
    told = 0

    def tell(have: int) -> None:
        nonlocal told
        if have - told >= MIB or (told and have == size):
            told = have
            say(f"sent {have:,} of {size:,} bytes")

    return tell


def _received(answer: Payload) -> str:
    version = str(answer.get("version", ""))
    if answer.get("same"):
        return f"{version} is this bot already: {answer.get('state', '')}"
    return received(version, answer.get("before"))


def _follow(client: Client, bot: str, version: str) -> None:
    """Says each state of a version until the last one."""
    told = ""
    while True:
        found = (each for each in client.status(bot).versions if each.get("version") == version)
        state = str(next(found, {}).get("state", ""))
        if state != told:
            echo(f"{version}: {state}")
            told = state
        if state in SETTLED:
            break
        time.sleep(LOOK_S)
    if told not in ("active", "superseded"):
        raise CheckFailed(f"expected {version} to become active, got: {told}; read `arena league report {version}`")


def status(elsewhere: Elsewhere, bot: str, *, as_json: bool) -> None:
    """Prints how the author's versions stand, and what the league has to say."""
    with elsewhere.client() as client:
        found = client.status(bot)
    if as_json:
        show_json({"versions": found.versions, "notices": found.notices})
        return
    show_versions(found.versions, found.notices, "No version yet: arena league submit BOT --at ADDRESS --key FILE")


def games(elsewhere: Elsewhere, bot: str, *, only: str, most: int, as_json: bool) -> None:
    """Prints games of the author's versions, the latest first."""
    with elsewhere.client() as client:
        found = list(client.games(bot=bot, only=only, most=most))
    if as_json:
        show_json({"games": found})
    else:
        show_maps(found, GAMES, "No such games yet.")


def standings(elsewhere: Elsewhere, *, trueskill: bool, as_json: bool) -> None:
    """Prints the standings of the season."""
    with elsewhere.client() as client:
        season, items = client.standings()
    if as_json:
        show_json({"season": season, "items": items})
        return
    echo(f"Season {season}")
    echo()
    show_standings({"items": items}, trueskill=trueskill)


def report(elsewhere: Elsewhere, version: str, kinds: Sequence[str], *, as_json: bool) -> None:
    """Prints what steps of a version's life found.

    Args:
        elsewhere: The league.
        version: The version, or a bot for its newest one.
        kinds: The steps. Of several, those that there are reports of.
        as_json: Whether it is for a program.

    Raises:
        DoorError: There is no such report.
    """
    import json

    found: list[Payload] = []
    with elsewhere.client() as client:
        name = version if "/" in version else _newest(client, version)
        for kind in kinds:
            try:
                found.append(json.loads(client.report(name, kind)))
            except DoorError as error:
                if error.refusal != "unknown" or (kind == kinds[-1] and not found):
                    raise
    if as_json:
        show_json({"version": name, "state": found[-1].get("state", ""), "reports": found})
    else:
        show_reports(found)


def _newest(client: Client, bot: str) -> str:
    """Returns the name of a bot's newest version; the bot's own name if the league knows of none."""
    names = [str(each.get("version", "")) for each in client.status(bot).versions]
    return max(names, key=lambda name: int(name.rpartition("/")[2] or 0), default=bot)


def retire(elsewhere: Elsewhere, bot: str) -> None:
    """Takes a bot out of the league."""
    with elsewhere.client() as client:
        accepted = client.retire(bot)
    done = accepted.answer is not None
    echo(f"{bot} is retired" if done else f"{bot} will be retired when the service of the league runs")

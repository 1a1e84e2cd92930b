"""Writes the commands that repeat what is in the database: a tournament, or the questions that a bot was asked."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from arena.core import plugs
from arena.core.errors import BotError
from arena.core.link.bots import COMMAND, BotSpec, bundled_folders, read_manifest
from arena.core.store.records import Tournament
from arena.core.tournament.formats import format_of
from arena.core.types import RACE_WINDOW_MS, Level, Payload, TimeControl, own_times, seconds_text

_PROCESSES = {"game": ["--fresh"], "tournament": ["--keep-bots"]}


def refs_of(specs: Iterable[Payload]) -> list[str]:
    """Returns how to name bots on the command line in this folder, from their manifests in the database."""
    bundled = {str(folder.resolve()): name for name, folder in bundled_folders().items()}
    return [_ref(msgspec.convert(spec, BotSpec), bundled) for spec in specs]


def _ref(spec: BotSpec, bundled: dict[str, str]) -> str:
    if spec.own:
        return f"{spec.name}={_ref(replace(spec, own='', name=spec.own), bundled)}"
    if spec.folder in bundled:
        return bundled[spec.folder] + spec.suffix
    try:
        described = read_manifest(Path(spec.folder)).name == spec.own_name
    except BotError:
        described = False
    if not described and not spec.version:
        return COMMAND + shlex.join(spec.command)
    return _path(Path(spec.folder)) + spec.suffix


def _path(folder: Path) -> str:
    """Returns a folder's path, short if it is near; never one that could be the name of a bundled bot."""
    near = os.path.relpath(folder)
    if near.startswith(os.pardir + os.sep + os.pardir):
        return str(folder)
    return near if near.startswith(os.pardir) else os.path.join(os.curdir, near)


def repeat_command(tournament: Tournament, refs: Sequence[str], db: Path | None) -> str:
    """Returns the command that continues a tournament if it is unfinished, and else plays it again.

    Of a season of a league it is the one that says how the league is.

    Args:
        db: Its database; None if neither that nor the folder of its logs is to be named.
    """
    settings = tournament.settings
    if (season := plugs.season(settings)) is not None:
        return shlex.join(["arena", *plugs.call(season.words, db=db)])
    game = settings["game"]
    command, options = format_of(settings).words(settings, refs)
    words = ["arena", *command, "--rules", game["rules"]]
    if game["ruleset"] != "custom":
        words += ["--ruleset", game["ruleset"]]
    else:
        words += [word for name, value in game["options"].items() for word in ("--rule", f"{name}={value}")]
    if game["board"] is not None:
        words += ["--board", game["board"]["name"]]
    words += ["--time", str(msgspec.convert(game["time"], TimeControl))]
    for name, time in own_times(settings).items():
        words += ["--time", f"{name}={time}"]
    if "cpu_ms" in game["time"]:
        words += ["--cpu", seconds_text(game["time"]["cpu_ms"])]
    if game["race_window_ms"] != RACE_WINDOW_MS:
        words += ["--race-window", f"{game['race_window_ms']:g}"]
    words += ["--players", str(game["players"]), *options]
    if (level := settings["level"]) != Level.TRUSTED:
        words += ["--level", level]
    words += _PROCESSES.get(settings.get("processes", "tournament"), [])
    if (on_overload := settings.get("on_overload", "rate")) != "rate":
        words += ["--on-overload", on_overload]
    if tournament.seed is not None:
        words += ["--seed", tournament.seed]
    if (beacon := settings.get("beacon")) is not None:
        words += ["--beacon", beacon]
    words += _of_db(db)
    if db is not None:
        words += _unless_default("--logs", Path(tournament.logs).parent, "logs")
    if tournament.finished is not None:
        words.append("--new")
    return shlex.join(words)


def rerun_command(game: str, ref: str, seat: int, db: Path | None) -> str:
    """Returns the command that asks a bot again what it was asked in a game. `db` is as for `repeat_command`."""
    return shlex.join(["arena", "bot", "rerun", game, ref, "--seat", str(seat), *_of_db(db)])


def replay_command(game: str, seat: int, db: Path) -> str:
    """Returns the command that shows what a seat could know of a game."""
    return shlex.join(["arena", "replay", game, "--seat", str(seat), *_of_db(db)])


def analyse_command(game: str, seat: int, db: Path) -> str:
    """Returns the command that says which decisions of a seat cost most."""
    return shlex.join(["arena", "analyse", game, "--seat", str(seat), *_of_db(db)])


def _of_db(db: Path | None) -> list[str]:
    return [] if db is None else _unless_default("--db", db, "arena.db")


def _unless_default(option: str, path: Path, default: str) -> list[str]:
    """Returns an option with a path, as it is called from this folder; nothing if that is the option's default."""
    near = os.path.relpath(path)
    return [] if near == default else [option, near]

"""`arena bot rerun`: asks a bot again what a seat was asked in a logged game."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from arena.cli import complete
from arena.cli.options import LEVELS, json_option
from arena.cli.output import say, show_json, show_line
from arena.core.face import Level, errors, log_options, plain

if TYPE_CHECKING:
    from arena.author.rerun import Reply, Rerun
    from arena.core.face import log_records


@click.command()
@click.argument("log", metavar="LOG|ID", shell_complete=complete.games)
@click.argument("bot", metavar="BOT", shell_complete=complete.bots)
@click.option("--seat", type=click.IntRange(min=0), required=True, metavar="N", help="The seat to sit in, from 0.")
@click.option(
    "--turn", type=click.IntRange(min=0), metavar="K", help="Stop after this turn, and show its requests whole."
)
@click.option(
    "--time", metavar="TIME", help="10s, 1m+1, 500ms/move, or 1m,2/move.  [default: the time that the seat had]"
)
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    metavar="LEVEL",
    help="trusted, fenced, isolated or strict: how the bot is confined.  [default: as in the game]",
)
@log_options.db_option
@log_options.moved_option
@json_option
@click.pass_context
def rerun(
    ctx: click.Context,
    log: str,
    bot: str,
    seat: int,
    turn: int | None,
    time: str | None,
    level: str | None,
    db: Path,
    logs: Path | None,
    as_json: bool,
) -> None:
    """Ask a bot again what a seat was asked in a logged game.

    Use it to fix a bot that lost a game. BOT gets the same requests that the seat had, one after the other, whatever it
    answers. You see where its answers differ from those in the LOG, and whether they are legal. What it prints is
    shown too; --turn 12 stops where it matters, --time 600/move leaves time for a debugger. The exit code is 3 if
    the bot would have forfeited. ID is that of a game in the database, as `arena games` lists it.

    BOT is confined as the bots of the game were, so that it may read and use what it could there. If that is too narrow
    for a debugger, run a bot of your own with --level trusted.

    \b
    Example:
      arena bot rerun 20260101-1a2b-000007 ./ronin --seat 1
      arena bot rerun logs/match-001/match-001-000000.jsonl ./ronin --seat 1
      arena bot rerun logs/match-001/match-001-000000.jsonl ./ronin --seat 1 --turn 12
    """
    from arena.author.rerun import Rerun
    from arena.core.face import TimeControl, bot_manifests, log_records

    path = log_options.find_log(log, db, logs)
    if path.is_dir():
        raise errors.ConfigError(
            f"expected the log or the id of one game, got: {log}, which holds many; see `arena games`"
        )
    game = log_records.read_log(path)
    again = Rerun(
        game,
        seat,
        bot_manifests.load_bot(bot),
        time=None if time is None else TimeControl.parse(time),
        level=None if level is None else Level(level),
        hidden=[file for file in (path, db) if file.exists()],
    )
    if not as_json:
        show_line(heading(game, seat, bot, again.level))
    replies = []
    for reply in again.replies(turn):
        replies.append(reply)
        if not as_json:
            for line in lines(reply, whole=reply.asked.turn == turn):
                show_line(line)
    if turn is not None and not any(reply.asked.turn == turn for reply in replies):
        raise errors.ConfigError(f"expected a turn in which seat {seat} was asked, got: {turn}; use --turn")
    if as_json:
        show_json(document(str(path), seat, bot, replies, again))
    else:
        show_line(summary(replies))
        for line in again.output.splitlines():
            say(f"{bot} printed: {line}")
    if any(reply.fault for reply in replies):
        ctx.exit(errors.CheckFailed.exit_code)


def heading(log: log_records.Log, seat: int, bot: str, level: Level) -> str:
    """Returns a line that says what is rerun, and how the bot is confined if it is."""
    played, logged = log.header.settings, log.header.bots[seat]
    place = f"seat {seat} of {played.players}" + ("" if level is Level.TRUSTED else f", {level}")
    return plain(f"{played.rules} {played.ruleset}, {place}: {bot} in place of {logged.name}")


def lines(reply: Reply, *, whole: bool) -> list[str]:
    """Returns a reply for people, with its request if `whole`."""
    asked = reply.asked
    other = "failed" if reply.action is None else "differs"
    verdict = "same" if reply.same else "the same forfeit" if reply.same_fault else other
    told = [f"{asked.request.id:>3}  turn {asked.turn:>2}  {asked.request.kind:<6} {reply.used_ms:>8.1f} ms  {verdict}"]
    if whole:
        told += [
            f"     {name:<7}{_json(getattr(asked.request, name))}" for name in ("clock", "view", "events", "legal")
        ]
    if whole or not reply.same:
        told.append(f"     was    {_was(reply)}")
    if reply.action is not None and (whole or not reply.same):
        told.append(f"     now    {_json(reply.action)}")
    if reply.note and (whole or not reply.same):
        told.append(f"            {reply.note}")
    if reply.fault:
        told.append(f"     would forfeit: it {reply.fault}")
    return [plain(line) for line in told]


def summary(replies: list[Reply]) -> str:
    """Returns how many answers differ, and where the first one is."""
    others = [reply.asked for reply in replies if not (reply.same or reply.same_fault)]
    count = f"{len(replies)} requests" if len(replies) != 1 else "1 request"
    if not others:
        return f"{count}: all answered the same{', and forfeited again' if replies[-1].same_fault else ''}"
    first = f"request {others[0].request.id} (turn {others[0].turn})"
    return f"{count}: {len(others)} answered otherwise, the first of them {first}"


def document(log: str, seat: int, bot: str, replies: list[Reply], again: Rerun) -> dict[str, Any]:
    """Returns what `--json` prints."""
    return {
        "log": log,
        "seat": seat,
        "bot": bot,
        "level": again.level,
        "requests": [
            {
                "number": reply.asked.request.id,
                "turn": reply.asked.turn,
                "kind": reply.asked.request.kind,
                "logged": reply.asked.answer and reply.asked.answer.action,
                "forfeit": reply.asked.forfeit and reply.asked.forfeit.sentence,
                "action": reply.action,
                "note": reply.note,
                "same": reply.same,
                "fault": reply.fault,
                "used_ms": round(reply.used_ms, 3),
            }
            for reply in replies
        ],
        "differ": sum(not reply.same for reply in replies),
        "output": again.output,
    }


def _was(reply: Reply) -> str:
    asked = reply.asked
    if asked.answer is not None:
        return _json(asked.answer.action)
    assert asked.forfeit is not None
    return f"forfeited: {asked.forfeit.sentence}"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()

"""The operator's orders: `arena league pause`, `suspend` and so on. They work while the league runs, and while not."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.options import force_option
from arena.cli.output import counted, echo
from arena.core.face import errors
from arena.league.bounds import MOST_MATCHES, MOST_NUMBER, MOST_WORKERS
from arena.league.commands.here import Elsewhere, at_options, folder_argument, order, reason_option, to_option
from arena.league.commands.leagues import opened


@click.command()
@folder_argument
def pause(folder: Path) -> None:
    """Begin no game until the league is resumed. Running games finish; submissions are still received and tried.

    \b
    Example:
      arena league pause cup
    """
    if order(folder, "pause", {}) is not None:
        echo("The league pauses.")


@click.command()
@folder_argument
def resume(folder: Path) -> None:
    """End a pause.

    \b
    Example:
      arena league resume cup
    """
    if order(folder, "resume", {}) is not None:
        echo("The league goes on.")


@click.command()
@folder_argument
@click.argument("concurrency", type=click.IntRange(0, MOST_WORKERS), metavar="N")
@force_option
def concurrency(folder: Path, concurrency: int) -> None:
    """Play N games at a time, beyond the cores with --force-concurrency; 0 is what league.toml says.

    \b
    Example:
      arena league concurrency cup 4
    """
    if order(folder, "concurrency", {"workers": concurrency}) is not None:
        echo(f"{counted(concurrency, 'game')} at a time" if concurrency else "Games at a time: as league.toml says")


@click.command("trust-clock")
@folder_argument
def trust_clock(folder: Path) -> None:
    """Say that this machine's clock is right, after the league doubted it.

    A league doubts a clock that is more than a day away from where its last sign of life puts it, and removes nothing
    for its age meanwhile. `arena league status FOLDER` says so.

    \b
    Example:
      arena league trust-clock cup
    """
    import time

    answer = order(folder, "trust_clock", {"minute": int(time.time() / 60)})
    if answer is not None:
        echo(f"The clock is right: it is {answer['clock']}")


@click.command()
@folder_argument
@click.argument("version")
@reason_option
def suspend(folder: Path, version: str, reason: str) -> None:
    """Suspend a version: it plays no more, and the last good one of its bot comes back.

    VERSION is a bot, or a version such as fox/2.

    \b
    Example:
      arena league suspend cup fox --reason "it writes to the disk without end"
    """
    answer = order(folder, "suspend", {"version": version, "reason": reason})
    if answer is not None:
        echo(f"{answer['version']} is suspended; {_who(answer['active'])}")


@click.command()
@folder_argument
@click.argument("version")
@reason_option
def lift(folder: Path, version: str, reason: str) -> None:
    """Let a suspended version play again. Its forfeits so far are forgiven.

    \b
    Example:
      arena league lift cup fox/2 --reason "that was our disk"
    """
    answer = order(folder, "lift", {"version": version, "reason": reason})
    if answer is not None:
        echo(_who(answer["active"]))


@click.command()
@click.argument("bot")
@to_option
@reason_option
@at_options
def retire(bot: str, folder: Path | None, reason: str, elsewhere: Elsewhere | None) -> None:
    """Take a bot out of a league, or with fox/2 one version of it. Its games stay.

    \b
    Example:
      arena league retire fox --league cup
      arena league retire fox --at https://cup.example --token anna.token
    """
    with opened(folder, elsewhere) as league:
        answer = league.ordered("retire", bot=bot, reason=reason)
    if answer is not None:
        echo(f"retired: {', '.join(map(str, answer['retired'] or [bot]))}")


@click.command()
@click.argument("bot")
@click.argument("against")
@to_option
@click.option("--author", metavar="NAME", help="With --league: on behalf of whom.  [default: local]")
@at_options
def match(bot: str, against: str, folder: Path | None, author: str | None, elsewhere: Elsewhere | None) -> None:
    """Ask for an unrated match of BOT, which is yours, against another that plays.

    It counts in nothing, and is played beside rated games, which come first. A notice says how it ended; its logs are
    yours alone. How many an author may ask for in 24 hours is the limit `matches`.

    \b
    Example:
      arena league match fox owl --at https://cup.example --token anna.token
    """
    with opened(folder, elsewhere, author) as league:
        answer = league.ordered("match", bot=bot, against=against)
    if answer is not None:
        waits = f"; {counted(answer['before'], 'match')} before it" if answer.get("before") else ""
        echo(f"{answer['version']} will meet {answer['against']}, unrated{waits}")


@click.command("hand-over")
@click.argument("bot")
@click.argument("author")
@to_option
@at_options
def hand_over(bot: str, author: str, folder: Path | None, elsewhere: Elsewhere | None) -> None:
    """Hand BOT over to another author, from now on. Its versions and its rating stay.

    With --at you offer it; it is theirs once they give the same command. With --league it is theirs at once.

    \b
    Example:
      arena league hand-over fox bert --at https://cup.example --token anna.token
    """
    with opened(folder, elsewhere) as league:
        answer = league.ordered("bot_author", bot=bot, author=author)
    if answer is not None:
        echo(f"{bot} is offered to {answer['offered']}" if answer.get("offered") else f"{bot} is {answer['author']}'s")


@click.command()
@click.argument("bot")
@click.argument("display_name")
@to_option
@at_options
def rename(bot: str, display_name: str, folder: Path | None, elsewhere: Elsewhere | None) -> None:
    """Give BOT another display name, in any script, until a new version brings its own. Its name stays.

    \b
    Example:
      arena league rename fox "Füchsin" --at https://cup.example --token anna.token
    """
    with opened(folder, elsewhere) as league:
        answer = league.ordered("bot_display", bot=bot, display_name=display_name)
    if answer is not None:
        echo(f"{bot} is shown as {answer['display_name'] or bot}")


@click.command("replay-games")
@folder_argument
@click.argument("matches", nargs=-1, required=True, type=click.IntRange(0, MOST_NUMBER), metavar="MATCH...")
@reason_option
def replay_games(folder: Path, matches: tuple[int, ...], reason: str) -> None:
    """Play matches again whose results should not count.

    Their results stay to be read, and count no more: ratings are computed as if they had never counted. In a large
    league, and for an old match, that takes a while. The same versions meet again on a new deal, if all of them still
    play. `arena league games FOLDER` says which match a game is of.

    \b
    Example:
      arena league replay-games cup 17 18 --reason "the machine was short of memory"
    """
    if len(matches) > MOST_MATCHES:
        raise errors.ConfigError(f"expected at most {MOST_MATCHES} matches at a time, got: {len(matches)}; give fewer")
    answer = order(folder, "replay_games", {"matches": list(matches), "reason": reason})
    for found in (answer or {}).get("matches", ()):
        again = found["why"] or f"it is played again as match {found['again']}"
        echo(f"match {found['match']} counts no more; {again}")


@click.command()
@folder_argument
@click.argument("name")
@click.option("--author", is_flag=True, help="NAME is an author: all results of all their bots.")
@click.option("--reason", required=True, metavar="TEXT", help="Why: it stands in the record, and all may read it.")
def strike(folder: Path, name: str, author: bool, reason: str) -> None:
    """Take all results back of who has cheated: of a bot, of a version such as fox/2, or of an author.

    In the open season none of their matches counts any more, for nobody, as if it had never counted. The results stay
    to be read. Their versions are retired. It cannot be undone. The season's record says of each match why, and so do
    `arena verify` and the league's page.

    \b
    Example:
      arena league strike cup fox --reason "two authors played for one"
      arena league strike cup anna --author --reason "her bots lost to each other on purpose"
    """
    answer = order(folder, "strike", {"name": name, "of": "author" if author else "bot", "reason": reason})
    if answer is not None:
        none = "no match: none of theirs counts in the open season, and closed seasons stay as they are"
        taken = counted(answer["matches"], "match") if answer["matches"] else none
        echo(f"Taken back: {taken}; retired: {', '.join(answer['retired'])}")


def _who(active: str | None) -> str:
    return "nobody of that bot plays" if active is None else f"{active} plays"

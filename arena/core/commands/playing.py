"""Plays a tournament for the commands that do: announces it, shows progress, says how to go on."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import click
import msgspec

from arena.cli import signals
from arena.cli.group import INTERRUPTED
from arena.cli.help import RESULTS, option
from arena.cli.output import command_line, counted, say
from arena.core import plugs
from arena.core.commands.progress import progress_bar
from arena.core.errors import ConfigError
from arena.core.text import plain
from arena.core.types import Level

if TYPE_CHECKING:
    from arena.core.link.bots import BotSpec
    from arena.core.ratings.running import Rating
    from arena.core.standings.report import Report
    from arena.core.store.reader import Reader
    from arena.core.store.records import Played
    from arena.core.store.store import Store
    from arena.core.tournament.lanes import Worker
    from arena.core.tournament.plan import Begun
    from arena.core.tournament.schedule import PlacedRound
    from arena.core.tournament.settings import Setup
    from arena.core.tournaments import Event

when_done_option = option(
    RESULTS, "--when-done", default="", metavar="CMD", rare=True, help="Run this at the end, or post to this URL."
)
MOST_NAMES = 20
"""Number of bots that are named when a tournament begins; if there are more, only how many is printed."""

MOST_TABLES = 8
"""If more meet in a round, only their number is printed."""

LEVEL_LINES: Final = {
    Level.TRUSTED: "Bots run trusted: as programs of yours, with time limits but no sandbox.",
    Level.FENCED: "Bots run fenced: each is one process, without network or other files. Memory and CPU are watched.",
    Level.ISOLATED: "Bots run isolated: each in a sandbox, without network or other files. Memory and CPU are watched.",
    Level.STRICT: "Bots run strict: each in a sandbox, with hard limits of memory and CPU, and frozen off turn.",
}
"""Line about a level before anything is played."""

Remark: TypeAlias = Callable[["Reader", str], str]
"""Returns what is said beside the progress of a tournament, given by its identifier."""


class Manner(msgspec.Struct, frozen=True, kw_only=True):
    """How a tournament is played and told of."""

    workers: int
    worker: Worker | None = None
    """Starts a worker; None means a process on this machine."""
    same_worker: bool = False
    logs: Path
    beacon_value: str | None = None
    commit: bool = False
    new: bool = False
    each_game: bool = False
    verbose: bool = False
    quiet: bool = False


def play_tournament(
    ctx: click.Context,
    store: Store,
    setup: Setup,
    manner: Manner,
    *,
    starts: Sequence[Rating] = (),
    remark: Remark | None = None,
) -> Report | None:
    """Begins or continues a tournament, plays it, and closes it.

    Args:
        starts: By entrant the running rating that it begins with; empty if nobody was rated before.
        remark: What is said beside the progress. By default it is who leads.

    Returns:
        Its final standings; None if no game is played: with `commit`, or because the value of a beacon is not known.
    """
    from arena.core.tournament.plan import Begun
    from arena.core.tournaments import Finished
    from arena.core.tournaments import play_tournament as play

    events = play(
        store, setup, manner.logs, concurrency=manner.workers, worker=manner.worker, same_worker=manner.same_worker,
        beacon_value=manner.beacon_value, new=manner.new, starts=starts, tell=nothing if manner.quiet else say,
    )  # fmt: skip
    with closing(events):
        begun = next(events)
        assert isinstance(begun, Begun)
        id = begun.tournament.id
        try:
            if not manner.quiet:
                _announce(begun, setup, manner)
            if manner.commit or _waits(begun, setup, manner):
                _say_what_next(
                    begun,
                    setup,
                    command_line(ctx, without=("commit", "new", "beacon_value")),
                    given=manner.beacon_value is not None,
                )
                return None
            end = _show(events, store, begun, setup, manner, remark or _who_leads)
        except KeyboardInterrupt:
            say(f"Interrupted: {_kept(store, id)}. To go on:\n  {command_line(ctx, without=('new',))}")
            raise
    if not isinstance(end, Finished):
        say(f"Stopped: {_kept(store, id)}. To go on:\n  {command_line(ctx, without=('new',))}")
        ctx.exit(INTERRUPTED)
    if not manner.quiet:
        _summarise_forfeits(store, id)
    return end.report


def _waits(begun: Begun, setup: Setup, manner: Manner) -> bool:
    """Says whether a tournament waits for the value of its beacon. One that begins now cannot have it yet."""
    is_open = setup.settings.beacon is not None and begun.tournament.entropy is None
    return is_open and (manner.beacon_value is None or not begun.resumed)


def _say_what_next(begun: Begun, setup: Setup, again: str, *, given: bool) -> None:
    """Says what to do with a commitment before the tournament is played."""
    from arena.core.referee.beacon import moment, round_of, where

    beacon = setup.settings.beacon
    if beacon is None or begun.tournament.entropy is not None:
        say(f"Nothing is played yet. Publish the commitment; then:\n  {again}")
        return
    round = round_of(beacon)
    if given:
        say("The value given with --beacon-value is not taken: the commitment is new, and must be published before it.")
    when = "before anybody can know" if round is None else f"before {moment(round)}, when the round is out"
    say(plain(f"Nothing is played yet. Publish the commitment {when}. The value to come:"))
    say(plain(f"  {where(beacon)}"))
    say(f"Once it is out:\n  {again} --beacon-value VALUE")


def nothing(text: str) -> None:
    """Prints nothing."""


def _kept(store: Store, id: str) -> str:
    row = store.tournament(id)
    return f"{store.done(id)} of {row.games} games{' that are planned' if row.open else ''} are kept"


def _announce(begun: Begun, setup: Setup, manner: Manner) -> None:
    from arena.core.record.published import COMMITMENT_FILE
    from arena.core.show.standings import subject_text
    from arena.core.tournament.runner import crowded
    from arena.core.tournament.workers import available_cores

    tournament, settings, committed = begun.tournament, setup.settings, begun.committed
    workers = manner.workers
    names = ", ".join(plain(bot.name) for bot in settings.bots)
    if len(settings.bots) > MOST_NAMES:
        names = f"{len(settings.bots)} bots"
    games = "games" if committed.games is None else counted(committed.games, "game")
    if begun.resumed and committed.games is not None:
        left = committed.games - begun.done
        say(f"Continuing tournament {tournament.id}: {left} of {committed.games} games left (--new begins another)")
    elif begun.resumed:
        say(f"Continuing tournament {tournament.id} after {counted(begun.done, 'game')} (--new begins another)")
    else:
        say(f"Tournament {tournament.id}: {games} of {names}")
    if begun.gone:
        lost = counted(len(begun.gone), "log")
        say(plain(f"Of finished games {lost} cannot be found any more, first {begun.gone[0]}. Their results stand."))
    at_a_time = f"{counted(workers, 'game')} at a time"
    say(f"{subject_text(tournament.settings)}, time {settings.game.time}, {at_a_time}")
    deals = "the deals" if committed.deals is None else counted(committed.deals, "deal")
    # Digests that were noted show later that nothing was changed. Those who publish a commitment need them.
    with_digests = manner.verbose or manner.commit or settings.beacon is not None
    where = f"Committed to {deals} in {os.path.relpath(Path(tournament.logs) / COMMITMENT_FILE)}"
    say(plain(f"{where}{':' if with_digests else ''}"))
    if with_digests:
        say(f"  secret   {committed.commitment}")
        say(f"  settings {committed.settings_sha256}")
        say(f"  schedule {committed.schedule_sha256}")
    if settings.seed is not None:
        say("The deals follow from the seed: whoever knows or guesses it, a bot too, knows every card.")
    say(LEVEL_LINES[settings.level])
    if manner.worker is not None:  # how many cores its machines have is not known here
        return
    if warning := crowded(workers, setup.cores, available_cores()):
        say(warning)


def _show(events: Iterator[Event], store: Store, begun: Begun, setup: Setup, manner: Manner, remark: Remark) -> Event:
    """Shows progress as a tournament is played. Returns the last event."""
    from arena.core.store.records import Played
    from arena.core.tournaments import Planned

    event: Event = begun
    forfeits = ForfeitNews(setup, begun.tournament.logs)
    game = f"{setup.settings.game.rules} {setup.settings.game.ruleset}"
    names = [bot.name for bot in setup.settings.bots]
    games = begun.tournament.games
    with progress_bar(games, begun.done, quiet=manner.quiet) as advance:
        for event in events:
            if isinstance(event, Planned):
                games = event.placed.end
                if event.in_rounds and not manner.quiet:
                    say(plain(round_text(event.placed, names)))
            elif isinstance(event, Played):
                signals.check()
                if manner.each_game:
                    say(game_line(event, names, Path(begun.tournament.logs)))
                forfeits.tell(event, quiet=manner.quiet)
                advance(lambda: f"{game}: {remark(store, begun.tournament.id)}", games)
    return event


def round_text(placed: PlacedRound, names: Sequence[str]) -> str:
    """Returns what a round is called, its games, and who meets if these are few."""
    meetings, byes = placed.round.meetings, placed.round.byes
    text = f"{placed.round.title}: {counted(placed.games, 'game')}"
    if len(meetings) > MOST_TABLES:
        return f"{text} at {len(meetings)} tables"
    met = [" - ".join(names[entrant] for entrant in meeting.entrants) for meeting in meetings]
    resting = [f"{names[entrant]} rests" for entrant in byes[:MOST_TABLES]]
    return f"{text}, {', '.join([*met, *resting])}"


def _who_leads(reader: Reader, tournament: str) -> str:
    from arena.core.standings.report import leader

    return f"{leader(reader, tournament)} leads"


def _summarise_forfeits(store: Reader, tournament: str) -> None:
    from arena.core.standings.report import forfeit_counts

    for name, counts in forfeit_counts(store, tournament).items():
        codes = ", ".join(f"{code} {count}" for code, count in counts.most_common())
        say(f"{plain(name)} forfeited {counted(counts.total(), 'time')}: {codes}")


def describe(played: Played, names: Sequence[str], logs: Path) -> dict[str, Any]:
    """Returns a game as `--json` prints it; lists are by seat."""
    from arena.core.record.log import existing_log

    result = played.result
    return {
        "game": result.game,
        "deal": played.game.deal,
        "rotation": played.game.rotation,
        "bots": [names[entrant] for entrant in played.game.entrants],
        "ranks": list(result.ranks),
        "scores": [seat.score for seat in result.seats],
        "termination": result.termination,
        "turns": result.turns,
        "seconds": round(result.seconds, 3),
        "off_turn_cpu_ms": [seat.off_turn_cpu_ms for seat in result.seats],
        **({"numbers": numbers} if any(numbers := [seat.numbers for seat in result.seats]) else {}),
        "play_digest": result.play_digest,
        "log": os.path.relpath(existing_log(logs / result.log)),
    }


def sentence(game: dict[str, Any]) -> str:
    """Returns how a game ended, in one line."""
    order = sorted(range(len(game["bots"])), key=lambda seat: (game["ranks"][seat], seat))
    places = ", ".join(
        f"{game['ranks'][seat]}. {game['bots'][seat]} (seat {seat}){_points(game, seat)}" for seat in order
    )
    return plain(f"{places}: {counted(game['turns'], 'turn')}, {game['seconds']:.2f} s, {game['log']}")


def game_line(played: Played, names: Sequence[str], logs: Path) -> str:
    """Returns a game's identifier and how it ended, in one line."""
    game = describe(played, names, logs)
    return f"{plain(game['game'])}: {sentence(game)}{', void' if played.void else ''}"


def _points(game: dict[str, Any], seat: int) -> str:
    score = game["scores"][seat]
    return "" if score is None else f" {counted(score, 'point')}"


COUNTED = frozenset(10**power for power in range(1, 10))
"""The numbers of forfeits of a bot for one reason at which the number is told."""


class ForfeitNews:
    """Announces the forfeits of a tournament or match: the first of a bot for a reason in full, others by number."""

    def __init__(self, setup: Setup, logs: str) -> None:
        self._setup = setup
        self._logs = Path(logs)
        self._told: Counter[tuple[str, str]] = Counter()

    def tell(self, played: Played, *, quiet: bool = False) -> None:
        """Prints which bots forfeited a game, where their authors can find out why, and whether the game is void.

        With `quiet` only that it is void: the standings lack it, and do not say so.
        """
        from arena.core.show.standings import forfeit_text

        log = self._logs / played.result.log
        for seat in played.result.seats:
            if (forfeit := seat.forfeit) is not None:
                names = [self._setup.settings.bots[entrant].name for entrant in played.game.entrants]
                name = names.pop(forfeit.seat)
                self._told[name, forfeit.code] += 1
                if quiet:
                    continue
                if (count := self._told[name, forfeit.code]) in COUNTED:
                    say(plain(f"{name} forfeited {count:,} times so far: {forfeit.code}"))
                elif count == 1:
                    ref = self._setup.refs[played.game.entrants[forfeit.seat]]
                    kept = {"against": ", ".join(names), **_files(log, forfeit.seat)}
                    say(forfeit_text(forfeit, name, ref, kept))
        if played.void:
            say(f"Game {played.result.game} is void, because the machine was overloaded, and not played again.")

    def total(self) -> str:
        """Returns whose forfeits ended games, with the number of each cause; empty if there were none."""
        return ", ".join(f"{name} {code} {count}" for (name, code), count in self._told.items())


def _files(log: Path, seat: int) -> dict[str, str]:
    """Returns the files kept for the author of a seat's bot: their paths by kind."""
    from arena.core.record.log import existing_log

    files = {
        "log": log,
        "its output": log.with_suffix(f".seat{seat}.output"),
        "its messages": log.with_suffix(f".seat{seat}.transcript"),
    }
    return {kind: os.path.relpath(existing_log(path)) for kind, path in files.items() if kind == "log" or path.exists()}


def enter(bots: Sequence[str], rules: str, *, bundled: bool = False, quiet: bool = False) -> tuple[str, ...]:
    """Returns the names of the bots that enter, each of one bot, and prints the others with the reasons.

    Args:
        bundled: Whether all bundled bots enter that can play.

    Raises:
        ConfigError: As for `arena.core.tournament.entrants.choose`.
    """
    from arena.core.tournament.entrants import choose

    chosen = choose(bots, rules, bundled=bundled)
    for left in () if quiet else chosen.left_out:
        say(plain(f"Left out: {left.bot}: {left.reason}"))
    return chosen.refs


class LaneChoice(NamedTuple):
    """Number of games at a time, and what starts a worker."""

    number: int
    worker: Worker | None = None
    """None means a process on this machine."""
    elsewhere: bool = False
    """Whether workers may be on other machines."""


@contextmanager
def lanes_on(
    address: str | None,
    concurrency: int | None,
    *,
    each: int = 1,
    insecure: bool = False,
    same_worker: bool = False,
    tell: Callable[[str], object] = say,
    archive_of: Callable[[BotSpec], Path | None] | None = None,
) -> Iterator[LaneChoice]:
    """Yields where to play.

    Args:
        address: The cluster's; None means this machine.
        concurrency: Games at a time; None means as many as there are cores for here, or the workers that a cluster has
            now. It may be more than those: who comes later is used.
        each: The cores that a game keeps busy.
        insecure: Whether a cluster beyond this machine may be without TLS.
        same_worker: Whether matches are to stay on a worker: then there has to be a cluster.
        tell: Called with a sentence about each worker that was lost.
        archive_of: Returns the archive that a bot came in; None means that bots came in none.

    Raises:
        ConfigError: The address or the number cannot be used.
        MachineFault: There is no such cluster.
    """
    from arena.core.tournament.workers import games_at_a_time

    if address is None:
        for option, given in (("--insecure", insecure), ("--same-worker", same_worker)):
            if given:
                raise ConfigError(f"expected --cluster beside {option}, got: {option} alone; leave it out")
        yield LaneChoice(games_at_a_time(concurrency, each))
        return

    def told(sentence: str) -> None:
        tell(plain(sentence))

    with plugs.cluster(address, insecure, same_worker, told, archive_of) as cluster:
        there = len(cluster.workers())
        number = there if concurrency is None else games_at_a_time(concurrency)
        if cluster.archives is None and number > there:
            raise ConfigError(
                f"expected at most {there} games at a time, one for each worker of {address}, got: {number} "
                f"- at --concurrency; say local:{number}"
            )
        yield LaneChoice(number, cluster.lane, elsewhere=cluster.archives is not None)

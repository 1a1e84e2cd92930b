"""Plugs: what wings and packages bring to the core, with each one's signature, and how it is found.

Laws:
1. The core names its wings in one table, `BUILT_IN`, and imports none. Of a wing it knows what `WING` in the wing's
   `__init__.py` says, which imports nothing else; what that names is imported when it is first used.
2. What is not loaded is refused in one sentence when something of it is asked for, and only then.
3. A plug ignores arguments that it does not declare (`call`). So arguments may be added, and none is ever taken away.
"""

# mypy: disable-error-code="no-any-return"
# What a plug returns is taken at its word.

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

from arena.core.errors import ArenaError, ConfigError
from arena.core.loading import Entry as Entry
from arena.core.loading import entries as entries
from arena.core.loading import guarded
from arena.core.loading import load as load

if TYPE_CHECKING:  # a wing is never imported here, and neither is what lies above this layer
    from sqlite3 import Connection

    from rich.console import Console

    from arena.core.link.bots import BotSpec
    from arena.core.record.log import Header, Log, Record
    from arena.core.show.replay import Remark
    from arena.core.standings.examined import Examined
    from arena.core.standings.verdicts import Audit
    from arena.core.store.reader import Reader
    from arena.core.types import Payload, Seat

T = TypeVar("T")

BUILT_IN: Final = ("sandbox", "author", "pages", "learn", "cluster", "league")
"""The wings of arena, each a folder with a `WING`. The games are one too, and always loaded."""
GROUP: Final = "arena.wings"
GROUPS: Final[Mapping[str, str]] = {
    GROUP: "a wing: a `Wing`, whose name nothing else has",
    "arena.games": "a game by its name: a subclass of `Rules` (`arena.core.rules.base`)",
    "arena.families": "many games: a subclass of `Family` (`arena.core.rules.family`)",
    "arena.presenters": "what tells and draws a game, by its name: a `Presenter` (`arena.core.show.presenter`)",
    "arena.judges": "what judges decisions of a game, by its name: a `Judge` (`arena.learn.analysis.judges`)",
    "arena.formats": "a format that people choose: a subclass of `Format` (`arena.core.tournament.formats.base`)",
}
"""The groups of entry points by which things of packages are found, and what one of each names."""
VARIABLE: Final = "ARENA_WINGS"
"""The environment variable that names the wings that are loaded, with commas between; unset: all."""


class NotLoaded(ConfigError):
    """Something is asked for of a wing that is switched off, or does not load."""


class Command(NamedTuple):
    """A command, as a wing brings it."""

    heading: str
    """The part of `arena --help`: Play, Look, Write or Run."""
    place: int
    """The place within that part."""
    help: str
    """One line."""
    loads: str = ""
    """The click command, `module:attribute`; of a wing of arena by default what has its name in `commands`."""


class Number(NamedTuple):
    """A number of each seat of a game, as a wing brings it."""

    title: str
    """Word before it on pages: `frames`."""
    unit: str
    """Unit behind it there: `ms`; empty for a count."""
    loads: str
    """Function that computes it, `module:attribute`, called as `numbers`."""
    on_pages: bool = True
    """Whether pages of games show it. Results, JSON and the database have it anyway."""


class Tables(NamedTuple):
    """The tables that a wing adds to a database when it first opens it."""

    steps: Mapping[str, tuple[str, Sequence[str]]]
    """Steps by name, in order: what shows that one was made (`table.column`), and its SQL. None is ever changed."""
    documents: Mapping[str, Any]
    """Type of what a column of JSON holds, by `table.column`."""


class Season(Protocol):
    """What a wing says of tournaments that no format plans."""

    def words(self, db: Path | None) -> list[str]:
        """Returns the command that tells of them, as none plays one again.

        Args:
            db: Their database; None if it is not to be named.
        """

    def predecessors(self, db: Connection, tournament: str) -> dict[int, int]:
        """Returns by entrant that came later the entrant whose rating it began with.

        Args:
            db: The database.
            tournament: Which.
        """

    def standings(self, db: Connection, tournament: str) -> Payload | None:
        """Returns the final standings, which nothing changes any more; None while it is open.

        Args:
            db: The database.
            tournament: Which.
        """

    def kept(self, db: Connection, tournament: str) -> str:
        """Returns why one cannot be removed, or nothing.

        Args:
            db: The database.
            tournament: Which.
        """

    def page(self, db: Connection, path: Path, tournament: str) -> PagePart | None:
        """Returns its part of the pages of one; None if they are as those of others.

        Args:
            db: The database.
            path: Where that is.
            tournament: Which.
        """


class PagePart(Protocol):
    """A part of the pages of a tournament that a wing knows. Of what its bots said they show no words."""

    name: str
    logs: Path
    """The folder of the logs that everybody may have."""
    public: str
    """The condition of SQL on a row of `games` that everybody may see."""

    def members(self) -> Mapping[int, Payload]:
        """Returns by entrant its `author`, `state` and `level`, and whether its rating is `provisional`."""

    def standings(self) -> Payload | None:
        """Returns the final standings, or those while a final is played; None before."""

    def about(self) -> Payload:
        """Returns what newcomers must know: `rules`, `told` (rows of a table), `address` and `dates`; or nothing."""


class ShownFolder(Protocol):
    """A folder of a wing in which games are played without end: its database, and where running games are heard."""

    database: Path
    feed: Path

    def told(self) -> tuple[str, str, bool]:
        """Returns its name, the address of its pages or nothing, and whether bots play from elsewhere."""

    def current(self, reader: Reader) -> str | None:
        """Returns the tournament that is played now."""


class FolderAuditor(Protocol):
    """Checks a folder of logs as a whole: a tournament's, or one that a wing knows."""

    promises: Mapping[str, str]
    """The promise that each check holds, by its name."""
    why_not: Mapping[str, str]
    """Why a check was not made, by its name."""

    def add(self, log: Examined) -> None:
        """Takes a log that was checked by itself."""

    def result(self, *, complete: bool = False) -> Audit:
        """Returns what was found. `complete` demands every game, and the secret."""


class ToCheck(NamedTuple):
    """Logs that are checked together."""

    logs: list[Path]
    begin: Callable[[], FolderAuditor] | None = None
    """Makes what checks them as a whole; None for a single log."""
    beside: str | None = None
    """The folder with what is published of them; None means their own."""


class Wing(NamedTuple):
    """What a wing brings, by the plug that it goes into. Each text is `module:attribute`."""

    commands: Mapping[str, Command] = {}
    """Commands by name."""
    formats: Mapping[str, str] = {}
    """Subclasses of `Format` by name (`arena.core.tournament.formats.base`) that commands of the wing make. One for
    `arena tournament --format` is an entry point of the group `arena.formats`."""
    seasons: Mapping[str, str] = {}
    """A `Season` by the format that its settings name."""
    tables: str = ""
    """Its `Tables`."""
    page: str = ""
    plot: str = ""
    live: str = ""
    cluster: str = ""
    audits: Mapping[str, str] = {}
    revealed: Mapping[str, str] = {}
    shown: Mapping[str, str] = {}
    numbers: Mapping[str, Number] = {}
    levels: str = ""
    """Returns for a `Level` above `trusted` the `Confinement` of bots at it (`arena.core.link.confinement`)."""


# What is called. Each wing that brings one of these declares it under the same name, with any of its arguments.


def page(log: Log, seat: Seat | None, remarks: Mapping[int, Remark] | None) -> str:
    """Returns a game as a page for a browser.

    Args:
        log: The log.
        seat: The seat whose knowledge is shown; None: that of every seat, and of all together.
        remarks: What is said of decisions, by their line in the log.
    """
    return _one("page", "pages of games", log=log, seat=seat, remarks=remarks)


def plot(document: Any, title: str, form: str, reader: Reader | None) -> bytes:
    """Returns standings as a picture.

    Args:
        document: The standings, of one tournament or of a pool.
        title: What was played.
        form: `svg` or `png`.
        reader: The database, for the course of the running ratings; None leaves that out.
    """
    return _one("plot", "pictures of standings", document=document, title=title, form=form, reader=reader)


def live(screen: Console, pace: float) -> AbstractContextManager[Callable[[Header | Record], None] | None]:
    """Yields what draws the game in progress, record by record; None if no loaded wing draws it.

    Args:
        screen: The terminal.
        pace: How long a decision is shown at least, in seconds.
    """
    if not any(brought("live")):
        return nullcontext()
    return _one("live", "games in progress", screen=screen, pace=pace)


def cluster(
    address: str,
    insecure: bool,
    same_worker: bool,
    tell: Callable[[str], object],
    archive_of: Callable[[BotSpec], Path | None] | None,
) -> AbstractContextManager[Any]:
    """Yields the machines of a cluster: its `workers()`, the `lane` of games on one, and `archives` if bots travel.

    Args:
        address: The scheduler's.
        insecure: Whether an address beyond this machine may be without TLS.
        same_worker: Whether each lane keeps to a worker of its own.
        tell: Called with a sentence about each worker that was lost.
        archive_of: Returns the archive that a bot came in; None: bots came in none.
    """
    return _one(
        "cluster", "a cluster", address=address, insecure=insecure, same_worker=same_worker, tell=tell,
        archive_of=archive_of,
    )  # fmt: skip


def numbers(header: Header, records: Sequence[Record]) -> dict[str, Sequence[float | None]]:
    """Returns by name the numbers of a game's seats; a plug returns one of them: by seat a number, or None.

    A number follows from what everybody may see of a log, so from no note, and is the same whenever it is computed.
    It is stored in the document of its seat (`SeatResult.numbers`). `verify` computes it again if its wing is loaded.
    Else it is kept as it stands, since no log has it, and `verify` says that it was not compared; pages show its name.

    Args:
        header: The first record.
        records: All others.
    """
    found: dict[str, Sequence[float | None]] = {}
    for wing, brings in brought("numbers"):
        for name, number in brings.items():
            found[name] = guarded(
                lambda: [*call(load(number.loads, number.title, wing), header=header, records=records)],  # noqa: B023
                number.loads, f"the number {name!r} of each seat", lambda: f"fix or uninstall {wing}",  # noqa: B023
            )  # fmt: skip
    return found


def known_numbers() -> dict[str, Number]:
    """Returns the numbers of seats that loaded wings bring, by name."""
    return {name: number for _, brings in brought("numbers") for name, number in brings.items()}


def tables() -> Mapping[str, Tables]:
    """Returns by wing the tables that it adds to a database that it opens."""
    return {name: load(target, f"the tables of {name}", name) for name, target in brought("tables")}


def season(settings: Mapping[str, Any]) -> Season | None:
    """Returns what a wing says of a tournament that no format plans; None for any other.

    Args:
        settings: The tournament's.
    """
    if has("seasons", name := str(settings.get("format"))):
        return find("seasons", name, what=f"a tournament of the format {name!r}")()
    return None


def audits(folder: Path, reader: Reader | None, noted: Path | None) -> Iterable[ToCheck] | None:
    """Returns what there is to check in a folder that a wing publishes; None for any other.

    A wing declares by which file or folder in it one knows such a folder.

    Args:
        folder: The folder that `arena verify` was given.
        reader: The database to compare with, if any.
        noted: A copy of what was published before the first game, if there is one elsewhere.
    """
    return _of_folder("audits", folder, reader=reader, noted=noted)


def revealed(folder: Path, deals: bool) -> tuple[Mapping[int, bytes], Mapping[str, Any]]:
    """Returns by deal the secrets that are published of single deals, and the settings if no commitment has them.

    Declared as `audits` are.

    Args:
        folder: What is published of a tournament.
        deals: Whether the secrets are wanted.
    """
    return _of_folder("revealed", folder, deals=deals) or ({}, {})


def shown(folder: Path) -> ShownFolder | None:
    """Returns what pages and the live view show of a folder, by a mark in it as `audits`; None of any other folder.

    Args:
        folder: The folder of the database.
    """
    return _of_folder("shown", folder)


def _of_folder(plug: str, folder: Path, **arguments: Any) -> Any:
    for _, marks in brought(plug, off=True):
        for mark in marks:
            if any(folder.glob(mark)):
                return call(find(plug, mark, what=f"{folder}, which holds {mark}"), folder=folder, **arguments)
    return None


def _one(plug: str, what: str, **arguments: Any) -> Any:
    return call(find(plug, what=what), **arguments)


def brought(plug: str, *, off: bool = False) -> Iterator[tuple[str, Any]]:
    """Yields each wing that brings something to a plug, and what it declares. `off` adds wings that are not loaded."""
    for name in names():
        wing = declared(name)
        if (off or is_on(name)) and isinstance(wing, Wing) and (value := getattr(wing, plug)):
            yield name, value


def has(plug: str, key: str) -> bool:
    """Says whether a wing brings something to a plug, be it loaded or not: then it may be asked for."""
    return any(key in value for _, value in brought(plug, off=True))


def find(plug: str, key: str = "", *, what: str) -> Any:
    """Returns what some wing brings to a plug.

    Args:
        plug: A field of `Wing`.
        key: Which, in a plug that has several by name.
        what: Names it in errors.

    Raises:
        ConfigError: No loaded wing brings it, or it does not load. Show the message to the operator.
    """
    for name, value in brought(plug):
        if not key or key in value:
            target = value[key] if key else value
            if isinstance(target, Number):
                target = target.loads
            elif isinstance(target, Command):
                target = target.loads or f"arena.{name}.commands.{key}:{key}"
            return load(target, what, name)
    raise refusal(plug, key, what) or ConfigError(
        f"expected a wing that brings {what}, got: {', '.join(names())}; install the package that does"
    )


def refusal(plug: str, key: str, what: str) -> NotLoaded | None:
    """Returns why no loaded wing brings something: it is switched off, or does not load. None if neither is so."""
    if (error := switched_off(plug, key, what)) is not None:
        return error
    for name in filter(is_on, names()):
        if isinstance(broken := declared(name), ConfigError):
            return NotLoaded(f"expected {what} of a wing that loads, got: {name}, which may bring it - {broken}")
    return None


def switched_off(plug: str, key: str, what: str) -> NotLoaded | None:
    """Returns why a wing that brings something is not loaded, if the operator left it out."""
    for name, value in brought(plug, off=True):
        if not is_on(name) and (not key or key in value):
            on = os.environ[VARIABLE]
            return NotLoaded(
                f"expected the wing {name!r} to be loaded for {what}, got: {VARIABLE}={on!r}, which leaves it out; "
                f"add it: {VARIABLE}={','.join(filter(None, (on, name)))}"
            )
    return None


def names() -> tuple[str, ...]:
    """Returns the names of all wings, those of arena first."""
    return (*BUILT_IN, *_packaged())


def is_on(name: str) -> bool:
    """Says whether a wing is to be loaded."""
    chosen = os.environ.get(VARIABLE)
    return chosen is None or name in (each.strip() for each in chosen.split(","))


@cache
def declared(name: str) -> Wing | ConfigError:
    """Returns what a wing says that it brings, or why that cannot be found out."""
    try:
        if name in BUILT_IN:
            wing = load(f"arena.{name}:WING", f"the wing {name!r}")
        else:
            wing = load(_packaged()[name].value, f"the wing {name!r}", _packaged()[name].package)
    except ArenaError as error:
        return ConfigError(str(error))
    if _is_sound(wing):
        return wing
    return ConfigError(
        f"expected the wing {name!r} to be an arena.core.plugs.Wing with what its fields say, got: {wing!r:.80}; "
        "correct it, or uninstall its package"
    )


def _is_sound(wing: Any) -> bool:
    def fits(field: str, default: object, value: Any) -> bool:
        if isinstance(default, str):
            return isinstance(value, str)
        kind = {"commands": Command, "numbers": Number}.get(field, str)
        return isinstance(value, Mapping) and all(isinstance(one, kind) for one in value.values())

    return isinstance(wing, Wing) and all(map(fits, wing._fields, wing._field_defaults.values(), wing))


@cache
def _packaged() -> Mapping[str, Entry]:
    """Returns the wings of packages by name."""
    return {entry.name: entry for entry in sorted(entries(GROUP)) if entry.name not in BUILT_IN}


def call(plug: Callable[..., T], **arguments: Any) -> T:
    """Calls a plug with those arguments that it declares."""
    from inspect import Parameter, signature

    takes = signature(plug).parameters
    takes_all = any(one.kind is Parameter.VAR_KEYWORD for one in takes.values())
    return plug(**{name: value for name, value in arguments.items() if takes_all or name in takes})

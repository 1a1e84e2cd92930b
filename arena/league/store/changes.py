"""Makes every change of a version's state.

Laws:
1. `Changes.change` is the only function that changes a state. It makes only what the table of
   `arena.league.store.states` has.
2. A change, its report, its notices and all that follows from it are one transaction.
3. A bot's active version plays until its successor is active. What leaves `active` loses the games that were not begun;
   running games finish and count.
4. When the active version is suspended, the last good one comes back with the rating that it had.
"""

from __future__ import annotations

import msgspec

from arena.core.face import Level, Payload, databases, errors, game_rows, stores, true_skill
from arena.league.record import rounds
from arena.league.store import lines, rows
from arena.league.store.matches import settle
from arena.league.store.notices import Notices, Reports
from arena.league.store.records import StepReport, Version
from arena.league.store.states import MOST_ATTEMPTS, Actor, State, find


class Changes(rows.SeasonPart):
    """Makes changes, and keeps their history."""

    def __init__(self, connection: databases.Connection, games: stores.Store) -> None:
        super().__init__(connection, games)
        self._notices = Notices(connection)
        self._reports = Reports(connection)

    def _note_new(self, version: Version, reason: str, actor: Actor) -> None:
        """Notes a version that was just received, in the caller's transaction."""
        change = find(None, version.state, actor, version.name)
        self._note(version, None, State.RECEIVED, actor, reason)
        self._tell(version, State.RECEIVED, change.told, reason)

    def change(
        self,
        id: int,
        to: State,
        by: Actor,
        reason: str,
        *,
        report: StepReport | None = None,
        notice: str | None = None,
        spec: Payload | None = None,
    ) -> Version:
        """Changes the state of a version, with all that follows from it, in one transaction.

        Args:
            to: Its new state; the same one notes that the machine failed in its step.
            reason: Why, for people: a few words.
            report: What came of the step that ends.
            notice: What the author is told instead of the table's sentence; `{name}` and `{reason}` are filled in.
            spec: What it is started with, if it becomes an entrant. By default its manifest.

        Returns:
            The version as it is now.

        Raises:
            Refused: There is no such change (the table of `arena.league.store.states`), no season is open, or the bot
                has another version in the place. Nothing has changed.
        """
        with databases.immediate(self._db):
            version = rows.version(self._db, id)
            if to is State.BUILDING and version.state is State.RECEIVED:
                self._check_free(version)
            change = find(version.state, to, by, version.name)
            if to is State.ACTIVE:
                self._check_may_play(version)
            if report is not None:
                self._reports.add(id, msgspec.structs.replace(report, attempt=version.attempts + 1))
            if to is State.ACTIVE:
                self._rest_of_bot(version)
            attempts = version.attempts + 1 if to is version.state else 0
            self._db.execute(
                "UPDATE versions SET state = ?, attempts = ?, since = ? WHERE id = ?", (to, attempts, stores.now(), id)
            )
            self._note(version, version.state, to, by, reason)
            self._tell(version, to, notice or change.told, reason)
            if version.state is State.ACTIVE:
                self._leave(version)
            self._note_line(version, to, by)
            match to:
                case State.ACTIVE:
                    self._enter(version, spec)
                case State.SUSPENDED:
                    self._suspended(version)
                case version.state if attempts == MOST_ATTEMPTS:
                    text = f"{version.name} met {attempts} faults of the machine in the step {to}, the last: {reason}"
                    self._notices.add(None, "machine", text, id)
                case _:
                    pass
            return rows.version(self._db, id)

    def _check_free(self, version: Version) -> None:
        where = "WHERE bots.name = ? AND state IN ('building', 'checking', 'qualifying')"
        for other in rows.versions(self._db, where, version.bot):
            raise errors.Refused(
                "state", f"expected one version of {version.bot} at a time, got: {other.name} is being tried"
            )

    def _check_may_play(self, version: Version) -> None:
        """Checks what the table cannot say of a version that is to become active.

        Raises:
            Refused: No season is open, or the version is to come back and is not the last good one, or too old.
        """
        rows.open_season(self._db)
        if version.state is State.SUPERSEDED:
            good = rows.last_good(self._db, version.bot)
            if good is None or good.id != version.id:
                what = f"that is {good.name}" if good else "there is none"
                raise errors.Refused(
                    "state", f"expected the last good version of {version.bot}, got: {version.name}; {what}"
                )
        if version.state is State.SUSPENDED and not rows.versions(
            self._db, f"WHERE versions.id = ? AND {rows.LATE}", version.id
        ):
            raise errors.Refused(
                "state",
                f"expected one of the last {rows.MOST_PLAYED} versions of {version.bot} that have played, "
                f"got: {version.name}, whose archive need not be there any more",
                "let its author submit a new version",
            )

    def _rest_of_bot(self, version: Version) -> None:
        """Supersedes the bot's version that is active, if there is one."""
        for other in rows.versions(self._db, "WHERE bots.name = ? AND state = 'active'", version.bot):
            self.change(other.id, State.SUPERSEDED, Actor.SERVICE, f"{version.name} takes over")

    def _leave(self, version: Version) -> None:
        """Takes a version out of the season's games that were not begun."""
        tournament = rows.season(self._db)
        if tournament is not None and version.entrant is not None:
            self._games.leave(tournament, version.entrant)
            settle(self._db, tournament)

    def _note_line(self, version: Version, to: State, by: Actor) -> None:
        """Notes in the record of the season that a version of it plays no more, or again."""
        tournament = rows.season(self._db)
        if tournament is not None and version.entrant is not None and State.ACTIVE in (version.state, to):
            lines.note(self._db, tournament, rounds.Changed(name=version.name, state=to.value, by=by.value))

    def _suspended(self, version: Version) -> None:
        """Notes that it was suspended, and lets the last good version come back."""
        self._db.execute(
            "UPDATE versions SET suspended = coalesce(suspended, ?) WHERE id = ?", (stores.now(), version.id)
        )
        good = rows.last_good(self._db, version.bot)
        if good is not None and rows.season(self._db) is not None:
            self.change(good.id, State.ACTIVE, Actor.SERVICE, f"{version.name} is suspended")

    def _enter(self, version: Version, spec: Payload | None) -> None:
        """Makes a version an entrant of the season, or lets it come back as the one that it is."""
        tournament = rows.season(self._db)
        assert tournament is not None
        (games,) = self._db.execute("SELECT games FROM tournaments WHERE id = ?", (tournament,)).fetchone()
        if version.entrant is not None:
            self._games.rejoin(tournament, version.entrant)
            self._db.execute("UPDATE versions SET first_game = ? WHERE id = ?", (games, version.id))
            return
        before = self._predecessor(version)
        start = self._inherited(tournament, before)
        if spec and not spec.get("display_name") and before is not None and before.entrant is not None:
            spec = {**spec, "display_name": self._games.entrants(tournament)[before.entrant].display_name}
        number = enter(self._db, self._games, tournament, version, spec, start, before.name if before else None)
        self._db.execute(
            "UPDATE versions SET entrant = ?, first_game = ?, activated = coalesce(activated, ?),"
            " predecessor = coalesce(predecessor, ?) WHERE id = ?",
            (number, games, stores.now(), before and before.id, version.id),
        )

    def _predecessor(self, version: Version) -> Version | None:
        """Returns the version whose rating a new one begins with: the one that was active last."""
        found = rows.versions(
            self._db,
            "WHERE bots.name = ? AND entrant IS NOT NULL AND versions.id <> ?"
            " ORDER BY (SELECT max(changes.id) FROM changes WHERE changes.version = versions.id AND new = 'active')"
            " DESC LIMIT 1",
            version.bot,
            version.id,
        )
        return found[0] if found else None

    def _inherited(self, tournament: str, before: Version | None) -> true_skill.Rating:
        if before is None or before.entrant is None:
            return true_skill.Rating(true_skill.MU, true_skill.SIGMA)
        return true_skill.inherit(self._games.ratings(tournament)[before.entrant])

    def _note(self, version: Version, old: State | None, new: State, actor: Actor, reason: str) -> None:
        self._db.execute(
            "INSERT INTO changes (version, old, new, actor, reason, at) VALUES (?, ?, ?, ?, ?, ?)",
            (version.id, old, new, actor, reason, stores.now()),
        )

    def _tell(self, version: Version, new: State, told: str, reason: str) -> None:
        if told:
            text = told.replace("{name}", version.name).replace("{reason}", reason)
            self._notices.add(version.author, new, text, version.id)


def enter(
    connection: databases.Connection,
    games: stores.Store,
    tournament: str,
    version: Version,
    spec: Payload | None,
    start: true_skill.Rating,
    after: str | None = None,
) -> int:
    """Appends a version to a tournament's entrants, and returns its number. It belongs to the caller's transaction.

    Args:
        spec: What it is started with. None: the same as in the season before.
        start: The rating that it begins with.
        after: The version of the season whose rating that was, by name.
    """
    (number,) = connection.execute("SELECT count(*) FROM entrants WHERE tournament = ?", (tournament,)).fetchone()
    if spec is None:
        found = connection.execute(
            "SELECT spec FROM entrants WHERE name = ? ORDER BY rowid DESC LIMIT 1", (version.name,)
        ).fetchone()
        spec = version.manifest if found is None else msgspec.json.decode(found[0], type=Payload)
    entrant = game_rows.Entrant(
        number=int(number), name=version.name, version=str(version.manifest.get("version", "")), digest=version.digest,
        spec=spec, start=start,
    )  # fmt: skip
    lines.note(connection, tournament, entered(entrant, version, games.tournament(tournament), after))
    games.enter(tournament, entrant)
    return int(number)


def entered(
    one: game_rows.Entrant, version: Version, tournament: game_rows.Tournament, after: str | None
) -> rounds.Entered:
    """Returns the line that a version comes to a season, `after` another one by name."""
    return rounds.Entered(
        name=one.name, digest=str(one.spec.get("digest", one.digest)), archive=one.digest,
        level=Level.REMOTE if version.level == Level.REMOTE else tournament.settings["level"],
        mu=one.start.mu, sigma=one.start.sigma, after=after,
    )  # fmt: skip

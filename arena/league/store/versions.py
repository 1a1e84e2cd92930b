"""Stores the versions of bots. `arena.league.store.changes` changes their states."""

from __future__ import annotations

from typing import Final

from arena.core.face import Level, Payload, databases, errors, game_rows
from arena.league.store import rows
from arena.league.store.authors import Authors
from arena.league.store.changes import Changes
from arena.league.store.records import HOUSE, ChangeRow, Received, Version
from arena.league.store.states import Actor, State

NEVER: Final = "9999"
"""Later than any time of a version."""


class Versions(Changes):
    """The versions of a league's bots."""

    def receive(
        self,
        author: str,
        bot: str,
        digest: str,
        manifest: Payload,
        size: int,
        at: str,
        *,
        level: str = "isolated",
        by: Actor = Actor.AUTHOR,
    ) -> Received:
        """Stores a submission. An older one of the bot that waits is superseded.

        Args:
            digest: The content's digest. The same content of a bot is the same version, whatever its state.
            size: Bytes of its archive.
            at: When it came; UTC (ISO 8601).
            level: How it will be confined.

        Raises:
            Refused: There is no such author, or the bot is somebody else's.
        """
        with databases.immediate(self._db):
            owner = Authors(self._db).known(author)
            self._db.execute(
                "INSERT INTO bots (author, name) SELECT id, ? FROM authors WHERE name = ? ON CONFLICT DO NOTHING",
                (bot, owner.name),
            )
            id, name, its_author = self._db.execute(
                "SELECT bots.id, bots.name, authors.name FROM bots JOIN authors ON authors.id = author"
                " WHERE bots.name = ?",
                (bot,),
            ).fetchone()
            if its_author != owner.name:
                raise errors.Refused(
                    "name_taken",
                    f"expected the name of a bot of yours or a new one, got: {bot!r}, which is another author's",
                    "change `name` in its bot.toml",
                )
            same = rows.versions(self._db, "WHERE bot = ? AND digest = ?", id, digest)
            if same:
                return Received(same[0], self._before(same[0]), same=True)
            (number,) = self._db.execute(
                "SELECT coalesce(max(number), 0) + 1 FROM versions WHERE bot = ?", (id,)
            ).fetchone()
            for older in rows.versions(self._db, "WHERE bot = ? AND state = 'received'", id):
                reason = f"{name}/{number} came before its turn"
                self.change(older.id, State.SUPERSEDED, Actor.SERVICE, reason)
            cursor = self._db.execute(
                "INSERT INTO versions (bot, number, digest, manifest, size, level, received, state, since)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, 'received', ?)",
                (id, number, digest, game_rows.canonical(manifest), size, level, at, at),
            )
            version = rows.version(self._db, int(cursor.lastrowid or 0))
            before = self._before(version)
            self._note_new(version, f"{before} before it" if before else "it is next", by)
            return Received(version, before, same=False)

    def get(self, id: int) -> Version:
        """Returns a version by its id. Raises Refused: there is none."""
        return rows.version(self._db, id)

    def named(self, name: str) -> Version:
        """Returns a version by its name, such as `fox/3`, or the newest of a bot by the bot's: `fox`.

        Raises:
            Refused: There is none.
        """
        bot, _, number = name.partition("/")
        found = rows.versions(
            self._db,
            "WHERE bots.name = ? AND (? = '' OR CAST(number AS TEXT) = ?) ORDER BY number DESC LIMIT 1",
            *(bot, number, number),
        )
        if found:
            return found[0]
        known = [row[0] for row in self._db.execute("SELECT name FROM bots ORDER BY name")]
        raise errors.Refused(
            "unknown_version",
            f"expected a bot of the league, or a version such as fox/2, got: {name!r}{errors.did_you_mean(bot, known)}",
        )

    def of_author(self, author: str) -> list[Version]:
        """Returns the versions of an author, by bot, the newest first."""
        return rows.versions(self._db, "WHERE authors.name = ? ORDER BY bots.name, number DESC", author)

    def of_bot(self, bot: str) -> list[Version]:
        """Returns the versions of a bot, the newest first."""
        return rows.versions(self._db, "WHERE bots.name = ? ORDER BY number DESC", bot)

    def of_entrant(self, entrant: int) -> Version | None:
        """Returns the version that is this entrant of the open season."""
        found = rows.versions(self._db, "WHERE entrant = ?", entrant)
        return found[0] if found else None

    def all(self) -> list[Version]:
        """Returns all versions, by bot in the order in which bots came, the newest first."""
        return rows.versions(self._db, "ORDER BY bot, number DESC")

    def pending(self) -> list[Version]:
        """Returns the versions that the service has to do something about, those first that are furthest.

        A version that waits is not among them while another one of its bot is being tried.
        """
        return rows.versions(
            self._db,
            "WHERE state IN ('building', 'checking', 'qualifying') OR state = 'received' AND NOT EXISTS"
            " (SELECT 1 FROM versions AS other WHERE other.bot = versions.bot"
            " AND other.state IN ('building', 'checking', 'qualifying'))"
            " ORDER BY CASE state WHEN 'qualifying' THEN 0 WHEN 'checking' THEN 1 WHEN 'building' THEN 2 ELSE 3 END,"
            " versions.id",
        )

    def active(self) -> list[Version]:
        """Returns the versions that play, in the order in which they were received."""
        return rows.versions(self._db, "WHERE state = 'active' ORDER BY versions.id")

    def in_use(self) -> list[Version]:
        """Returns the versions whose built files may be needed soon, in the order in which they were received.

        They play, wait or are being tried, are the last good one of their bot, or are in a match that is not over.
        """
        return rows.versions(
            self._db,
            f"WHERE state IN ('active', {rows.PENDING_STATES})"
            f" OR {rows.GOOD} AND number = (SELECT max(number) FROM versions AS good"
            " WHERE good.bot = versions.bot AND good.state = 'superseded' AND good.activated IS NOT NULL"
            " AND good.suspended IS NULL)"
            f" OR {rows.IN_MATCH}"
            " ORDER BY versions.id",
        )

    def archives(self, ended: str = NEVER) -> list[str]:
        """Returns the digests of the archives that are needed: of versions that play, or may come to it.

        Those of the house's bots are not among them: they are part of `arena`.

        Args:
            ended: Also those of versions for which it is over since then; UTC (ISO 8601).
        """
        query = (
            "SELECT DISTINCT digest FROM versions JOIN bots ON bots.id = bot JOIN authors ON authors.id = author"
            f" WHERE level <> ? AND authors.name <> ? AND (state IN ('active', {rows.PENDING_STATES}) OR {rows.GOOD}"
            f" OR state = 'suspended' AND {rows.LATE} OR {rows.IN_MATCH} OR since >= ?) ORDER BY digest"
        )
        return [digest for (digest,) in self._db.execute(query, (Level.REMOTE, HOUSE, ended))]

    def hand_over(self, bot: str, author: str) -> None:
        """Makes a bot another author's, with all its versions. They do not say any more who wrote them."""
        with databases.immediate(self._db):
            of_bot = "bot = (SELECT id FROM bots WHERE name = ?)"
            self._db.execute(f"UPDATE versions SET manifest = json_remove(manifest, '$.author') WHERE {of_bot}", (bot,))
            of_bot = "substr(name, 1, instr(name, '/') - 1) = ?"
            self._db.execute(f"UPDATE entrants SET spec = json_remove(spec, '$.author') WHERE {of_bot}", (bot,))
            self._db.execute(
                "UPDATE bots SET author = (SELECT id FROM authors WHERE name = ?) WHERE name = ?", (author, bot)
            )

    def rename(self, bot: str, display_name: str) -> int:
        """Gives a bot another display name from the open season on. Returns how many of its versions are in it."""
        with databases.immediate(self._db):
            return self._db.execute(
                "UPDATE entrants SET spec = json_set(spec, '$.display_name', ?) WHERE tournament = ? AND number IN"
                " (SELECT entrant FROM versions JOIN bots ON bots.id = bot WHERE bots.name = ?)",
                (display_name, rows.season(self._db), bot),
            ).rowcount

    def mark(self) -> int:
        """Returns a number that is another one after each change of a version's state."""
        (mark,) = self._db.execute("SELECT coalesce(max(id), 0) FROM changes").fetchone()
        return int(mark)

    def history(self, id: int) -> list[ChangeRow]:
        """Returns all changes of a version, the first first."""
        query = "SELECT ?, old, new, actor, reason, at FROM changes WHERE version = ? ORDER BY id"
        return rows.read(ChangeRow, self._db.execute(query, (self.get(id).name, id)))

    def ended(self, after: int) -> tuple[int, ChangeRow] | None:
        """Returns the first change after one that rejects or suspends a version, and its number; None without one."""
        found = self._db.execute(
            "SELECT id, version FROM changes WHERE id > ? AND new IN ('rejected', 'suspended') ORDER BY id LIMIT 1",
            (after,),
        ).fetchone()
        if found is None:
            return None
        query = "SELECT ?, old, new, actor, reason, at FROM changes WHERE id = ?"
        (change,) = rows.read(ChangeRow, self._db.execute(query, (self.get(found[1]).name, found[0])))
        return found[0], change

    def _before(self, version: Version) -> int:
        """Returns how many versions the service has to do with before this one."""
        if not version.is_pending:
            return 0
        (count,) = self._db.execute(
            f"SELECT count(*) FROM versions WHERE state IN ({rows.PENDING_STATES}) AND id < ?", (version.id,)
        ).fetchone()
        return int(count)

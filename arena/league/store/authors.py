"""Stores authors and their keys.

Law: who has left has a pseudonym, `(author 7)`. Nobody can choose one, and no folder is called so. The record of a
season has pseudonyms alone, so that it stays as it is when somebody leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from arena.core.face import Payload, databases, errors, game_rows, stores
from arena.league.record import rounds
from arena.league.store import rows
from arena.league.store.records import HOUSE, Author, Key

_FORGET: Final = (
    "UPDATE versions SET manifest = json_remove(manifest, '$.author', '$.display_name') WHERE id IN {versions}",
    "UPDATE entrants SET spec = json_remove(spec, '$.author', '$.display_name') WHERE name IN"
    " (SELECT bots.name || '/' || number FROM versions JOIN bots ON bots.id = bot WHERE author = :id)",
    "DELETE FROM reports WHERE version IN {versions}",
    "DELETE FROM notices WHERE author = :id OR version IN {versions}",
    "UPDATE keys SET revoked = coalesce(revoked, :now), label = '' WHERE author = :id",
    "UPDATE authors SET status = 'removed', quotas = '{{}}', name = :pseudonym WHERE id = :id",
)
"""What forgets an author's name, and what only they could read."""
_VERSIONS: Final = "(SELECT versions.id FROM versions JOIN bots ON bots.id = bot WHERE author = :id)"


class Authors(rows.Part):
    """The authors of a league."""

    def add(self, name: str, quotas: Mapping[str, int] | None = None) -> Author:
        """Adds an author. One that was removed is an author again.

        Args:
            name: What they are called. Two names differ by more than upper and lower case.
            quotas: Limits that differ from those of the league, by name.

        Raises:
            Refused: There is such an author.
        """
        with databases.immediate(self._db):
            changed = self._db.execute(
                "INSERT INTO authors (name, quotas, created) VALUES (?, ?, ?)"
                " ON CONFLICT (name) DO UPDATE SET status = 'active', quotas = excluded.quotas"
                " WHERE status = 'removed'",
                (name, game_rows.canonical(dict(quotas or {})), stores.now()),
            ).rowcount
            if changed != 1:
                raise errors.Refused(
                    "name_taken", f"expected the name of a new author, got: {name!r}, who is one already"
                )
            return self.known(name)

    def get(self, name: str) -> Author | None:
        """Returns an author, one that was removed too; None if there is no such author."""
        found = self._select("WHERE name = ?", name)
        return found[0] if found else None

    def quotas(self, name: str) -> dict[str, int]:
        """Returns limits that an author has of their own; none if there is no such author any more."""
        found = self.get(name)
        return {} if found is None else found.quotas

    def known(self, name: str) -> Author:
        """Returns an author who may submit. Raises Refused: there is none of that name."""
        found = self.get(name)
        if found is None or found.status != "active":
            names = [author.name for author in self.all() if author.status == "active"]
            why = errors.did_you_mean(name, names) if found is None else ", who was removed"
            raise errors.Refused(
                "unknown_author",
                f"expected the name of an author of the league, got: {name!r}{why}",
                "the operator adds authors: `arena league author add NAME`",
            )
        return found

    def all(self) -> list[Author]:
        """Returns all authors in the order in which they came, those that were removed too."""
        return self._select("ORDER BY id")

    def remove(self, name: str) -> str:
        """Removes an author, and returns their pseudonym. Their keys are revoked; what they submitted stays.

        Raises:
            Refused: There is no such author.
        """
        with databases.immediate(self._db):
            (id,) = self._db.execute("SELECT id FROM authors WHERE name = ?", (self.known(name).name,)).fetchone()
            pseudonym = self.pseudonyms()[self.known(name).name]
            self._rename_in_standings({self.known(name).name: pseudonym})
            for statement in _FORGET:
                values = {"id": id, "pseudonym": pseudonym, "now": stores.now()}
                self._db.execute(statement.format(versions=_VERSIONS), values)
            return pseudonym

    def pseudonyms(self) -> dict[str, str]:
        """Returns by name what the record of a season calls each author."""
        found = self._db.execute("SELECT name, id FROM authors").fetchall()
        return {name: HOUSE if name == HOUSE else f"(author {id})" for name, id in found}

    def _rename_in_standings(self, names: dict[str, str]) -> None:
        closed = self._db.execute("SELECT number, standings FROM seasons WHERE closed IS NOT NULL").fetchall()
        for number, text in closed:
            standings = rounds.renamed(msgspec.json.decode(text, type=Payload), names)
            self._db.execute(
                "UPDATE seasons SET standings = ? WHERE number = ?", (game_rows.canonical(standings), number)
            )

    def add_key(self, author: str, public_key: str, label: str = "") -> Key:
        """Gives an author a key. The same key twice is one.

        Raises:
            Refused: There is no such author, or the key was revoked or is somebody else's.
        """
        with databases.immediate(self._db):
            known = self.known(author)
            self._db.execute(
                "INSERT INTO keys (public_key, author, label, made)"
                " SELECT ?, id, ?, ? FROM authors WHERE name = ? ON CONFLICT DO NOTHING",
                (public_key, label, stores.now(), author),
            )
            [key] = self._keys("WHERE public_key = ?", public_key)
            if key.author != known.name or key.revoked is not None:
                what = "one that was revoked" if key.revoked else "one of another author"
                raise errors.Refused(
                    "key", f"expected a new token, got: {what}", "make another with `arena league token new NAME`"
                )
            return key

    def revoke_key(self, public_key: str) -> Key:
        """Revokes a key. It is never valid again. Raises Refused: there is no such key."""
        with databases.immediate(self._db):
            self._db.execute(
                "UPDATE keys SET revoked = coalesce(revoked, ?) WHERE public_key = ?", (stores.now(), public_key)
            )
            keys = self._keys("WHERE public_key = ?", public_key)
            if not keys:
                raise errors.Refused(
                    "unknown_key",
                    f"expected a key of the league, got: {public_key!r}",
                    "`arena league author list` prints them",
                )
            return keys[0]

    def keys_of(self, author: str | None = None) -> list[Key]:
        """Returns the keys of an author, or of all, in the order in which they came; those that were revoked too."""
        if author is None:
            return self._keys("ORDER BY keys.rowid")
        return self._keys("WHERE name = ? ORDER BY keys.rowid", author)

    def _select(self, rest: str, *parameters: str) -> list[Author]:
        query = f"SELECT name, status, quotas, created FROM authors {rest}"
        return rows.read(Author, self._db.execute(query, parameters), "quotas")

    def _keys(self, rest: str, *parameters: str) -> list[Key]:
        query = "SELECT public_key, name, label, made, revoked FROM keys JOIN authors ON authors.id = author "
        return rows.read(Key, self._db.execute(query + rest, parameters))

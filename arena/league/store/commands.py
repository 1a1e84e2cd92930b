"""Obeys each order once, however often it is delivered."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from arena.core.face import Payload, databases, errors, game_rows, stores


class Commands:
    """The orders that were obeyed."""

    def __init__(self, connection: databases.Connection) -> None:
        self._db = connection

    def once(
        self, id: str, verb: str, arguments: Payload, act: Callable[[], Payload], author: str | None = None
    ) -> Payload:
        """Does what an order says, and returns the answer. If it was done before, only returns the answer.

        What the order does and its answer are one transaction. A refusal is an answer, too: then nothing is done.

        Args:
            id: The order's identifier, chosen by who gave it.
            author: Who gave it; None is the operator.

        Returns:
            What `act` returned, which has no `code`; or of a refusal `code`, `message`, `remedy` and limits.
        """
        with databases.immediate(self._db):
            known = self.answer(id)
            if known is not None:
                return known
            state = "done"
            try:
                with databases.immediate(self._db):
                    answer = act()
            except errors.Refused as error:
                state, answer = "refused", refusal(error)
            self._db.execute(
                "INSERT INTO commands (id, verb, author, arguments, at, state, answer) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (id, verb, author, game_rows.canonical(arguments), stores.now(), state, game_rows.canonical(answer)),
            )
            return answer

    def answer(self, id: str) -> Payload | None:
        """Returns the answer to an order; None if it was not obeyed yet."""
        row = self._db.execute("SELECT answer FROM commands WHERE id = ?", (id,)).fetchone()
        return None if row is None else msgspec.json.decode(row[0], type=Payload)

    def count(self, verb: str, author: str | None, since: str) -> int:
        """Returns how many orders of a kind an author gave since a moment (UTC, ISO 8601), and were obeyed."""
        (count,) = self._db.execute(
            "SELECT count(*) FROM commands WHERE verb = ? AND author IS ? AND at >= ? AND state = 'done'",
            (verb, author, since),
        ).fetchone()
        return int(count)

    def forget(self, before: str, waiting: Iterable[str]) -> None:
        """Forgets orders that were answered before a moment, and their answers.

        Args:
            before: UTC (ISO 8601).
            waiting: The identifiers of orders that may still be delivered: they are not forgotten, so that none is
                obeyed twice.
        """
        with databases.immediate(self._db):
            self._db.execute(
                "DELETE FROM commands WHERE at < ? AND id NOT IN (SELECT value FROM json_each(?))",
                (before, game_rows.canonical(list(waiting))),
            )


def refusal(error: errors.Refused) -> Payload:
    """Returns a refusal as an answer holds it."""
    return {
        "code": error.reason,
        "message": error.message,
        "remedy": error.remedy,
        "limit": error.limit,
        "retry_after_s": error.retry_after_s,
    }

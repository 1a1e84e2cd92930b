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

    def times(self, verb: str, author: str) -> list[str]:
        """Returns when orders of a kind of an author were obeyed, as far as they are remembered (UTC, ISO 8601)."""
        query = "SELECT at FROM commands WHERE verb = ? AND author = ? AND state = 'done'"
        return [at for (at,) in self._db.execute(query, (verb, author))]

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

"""Why the door refuses something, as a value that becomes an answer of HTTP or a message of the WebSocket."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from arena.league.door.messages import Error, Problem

STATUSES: Final = {
    "archive": 422, "bad_offset": 409, "busy": 429, "digest": 422, "expired": 404, "illegal": 422, "internal": 500,
    "malformed": 400, "no_room": 507, "not_accepted": 403, "protocol": 400, "quota": 429, "refused": 409,
    "state": 409, "too_large": 413, "too_many": 429, "unanswered": 503, "unknown": 404, "unknown_token": 401,
}  # fmt: skip
"""The status of HTTP for each code. A code of the league's own has 409: the request is right, the time is not."""


class Refusal(Exception):
    """A request is not granted."""

    def __init__(
        self,
        code: str,
        expected: str,
        remedy: str,
        *,
        limit: str = "",
        retry_after_s: int | None = None,
        rule: str = "",
        path: str = "",
        have: int | None = None,
    ) -> None:
        """Takes the code of the error, a sentence on what was expected and got, what to do, and the error's fields."""
        super().__init__(expected)
        self.code = code
        status = HTTPStatus(STATUSES.get(code, 409))
        self.problem = Problem(
            title=status.phrase, status=status, detail=expected[:1024], code=code[:64], remedy=remedy[:1024],
            limit=limit, retry_after_s=retry_after_s, rule=rule[:64], path=path[:256], have=have,
        )  # fmt: skip
        """The answer over HTTP."""

    def message(self, number: int | None) -> Error:
        """Returns the message over a WebSocket for the request of this number; None if there was none."""
        it = self.problem
        return Error(
            code=it.code, message=it.detail, remedy=it.remedy, id=number, limit=it.limit,
            retry_after_s=it.retry_after_s, rule=it.rule,
        )  # fmt: skip


def unknown(what: str, got: str) -> Refusal:
    """Returns the one refusal of things that are not there, not yet public, or another author's."""
    return Refusal(
        "unknown",
        f"expected {what}, got: {got!r}",
        "see `arena league status` and `arena league games` for what there is",
    )

"""Why the door refuses something, as a value that becomes an `error` message."""

from __future__ import annotations

from arena.league.door.messages import Error


class Refusal(Exception):
    """A request is not granted. `message` tells the author; the connection goes on."""

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
        self._error = Error(
            code=code[:64],
            message=expected[:1024],
            remedy=remedy[:1024],
            limit=limit,
            retry_after_s=retry_after_s,
            rule=rule[:64],
            path=path[:256],
            have=have,
        )

    @property
    def code(self) -> str:
        """The code of the error."""
        return self._error.code

    def message(self, number: int | None) -> Error:
        """Returns the message for the request of this number; None if there was none."""
        from msgspec.structs import replace

        return replace(self._error, id=number)


def unknown(what: str, got: str) -> Refusal:
    """Returns the one refusal of things that are not there, not yet public, or another author's."""
    return Refusal(
        "unknown",
        f"expected {what}, got: {got!r}",
        "see `arena league status` and `arena league games` for what there is",
    )

"""Waits, moments, the rules that any message can break, and early ends: all parts of the check share them."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from arena.author.conform.report import Evidence, Verdict
from arena.core.face import clocks, wire_messages


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """The waits of a check, in milliseconds. The time for `hello` and `ready` is the bot's own (`limits.start_ms`).

    Every wait of a check is one of these, so that it always ends.
    """

    limit_ms: int = 100
    """Time that the requests allow. Only the checks of time hold it against a bot that takes longer."""
    patience_ms: int = 3_000
    """Time for which an answer is awaited where time is not what is checked."""
    bank_ms: int = 1_000
    """The bank of the game that is played with a bank."""
    increment_ms: int = 20
    """Time that each decision of that game adds to it."""
    game_ms: int = 2_000
    """A game is broken off when the bot has used so much time in it, so that a slow bot can be checked too."""
    farewell_ms: int = 1_000
    """Time to end after `goodbye` (§4.3-3)."""
    error_ms: int = 1_000
    """Time to end after `error`."""
    quiet_ms: int = 50
    """Time for which the referee listens for what should not come."""
    total_ms: int = 60_000
    """No further check is begun after so long."""


class Moment(NamedTuple):
    """Shares of the machine that the bot and this process had got when something was sent."""

    share: clocks.CpuShare | None
    """The bot's; None if nobody knows."""
    own_wait_ns: int
    """Nanoseconds that this thread had waited for a core: it may read late what came, or send late what it timed."""


class Finding(Exception):
    """Ends a check with a verdict: on the check that runs, or on another that watches all dialogues.

    It never leaves this package.
    """

    def __init__(
        self,
        detail: str,
        remedy: str,
        *spec: str,
        verdict: Verdict = Verdict.FAILED,
        about: str | None = None,
        evidence: Evidence | None = None,
        excuse: str | None = None,
    ) -> None:
        """Says what was found.

        Args:
            detail: What was expected and what came.
            remedy: One sentence that says what to do.
            spec: The numbers of the rules that are broken; none for those of the check.
            verdict: Anything but ok.
            about: The id of the check that this is the verdict on; None for the one that runs.
            evidence: What led to it; None for the last messages that passed.
            excuse: If the bot was late: what the machine did that it may be due to, or nothing. None: it is not about
                time.
        """
        super().__init__(detail)
        self.detail = f"{detail}; {excuse} meanwhile" if excuse else detail
        self.excuse = excuse
        self.remedy = remedy
        self.spec = spec
        self.verdict = verdict
        self.about = about
        self.evidence = evidence


class NotReached(Exception):
    """Ends a check that cannot say anything; the text says why. It never leaves this package."""


RULES: Final = {
    "§5.1-1": ("frames.parts", "Send each message as one frame: `send`, not `send_multipart`."),
    "§5.1-2": ("frames.value", "Pack each message into a frame of its own, and send nothing before or after it."),
    "§5.1-3": ("frames.value", "Send a map with a field `type`."),
    "§5.1-4": (
        "frames.size",
        f"Keep a message within {wire_messages.MAX_FRAME:,} bytes; shorten the note, or the plays.",
    ),
    "§5.2-1": ("frames.keys", "Use strings as keys; some libraries write short strings as binary unless told not to."),
    "§5.2-2": ("frames.keys", "Write each field once."),
    "§5.2-3": ("frames.values", "Send integers and strings; floats (also 3.0), binary and dates are not allowed."),
    "§5.2-4": ("frames.values", "Write strings as UTF-8, and cut them between characters."),
    "§5.2-5": ("frames.values", "Keep integers within 2^53 - 1 in absolute value."),
    "§5.2-6": ("frames.values", f"Do not nest maps and arrays deeper than {wire_messages.MAX_DEPTH}."),
    "§5.2-8": ("frames.fields", "Send a boolean only where the field is one."),
    "§5.3-1": ("frames.fields", "Give every message a field `type`, a string."),
    "§5.3-2": ("frames.fields", "Send every field that the message's table calls required."),
    "§5.3-3": ("frames.fields", "Send each field with the type and in the range that the message's table gives."),
    "§5.3-6": ("frames.sender", "Send hello, ready, action and error; the other messages are the referee's."),
    "§5.3-7": ("session.remarks", "Write to standard error what nobody asked for."),
    "§6-1": ("session.order", "Send `ready` after a game_start and `action` after a request, and nothing unasked."),
    "§8.1-1": ("start.once", "Say `hello` once, as the first message of the process, and never again."),
    "§8.1-2": ("start.token", "Put the value of the environment variable ARENA_TOKEN, as it is, into hello.token."),
    "§8.1-3": (
        "start.version",
        f'Say `protocol: "{wire_messages.PROTOCOL}"`: the major number must be the referee\'s.',
    ),
    "§8.4-1": ("session.game", "Copy `game` of the game_start into the `ready`."),
    "§8.6-1": ("session.id", "Copy `id` of the request into the `action`."),
    "§8.6-2": ("session.once", "Answer each request once."),
    "§8.6-3": ("frames.note", f"Cut the note to {wire_messages.MAX_NOTE:,} bytes of UTF-8, between characters."),
}
"""Check that watches a rule, and what to do, by each rule that the codec and the session name in their errors."""


def breach(rule: str, detail: str, *, greeted: bool = True) -> Finding:
    """Returns the verdict on a broken rule, by its number.

    If the bot has not said `hello` (`greeted`), a breach of §8.1-1 is a missing one, not a second one.
    """
    about, remedy = RULES[rule]
    if rule == "§8.1-1" and not greeted:
        about = "start.hello"
    return Finding(detail, remedy, rule, about=about)

"""The seat of an agent: messages that it was told, plays that it makes. Pure but for the clock.

Laws:
1. Everything is made from the messages of one seat, those that a bot gets. So nothing hidden can reach the agent.
2. What the agent plays is tried before it is sent: an agent that errs is told why, and tries again while its clock
   runs. It is tried on a state that is guessed from the view, so that a refusal tells nothing either.
3. Whoever plays names the request. A late or repeated play does nothing.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec

from arena.core.face import Payload, Seat, errors, game_kit, log_records, plain, wire_messages

WAITING: Final = "waiting"
ASKED: Final = "asked"
OVER: Final = "over"
GONE: Final = "gone"
WAIT_S: Final = 50.0
"""Longest time in seconds that an answer waits for the others: clients give up after a minute."""
_T = TypeVar("_T")


def read_json(data: bytes | bytearray, kind: type[_T], expected: str) -> _T:
    """Returns what a page or an agent says. Raises ValueError, with a sentence: it is not what was expected."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.MsgspecError as error:
        got = plain(str(error))
    except RecursionError:
        got = "JSON that is nested too deeply"
    raise ValueError(f"expected {expected}, got: {got}")


class AgentSeat:
    """A seat as its agent knows it."""

    def __init__(self, rules: game_kit.Rules[Any] | None, seat: Seat) -> None:
        """Takes the rules that plays are tried by; None if they are only held against what is offered."""
        self.phase = WAITING
        self.request = 0
        """The number of the request that is open, or was last."""
        self.start: Payload = {}
        """Message to the seat when the game began."""
        self.notes: list[str] = []
        self.limit_ms: float | None = None
        """The time for the open decision; None while the clock is off."""
        self._asked_at = 0.0
        self._rules = rules
        self._seat = seat
        self.known: Payload = {}
        """All that the seat may know, as of its last request: its view."""
        self._told: Payload = {}
        self._refused = 0
        self._why = ""

    def hear(self, message: Payload) -> None:
        """Takes a message of the referee."""
        match message["type"]:
            case "game_start":
                self.start = {key: value for key, value in message.items() if key not in ("type", "game")}
            case "request":
                self.request += 1
                self.phase, self._told, self.known, self._refused = ASKED, message, message["view"], 0
                self._asked_at = time.monotonic()
                self.limit_ms = None if self.start["time"].get("off") is True else float(message["clock"]["limit_ms"])
            case "game_over":
                self.phase, self.limit_ms = OVER, None
                self._told = {key: value for key, value in message.items() if key not in ("type", "game", "receipt")}

    @property
    def left_s(self) -> float | None:
        """The seconds that are left for the open decision; None if there is none, or the clock is off."""
        return None if self.limit_ms is None else self._asked_at + self.limit_ms / 1000 - time.monotonic()

    def wait(self) -> None:
        """Takes that its decision was sent."""
        self.phase, self.limit_ms = WAITING, None

    def close(self, why: str = "your seat has forfeited: its time was over, or it left; the log says which") -> None:
        """Takes the end of the seat, of which its messages do not tell, and why: mostly it has forfeited."""
        if self.phase not in (OVER, GONE):
            self.phase, self.limit_ms, self._why = GONE, None, why

    def state(self) -> Payload:
        """Returns how the seat stands: what is asked, with what happened since the last request; or how it ended."""
        told: Payload = {"phase": self.phase, "request": self.request}
        match self.phase:
            case "asked":
                return told | {key: self._told[key] for key in ("kind", "events", "legal")}
            case "over":
                return told | self._told | {"seat": self._seat}
            case "gone":
                return told | {"why": self._why}
        return told

    def play(self, request: int, plays: list[Any], note: str, cost: Mapping[Any, int]) -> Payload:
        """Returns what the seat sends for its plays: the action, with a note.

        Args:
            request: The number of the request that they answer.
            cost: What they have cost, by names of `COSTS`. Plays that were refused are counted as `retries`.

        Raises:
            ConfigError: They answer no open request, or the cost is none.
            ActionError: They are not legal here. The seat is still asked.
        """
        if self.phase != ASKED or request != self.request:
            now = f"request {self.request}, " if self.request else ""
            raise errors.ConfigError(
                f"expected plays for an open request, got: {now}{self.phase} - at request {request}"
            )
        names, most = log_records.COSTS, log_records.MOST_COST
        if strange := [name for name, count in cost.items() if name not in names or not 0 <= count <= most]:
            raise errors.ConfigError(
                f"expected a cost as whole numbers from 0 to {most} under {', '.join(names)}, got: "
                f"{', '.join(strange):.80}"
            )
        try:
            action = self._tried(plays)
        except errors.ActionError:
            self._refused += 1
            raise
        if self._refused:
            cost = {**cost, "retries": cost.get("retries", 0) + self._refused}
        told = log_records.cost_line(cost)
        room = wire_messages.MAX_NOTE - len(told.encode()) - 1
        note = note.encode(errors="ignore")[:room].decode(errors="ignore")
        if note:
            self.notes.append(note)
        self.wait()
        words = "\n".join(filter(None, (note, told)))
        return {"action": action, **({"note": words} if words else {})}

    def _tried(self, plays: list[Any]) -> Payload:
        """Returns the action as the rules read it: without what else an agent may have put into its plays."""
        rules, action = self._rules, {"plays": plays}
        if rules is not None and (state := rules.guess(self.known, self._told["kind"])) is not None:
            read = rules.read_action(state, self._seat, action)
            rules.act(state, self._seat, read)
            return rules.write_action(read)
        if len(plays) != 1 or not any(_offers(product, plays[0]) for product in self._told["legal"]):
            raise errors.IllegalAction("expected one play, made from a product of the legal plays, got: another")
        return action


def _offers(product: Payload, play: Any) -> bool:
    """Returns whether a play is made from a product."""
    has_keys = isinstance(play, dict) and play.keys() == product.keys()
    return has_keys and all(_has(values, play[key]) for key, values in product.items())


def _has(values: Any, value: Any) -> bool:
    if not isinstance(values, dict):
        return _exactly(value) in map(_exactly, values)  # 2.0 and True are other values than 2 and 1
    is_list = isinstance(value, list) and len(value) == values["choose"]
    return is_list and not Counter(map(_exactly, value)) - Counter(map(_exactly, values["of"]))


_exactly: Final = msgspec.json.Encoder(order="sorted").encode

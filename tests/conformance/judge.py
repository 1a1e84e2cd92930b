"""What a referee's part of a dialogue breaks, worked out from the messages alone, without the program.

The bot's part is taken to be without fault.
"""

from __future__ import annotations

import re
from typing import Any, Final, TypeAlias

from tests.conformance.kit import first_column, section

Message: TypeAlias = dict[str, Any]

PARTS: Final = {"view", "events", "legal"}
WITH_BOARD: Final = {"samurai", "gardener"}
STATES: Final = {
    (state, message): after
    for state, message, after in re.findall(r"^\| `(\w+)` \| `(\w+)` \| \w+ \| `(\w+)` \|$", section("6"), re.MULTILINE)
}
CODES: Final = set(first_column(section("10").split("`game_over.termination` and")[0]))
OF_THE_BOT: Final = CODES - {"timeout", "illegal_action"}  # codes for what the bot's own messages show


class Judge:
    def __init__(self) -> None:
        self.state = "new"
        self.hello: Message = {}
        self.start: Message = {}
        self.games = 0
        self.requests = 0
        self.last: Message = {}
        self.closed_by = ""

    def hear(self, message: Message) -> None:
        self.last = message
        if message["type"] == "hello":
            self.hello = message
        self.state = STATES.get((self.state, message["type"]), self.state)

    def see(self, message: Message) -> set[str]:
        """Takes a message of the referee. Returns the numbers that it breaks."""
        kind = message["type"]
        if self.state == "closed":
            if self.closed_by == "error":
                return {"§6-2"}
            return {"§6-5"} if self.last.get("late") else {"§6-1"}
        if kind == "error":
            self.state, self.closed_by = "closed", "error"
            return self._error(message)
        if kind.startswith("x_"):
            return {"§11-5"}
        if (self.state, kind) not in STATES:
            return {"§6-1"}
        broken: set[str] = getattr(self, f"_{kind}")(message)
        self.state = STATES[self.state, kind]
        self.closed_by = kind
        return broken

    def _wanted(self) -> set[str]:
        want = self.hello.get("want", [])
        return PARTS & {*(want.get(self.start["rules"], []) if isinstance(want, dict) else want)}

    def _error(self, message: Message) -> set[str]:
        if message["code"] not in CODES:
            return {"§8.9-1"}
        if message["code"] not in OF_THE_BOT or self.last.get("wrong"):
            return set()
        if self.last.get("type") == "error":
            return {"§6-3"}
        if self.last.get("type", "").startswith("x_"):
            return {"§11-5", "§5.3-5"}
        return {"§11-1"} if message["code"] == "unsupported_version" else {"§8.1-4"}

    def _welcome(self, message: Message) -> set[str]:
        broken = set()
        if message["max_frame"] < 65_536 or message["max_note"] < 1_024:
            broken.add("§8.2-1")
        if not {*message.get("capabilities", [])} <= {*self.hello.get("capabilities", [])}:
            broken.add("§11-4")
        return broken

    def _game_start(self, message: Message) -> set[str]:
        self.start = message
        self.games += 1
        time = message["time"]
        return {
            number
            for number, kept in (
                ("§8.3-1", message["game"] == self.games),
                ("§6-6", message["game"] == self.games),
                ("§8.3-2", 0 <= message["seat"] < message["seats"]),
                ("§8.3-3", not time["bank_ms"] is time["limit_ms"] is None),
                ("§8.3-4", message["board"] is not None or message["rules"] not in WITH_BOARD),
            )
            if not kept
        }

    def _request(self, message: Message) -> set[str]:
        self.requests += 1
        broken = set() if message["id"] == self.requests else {"§8.5-1", "§6-6"}
        if message.keys() & PARTS != self._wanted():
            broken.add("§8.5-2")
        if not all(_is_product(product) for product in message.get("legal") or []):
            broken.add("§8.5-6")
        return broken

    def _game_over(self, message: Message) -> set[str]:
        ranks, seats = message["ranks"], self.start["seats"]
        scores = message.get("scores")
        return {
            number
            for number, kept in (
                ("§8.7-1", message["game"] == self.games),
                ("§8.7-2", len(ranks) == (0 if message["termination"] == "interrupted" else seats)),
                ("§8.7-3", ("events" in message) == ("events" in self._wanted())),
                ("§10-2", self.state != "asked" or message["termination"] == "interrupted"),
                ("§8.7-4", scores is None or (bool(ranks) and len(scores) == seats)),
            )
            if not kept
        }

    def _goodbye(self, _: Message) -> set[str]:
        return set()


def _is_product(product: Message) -> bool:
    return all(
        bool(values)
        if isinstance(values, list)
        else isinstance(values, dict)
        and values.keys() == {"choose", "of"}
        and 1 <= values["choose"] <= len(values["of"])
        for values in product.values()
    )


def breaches(steps: list[dict[str, Any]]) -> list[set[str]]:
    """Returns, for each step of a dialogue, the numbers that the referee breaks with it."""
    judge = Judge()
    found: list[set[str]] = []
    for step in steps:
        if step["from"] == "referee":
            found.append(judge.see(step["decoded"]))
            continue
        if "decoded" in step:
            judge.hear(step["decoded"])
        else:
            judge.last = {"wrong": True} if "error" in step else {"late": True}
        found.append(set())
    return found

"""Actions in the form of the wire: applied, and made of the legal plays."""

from __future__ import annotations

from typing import Any

from arena.core.rules.base import Event, Rules
from arena.core.types import Payload


def act(rules: Rules[Any], state: Any, seat: int, action: Any, events: list[Event] | None = None) -> Any:
    """Returns the state after an action, read and then applied."""
    return rules.act(state, seat, rules.read_action(state, seat, action), events)


def first_play(legal: list[Payload]) -> Payload:
    """Returns the first play of `legal` on the wire: of the first product the first value, or values, of each key."""
    return {
        key: values["of"][: values["choose"]] if isinstance(values, dict) else values[0]
        for key, values in legal[0].items()
    }

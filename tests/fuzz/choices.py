"""Turns bytes into decisions, so that one target serves a coverage-guided fuzzer, Hypothesis and a saved corpus."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")

TEXTS = (
    "", " ", "0", "-1", "samurai", "\0", "a\0b", "\x1b[2J", "\x9b31m", "\u202e", "\u2028", "a\nb", "a\tb", "\ud800",
    "x" * 300, "x" * 5_000, "../..", "/dev/zero", "/proc/self/mem", "/", ".", "%s%n", "{0}", "[bold]", "=1+1",
    "'; DROP TABLE games; --", "NaN", "1e308", "9" * 5_000, "\N{ARABIC-INDIC DIGIT ONE}", "\xb2", "é", "日本",
)  # fmt: skip
JSON_TOKENS = (
    "null", "true", "false", "0", "1", "2", "7", "-1", "-0.0", "1.5", "1e308", "-1e308", "1e999", "255", "256",
    str(2**31), str(2**53 - 1), str(2**53), str(2**63), str(2**64), "9" * 400, '""', '"\\ud800"', '"\\u0000"',
    '"\\u001b[2J"', '"\\u202e"', '"' + "x" * 3_000 + '"', "[]", "{}", "[null]", "[[0,0],[0,0]]", "[0,0]", "[1]",
    '{"to":[0]}', '"finished"', '"seat"', '{"a":' * 930 + "1" + "}" * 930,
    *("[" * deep + "]" * deep for deep in (20, 480, 900, 940, 960, 5_000)),
)  # fmt: skip


class Choices:
    """Takes decisions from bytes, one after the other. When they are used up, every decision is the first choice."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self, below: int) -> int:
        size = ((below - 1).bit_length() + 7) // 8
        taken = self._data[self._at : self._at + size]
        self._at += size
        return int.from_bytes(taken, "big") % below

    def pick(self, items: Sequence[T]) -> T:
        return items[self.number(len(items))]

    def rest(self) -> bytes:
        rest = self._data[self._at :]
        self._at = len(self._data)
        return rest


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything in a value of maps and lists, the value itself left out."""
    found: list[tuple[Any, ...]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found.append((*path, key))
        found += places(item, (*path, key))
    return found


def damaged(text: str, choices: Choices) -> str:
    """A JSON object with one thing in it that is otherwise."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    path = choices.pick(places(value) or [()])
    if not path:
        return choices.pick(JSON_TOKENS)
    within = value
    for key in path[:-1]:
        within = within[key]
    key, how = path[-1], choices.number(8)
    if how == 0:
        del within[key]
    elif how == 1 and isinstance(within, dict):
        within[choices.pick(TEXTS)] = within.pop(key)
    elif how == 2 and isinstance(within[key], int):
        within[key] += choices.number(3) - 1
    elif how == 3:
        within[key] = choices.pick(TEXTS)
    elif how == 4 and isinstance(within, list):
        within.append(within[key])
    else:
        within[key] = "@TOKEN@"
    made = json.dumps(value, separators=(",", ":"), ensure_ascii=True)
    return made.replace('"@TOKEN@"', choices.pick(JSON_TOKENS))


def scribbled(data: bytes, choices: Choices) -> bytes:
    """Bytes of which some are otherwise, gone, or there twice."""
    for _ in range(1 + choices.number(4)):
        at = choices.number(len(data) + 1)
        size = choices.number(40)
        match choices.number(4):
            case 0:
                data = data[:at] + bytes([choices.number(256)]) + data[at + 1 :]
            case 1:
                data = data[:at] + data[at + size :]
            case 2:
                data = data[:at] + data[at : at + size] * 2 + data[at + size :]
            case _:
                data = data[:at] + choices.pick(TEXTS).encode(errors="surrogatepass") + data[at:]
    return data

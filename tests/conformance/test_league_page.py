"""The page of a league's door, its tables, its vectors and the code say the same."""

from __future__ import annotations

import re
import tomllib
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from starlette.routing import Route, WebSocketRoute

from arena.core.errors import RemoteProtocolError
from arena.core.wire.messages import MAX_DEPTH, MAX_INT
from arena.league.door import limits, messages, refusals
from arena.league.door.app import Door, _Routes
from arena.league.door.codec import decode, decode_from_door, encode
from arena.league.door.messages import FromAuthor, FromDoor
from arena.league.settings import Limits
from tests.conformance.kit import FOLDER, PROTOCOL, by_id, frame, load
from tests.conformance.test_specification import TESTS
from tests.conformance.test_tables import check_fields, check_messages

PAGE = (FOLDER / "LEAGUE.md").read_text(encoding="utf-8")
TABLES: dict[str, Any] = tomllib.loads((FOLDER / "league.toml").read_text(encoding="utf-8"))
VALID = load(FOLDER / "vectors" / "league" / "valid.json")["vectors"]
INVALID = load(FOLDER / "vectors" / "league" / "invalid.json")["vectors"]
NUMBERED = re.findall(r"^- \*\*§D(\d+)-(\d+)(°?)\*\* (.*(?:\n  .*)*)", PAGE, re.MULTILINE)
"""Section, count, mark, sentence."""
CLASSES = {str(kind.__struct_config__.tag): kind for kind in (*get_args(FromAuthor), *get_args(FromDoor))}
DECODERS = {"author": decode, "door": decode_from_door}
OF_LEAGUE = {field.name for field in msgspec.structs.fields(Limits)}
"""The limits that the league itself sets, and counts. The page names those that every league has."""
SOURCE = "".join(path.read_text(encoding="utf-8") for path in (TESTS.parent / "arena" / "league" / "door").glob("*.py"))


def decoded(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"$hex"}:
            return bytes.fromhex(value["$hex"])
        return {key: decoded(item) for key, item in value.items()}
    return [decoded(item) for item in value] if isinstance(value, list) else value


# Tables


def test_the_messages_of_the_code_are_those_of_the_tables() -> None:
    check_messages({"author": FromAuthor, "door": FromDoor}, TABLES["messages"])


@pytest.mark.parametrize("name", TABLES["messages"])
def test_the_fields_of_the_code_are_those_of_the_tables(name: str) -> None:
    check_fields(CLASSES[name], TABLES["messages"][name])


def test_limits_and_version_are_those_of_the_tables() -> None:
    assert TABLES["protocol"] == messages.PROTOCOL
    assert f"| version | {messages.PROTOCOL} |" in PAGE
    assert f"- **{messages.PROTOCOL}** " in PAGE
    assert TABLES["limits"] == {
        "author_frame": messages.MAX_AUTHOR_FRAME,
        "door_frame": messages.MAX_DOOR_FRAME,
        "depth": MAX_DEPTH,
        "integer": MAX_INT,
        "archive": messages.MAX_ARCHIVE,
        "ping_s": messages.PING_S,
        "silence_s": messages.SILENCE_S,
    }
    for number in (messages.MAX_AUTHOR_FRAME, messages.MAX_DOOR_FRAME):
        assert f"{number:,} bytes" in PAGE


def test_the_limits_of_a_key_are_on_the_page() -> None:
    section = PAGE.split("## 9. ")[1].split("## 10. ")[0]
    named = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    of_door = [*limits.LIMITS, "waiting", "remote", "open"]
    assert named[: len(of_door)] == of_door
    assert set(named[len(of_door) :]) <= OF_LEAGUE
    assert "submissions" in named[len(of_door) :]
    assert f"have {limits.MOST_WAITING} orders" in section
    assert f"serve {limits.MOST_BOTS} remote bots" in section
    assert f"have {limits.MOST_OPEN} requests and WebSockets" in section
    assert f"give {limits.LIMITS['orders'].burst} orders an hour" in section


def test_every_code_that_the_door_gives_is_on_the_page() -> None:
    given = set(re.findall(r"(?:Refusal|Error|RemoteProtocolError)\(\s*\"(\w+)\"", SOURCE))
    assert given - {"no_answer"} == TABLES["errors"].keys() - {"refused", "quota"}
    assert {code: error["status"] for code, error in TABLES["errors"].items() if "status" in error} == refusals.STATUSES


def test_the_requests_of_the_page_are_those_of_the_door(tmp_path: Path) -> None:
    section = PAGE.split("## 5. ")[1].split("## 6. ")[0]
    named = re.findall(r"^\| `(?:([A-Z]+) )?([^`?]+)(?:\?[^`]*)?` \|", section, re.MULTILINE)
    routes = _Routes(Door(tmp_path)).routes
    found = {
        (method, route.path.replace("{number}", "{n}"))
        for route in routes
        for method in ((route.methods or set()) - {"HEAD"} or {"HEAD"} if isinstance(route, Route) else {""})
        if isinstance(route, Route | WebSocketRoute)
    }
    assert {(method, re.sub(r"[A-Z]+", lambda name: f"{{{name[0].lower()}}}", path)) for method, path in named} == found


# Numbers


def test_numbers_count_up_in_their_section() -> None:
    numbers = [(int(part), int(count)) for part, count, *_ in NUMBERED]
    for part, group in groupby(numbers, lambda pair: pair[0]):
        assert [count for _, count in group] == list(range(1, 1 + sum(each == part for each, _ in numbers)))
        assert f"§D{part}-1" in PAGE.split(f"\n## {part}. ")[1].split("\n## ")[0]


def test_every_must_has_a_number() -> None:
    for match in re.finditer(r"^(?!- \*\*§|  ).*\bMUST\b.*$", PAGE.split("## 2. ")[1], re.MULTILINE):
        raise AssertionError(f"a MUST without a number: {match[0]}")


def test_every_number_that_a_frame_can_show_is_cited_by_vectors_and_broken_by_one() -> None:
    testable = {f"§D{part}-{count}" for part, count, mark, _ in NUMBERED if not mark}
    assert {number for vector in INVALID for number in vector["spec"]} == testable
    assert {number for vector in VALID for number in vector["spec"]} <= testable


def test_every_number_is_cited_by_a_vector_or_a_test() -> None:
    cited = {f"§{number}" for path in TESTS.rglob("*.py") for number in re.findall(r"§(D\d+-\d+)", path.read_text())}
    cited |= {number for vector in [*VALID, *INVALID] for number in vector["spec"]}
    exists = {f"§D{part}-{count}" for part, count, *_ in NUMBERED}
    assert exists <= cited
    assert set(re.findall(r"§D\d+-\d+", SOURCE)) <= exists


# Vectors


@pytest.mark.parametrize("vector", VALID, ids=by_id)
def test_a_valid_frame_is_read(vector: dict[str, Any]) -> None:
    message = DECODERS[vector["from"]](frame(vector["hex"]))
    if vector["decoded"] is None:
        assert message is None
    else:
        expected = decoded(vector["decoded"])
        assert message == msgspec.convert(expected, CLASSES[expected["type"]])
        assert DECODERS[vector["from"]](encode(message)) == message


@pytest.mark.parametrize("vector", INVALID, ids=by_id)
def test_an_invalid_frame_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        DECODERS[vector["from"]](frame(vector["hex"]))
    assert (caught.value.error_code, caught.value.rule) == (vector["error"], vector["rule"])
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("vector", [*VALID, *INVALID], ids=by_id)
def test_the_second_opinion_on_a_vector_is_the_same(vector: dict[str, Any]) -> None:
    complaints = PROTOCOL["check_vectors"]["complaints_of_league"]
    assert list(complaints(vector)) == []
    wrong = {**vector, "hex": "80"} if "error" not in vector else {**vector, "error": "luck"}
    assert list(complaints(wrong)) != [], "it would have said so"

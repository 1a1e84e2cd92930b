"""The protocol's folder stands alone, and the code equals its tables: every field's name, type, range and place."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import msgpack
import msgspec
import pytest
from jsonschema import Draft202012Validator
from msgspec import inspect as types

from arena.core.errors import RemoteProtocolError
from arena.core.types import Termination
from arena.core.wire import messages
from arena.core.wire.codec import decode
from arena.core.wire.messages import ErrorCode, FromBot, FromReferee
from arena.core.wire.session import TRANSITIONS
from tests.conformance.kit import DATA, DIALOGUES, FOLDER, INVALID, PROTOCOL, VALID

PROGRAMS = sorted(FOLDER.rglob("*.py"))
ALLOWED = {"generate": set[str](), "check_vectors": {"msgpack", "jsonschema"}, "check_referee": {"msgpack", "zmq"}}
"""What each program may import beside the standard library; those that are not here nothing."""


# The folder alone


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_no_program_of_the_protocol_imports_arena(path: Path) -> None:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "arena").partition(".")[0])
    assert found - sys.stdlib_module_names <= ALLOWED.get(path.stem, set())


def test_the_tables_are_made_with_the_standard_library_alone() -> None:
    """`-S` leaves out all that is installed, arena included."""
    command = [sys.executable, "-I", "-S", str(FOLDER / "generate.py"), "--check"]
    assert subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout == ""


def test_the_vectors_are_right_without_arena(tmp_path: Path) -> None:
    (tmp_path / "arena.py").write_text("raise SystemExit('arena was imported')")
    command = [sys.executable, str(FOLDER / "check_vectors.py")]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert (done.returncode, done.stdout[:13]) == (0, "Every vector ")


# The check of vectors finds what is wrong with one


def complaints(vector: dict[str, Any]) -> list[str]:
    return list(PROTOCOL["check_vectors"]["complaints_in" if "steps" in vector else "complaints_about"](vector))


@pytest.mark.parametrize("vector", INVALID, ids=lambda vector: vector["id"])
def test_an_invalid_vector_that_claims_another_code_is_found(vector: dict[str, Any]) -> None:
    assert complaints(vector) == []
    assert complaints(vector | {"error": "timeout"})
    assert complaints({**{key: vector[key] for key in vector if key != "error"}, "decoded": {"type": "ready"}})


@pytest.mark.parametrize("vector", VALID, ids=lambda vector: vector["id"])
def test_a_valid_vector_that_claims_another_message_is_found(vector: dict[str, Any]) -> None:
    assert complaints(vector) == []
    assert complaints(vector | {"decoded": {"type": "ready", "game": 77}})
    assert complaints(vector | {"hex": vector["hex"] + " 00"})


@pytest.mark.parametrize("dialogue", DIALOGUES, ids=lambda dialogue: dialogue["id"])
def test_a_dialogue_that_claims_another_state_is_found(dialogue: dict[str, Any]) -> None:
    assert complaints(dialogue) == []
    for number, step in enumerate(dialogue["steps"]):
        other = "idle" if step["state"] != "idle" else "asked"
        steps = [*dialogue["steps"][:number], step | {"state": other}, *dialogue["steps"][number + 1 :]]
        assert complaints(dialogue | {"steps": steps})[0].startswith(f"step {number + 1}: expected state {other}")


# The code equals the tables


def described(kind: types.Type) -> dict[str, Any]:
    match kind:
        case types.UnionType(types=members):
            others = [member for member in members if not isinstance(member, types.NoneType)]
            table = described(others[0]) | ({"nil": True} if len(others) < len(members) else {})
            return table | ({"or": described(others[1])} if len(others) > 1 else {})
        case types.StrType(min_length=least, max_length=most, pattern=pattern):
            # Python's `$` is before a line feed at the end, too; that of the tables is not.
            ends = pattern.replace(r"\Z", "$") if pattern else None
            return present(type="string", at_least=least, at_most=most, pattern=ends)
        case types.IntType(ge=least, le=most):
            bounded = most is not None and most != messages.MAX_INT
            return present(type="integer", at_least=least, at_most=most if bounded else None)
        case types.BoolType():
            return {"type": "boolean"}
        case types.BytesType(min_length=least, max_length=most):
            return present(type="binary", at_least=least, at_most=most)
        case (
            types.VarTupleType(item_type=item, min_length=least, max_length=most)
            | types.ListType(item_type=item, min_length=least, max_length=most)
        ):
            return present(type="array", items=described(item), at_least=least or None, at_most=most)
        case types.DictType(key_type=key, value_type=value, min_length=least, max_length=most):
            keys, values = described(key), described(value)
            return present(
                type="map", keys=keys if keys != {"type": "string"} else None, values=values or None,
                at_least=least or None, at_most=most,
            )  # fmt: skip
        case types.StructType():
            return {"type": "map", "fields": fields(kind)}
        case types.AnyType():
            return {}
    raise AssertionError(f"a type that messages.toml has no word for: {kind}")


def present(**table: Any) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value is not None}


def fields(struct: types.StructType) -> dict[str, dict[str, Any]]:
    return {
        field.name: described(field.type) | ({"required": True} if field.required else {}) for field in struct.fields
    }


def bare(table: Any) -> Any:
    if not isinstance(table, dict):
        return table
    return {key: bare(value) for key, value in table.items() if key != "meaning" or isinstance(value, dict)}


CLASSES = {str(message.__struct_config__.tag): message for message in (*get_args(FromBot), *get_args(FromReferee))}


def check_messages(senders: dict[str, Any], tables: dict[str, Any]) -> None:
    for sender, union in senders.items():
        tags = {str(message.__struct_config__.tag) for message in get_args(union)}
        assert tags == {name for name, message in tables.items() if message["from"] in (sender, "either")}


def check_fields(message: Any, described: Any) -> None:
    info = types.type_info(message)
    assert isinstance(info, types.StructType)
    code, table = fields(info), bare(described["fields"])
    assert list(code) == list(table), "the same fields in the same order"
    for field in table:
        assert code[field] == table[field], field


def test_the_messages_of_the_code_are_those_of_the_tables() -> None:
    check_messages({"bot": FromBot, "referee": FromReferee}, DATA["messages"])


@pytest.mark.parametrize("name", DATA["messages"])
def test_the_fields_of_the_code_are_those_of_the_tables(name: str) -> None:
    check_fields(CLASSES[name], DATA["messages"][name])


@pytest.mark.parametrize("name", DATA["messages"])
def test_a_field_that_is_not_there_means_the_same_in_the_code_and_in_the_schema(name: str) -> None:
    properties = PROTOCOL["generate"]["schema"](name)["properties"]
    for field in msgspec.structs.fields(CLASSES[name]):
        if "default" in properties[field.name]:
            default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
            assert msgspec.json.decode(msgspec.json.encode(default)) == properties[field.name]["default"], field.name


def test_the_states_of_the_code_are_those_of_the_tables() -> None:
    code = {
        str(state): {str(message.__struct_config__.tag): str(after) for message, after in allowed.items()}
        for state, allowed in TRANSITIONS.items()
    }
    assert code == DATA["states"]


def test_codes_limits_and_version_of_the_code_are_those_of_the_tables() -> None:
    assert set(DATA["error_codes"]) == set(get_args(ErrorCode))
    assert DATA["terminations"] == [str(termination) for termination in Termination]
    assert DATA["protocol"] == messages.PROTOCOL
    assert DATA["limits"] == {
        "bot_frame": messages.MAX_FRAME,
        "referee_frame": messages.MAX_REFEREE_FRAME,
        "note": messages.MAX_NOTE,
        "depth": messages.MAX_DEPTH,
        "integer": messages.MAX_INT,
        "ignored": messages.MAX_IGNORED,
    }


@pytest.mark.parametrize(("field", "value"), [("protocol", "1.0\n"), ("entropy", "5e" * 32 + "\n")])
def test_a_pattern_holds_to_the_last_character(field: str, value: str) -> None:
    data = msgpack.packb({"type": "hello", "token": "t", "protocol": "1.0"} | {field: value})
    with pytest.raises(RemoteProtocolError) as caught:
        decode(data)
    assert caught.value.rule == PROTOCOL["check_vectors"]["broken_rule"](data) == "§5.3-3"


# What the tables can say

NAME = {"type": "string"}
TYPES: list[tuple[dict[str, Any], str, list[Any], list[Any]]] = [
    ({"type": "string", "at_least": 1}, "string, at least 1 characters", ["a"], ["", 1, None]),
    ({"type": "string", "pattern": "^[0-9a-f]{4}$"}, "string, `^[0-9a-f]{4}$`", ["00ff"], ["0ff", "00FF"]),
    ({"type": "integer", "at_least": 1, "at_most": 3}, "integer, from 1 to 3", [1, 3], [0, 4, "1"]),
    ({"type": "integer"}, "integer", [2**53 - 1, 1 - 2**53], [2**53, -(2**53)]),
    ({"type": "boolean"}, "boolean", [True], [1, None]),
    ({"type": "array", "at_least": 1, "at_most": 2, "items": {"type": "integer", "at_least": 1}, "nil": True},
     "array of 1 to 2: integer, at least 1 or nil", [[1], [1, 2], None], [[], [0], [1, 2, 3], "1"]),
    ({"type": "map", "keys": {"type": "string", "at_most": 2}, "values": {"type": "array"}, "at_most": 1},
     "map of at most 1: array", [{}, {"a": []}], [{"abc": []}, {"a": 1}, {"a": [], "b": []}]),
    ({"type": "array", "items": NAME, "or": {"type": "map", "values": {"type": "array", "items": NAME}}},
     "array: string or map: array: string", [[], ["a"], {}, {"a": ["b"]}], [[1], {"a": "b"}, None, "a"]),
    ({"type": "array", "items": {"type": "map", "fields": {"name": NAME | {"required": True, "meaning": ""}}}},
     "array: map", [[], [{"name": "a"}], [{"name": "a", "x": 1}]], [[{}], [{"name": 1}]]),
]  # fmt: skip


@pytest.mark.parametrize(("table", "words", "good", "bad"), TYPES, ids=[words for _, words, *_ in TYPES])
def test_a_type_has_words_a_schema_and_a_check_that_agree(
    table: dict[str, Any], words: str, good: list[Any], bad: list[Any]
) -> None:
    assert PROTOCOL["generate"]["words"](table) == words
    schema = Draft202012Validator(PROTOCOL["generate"]["type_schema"](table))
    for value, allowed in [*((value, True) for value in good), *((value, False) for value in bad)]:
        assert schema.is_valid(value) == allowed, value
        assert (broken(value, table) is None) == allowed, value


def broken(value: Any, table: dict[str, Any]) -> str | None:
    """The rule that a value breaks in a field of this type."""
    if isinstance(value, int) and abs(value) >= 2**53:
        return "§5.2-5"
    as_map, rule = PROTOCOL["check_vectors"]["Map"], PROTOCOL["check_vectors"]["_in_type"]

    def pairs(value: Any) -> Any:
        if isinstance(value, dict):
            return as_map((key, pairs(item)) for key, item in value.items())
        return [pairs(item) for item in value] if isinstance(value, list) else value

    found: str | None = rule(pairs(value), table)
    return found


def test_a_key_that_no_type_has_is_refused() -> None:
    rows = PROTOCOL["generate"]["_rows"]
    with pytest.raises(KeyError, match=re.escape("at time.bank in messages.toml")):
        rows({"bank": {"type": "integer", "atleast": 1, "meaning": ""}}, "time.")

"""Write what follows from the code: the schemas, and the parts of SPEC.md between markers.

    python protocol/generate.py            write
    python protocol/generate.py --check    exit with 1 if anything would change, and say what

A generated part of SPEC.md begins with `<!-- KIND:NAME -->` and ends with `<!-- end -->`; the kinds are `fields`
(the table of a message's fields), `example` (a vector's message) and `states` (the session's transitions).
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any, get_args

import msgspec
from msgspec import inspect as types

from arena.wire import messages
from arena.wire.messages import PROTOCOL, FromBot, FromReferee, Message
from arena.wire.session import TRANSITIONS

FOLDER = Path(__file__).resolve().parent
MESSAGES: dict[str, type[Message]] = {
    str(message.__struct_config__.tag): message for message in (*get_args(FromBot), *get_args(FromReferee))
}
"""Every message by its `type`."""


def main(arguments: list[str]) -> int:
    """Write the generated files, or with `--check` compare them. The exit status."""
    stale = [
        path for path, text in generated().items() if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    stray = sorted(set((FOLDER / "schemas").glob("*.json")) - set(generated()))
    if arguments == ["--check"]:
        for path in [*stale, *stray]:
            print(f"expected {path} as the code has it, got another: run protocol/generate.py", file=sys.stderr)
        return 1 if stale or stray else 0
    for path in stale:
        path.parent.mkdir(exist_ok=True)
        path.write_text(generated()[path], encoding="utf-8")
    for path in stray:
        path.unlink()
    return 0


def generated() -> dict[Path, str]:
    """Every generated file's text, by its path."""
    specification = FOLDER / "SPEC.md"
    text = specification.read_text(encoding="utf-8")
    files = {specification: re.sub(r"(<!-- (\w+):(\S*) -->\n).*?(<!-- end -->)", _part, text, flags=re.DOTALL)}
    for name, message in MESSAGES.items():
        files[FOLDER / "schemas" / f"{name}.json"] = json.dumps(schema(name, message), indent=2) + "\n"
    return files


def _part(match: re.Match[str]) -> str:
    start, kind, name, end = match.groups()
    makers = {"fields": fields_table, "example": example, "states": states_table}
    return f"{start}{makers[kind](name)}{end}"


# Fields


def fields_table(name: str) -> str:
    """The table of a message's fields, those of its inner maps with dotted names."""
    rows = ["| field | type | required | meaning |", "|---|---|---|---|", f'| `type` | `"{name}"` | yes | |']
    rows += _rows(MESSAGES[name], "")
    return "\n".join(rows) + "\n"


def _rows(struct: type[msgspec.Struct], prefix: str) -> list[str]:
    rows = []
    meanings = docstrings(struct)
    info = types.type_info(struct)
    assert isinstance(info, types.StructType)
    for field in info.fields:
        required = "yes" if field.required else "no"
        rows.append(f"| `{prefix}{field.name}` | {_words(field.type)} | {required} | {meanings[field.name]} |")
        many = isinstance(field.type, types.ListType | types.VarTupleType)
        inner, suffix = (field.type.item_type, "[]") if many else (field.type, "")
        if isinstance(inner, types.StructType):
            rows += _rows(inner.cls, f"{prefix}{field.name}{suffix}.")
    return rows


def docstrings(struct: type[msgspec.Struct]) -> dict[str, str]:
    """The docstring below each field of a class, on one line."""
    body = ast.parse(inspect.getsource(struct)).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            found[field.target.id] = " ".join(ast.literal_eval(below.value).split())
    return found


def _words(kind: types.Type) -> str:
    """A type as people say it."""
    match kind:
        case types.StrType(pattern=str(pattern)):
            return f"string, `{pattern}`"
        case types.StrType(max_length=int(longest)):
            return f"string, at most {longest} characters"
        case types.StrType():
            return "string"
        case types.IntType(ge=int(least), le=messages.MAX_INT):
            return f"integer, at least {least}"
        case types.IntType():
            return "integer"
        case types.VarTupleType(item_type=item, max_length=longest):
            return f"array of at most {longest}: {_words(item)}"
        case types.ListType(item_type=item):
            return f"array: {_words(item)}"
        case types.DictType(value_type=types.AnyType()) | types.StructType():
            return "map"
        case types.DictType(value_type=item, max_length=int(longest)):
            return f"map of at most {longest}: {_words(item)}"
        case types.DictType(value_type=item):
            return f"map: {_words(item)}"
        case types.UnionType(types=members):
            return " or ".join(_words(member) for member in members)
        case types.NoneType():
            return "nil"
    raise TypeError(f"expected a type that the protocol uses, got: {kind}; teach protocol/generate.py its name")


# Schemas


def schema(name: str, message: type[Message]) -> dict[str, Any]:
    """The JSON Schema of a message, with the fields' docstrings as descriptions."""
    (reference,), definitions = msgspec.json.schema_components([message], ref_template="#/$defs/{name}")
    del reference
    for made in definitions.values():
        struct = getattr(messages, made["title"])
        for field, meaning in docstrings(struct).items():
            made["properties"][field]["description"] = meaning
    own = definitions.pop(message.__name__)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:arena:protocol:{PROTOCOL}:{name}",
        **own,
        **({"$defs": definitions} if definitions else {}),
    }


# States and examples


def states_table(_: str) -> str:
    """The session's transitions."""
    rows = ["| state | message | from | next state |", "|---|---|---|---|"]
    senders = dict.fromkeys(get_args(FromReferee), "referee") | dict.fromkeys(get_args(FromBot), "bot")
    for state, allowed in TRANSITIONS.items():
        for message, after in allowed.items():
            rows.append(f"| `{state}` | `{message.__struct_config__.tag}` | {senders[message]} | `{after}` |")
    return "\n".join(rows) + "\n"


def example(vector: str) -> str:
    """The message of a valid vector, as JSON."""
    for path in sorted((FOLDER / "vectors" / "valid").glob("*.json")):
        for entry in json.loads(path.read_text(encoding="utf-8"))["vectors"]:
            if entry["id"] == vector:
                lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in entry["decoded"].items()]
                return "\n".join(["```json", "{", ",\n".join(lines), "}", "```", ""])
    raise LookupError(f"expected the id of a vector in protocol/vectors/valid, got: {vector!r}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Writes what follows from messages.toml and league.toml: schemas, and the parts between markers of two pages.

    python protocol/generate.py            write
    python protocol/generate.py --check    exit with 1 if anything would change, and say what

It needs Python 3.11 and nothing else. A generated part of SPEC.md or LEAGUE.md begins with `<!-- KIND:NAME -->` and
ends with `<!-- end -->`; the kinds are `fields` (the table of a message's fields), `example` (a vector's message),
`states` (the session's transitions), `messages` and `errors` (of a league's door).
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
DATA: dict[str, Any] = tomllib.loads((FOLDER / "messages.toml").read_text(encoding="utf-8"))
LEAGUE: dict[str, Any] = tomllib.loads((FOLDER / "league.toml").read_text(encoding="utf-8"))
KEYS = {"type", "at_least", "at_most", "pattern", "items", "keys", "values", "fields", "nil", "or"}
"""What a type may say; a field may also be `required`, and has a `meaning`."""


def main(arguments: list[str]) -> int:
    """Writes the generated files, or with `--check` compares them. Returns the exit status."""
    stale = [
        path for path, text in generated().items() if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    stray = sorted(set((FOLDER / "schemas").glob("*.json")) - set(generated()))
    if arguments == ["--check"]:
        for path in [*stale, *stray]:
            print(f"expected {path} as messages.toml has it, got another: run protocol/generate.py", file=sys.stderr)
        return 1 if stale or stray else 0
    for path in stale:
        path.parent.mkdir(exist_ok=True)
        path.write_text(generated()[path], encoding="utf-8")
    for path in stray:
        path.unlink()
    return 0


def generated() -> dict[Path, str]:
    """Returns every generated file's text, by its path."""
    files = {}
    for page in (FOLDER / "SPEC.md", FOLDER / "LEAGUE.md"):
        text = page.read_text(encoding="utf-8")
        files[page] = re.sub(r"(<!-- (\w+):(\S*) -->\n).*?(<!-- end -->)", _part, text, flags=re.DOTALL)
    for name in DATA["messages"]:
        files[FOLDER / "schemas" / f"{name}.json"] = json.dumps(schema(name), indent=2, ensure_ascii=False) + "\n"
    return files


def _part(match: re.Match[str]) -> str:
    start, kind, name, end = match.groups()
    makers = {"fields": fields_table, "example": example, "states": states_table}
    makers |= {"messages": messages_table, "errors": errors_table}
    return f"{start}{makers[kind](name)}{end}"


# Fields


def fields_table(name: str) -> str:
    """Returns the table of a message's fields, those of its inner maps with dotted names."""
    rows = ["| field | type | required | meaning |", "|---|---|---|---|", f'| `type` | `"{name}"` | yes | |']
    rows += _rows(DATA["messages"][name]["fields"], "")
    return "\n".join(rows) + "\n"


def _rows(fields: dict[str, Any], prefix: str) -> list[str]:
    rows = []
    for name, field in fields.items():
        _know(field, KEYS | {"required", "meaning"}, prefix + name)
        required = "yes" if field.get("required") else "no"
        rows.append(f"| `{prefix}{name}` | {words(field)} | {required} | {field['meaning']} |")
        inner, suffix = (field["items"], "[]") if "items" in field else (field, "")
        rows += _rows(inner.get("fields", {}), f"{prefix}{name}{suffix}.")
    return rows


def _know(kind: dict[str, Any], known: set[str], place: str) -> None:
    if strange := kind.keys() - known:
        raise KeyError(f"expected keys among {sorted(known)}, got: {sorted(strange)} - at {place} in messages.toml")


def words(kind: dict[str, Any]) -> str:
    """Returns a type as people say it: `array of at most 16: string, at most 64 characters`."""
    text = _alone(kind)
    if "or" in kind:
        text += f" or {words(kind['or'])}"
    return f"{text} or nil" if kind.get("nil") else text


def _alone(kind: dict[str, Any]) -> str:
    """Returns a type in words, without the others that are allowed beside it."""
    name, least, most = kind["type"], kind.get("at_least"), kind.get("at_most")
    if name == "string":
        if "pattern" in kind:
            return f"string, `{kind['pattern']}`"
        return "string" if (size := _size(least, most)) == "" else f"string, {size} characters"
    if name == "integer":
        if most is not None:
            return f"integer, from {least} to {most}"
        return "integer" if least is None else f"integer, at least {least}"
    if name == "binary":
        return f"binary, {_size(least, most)} bytes"
    if name in ("array", "map"):
        of = " of " if (size := _size(least, most)) else ""
        inner = kind.get("items" if name == "array" else "values")
        return f"{name}{of}{size}" + (f": {words(inner)}" if inner else "")
    return str(name)


def _size(least: int | None, most: int | None) -> str:
    if least is None:
        return "" if most is None else f"at most {most}"
    return f"at least {least}" if most is None else f"{least} to {most}" if least != most else f"exactly {most}"


# Schemas


def schema(name: str) -> dict[str, Any]:
    """Returns the JSON Schema of a message, with the fields' meanings as descriptions."""
    message = DATA["messages"][name]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:arena:protocol:{DATA['protocol']}:{name}",
        "title": name,
        "description": message["meaning"],
        **_object({"type": {"const": name}}, message["fields"], required=["type"]),
    }


def _object(properties: dict[str, Any], fields: dict[str, Any], *, required: list[str]) -> dict[str, Any]:
    for name, field in fields.items():
        default = {} if field.get("required") else _default(field)
        properties[name] = {**type_schema(field), **default, "description": field["meaning"]}
    needed = [*required, *(name for name, field in fields.items() if field.get("required"))]
    return {"type": "object", "properties": properties, "required": needed}


def _default(field: dict[str, Any]) -> dict[str, Any]:
    """Returns what a field means that is not there (§5.3-3)."""
    if field.get("nil"):
        return {"default": None}
    empty: dict[str, Any] = {"string": "", "array": [], "map": {}}
    return {"default": empty[field["type"]]} if field["type"] in empty and "pattern" not in field else {}


def type_schema(kind: dict[str, Any]) -> dict[str, Any]:
    """Returns the JSON Schema of a type."""
    branches = [_alone_schema(kind)]
    if "or" in kind:
        branches.append(type_schema(kind["or"]))
    if kind.get("nil"):
        branches.append({"type": "null"})
    return branches[0] if len(branches) == 1 else {"anyOf": branches}


def _alone_schema(kind: dict[str, Any]) -> dict[str, Any]:
    match kind["type"]:
        case "string":
            return {"type": "string", **_bounds(kind, "minLength", "maxLength"), **_given(kind, "pattern")}
        case "integer":
            limit = DATA["limits"]["integer"]
            return {"type": "integer"} | _bounds({"at_least": -limit, "at_most": limit} | kind, "minimum", "maximum")
        case "boolean":
            return {"type": "boolean"}
        case "array":
            items = {"items": type_schema(kind["items"])} if "items" in kind else {}
            return {"type": "array", **items, **_bounds(kind, "minItems", "maxItems")}
        case "map":
            if "fields" in kind:
                return _object({}, kind["fields"], required=[])
            keys = {"propertyNames": type_schema(kind["keys"])} if "keys" in kind else {}
            values = {"additionalProperties": type_schema(kind["values"])} if "values" in kind else {}
            return {"type": "object", **keys, **values, **_bounds(kind, "minProperties", "maxProperties")}
    raise KeyError(f"expected string, integer, boolean, array or map as type, got: {kind['type']!r} in messages.toml")


def _bounds(kind: dict[str, Any], least: str, most: str) -> dict[str, Any]:
    return {there: kind[here] for here, there in (("at_least", least), ("at_most", most)) if here in kind}


def _given(kind: dict[str, Any], key: str) -> dict[str, Any]:
    return {key: kind[key]} if key in kind else {}


# States and examples


def states_table(_: str) -> str:
    """Returns the table of the session's transitions."""
    rows = ["| state | message | from | next state |", "|---|---|---|---|"]
    for state, allowed in DATA["states"].items():
        for message, after in allowed.items():
            rows.append(f"| `{state}` | `{message}` | {DATA['messages'][message]['from']} | `{after}` |")
    return "\n".join(rows) + "\n"


def messages_table(_: str) -> str:
    """Returns the table of the messages of remote bots, with their fields."""
    rows = ["| message, from | field | type | required | meaning |", "|---|---|---|---|---|"]
    for name, message in LEAGUE["messages"].items():
        rows.append(f"| `{name}`, {message['from']} | | | | {message['meaning']} |")
        rows += [f"| {row}" for row in _rows(message["fields"], "")]
    return "\n".join(rows) + "\n"


def errors_table(_: str) -> str:
    """Returns the table of a door's error codes."""
    rows = ["| code | status | meaning |", "|---|---|---|"]
    rows += [
        f"| `{code}` | {error.get('status', '')} | {error['meaning']} |" for code, error in LEAGUE["errors"].items()
    ]
    return "\n".join(rows) + "\n"


def example(vector: str) -> str:
    """Returns the message of a valid vector, as JSON."""
    for path in sorted((FOLDER / "vectors").glob("valid/*.json")):
        for entry in json.loads(path.read_text(encoding="utf-8"))["vectors"]:
            if entry["id"] == vector:
                lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in entry["decoded"].items()]
                return "\n".join(["```json", "{", ",\n".join(lines), "}", "```", ""])
    raise LookupError(f"expected the id of a vector in protocol/vectors/valid, got: {vector!r}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

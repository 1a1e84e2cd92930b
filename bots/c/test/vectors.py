"""Writes the protocol's test vectors as C, for `test.c`: a table of frames, and how to write and check each message.

C has no JSON, and needs none: what a vector says of its message becomes calls of the client's own functions.
"""

import json
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "protocol" / "vectors"
FRAMING = {"§5.1-2", "§5.1-3", "§5.3-1"}
"""The rules that make a frame one map with a type."""


def text(value):
    """A string literal; what is not plain ASCII is escaped byte by byte."""
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}" for byte in value.encode())
    return '"' + "".join(plain) + '"'


def writing(value):
    """Statements that write a value with `packer`."""
    match value:
        case None:
            yield "msgpack_pack_nil(packer);"
        case bool():
            yield f"msgpack_pack_{str(value).lower()}(packer);"
        case int():
            yield f"msgpack_pack_int64(packer, {value}LL);"
        case str():
            yield f"arena_pack_text(packer, {text(value)});"
        case list():
            yield f"msgpack_pack_array(packer, {len(value)});"
            for item in value:
                yield from writing(item)
        case dict():
            yield f"msgpack_pack_map(packer, {len(value)});"
            for key, item in value.items():
                yield f"arena_pack_text(packer, {text(key)});"
                yield from writing(item)


def checking(place, value):
    """Statements that check that the value at a place in a message is this one; a map may have more keys."""
    match value:
        case None:
            yield f"CHECK({place}->type == MSGPACK_OBJECT_NIL);"
        case bool():
            yield f"CHECK({place}->type == MSGPACK_OBJECT_BOOLEAN);"
            yield f"CHECK({place}->via.boolean == {str(value).lower()});"
        case int():
            yield f"CHECK(arena_int({place}, {value - 1}LL) == {value}LL);"
        case str():
            yield f"CHECK(arena_is({place}, {text(value)}));"
        case list():
            yield f"CHECK({place}->type == MSGPACK_OBJECT_ARRAY);"
            yield f"CHECK(arena_size({place}) == {len(value)});"
            for i, item in enumerate(value):
                yield from checking(f"arena_at({place}, {i})", item)
        case dict():
            yield f"CHECK({place}->type == MSGPACK_OBJECT_MAP);"
            for key, item in value.items():
                yield from checking(f"arena_get({place}, {text(key)})", item)


def holds_zero(value):
    """Whether a string in it has a character 0, which no string of C can hold."""
    return "\\u0000" in json.dumps(value)


def main():
    """Write `vectors.h` to standard output."""
    table = []
    for path in sorted(FOLDER.glob("*valid/*.json")):
        for vector in json.loads(path.read_text(encoding="utf-8"))["vectors"]:
            name, message, valid = vector["id"].replace("-", "_"), vector.get("decoded"), "error" not in vector
            flags = {
                "valid": valid,
                "ignored": valid and message is None,
                "refused": not valid and not FRAMING.isdisjoint(vector["spec"]),
            }
            entry = {"id": text(vector["id"]), "hex": text(vector["hex"])}
            entry |= {flag: "true" for flag, holds in flags.items() if holds}
            if message is not None and not holds_zero(message):
                print(f"static void check_{name}(const msgpack_object *message) {{")
                print(*checking("message", message), sep="\n", end="\n}\n")
                entry["check"] = f"check_{name}"
                if vector["from"] == "bot":
                    print(f"static void write_{name}(msgpack_packer *packer) {{")
                    print(*writing(message), sep="\n", end="\n}\n")
                    entry["write"] = f"write_{name}"
            table.append("{" + ", ".join(f".{key} = {value}" for key, value in entry.items()) + "},")
    print("static const Vector VECTORS[] = {", *table, "};", sep="\n")


main()

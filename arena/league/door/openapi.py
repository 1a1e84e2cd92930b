"""What the door answers over HTTP, as OpenAPI 3.1: made from the classes with which it reads and answers."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from arena.league.door import messages as m

_NAME: Final = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")]
_JSON: Final = "application/json"
_BINARY: Final = {"type": "string", "format": "binary"}
_SHOWN: Final = "Only if it is yours, or everybody may see it; else there is none."
_FILE: Final = {
    "200": "All of it",
    "206": "The part that `Range` asks for",
    "304": "It is the one that you have",
    "416": "It has no such part",
}
_HEADERS: Final = {
    "etag": "Its SHA-256, for `If-None-Match` and `If-Range`",
    "repr-digest": "SHA-256 of all of it (RFC 9530)",
}
_NAMES: Final[dict[str, tuple[Any, str]]] = {
    "bot": (m.BotName, "The bot's name: that of its manifest."),
    "number": (Annotated[int, Meta(ge=1, le=999_999_999)], "The version's number: 3 of `fox/3`."),
    "kind": (Literal["build", "check", "qualify"], "The step."),
    "game": (_NAME, "The game, as `games` has it."),
    "rules": (Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.:-]{1,128}\Z")], "The game's name: `samurai`."),
    "tournament": (_NAME, "The season's identifier, as `league.seasons` has it."),
    "file": (_NAME, "The file's name (section 7 of LEAGUE.md)."),
    "name": (m.BotName, "Your own name, as `GET /` has it."),
    "digest": (m.Digest, "The digest of the archive that is sent."),
}
"""What stands in paths: its type, and what it means."""


class _Operation(msgspec.Struct, frozen=True):
    """A request, and what answers it."""

    method: str
    path: str
    summary: str
    answers: dict[str, Any]
    """By status the class of the answer; or, of an answer that is not JSON of ours, what it means."""
    query: Any = None
    media: tuple[str, ...] = ()
    """The media types of an answer that is a file."""
    body: Any = None
    """The class of a body in JSON."""


_OPERATIONS: Final = (
    _Operation("get", "/", "Who the league is, who you are, and your limits", {"200": m.Welcome}),
    _Operation("get", "/versions", "How your versions stand, and notices", {"200": m.Versions}, m.VersionsQuery),
    _Operation("get", "/versions/{bot}/{number}/reports/{kind}", "What a step found", _FILE, media=(_JSON,)),
    _Operation("get", "/games", "Games of your versions, the latest first", {"200": m.Played}, m.GamesQuery),
    _Operation("get", "/games/{rules}", "A game's rules as text, and JSON Schemas", _FILE, media=(_JSON,)),
    _Operation("get", "/games/{game}/log", "The log of a game", _FILE, m.LogQuery, ("application/zstd",)),
    _Operation("get", "/log.zdict", "What `zstd -D` needs to expand a log", _FILE, media=("application/octet-stream",)),
    _Operation("get", "/standings", "The standings of the season", {"200": m.Table}, m.StandingsQuery),
    _Operation(
        "get", "/seasons/{tournament}/logs.tar", "Its logs", {"200": "A tar"}, m.LogsQuery, ("application/x-tar",)
    ),
    _Operation("get", "/seasons/{tournament}/{file}", "A file of a season", _FILE, media=(_JSON, "application/jsonl")),
    _Operation(
        "put",
        "/bots/{bot}",
        "Submits a bot: a zip or tar of its folder, or an archive of arena",
        {"200": m.Submitted, "201": m.Submitted, "202": m.Submitted},
        m.SubmitQuery,
    ),
    *(
        _Operation(kind.method, kind.path, kind.summary, {"200": m.Ordered, "202": m.Ordered}, kind.query)
        for kind in m.ORDERS
    ),
    _Operation("get", "/seat", "How your seat stands", {"200": m.SeatState}, m.WaitQuery),
    _Operation("post", "/seat", "Plays in your seat", {"200": m.SeatState}, m.WaitQuery, body=m.SeatSaid),
    _Operation("head", "/bots/{bot}/uploads/{digest}", "How much of an upload is there", {"204": "It is begun"}),
)


@cache
def document() -> bytes:
    """Returns the document."""
    kinds = dict.fromkeys(kind for one in _OPERATIONS for kind in one.answers.values() if isinstance(kind, type))
    described = [*kinds, m.Problem, m.SeatSaid]
    _, components = msgspec.json.schema_components(described, ref_template="#/components/schemas/{name}")
    for kind in described:
        for name, meaning in _meanings(kind).items():
            components[kind.__name__]["properties"][name]["description"] = meaning
    paths: dict[str, Any] = {}
    for one in _OPERATIONS:
        paths.setdefault(one.path, {})[one.method] = _operation(one)
    whole = {
        "openapi": "3.1.0",
        "info": {
            "title": "A league of arena",
            "version": m.PROTOCOL,
            "description": "What the door of a league answers to its authors. LEAGUE.md says what is published. It "
            f"has the messages of bots that play from home, too, which go over the WebSocket {m.API}/remote.",
        },
        "servers": [{"url": m.API}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }
    # A regular expression of Python ends with \Z, one of JSON Schema with $.
    return msgspec.json.format(msgspec.json.encode(whole).replace(rb"\\Z", b"$"), indent=1) + b"\n"


def _operation(one: _Operation) -> dict[str, Any]:
    parts = [part for part in one.path.split("/") if part] or ["league"]
    names = [part[1:-1] for part in parts if part.startswith("{")]
    parameters = [_parameter(name, "path", msgspec.json.schema(_NAMES[name][0]), _NAMES[name][1]) for name in names]
    if one.query is not None:
        asked = msgspec.json.schema(one.query)["$defs"][one.query.__name__]
        meanings, required = _meanings(one.query), asked["required"]
        parameters += [
            _parameter(name, "query", schema, meanings[name], required=name in required)
            for name, schema in asked["properties"].items()
        ]
    refused = {
        "description": "It is not granted, and why",
        "headers": {"retry-after": _header("In how many seconds it may be asked again", "integer")},
        "content": {"application/problem+json": {"schema": _reference(m.Problem)}},
    }
    operation: dict[str, Any] = {
        "summary": one.summary,
        "operationId": "-".join([one.method, *(part for part in parts if not part.startswith("{"))]),
        "parameters": parameters,
        "responses": {
            **{code: _answer(code, kind, one.media) for code, kind in one.answers.items()},
            "default": refused,
        },
    }
    if one.answers is _FILE:
        parameters.append(_parameter("Range", "header", {"type": "string"}, "Bytes: `bytes=0-99`."))
        operation["description"] = _SHOWN
    if one.query is m.SubmitQuery:
        offset = {"type": "integer", "minimum": 0, "maximum": m.MAX_ARCHIVE, "default": 0}
        parameters.append(_parameter("Upload-Offset", "header", offset, "Where the body begins in what is sent."))
        operation["requestBody"] = {"required": True, "content": {"application/octet-stream": {"schema": _BINARY}}}
    if one.body is not None:
        operation["requestBody"] = {"required": True, "content": {_JSON: {"schema": _reference(one.body)}}}
    if one.query is m.SubmitQuery or one.method == "head":
        told = operation["responses"]["204" if one.method == "head" else "default"]
        told["headers"] = {**told["headers"], "upload-offset": _header("How many bytes are there", "integer")}
    return operation


def _answer(code: str, kind: Any, media: tuple[str, ...]) -> dict[str, Any]:
    if isinstance(kind, type):
        told = (kind.__doc__ or "").partition("\n")[0]
        return {"description": told, "content": {_JSON: {"schema": _reference(kind)}}}
    headers = {name: _header(meaning, "string") for name, meaning in _HEADERS.items()} if kind in _FILE.values() else {}
    content = {name: {} if name == _JSON else {"schema": _BINARY} for name in media if code in ("200", "206")}
    return {"description": kind, "headers": headers, **({"content": content} if content else {})}


def _parameter(
    name: str, place: str, schema: dict[str, Any], meaning: str, *, required: bool = False
) -> dict[str, Any]:
    must = {"required": True} if required or place == "path" else {}
    return {"name": name, "in": place, **must, "description": meaning, "schema": schema}


def _header(meaning: str, kind: str) -> dict[str, Any]:
    return {"description": meaning, "schema": {"type": kind}}


def _reference(kind: type) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def _meanings(kind: type) -> dict[str, str]:
    """Returns by field what the text below it says, which Python does not keep."""
    body = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(body, ast.ClassDef)
    return {
        field.target.id: text.value.value.replace("\n", " ")
        for field, text in zip(body.body, body.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }

"""What is fuzzed: how bytes become an input, what must hold for it, and how it is kept in the corpus.

`corpus/TARGET/NAME` holds inputs that once ended a command as a bug does, and some that a fuzzer begins with. They are
kept as made, so that they mean the same when the makers change.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tests.fuzz import commands, databases, logs, texts, wire

CORPUS = Path(__file__).parent / "corpus"


class Target(NamedTuple):
    make: Callable[[bytes], Any]
    check: Callable[[Any], None]
    """Raises something if the input shows a bug."""
    keep: Callable[[Any], bytes] = bytes
    read: Callable[[bytes], Any] = bytes


def _lines(value: list[str]) -> bytes:
    return json.dumps(value).encode()


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _hex(value: list[bytes]) -> bytes:
    return json.dumps([one.hex() for one in value]).encode()


def _files(value: dict[str, bytes]) -> bytes:
    return json.dumps({name: data.decode("latin-1") for name, data in value.items()}).encode()


@cache
def _prepared() -> tuple[tempfile.TemporaryDirectory[str], Path]:
    """A folder for commands, deep enough that no `../..` leads out of it. It is removed with the process."""
    made = tempfile.TemporaryDirectory()
    folder = Path(made.name, "a", "b", "c", "d")
    folder.mkdir(parents=True)
    commands.prepare(folder)
    return made, folder


@cache
def _databases() -> tuple[tempfile.TemporaryDirectory[str], Path]:
    """A folder with a sound database. It is removed with the process."""
    made = tempfile.TemporaryDirectory()
    databases.prepare(Path(made.name))
    return made, Path(made.name)


TARGETS: dict[str, Target] = {
    "frame": Target(wire.make_frame, wire.check_frame),
    "dialogue": Target(
        wire.make_dialogue, wire.check_dialogue, _hex, lambda data: [bytes.fromhex(one) for one in json.loads(data)]
    ),
    "stream": Target(wire.make_stream, wire.check_stream),
    "log": Target(logs.make_log, logs.check_log),
    "folder": Target(
        logs.make_folder,
        logs.check_folder,
        _files,
        lambda data: {name: text.encode("latin-1") for name, text in json.loads(data).items()},
    ),
    "board": Target(texts.make_board, texts.check_board_file),
    "manifest": Target(texts.make_manifest, texts.check_manifest),
    "settings": Target(commands.make_settings, lambda made: commands.check_settings(made, _prepared()[1])),
    "command": Target(
        commands.make_command, lambda line: commands.check_command(line, _prepared()[1]), _lines, json.loads
    ),
    "database": Target(
        databases.make_database, lambda made: databases.check_database(made, _databases()[1]), _json, json.loads
    ),
}


def corpus(target: str) -> Iterator[Path]:
    yield from sorted((CORPUS / target).glob("*"))

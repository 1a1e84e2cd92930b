"""Files are opened in one place, `arena/core/files.py`, which reads no pipe and follows no planted link."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.meta.test_layers import MODULES, module_name

OTHERWISE = {
    "arena.core.files": "it is the place",
    "arena.league.door.uploads": "archives as they come, in the league's own folder: no link is followed",
    "arena.league.door.checks": "the same, when they are checked and written to the disk",
    "arena.league.submissions.submitting": "the same, when they are kept",
    "arena.author.archives.foreign": "files of a zip, which is in memory",
    "arena.core.scratch": "temporary folders, to lock them: no link is followed",
    "arena.league.folder": "the lock of the service, which follows no link and waits for nothing",
    "arena.cluster.cache": "locks of bots, in a folder that nobody else writes to: no link is followed",
    "arena.core.link.pool": "/proc",
    "arena.core.link.tree": "/proc",
    "arena.core.face": "its own lines",
    "arena.core.loading": "lists of entry points of installed packages",
    "arena.core.link.process": "/proc, and the output of a bot, made without a name in a folder of this process",
    "arena.core.link.runtimes": "the list of files of an installed package, by importlib.metadata",
    "arena.core.link.warden": "/proc, and the folders of ended processes",
    "arena.league.keeping.backup": "archives, in files that arena.core.files has opened",
    "arena.core.store.database": "/dev/null, to see whether there are descriptors",
    "arena.core.referee.feed": "the folder of sockets, as a folder, to reach them however long its path is",
    "arena.core.store.lock": "/proc, the database and the lock beside it: neither follows a link nor waits",
    "arena.cli.streams": "/dev/null",
    "arena.core.standings.notice": "a web address",
    "arena.core.tournament.workers": "the files of control groups",
    "arena.core.commands.board": "the picture that the operator names, or stdout",
    "arena.cli.output": "the report that the operator names, or stdout",
}
"""Modules that open files by other means, and which files those are."""
FOLDERS = ("arena.sandbox.",)  # modules of which all read and write what the kernel shows as files: /proc, cgroups

METHODS = {"read_text", "read_bytes", "write_text", "write_bytes", "open_file", "copyfile", "copy", "copy2", "copytree"}


def openings(path: Path) -> Iterator[int]:
    """The lines of a module that open a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Name("open"):
                yield node.lineno
            case ast.Attribute(ast.Name("files"), _) | ast.Attribute(ast.Name("formatter"), "write_text"):
                pass
            case ast.Attribute(ast.Name("link") | ast.Attribute(_, "_link"), "open"):
                pass  # a link to bots
            case ast.Attribute(ast.Attribute(_, "seasons"), "open"):
                pass  # a season of a league
            case ast.Attribute(_, name) if name == "open" or (name in METHODS and not is_of_a_value(name, node)):
                yield node.lineno


def is_of_a_value(name: str, call: ast.Call) -> bool:
    """Whether a method copies a value: `state.copy()`."""
    return name == "copy" and not call.args


def test_files_are_opened_in_one_place() -> None:
    opening = {module_name(path): [f"{path}:{line}" for line in openings(path)] for path in MODULES}
    allowed = {name for name in opening if name in OTHERWISE or name.startswith(FOLDERS)}
    places = [place for name, found in opening.items() if name not in allowed for place in found]
    assert places == [], "use arena.core.files, or say in this test why not"
    assert [name for name in OTHERWISE if not opening[name]] == [], "these open no file: take them out of the list"

"""Logs by `protocol/LOG.md` for tests: the checker beside it, and broken logs made from the vectors."""

from __future__ import annotations

import runpy
from typing import Any
from zlib import crc32

from tests.conformance.kit import FOLDER

LOGS = FOLDER / "vectors" / "logs"
CHECK_LOG = FOLDER / "check_log.py"
SUM = len(',"sum":"01234567"}\n')

checker: dict[str, Any] = runpy.run_path(str(CHECK_LOG))  # the names of `protocol/check_log.py`


def bodies(data: bytes) -> list[str]:
    return [line[:-SUM].decode() for line in data.splitlines(keepends=True)]


def summed(lines: list[str]) -> bytes:
    data = b""
    for line in lines:
        data += line.encode()
        data += b',"sum":"%08x"}\n' % crc32(data)
    return data


def broken(base: bytes, vector: dict[str, Any]) -> bytes:
    """The broken log that a vector describes, made as section 12 of LOG.md says."""
    lines = bodies(base)
    for edit in vector.get("edits", []):
        index = edit["line"] - 1
        if "insert" in edit:
            lines.insert(index, edit["insert"])
        elif "delete" in edit:
            del lines[index]
        else:
            assert lines[index].count(edit["replace"]) == 1, (vector["id"], edit, lines[index][:300])
            lines[index] = lines[index].replace(edit["replace"], edit["with"])
    data = summed(lines)
    for change in vector.get("bytes", []):
        at = change["at"] + (len(data) if change["at"] < 0 else 0)
        data = data[:at] + bytes.fromhex(change["insert"]) + data[at + change["delete"] :]
    return data

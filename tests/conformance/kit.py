"""The protocol's folder as data: vectors, schemas, and the numbered sentences of the specification."""

from __future__ import annotations

import json
import re
import runpy
import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "protocol"
DATA: dict[str, Any] = tomllib.loads((FOLDER / "messages.toml").read_text(encoding="utf-8"))
"""The protocol's own tables."""
PROTOCOL = {name: runpy.run_path(str(FOLDER / f"{name}.py")) for name in ("generate", "check_vectors")}
"""The programs of the protocol's folder, as their globals: they are no package, and import nothing of arena."""
SPECIFICATION = (FOLDER / "SPEC.md").read_text(encoding="utf-8")


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def frame(text: str) -> bytes:
    """The bytes that a vector writes as `hex`: parts separated by blanks, `hex*count` for one that repeats."""
    parts = (part.partition("*") for part in text.split())
    return b"".join(bytes.fromhex(unit) * int(count or 1) for unit, _, count in parts)


def vectors(kind: str) -> list[dict[str, Any]]:
    return [vector for path in sorted((FOLDER / "vectors" / kind).glob("*.json")) for vector in load(path)["vectors"]]


def by_id(vector: dict[str, Any]) -> str:
    return str(vector["id"])


VALID = vectors("valid")
INVALID = vectors("invalid")
BREACHES = load(FOLDER / "vectors" / "breaches.json")["breaches"]
DIALOGUES = [load(path) for path in sorted((FOLDER / "vectors" / "sessions").glob("*.json"))]


def section(number: str) -> str:
    """The text of a section of the specification, up to the next of the same rank: `8.1`, `10`."""
    rank = "#" * (2 + number.count("."))
    match = re.search(
        rf"^{rank} {re.escape(number)}\.? .*?(?=^#{{2,{len(rank)}}} |\Z)", SPECIFICATION, re.MULTILINE | re.DOTALL
    )
    assert match, f"no section {number}"
    return match[0]


def first_column(table: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)

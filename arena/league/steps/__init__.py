"""What a submitted bot goes through before it plays. Here only what a step returns."""

from __future__ import annotations

from typing import Literal

import msgspec

from arena.types import Payload


class StepReport(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a step."""

    kind: Literal["build", "check", "qualify"]
    verdict: Literal["passed", "failed", "machine"]
    finding: str = ""
    seconds: float
    memory_mib: int = 0
    output: bytes = b""
    detail: Payload = {}
    tree_digest: str = ""
    command_to_repeat: str = ""

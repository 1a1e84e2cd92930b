"""The list of faults fits arena as it is: each can be planted, and leaves a program that can be read."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.mutants.faults import FAULTS, ROOT


def test_each_fault_can_be_planted() -> None:
    wrong = []
    for fault in FAULTS:
        try:
            ast.parse(fault.planted((ROOT / fault.file).read_text(encoding="utf-8")))
        except (OSError, SyntaxError, ValueError) as error:
            wrong.append(f"{fault.id}: {error}")
        wrong += [f"{fault.id}: no such tests: {tests}" for tests in fault.tests if not (ROOT / tests).exists()]
    assert not wrong
    assert len({fault.id for fault in FAULTS}) == len(FAULTS) >= 40


def test_every_package_has_a_fault() -> None:
    packages = {path.parent.name for path in (ROOT / "arena").glob("*/__init__.py")}
    assert packages - {Path(fault.file).parts[1] for fault in FAULTS} == set()

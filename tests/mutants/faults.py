"""The faults that the tests must find: `faults.toml`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

ROOT: Final = Path(__file__).parents[2]


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    file: str
    breaks: str
    """What no longer holds, as a sentence."""
    before: str
    """The text that the fault replaces. It occurs once in the file."""
    after: str
    tests: tuple[str, ...] = ()

    def of_package(self) -> list[str]:
        """Returns the folders of the tests that are named like its package."""
        parts = Path(self.file).parts[1:-1]
        folders = ("/".join(("tests", *parts[:depth])) for depth in range(len(parts), 0, -1))
        return [folder for folder in folders if (ROOT / folder).is_dir()][:1]

    def planted(self, text: str) -> str:
        """Returns the text of its file with the fault in it. A ValueError says that `before` is not there once."""
        if (times := text.count(self.before)) != 1:
            raise ValueError(
                f"expected the text of {self.id} once in {self.file}, got: {times} times; correct the list"
            )
        return text.replace(self.before, self.after)


class _List(msgspec.Struct, forbid_unknown_fields=True):
    fault: tuple[Fault, ...]


FAULTS: Final = msgspec.toml.decode(Path(__file__).with_name("faults.toml").read_bytes(), type=_List).fault

"""What a check is, and how the modules in `checks` write theirs down."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from arena.conform.bench import Bench
from arena.conform.report import Level

Run: TypeAlias = Callable[[Bench], str]
"""Checks, and returns what is worth saying of a bot that keeps the rule: what was measured, or nothing.

It raises `Finding` for one that does not, `NotReached` if it cannot say.
"""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the report."""

    id: str
    """`SECTION.NAME`."""
    title: str
    """What the bot is to do, in words that go on from its name."""
    spec: tuple[str, ...]
    """The rules (or sections, where a SHOULD has no number) that it is about."""
    level: Level
    run: Run | None
    """None for one that watches over all dialogues: others report to it."""
    fatal: bool
    """After it has failed nothing else is attempted: nothing would work."""
    needs: tuple[str, ...]
    """Checks that must not have failed."""
    owns: bool
    """A breach of any rule while it runs is its own failure: what it does is why the bot errs."""
    mend: str
    """What to do about a failure of its own that any breach can be."""
    last: bool
    """It is no use before all others have run."""


class Kit(list[Check]):
    """The checks of a module, in the order in which they run."""

    def check(
        self,
        id: str,
        title: str,
        *spec: str,
        level: Level = Level.CORE,
        fatal: bool = False,
        needs: tuple[str, ...] = (),
        owns: bool = False,
        mend: str = "",
        last: bool = False,
    ) -> Callable[[Run], Run]:
        """Write down the function below as a check."""

        def write(run: Run) -> Run:
            self.append(
                Check(
                    id=id,
                    title=title,
                    spec=spec,
                    level=level,
                    run=run,
                    fatal=fatal,
                    needs=needs,
                    owns=owns,
                    mend=mend,
                    last=last,
                )
            )
            return run

        return write

    def watch(self, id: str, title: str, *spec: str) -> None:
        """Write down a rule that is watched in all dialogues."""
        self.append(
            Check(
                id=id,
                title=title,
                spec=spec,
                level=Level.CORE,
                run=None,
                fatal=True,
                needs=(),
                owns=False,
                mend="",
                last=False,
            )
        )

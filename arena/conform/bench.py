"""What the checks work on: processes of one bot, one of them shared by all checks that leave it as they found it."""

from __future__ import annotations

import itertools
from contextlib import suppress
from typing import Final

from arena.conform.budget import Budget
from arena.conform.dialogue import Dialogue
from arena.conform.finding import Finding
from arena.conform.report import Evidence
from arena.link.bots import BotSpec
from arena.link.custody import Custody
from arena.wire.session import State


class Bench:
    """The processes of a check, and what was measured of them."""

    def __init__(self, spec: BotSpec, rules: tuple[str, ...], budget: Budget) -> None:
        """Nothing is started yet.

        Args:
            spec: The bot.
            rules: The rules that it is checked with; the first are those of all checks that are not about one game.
            budget: The waits.
        """
        self.spec: Final = spec
        self.rules: Final = rules
        self.budget: Final = budget
        self.avoided: set[tuple[str, str]] = set()
        """Kinds of decisions (with their rules) that the bot is known not to answer well: a game ends before them."""
        self.start_ms: float | None = None
        """The start-up of the first process."""
        self.max_ms = 0.0
        """The slowest decision of any process."""
        self.memory_mib = 0
        """The most memory of any process."""
        self.output_bytes = 0
        """The most output of any process."""
        self.type_last: Evidence | None = None
        """A message that did not begin with its type."""
        self._custody = Custody()
        self._ready_ms: dict[str, float] = {}
        self._numbers = itertools.count(1)
        self._shared: Dialogue | None = None
        self._open: list[Dialogue] = []
        self._active: Dialogue | None = None

    def shared(self) -> Dialogue:
        """The process that serves many games, between two of them. Leave it so."""
        if self._shared is None or self._shared not in self._open or self._shared.session.state is not State.IDLE:
            self._shared = self.fresh()
        self._active = self._shared
        return self._shared

    def fresh(self, *, greet: bool = True, tcp: bool = False, bare: bool = False) -> Dialogue:
        """A new process; greeted and welcome, or, without `greet`, not heard yet."""
        directory = self._custody.directory / str(next(self._numbers))
        directory.mkdir(mode=0o700)
        try:
            dialogue = Dialogue(self.spec, self._custody, directory, self.budget, self._ready_ms, tcp=tcp, bare=bare)
        except OSError as error:
            raise Finding(
                f"expected a program that can be started, got: {error}", "Mend the command in bot.toml.", "§4.3-1"
            ) from None
        self._active = dialogue
        self._open.append(dialogue)
        if greet:
            dialogue.greet()
            dialogue.welcome()
        if self.start_ms is None and dialogue.hello:
            self.start_ms = dialogue.start_ms
        return dialogue

    def share(self, dialogue: Dialogue) -> None:
        """Let a process that was made by `fresh` be the shared one."""
        self._shared = dialogue

    def evidence(self) -> Evidence | None:
        """Of the process that was spoken with last."""
        return self._active.evidence() if self._active is not None else None

    def tidy(self, *, sound: bool) -> None:
        """After a check: measure, and end what is no longer needed; the shared process too if it is not `sound`."""
        for dialogue in list(self._open):
            self.max_ms = max(self.max_ms, dialogue.max_ms)
            self.memory_mib = max(self.memory_mib, dialogue.memory_mib)
            self.output_bytes = max(self.output_bytes, dialogue.output_bytes())
            self.type_last = self.type_last or dialogue.type_last
            if dialogue is not self._shared or not (sound and dialogue.lives):
                self._open.remove(dialogue)
                dialogue.close()
        self._active = None

    def close(self) -> None:
        """End all processes."""
        for dialogue in self._open:
            with suppress(OSError):
                dialogue.close()
        self._open.clear()
        self._custody.close()

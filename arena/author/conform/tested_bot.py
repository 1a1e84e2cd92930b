"""Says what a check is, and what the checks work on: processes of one bot.

One of the processes is shared by all checks that leave it as they found it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeAlias

from arena.author.conform.dialogue import Dialogue
from arena.author.conform.findings import Budget, Finding
from arena.author.conform.frames import Form
from arena.author.conform.games import Plan, TrialGame
from arena.author.conform.report import Demand, Evidence
from arena.core.face import Custody, Level, TimeControl, bot_manifests, wire_session

FEW_DECISIONS: Final = 4
"""The number of decisions that show whether something matters to a bot."""


class TestedBot:
    """The processes of a bot that is checked, games to try something in, and what was measured."""

    def __init__(
        self,
        spec: bot_manifests.BotSpec,
        rules: tuple[str, ...],
        budget: Budget,
        level: Level = Level.TRUSTED,
    ) -> None:
        """Starts nothing yet.

        Args:
            rules: The games that it is checked with. Checks that are not about one game use the first.
        """
        self._level = level
        self.spec: Final = spec
        self.rules: Final = rules
        self.budget: Final = budget
        self.avoided: set[tuple[str, str]] = set()
        """Games and kinds of decisions that the bot is known to answer badly: a game is stopped before them."""
        self.start_ms: float | None = None
        """The start-up of the first process."""
        self.max_ms = 0.0
        """The slowest decision of any process."""
        self.memory_mib = 0
        """The most memory of any process."""
        self.denied_ms = 0
        """Time for which the machine kept all processes from running."""
        self.own_ms = 0
        """Milliseconds spent waiting for all processes, without `denied_ms`."""
        self.output_bytes = 0
        """The most output of any process."""
        self.type_last: Evidence | None = None
        """The messages up to the first that did not begin with its type."""
        self._custody = Custody()
        self._ready_ms: dict[str, float] = {}
        self._routing_ids: set[bytes] = set()
        self._numbers = itertools.count(1)
        self._shared: Dialogue | None = None
        self._open: list[Dialogue] = []
        self._active: Dialogue | None = None

    # Processes

    def shared(self) -> Dialogue:
        """Returns the process that serves many games, between two of them. Leave it between two games."""
        if (
            self._shared is None
            or self._shared not in self._open
            or self._shared.session.state is not wire_session.State.IDLE
        ):
            self._shared = self.fresh()
        self._active = self._shared
        return self._shared

    def fresh(self, *, greet: bool = True, tcp: bool = False, bare: bool = False) -> Dialogue:
        """Starts a new process.

        Args:
            greet: Whether to wait for its `hello` and answer it.
            bare: Whether it gets no environment but PATH and the two variables of the protocol.

        Raises:
            Finding: It cannot be started, or greets badly.
        """
        directory = self._custody.directory / str(next(self._numbers))
        directory.mkdir()
        directory.chmod(0o711)  # whatever the umask is: the bot may be another user
        try:
            dialogue = Dialogue(
                *(self.spec, self._custody, directory, self.budget, self._ready_ms, self._routing_ids),
                tcp=tcp,
                bare=bare,
                level=self._level,
            )
        except OSError as error:
            raise Finding(
                f"expected a program that can be started, got: {error}", "Fix the command in bot.toml.", "§4.3-1"
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
        """Makes a process from `fresh` the shared one."""
        self._shared = dialogue

    # Games

    def trial(
        self, dialogue: Dialogue, plan: Plan | None = None, *, form: Form | None = None, bot_seed: int | None = None
    ) -> TrialGame:
        """Returns a game that is not about time; of the first of the rules unless there is a plan."""
        plan = plan or Plan(self.rules[0], TimeControl(limit_ms=self.budget.limit_ms))
        return TrialGame(dialogue, plan, avoided=self.avoided, form=form, bot_seed=bot_seed)

    def short_game(
        self,
        dialogue: Dialogue,
        plan: Plan | None = None,
        *,
        form: Form | None = None,
        bot_seed: int | None = None,
        decisions: int = FEW_DECISIONS,
    ) -> TrialGame:
        """Plays the first decisions of a game, and interrupts it. Returns the game."""
        game = self.trial(dialogue, plan, form=form, bot_seed=bot_seed)
        game.start()
        game.play(self.budget.patience_ms, most=decisions)
        return game

    def still_plays(self, dialogue: Dialogue) -> None:
        """Announces a game as always, and calls it off when the bot is ready. Raises Finding: the bot is not ready."""
        game = self.trial(dialogue)
        game.start()
        game.over()

    # After a check

    def evidence(self) -> Evidence | None:
        """Returns the last messages of the process that was used last."""
        return self._active.evidence() if self._active is not None else None

    def tidy(self, *, sound: bool) -> None:
        """Measures, and ends what is no longer needed; the shared process too if it is not `sound`."""
        for dialogue in list(self._open):
            self.max_ms = max(self.max_ms, dialogue.max_ms)
            self.memory_mib = max(self.memory_mib, dialogue.memory_mib)
            self.output_bytes = max(self.output_bytes, dialogue.output_bytes())
            self.type_last = self.type_last or dialogue.type_last
            if dialogue is not self._shared or not (sound and dialogue.lives):
                self._end(dialogue)
        self._active = None

    def close(self) -> None:
        """Ends all processes."""
        while self._open:
            with suppress(OSError):
                self._end(self._open[-1])
        self._custody.close()

    def _end(self, dialogue: Dialogue) -> None:
        self._open.remove(dialogue)
        self.denied_ms += dialogue.denied_ms
        self.own_ms += dialogue.own_ms
        dialogue.close()


Run: TypeAlias = Callable[[TestedBot], str]
"""Checks a bot. Returns what is worth saying of one that keeps the rule: what was measured, or nothing.

Raises `Finding` if it does not keep the rule, `NotReached` if the check cannot say.
"""


class Check(Demand, frozen=True, kw_only=True):
    """How a demand on the bot is checked."""

    run: Run | None = None
    """None for one that watches all dialogues: others report to it."""
    fatal: bool = False
    """After it has failed nothing else is attempted: nothing would work."""
    needs: tuple[str, ...] = ()
    """Checks that must have passed."""
    owns: bool = False
    """Whether a breach of any rule while it runs is its own failure, because what it does leads the bot to it."""
    remedy: str = ""
    """Remedy if it fails by any breach."""
    last: bool = False
    """It says nothing before all others have run."""


class Checks(list[Check]):
    """The checks of a topic, in the order in which they run."""

    def check(self, id: str, title: str, *spec: str, **others: Any) -> Callable[[Run], Run]:
        """Adds the function below as a check; `others` are fields of `Check`."""

        def add(run: Run) -> Run:
            self.append(Check(id=id, title=title, spec=spec, run=run, **others))
            return run

        return add

    def watch(self, id: str, title: str, *spec: str, seen: str = "start.hello") -> None:
        """Adds a rule that is watched in all dialogues. `seen` is the check in which it matters for the first time."""
        self.append(Check(id=id, title=title, spec=spec, fatal=True, needs=(seen,)))

"""Lists all checks, runs them on a bot, and makes a report of what they find."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from msgspec.structs import replace

from arena.author.conform.checks import play, sequences, session, tolerance
from arena.author.conform.findings import Budget, Finding, NotReached
from arena.author.conform.report import BotReport, Grade, Result, Verdict, count, level_of
from arena.author.conform.tested_bot import Check, TestedBot
from arena.core.face import Level, bot_manifests, catalogue, confining, errors

Progress: TypeAlias = Callable[[int, int, str], None]
"""Is called before each check with: how many are done, of how many, and which comes."""

_FIRST: Final = ("start", "frames", "session")
_TRUSTED_ONLY: Final = ("start.tcp", "start.environment")
"""Checks that only a bot without a sandbox can be given: there is no network, and the environment is the sandbox's."""
_GRAVITY: Final = (None, Verdict.OK, Verdict.NON_STRICT, Verdict.UNIMPLEMENTED, Verdict.FAILED)
"""From a check that was not attempted to one that failed: what is found later changes a verdict only for the worse."""
_IS_PLAY: Final = frozenset(("§8.6-4", "§8.6-5"))  # the rules about what is played
_LAST: Final = ("sequences", "tolerance", "time", "resources", "end")


def sections() -> tuple[str, ...]:
    """Returns the parts of a report, in its order."""
    return (*_FIRST, *catalogue.names(), *_LAST)


def checks(rules: Sequence[str], level: Level = Level.TRUSTED) -> list[Check]:
    """Returns the checks of a bot that plays some games, in the order in which they run."""
    found = [*session.START, *session.SESSION]
    for name in rules:
        found += play.checks_of(name)
    found += [*session.LATER, *sequences.SEQUENCES, *tolerance.TOLERANCE, *play.USE, *sequences.END, *play.LAST]
    return found if level is Level.TRUSTED else [check for check in found if check.id not in _TRUSTED_ONLY]


def unclaimed(rules: Sequence[str], claimed: Sequence[str]) -> list[Result]:
    """Returns a result for each game that is not checked, and for each that is claimed and does not exist."""
    results = [
        _unclaimed(name, f"plays {name}", "bot.toml does not name it in `rules`")
        for name in catalogue.names()
        if claimed and name not in claimed and name not in rules
    ]
    return results + [
        _unclaimed(
            name, "is claimed in bot.toml", f"there is no such game; expected some of {', '.join(catalogue.names())}"
        )
        for name in claimed
        if not catalogue.is_installed(name)
    ]


def _unclaimed(name: str, title: str, detail: str) -> Result:
    return Result(
        id=f"{name}.rules",
        title=title,
        spec=("§8.3",),
        level=Grade.OPTIONAL,
        verdict=Verdict.UNIMPLEMENTED,
        detail=detail,
    )


def rules_to_check(spec: bot_manifests.BotSpec, wanted: Sequence[str] = ()) -> tuple[str, ...]:
    """Returns the games that a bot is checked with: those that are `wanted`, else those of its manifest, else all.

    Raises:
        ConfigError: There is no such game, or the bot plays none that is installed. Show the message to the operator.
    """
    known = catalogue.names()
    for name in wanted:
        if not catalogue.is_installed(name):
            raise errors.ConfigError(
                f"expected rules among {', '.join(known)}, got: {name!r}{errors.did_you_mean(name, known)}"
            )
    named = tuple(name for name in wanted or spec.rules or known if catalogue.is_installed(name))
    rules = tuple(name for name in dict.fromkeys((*known, *named)) if name in named)
    if not rules:
        raise errors.ConfigError(
            f"expected a bot that plays {' or '.join(known)}, got: {', '.join(spec.rules)}; use --rules"
        )
    return rules


def check_bot(
    spec: bot_manifests.BotSpec,
    rules: Sequence[str] = (),
    budget: Budget | None = None,
    progress: Progress | None = None,
    *,
    level: Level = Level.TRUSTED,
) -> BotReport:
    """Checks a bot, with the games of its manifest if no `rules` are given. Nothing that it does raises.

    Raises:
        ConfigError: A game does not exist, or there is no room for a socket. Show the message to the operator.
        LevelError: This machine cannot confine bots so.
    """
    confining.require(level)
    began = time.monotonic()
    budget = budget or Budget()
    chosen = rules_to_check(spec, rules)
    tested_bot = TestedBot(spec, chosen, budget, level)
    try:
        run = _Run(tested_bot, checks(chosen, level), began + budget.total_ms / 1000)
        run.all(progress)
    finally:
        tested_bot.close()
    results = _in_order([*run.results(), *unclaimed(chosen, spec.rules)])
    return BotReport(
        bot=spec.name,
        version=spec.version,
        rules=chosen,
        level=level_of(results),
        counts=count(results),
        start_ms=tested_bot.start_ms and round(tested_bot.start_ms, 1),
        max_ms=round(tested_bot.max_ms, 1) if tested_bot.max_ms else None,
        memory_mib=tested_bot.memory_mib,
        seconds=round(time.monotonic() - began, 3),
        denied_ms=tested_bot.denied_ms,
        own_ms=tested_bot.own_ms,
        results=tuple(results),
    )


class _Run:
    """One run over all checks."""

    def __init__(self, tested_bot: TestedBot, checks: Sequence[Check], until: float) -> None:
        self._tested_bot = tested_bot
        self._checks = {check.id: check for check in checks}
        self._until = until
        self._done: dict[str, Result] = {}
        self._stopped = ""
        """Why nothing more is attempted."""

    def all(self, progress: Progress | None) -> None:
        """Runs them."""
        due = [check for check in self._checks.values() if check.run is not None]
        for number, check in enumerate(due):
            if progress is not None:
                progress(number, len(due), check.id)
            if check.id not in self._done:
                self._one(check)

    def results(self) -> list[Result]:
        """Returns what each check found. A rule that was watched is kept if it was seen, and nothing broke it."""
        for check in self._checks.values():
            if check.id in self._done:
                continue
            if unmet := self._unmet(check):
                self._note(check, None, self._stopped or unmet)
            else:
                self._note(check, Verdict.OK, self._measured(check))
        return [self._done[id] for id in self._checks]

    def _measured(self, check: Check) -> str:
        if check.id != "resources.memory":
            return ""
        return f"{self._tested_bot.memory_mib:,} MiB at most, of {self._tested_bot.spec.memory_mib:,}"

    def _one(self, check: Check) -> None:
        reason = self._stopped or self._unmet(check)
        if not reason and time.monotonic() >= self._until and not check.last:
            reason = self._stopped = f"the check has taken its {self._tested_bot.budget.total_ms / 1000:g} s"
        if reason:
            self._note(check, None, reason)
            return
        assert check.run is not None
        sound = False
        try:
            self._note(check, Verdict.OK, check.run(self._tested_bot))
            sound = True
        except Finding as finding:
            self._find(check, finding)
        except NotReached as reason:
            self._note(check, None, str(reason))
        self._tested_bot.tidy(sound=sound)

    def _find(self, check: Check, finding: Finding) -> None:
        owned = check.owns and finding.about != "resources.memory"
        before = self._bad_decision()
        if owned and before and _IS_PLAY.intersection(finding.spec):
            self._note(check, None, f"{before} failed")  # the bot plays so without what this check adds, too
            return
        guilty = check if owned or finding.about is None else self._checks[finding.about]
        if _GRAVITY.index(finding.verdict) > _GRAVITY.index(self._verdict(guilty.id)):  # what it did worst counts
            spec = tuple(dict.fromkeys((*check.spec, *finding.spec))) if owned else None
            self._done[guilty.id] = Result(
                id=guilty.id,
                title=guilty.title,
                spec=spec or finding.spec or guilty.spec,
                level=guilty.level,
                verdict=finding.verdict,
                detail=finding.detail,
                remedy=(owned and check.remedy) or finding.remedy,
                evidence=finding.evidence or self._tested_bot.evidence(),
                excuse=finding.excuse,
            )
        rules, _, kind = guilty.id.partition(".")
        self._tested_bot.avoided.add((rules, kind))
        if guilty is not check:
            self._note(check, None, f"{guilty.id} failed")
        if guilty.fatal:
            self._stopped = f"{guilty.id} failed"

    def _bad_decision(self) -> str:
        """Returns the id of the first kind of decision that the bot did not make by the rules; empty if none."""
        kinds = (id for id in self._done if tuple(id.split(".", 1)) in self._tested_bot.avoided)
        return next((id for id in kinds if id.split(".")[0] in self._tested_bot.rules), "")

    def _unmet(self, check: Check) -> str:
        bad = (id for id in check.needs if self._verdict(id) is not Verdict.OK)
        first = next(bad, None)
        if first is None:
            return ""
        return f"{first} {'failed' if self._verdict(first) else 'was not attempted'}"

    def _verdict(self, id: str) -> Verdict | None:
        return self._done[id].verdict if id in self._done else None

    def _note(self, check: Check, verdict: Verdict | None, detail: str) -> None:
        self._done[check.id] = Result(
            id=check.id, title=check.title, spec=check.spec, level=check.level, verdict=verdict, detail=detail
        )


def _in_order(results: Sequence[Result]) -> list[Result]:
    """Returns results by the sections of the report, and in each as they ran."""
    place = {section: number for number, section in enumerate(sections())}
    ordered = sorted(results, key=lambda result: place.get(result.section, len(place)))
    return [replace(result, detail=result.detail[:2_000]) for result in ordered]

"""Checks how a bot plays: every decision of every game that it plays, and the time, memory and output that it uses.

The games are real, with random players in the other seats.
"""

from __future__ import annotations

from typing import Final

from arena.author.conform.findings import Budget, Finding, NotReached
from arena.author.conform.games import Plan, TrialGame, kinds_of
from arena.author.conform.report import Grade, Verdict
from arena.author.conform.tested_bot import Checks, TestedBot
from arena.core.face import NS_PER_MS, TimeControl, catalogue, counted, value_types

USE = Checks()
"""Checks of time and memory."""
LAST = Checks()
"""Checks of what is known when all others have run."""
MUCH_OUTPUT: Final = 2**20
"""Bytes in one process; of one game only part is kept."""
_TRIES: Final = 5
"""Games in which a rare kind of decision may come up."""
_LONGER: Final = 10
"""The longest such a game may take, in times of the others."""
_DECISIONS: Final = 12
_IN_TIME: Final = "Stop thinking well before `clock.limit_ms` of the request is over, whatever has been found by then."


def checks_of(rules: str) -> Checks:
    """Returns the checks of a game: its kinds of decisions, its rulesets, its numbers of seats."""
    made = Checks()
    kinds = kinds_of(rules)
    ids = {kind: f"{rules}.{kind}" for kind in kinds}
    for kind in kinds:
        _add_kind(made, rules, kind, ids)
    needs = tuple(ids.values())
    counts = catalogue.game(rules).seat_counts
    time = TimeControl(limit_ms=Budget().limit_ms)
    for number, ruleset in enumerate(catalogue.game(rules).rulesets):
        seats = counts[number % len(counts)]
        plan = Plan(rules, time, ruleset=ruleset, seats=seats, seat=number % seats, seed=20 + number)
        _add_game(made, f"{rules}.ruleset-{ruleset}", f"plays the ruleset {ruleset}", plan, needs)
    for seats in counts:
        plan = Plan(rules, time, seats=seats, seat=seats - 1, seed=40 + seats)
        _add_game(made, f"{rules}.seats-{seats}", f"plays with {seats} seats, in the last one", plan, needs)
    return made


def _add_kind(made: Checks, rules: str, kind: str, ids: dict[str, str]) -> None:
    @made.check(ids[kind], f"decides {kind!r} by the rules", "§8.6-4", "§8.6-5", "§8.5-1")
    def run(tested_bot: TestedBot) -> str:
        """Plays games until this kind of decision has come up."""
        for seed in range(1, _TRIES + 1):
            played = TrialGame(
                tested_bot.shared(),
                Plan(rules, TimeControl(limit_ms=tested_bot.budget.limit_ms), seed=seed),
                avoided=tested_bot.avoided,
                blame=ids.__getitem__,
            )
            played.start()
            played.play(tested_bot.budget.patience_ms, until=kind, limit_ms=_LONGER * tested_bot.budget.game_ms)
            if played.kinds[kind]:
                return ""
            if avoided := sorted(name for of, name in tested_bot.avoided if of == rules):
                raise NotReached(f"no game comes so far without {ids[avoided[0]]}")
        raise NotReached(f"it did not come up in {_TRIES} games")


def _add_game(made: Checks, id: str, title: str, plan: Plan, needs: tuple[str, ...]) -> None:
    @made.check(id, title, "§8.6-4", "§8.6-5", "§8.5-5", needs=needs)
    def run(tested_bot: TestedBot) -> str:
        """Plays a whole game, unless the bot is slow."""
        budget = tested_bot.budget
        played = tested_bot.trial(tested_bot.shared(), plan)
        played.start()
        done = played.play(budget.patience_ms, limit_ms=budget.game_ms)
        return _answered(played) + ("" if done else f", then broken off after {budget.game_ms / 1000:g} s")


@USE.check("time.limit", "keeps a limit for each decision", "§9-3", "§9-2")
def limit(tested_bot: TestedBot) -> str:
    """Plays with a tight limit."""
    limit_ms = tested_bot.budget.limit_ms
    return _twice(tested_bot, TimeControl(limit_ms=limit_ms), f"with {limit_ms:,} ms each", _DECISIONS)


@USE.check("time.bank", "keeps a bank for a whole game", "§9-3", "§9-4")
def bank(tested_bot: TestedBot) -> str:
    """Plays with a small bank and an increment."""
    bank_ms, increment_ms = tested_bot.budget.bank_ms, tested_bot.budget.increment_ms
    time = TimeControl(bank_ms=bank_ms, increment_ms=increment_ms)
    return _twice(tested_bot, time, f"with {bank_ms:,} ms and {increment_ms} more each", None)


def _twice(tested_bot: TestedBot, time: TimeControl, words: str, most: int | None) -> str:
    """Plays a second game if the bot was late in the first: the machine may have been busy once."""
    try:
        return _timed(tested_bot, time, words, most)
    except Finding as finding:
        if finding.excuse is None:
            raise
        tested_bot.tidy(sound=False)
        return _timed(tested_bot, time, words, most)


def _timed(tested_bot: TestedBot, time: TimeControl, words: str, most: int | None) -> str:
    dialogue = tested_bot.shared()
    played = tested_bot.trial(dialogue, Plan(tested_bot.rules[0], time, seed=90))
    played.start()
    has_bank = time.bank_ms is not None
    slowest = 0.0
    over_limit = excuse = ""
    while most is None or played.kinds.total() < most:
        limit_ms = played.clock.told().limit_ms
        if (kind := played.ask()) is None:
            break
        played.answer(tested_bot.budget.patience_ms)
        used_ms = dialogue.used_ns / NS_PER_MS
        slowest = max(slowest, used_ms)
        if used_ms > limit_ms + value_types.MARGIN_MS:
            raise Finding(
                f"decision {played.kinds.total()}, {kind!r}: expected an action within {limit_ms:,} ms and a margin of "
                f"{value_types.MARGIN_MS:g}, got: one after {used_ms:,.1f} ms",
                _IN_TIME,
                "§9-3",
                excuse=dialogue.excuse(
                    limit_ms + value_types.MARGIN_MS, used_ms - limit_ms - value_types.MARGIN_MS, of_game=has_bank
                ),
            )
        if used_ms > limit_ms:
            over_limit = f"within {limit_ms:,} ms, got: one after {used_ms:,.1f} ms, which the margin saved"
            excuse = dialogue.excuse(limit_ms, used_ms - limit_ms, of_game=has_bank)
    played.over()
    if over_limit:
        raise Finding(f"expected an action {over_limit}", _IN_TIME, "§9", verdict=Verdict.NON_STRICT, excuse=excuse)
    return f"{_answered(played)} {words}, the slowest {slowest:.1f} ms"


def _answered(played: TrialGame) -> str:
    """Returns how many decisions were seen. Raises NotReached: it was stopped before a kind that failed."""
    if played.stopped:
        raise NotReached(f"no game comes so far without {played.rules}.{played.stopped}")
    return counted(played.kinds.total(), "decision")


USE.watch("resources.memory", "keeps within its memory limit", "§10")


@LAST.check(
    "resources.output", f"prints less than {MUCH_OUTPUT // 2**20} MiB in the whole check", "§4.2",
    level=Grade.FULL, last=True,
)  # fmt: skip
def output(tested_bot: TestedBot) -> str:
    """Looks at the standard output and error of the process that wrote most."""
    if tested_bot.output_bytes > MUCH_OUTPUT:
        raise Finding(
            f"expected at most {MUCH_OUTPUT:,} bytes of output, got: {tested_bot.output_bytes:,}",
            "Print less: only the beginning and the end of a game's output are kept, and files have a limit "
            "(limits.file_mib).",
            verdict=Verdict.NON_STRICT,
        )
    return f"{tested_bot.output_bytes:,} bytes"


@LAST.check("frames.type_first", "writes type first", "§5.3-1", level=Grade.FULL, last=True)
def type_first(tested_bot: TestedBot) -> str:
    """Looks at the messages of all dialogues."""
    if tested_bot.type_last is not None:
        raise Finding(
            "expected `type` as the first field of every message, got: another",
            "Build messages with an ordered map, and put type into it first.",
            evidence=tested_bot.type_last,
            verdict=Verdict.NON_STRICT,
        )
    return ""

"""Says in words what an analysis found, as a report and as remarks on the decisions of a replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from rich.text import Text

from arena.core.face import Payload, errors, log_records, plain, presenters, replays, standings_texts, text_tables
from arena.learn.analysis.analyse import Analysis, Judged
from arena.learn.analysis.judges import RANDOM, Judge
from arena.learn.analysis.trials import Trials

if TYPE_CHECKING:
    from rich.table import Table

_BARS: Final = "▁▂▃▄▅▆▇█"
_WIDEST: Final = 48  # decisions of a curve on a terminal; a longer one is shown around the one that is looked at


class AnalysisWords:
    """What an analysis found, in words."""

    def __init__(self, log: log_records.Log, analysis: Analysis) -> None:
        self._log, self._analysis = log, analysis
        self._trials = Trials(log, analysis.seat, Judge(name=RANDOM))
        self._presenter = presenters.presenter(self._trials.rules.name)(log.header, self._trials.rules, [analysis.seat])
        self._marks = {mark.line: place for place, mark in enumerate(analysis.marks, start=1)}

    def heading(self, width: int) -> Iterator[Text]:
        """Yields what was analysed, and what was not."""
        found = self._analysis
        judge = "random games" if found.judge == RANDOM else found.judge
        trials = sum(one.trials for one in found.decisions)
        yield text_tables.wrapped(
            plain(
                f"{found.bot} (seat {found.seat}) in game {found.game}: {len(found.decisions)} decisions, "
                f"judged by {judge} in {trials:,} trials"
            ),
            width,
        )
        if found.skipped:
            yield text_tables.wrapped(
                f"There was no time to look at {found.skipped} more decisions; --budget gives it.", width
            )
        for record in self._log.records:
            for forfeit in record.forfeits if isinstance(record, log_records.ForfeitRecord) else ():
                if forfeit.seat == found.seat:
                    yield text_tables.wrapped(
                        f"It forfeited ({plain(forfeit.code)}), which is none of these decisions; `arena bot rerun` "
                        "asks it again.",
                        width,
                    )

    def table(self, width: int) -> Table:
        """Returns the decisions, one in a row."""
        rows = self._analysis.decisions
        name = self._presenter.turn_name.lower()
        by_chance = self._analysis.unit is None
        return text_tables.folding(
            [
                text_tables.Column(title=name, cells=[str(one.turn) if one.turn else "set-up" for one in rows]),
                text_tables.Column(title="decision", cells=[plain(one.kind) for one in rows], left=True),
                text_tables.Column(
                    title="chance to\nbe first", cells=[f"{standings_texts.percent(one.chance_after)}" for one in rows]
                ),
                text_tables.Column(
                    title="cost: chance" if by_chance else f"cost: lead in\n{plain(self._analysis.unit or '')}",
                    cells=[self._cost(one) for one in rows],
                ),
                text_tables.Column(title="95 %", cells=[self._interval(one) for one in rows], left=True),
                text_tables.Column(title="trials", cells=[str(one.trials) for one in rows]),
                text_tables.Column(
                    title="", cells=[f"← {self._marks[one.line]}." if one.line in self._marks else "" for one in rows]
                ),
            ],
            12,
            width,
        )

    def costly(self, width: int) -> Iterator[Text]:
        """Yields the decisions that cost most, with what would have been better."""
        marks = self._analysis.marks
        if not marks:
            yield text_tables.wrapped("No decision is shown to have cost anything: what the judge would rather "
                                      "have done, if "
                          "anything, did no better in the trials.", width)  # fmt: skip
            return
        yield Text("What cost most:", "bold")
        for place, mark in enumerate(marks, start=1):
            yield text_tables.wrapped(f"{place}. {self._when(mark)}: {self._sentence(mark)}", width)
            for label, action in (("played", mark.played), ("better", mark.other)):
                yield text_tables.wrapped(f"   {label}: {self._told(mark, action)}", width)

    def remarks(self) -> Mapping[int, replays.Remark]:
        """Returns what is said of each decision in a replay, by its line in the log."""
        found: dict[int, replays.Remark] = {}
        for at, one in enumerate(self._analysis.decisions):
            lines = [f"chance to be first: {standings_texts.percent(one.chance_after)}"]
            if one.line in self._marks:
                lines = [self._sentence(one), f"better: {self._told(one, one.other)}"]
            found[one.line] = replays.Remark(
                seat=self._analysis.seat, lines=tuple(lines), curve=self._curve(at), chance=one.chance_after,
                is_costly=one.line in self._marks,
            )  # fmt: skip
        return found

    def _when(self, one: Judged) -> str:
        return plain(f"{self._presenter.when(one.turn)}, {one.kind}")

    def _sentence(self, one: Judged) -> str:
        before, after = standings_texts.percent(one.chance_before), standings_texts.percent(one.chance_after)
        if self._analysis.unit is None:
            return f"cost {self._cost(one)} of the chance to be first (95 %: {self._interval(one)}), {before} → {after}"
        lead = f"a lead of {self._cost(one)} {plain(self._analysis.unit)}"
        return f"cost {lead} (95 %: {self._interval(one)}); chance to be first {before} → {after}"

    def _cost(self, one: Judged) -> str:
        return self._number(one.cost) if one.other else ""

    def _interval(self, one: Judged) -> str:
        return f"{self._number(one.low)} to {self._number(one.high)}" if one.other else "as the judge"

    def _number(self, value: float) -> str:
        return f"{value:.1f}" if self._analysis.unit else f"{100 * value:.0f} %"

    def _told(self, one: Judged, action: Payload | None) -> str:
        """Returns what an action does, as its seat would be told."""
        if action is None:
            raise errors.InternalError("expected an action to tell, got: none")
        trials = self._trials
        index = next(at for at, question in enumerate(trials.questions) if question.line == one.line)
        sentences = [sentence.plain for sentence in self._presenter.tell(trials.told(index, action))]
        # An action may bring about nothing that is told.
        told = self._presenter.seats.brief("; ".join(sentences)) or self._presenter.decision(one.kind, action)
        return plain(told)

    def _curve(self, at: int) -> str:
        chances = [one.chance_after for one in self._analysis.decisions]
        first = max(0, min(at - _WIDEST // 2, len(chances) - _WIDEST))
        bars = [_BARS[min(len(_BARS) - 1, int(chance * len(_BARS)))] for chance in chances]
        return f"{''.join(bars[first:at])}[{bars[at]}]{''.join(bars[at + 1 : first + _WIDEST])}"

"""Folds a log into the data that a page shows: symbols, and a frame for each decision with what it changed.

`docs/pages.md` has the form of the data; `viewer/viewer.js` reads it.

Laws:
1. What is shown with the eyes of a seat comes from that seat's views and from what it was told, and from nothing else.
   With `seat` given, nobody else's are folded into the data at all.
2. A frame holds what changed since the frame before: `d` for all eyes, `e` for some. Folding them gives every scene.
3. The game is folded once, whoever looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from arena.core.face import (
    NS_PER_MS,
    Payload,
    Seat,
    Termination,
    drawing_kit,
    log_records,
    plain,
    presenters,
    replays,
    seat_styles,
    standings_texts,
)
from arena.pages.security import json_in_script

FORMAT: Final = 1
ALL: Final = "all"
"""The eyes of all seats together."""
PUBLIC: Final = "public"
"""The eyes of somebody who knows what every seat knows."""
MOST_NOTE: Final = 2000
"""Characters of a bot's note that are kept."""
MOST_NOTES: Final = 150_000
"""Bytes of a page that notes fill; when they are spent, `SHORT_NOTE` characters of each further note are kept."""
SHORT_NOTE: Final = 80
MOST_LINE: Final = 4000
"""Characters of any other sentence that are kept."""
SLOW_TIMES: Final = 20
"""A decision is slow if it took so many times as long as its own bot's median,"""
SLOW_MS: Final = 200.0
"""and longer than this."""

_CUT = " … (cut)"
_USED = re.compile(r'href="#(\w+)"')


def film(
    log: log_records.Log,
    seat: Seat | None = None,
    *,
    whole: bool = False,
    remarks: Mapping[int, replays.Remark] | None = None,
) -> tuple[Payload, str]:
    """Returns the data of a whole game, and the CSS of its symbols.

    Args:
        seat: The seat whose knowledge is shown; None means that of every seat, and of all together.
        whole: Whether symbols that this game does not show are among them, so that games can share them.
        remarks: What is said of decisions, by their line in the log.

    Raises:
        LogError: A record does not fit the game.
    """
    camera = Camera(log.header, log.source, seat, whole=whole, remarks=remarks)
    camera.plan(log.records)
    frames = [frame for record in log.records for frame in camera.see(record)]
    frames.append(camera.frame())
    mark_slow(frames)
    data = camera.head()
    outcome = log.outcome
    for at, shown in enumerate(data["seats"]):
        shown["rank"] = outcome.ranks[at] if outcome.ranks else None
        if outcome.scores is not None:
            shown["score"] = outcome.scores[at]
    data["end"] = "interrupted" if outcome.termination == Termination.INTERRUPTED else "finished"
    return data | {"frames": frames}, camera.style


class Camera:
    """Follows a game record by record and makes its frames, for several pairs of eyes at once.

    Args:
        source: The name of its log in errors.
        seat: The seat whose knowledge is shown; None means that of every seat, and of all together; `EVERYBODY` what
            all of them know.
        whole: Whether `head` has every symbol that may be placed, for a game that goes on; else those placed so far.
        remarks: What is said of decisions, by their line in the log.
    """

    def __init__(
        self,
        header: log_records.Header,
        source: str,
        seat: Seat | None = None,
        *,
        whole: bool = False,
        remarks: Mapping[int, replays.Remark] | None = None,
    ) -> None:
        self._header = header
        self._whole = whole
        self._first = replays.Onlooker(header, source, seat, remarks=remarks)
        """Sees all that is shown. Only this one folds."""
        own = ALL if seat is None else PUBLIC if seat == seat_styles.EVERYBODY else str(seat)
        self._eyes: dict[str, replays.Onlooker] = {own: self._first}
        if seat is None:
            seats = range(self._first.rules.seats)
            self._eyes |= {
                str(eye): replays.Onlooker(header, source, eye, whole=self._first, remarks=remarks) for eye in seats
            }
        self._drawing = self._first.presenter.drawing()
        if not self._first.has_board:
            self._drawing = drawing_kit.Drawing(self._first.rules, self._first.presenter.names)
        self._strings: dict[str, int] = {}
        self._room = MOST_NOTES
        self._used: set[str] = set()
        self._gained = [0] * self._first.rules.seats
        self._gained_before = [0] * self._first.rules.seats
        """Before the last decision."""
        self._decided: log_records.Record | None = None
        self._last: _Split = ({}, {eye: {} for eye in self._eyes})

    def plan(self, records: Iterable[log_records.Record]) -> None:
        """Looks ahead, so that the board has its final size at once. Call it before the first record, or never."""
        with self._first.fitting(1):
            self._drawing.plan(self._told(records))

    def is_outgrown(self, records: Iterable[log_records.Record]) -> bool:
        """Returns whether the board, if it were planned for these records, would be another than it is."""
        if not self._first.has_board:
            return False
        with self._first.fitting(1):
            planned = self._first.presenter.drawing()
            planned.plan(self._told(records))
        return (planned.size, planned.ground()) != (self._drawing.size, self._drawing.ground())

    def _told(self, records: Iterable[log_records.Record]) -> Iterator[Payload]:
        """Yields the events that some of the shown seats were told; everybody's are those that all were told."""
        seats = (
            range(self._first.rules.seats) if seat_styles.EVERYBODY in self._first.views else list(self._first.views)
        )
        some = all if seat_styles.EVERYBODY in self._first.views else any
        for record in records:
            for event in getattr(record, "events", ()):
                if some(event.reaches(seat) for seat in seats):
                    yield event.data

    def see(self, record: log_records.Record) -> Iterator[Payload]:
        """Takes the next record, and yields the frame that it completes, if it does: a decision begins the next one.

        Raises:
            LogError: It does not fit the game.
        """
        if isinstance(record, log_records.ActionRecord | log_records.ForfeitRecord):
            yield self.frame()
            self._decided = record
            self._gained_before = list(self._gained)
        if isinstance(record, log_records.ActionRecord | log_records.LateRecord) and len(record.note or "") > MOST_NOTE:
            record = replace(record, note=f"{record.note:.{MOST_NOTE}}{_CUT}")
        for onlooker in self._eyes.values():  # the first one first: the others take its views
            onlooker.see(record)

    def frame(self) -> Payload:
        """Returns the frame of the last decision: what changed since the frame before. May be called again when more
        has come of the same decision.

        Raises:
            LogError: What happened cannot be put into words or drawn.
        """
        frames = {eye: onlooker.frame() for eye, onlooker in self._eyes.items()}
        first = next(iter(frames.values()))
        shown: Payload = {"t": first.turn} | self._decision(first)
        shown["v"] = list(self._gained)
        told = {eye: self._words(frame) for eye, frame in frames.items()}
        shown["w"], *_ = told.values()
        if others := {eye: words for eye, words in told.items() if words != shown["w"]}:
            shown["x"] = others
        changed, self._last = _changes(self._last, {eye: self._scene(frame) for eye, frame in frames.items()})
        for part in (changed.get("d", {}), *changed.get("e", {}).values()):
            self._used.update(*(_symbols_of(key, value) for key, value in part.items() if value is not None))
        return shown | changed

    @property
    def strings(self) -> list[str]:
        """The sentences of the frames made so far. Later ones come at the end."""
        return list(self._strings)

    def head(self) -> Payload:
        """Returns all but the frames, as far as it is known after the frames made so far."""
        return opening(self._header, self._first.presenter, self._drawing, self._symbols()) | {
            "eyes": list(self._eyes),
            "strings": self.strings,
        }

    @property
    def style(self) -> str:
        """The CSS of the game's symbols."""
        return self._drawing.style

    def _decision(self, frame: replays.Frame) -> Payload:
        """Returns who decided in how much time, and what makes the moment worth jumping to."""
        marks = ""
        self._gained = list(self._gained_before)
        for event in frame.events:
            gains = self._first.presenter.gains(event)
            for seat, gained in gains.items():
                self._gained[seat] += gained
            if gains and "c" not in marks:
                marks += "c"
        match self._decided:
            case log_records.ActionRecord(seat=seat, used_ns=used):
                decided: Payload = {"s": seat, "ms": round(used / NS_PER_MS, 2)}
            case log_records.ForfeitRecord(forfeits=[first, *_]):
                decided, marks = {"s": first.seat}, marks + "f"
            case _:
                decided = {}
        if frame.remark is not None:
            decided["p"] = round(frame.remark.chance, 3)
            marks += "k" * frame.remark.is_costly
        return decided | ({"m": marks} if marks else {})

    def _words(self, frame: replays.Frame) -> Payload:
        """Returns by their place in `strings`: heading `h`, sentences `l`, remarks `r`, faults `f`, notes `n`, reasons
        `y`."""
        words: Payload = {"h": self._string(frame.heading.plain)}
        for line in frame.lines:
            if isinstance(line, replays.Note):
                words.setdefault("n", []).append(self._note(line.plain.removeprefix(replays.NOTE)))
            elif not isinstance(line, replays.Curve):
                key = "f" if isinstance(line, replays.Fault) else "r" if isinstance(line, replays.Said) else "l"
                words.setdefault(key, []).append(self._string(line.plain))
        with self._first.fitting(frame.line):
            reasons = [self._string(reason) for reason in self._drawing.why(frame.views, frame.events)]
        if reasons:
            words["y"] = reasons
        return words

    def _note(self, text: str) -> int:
        note = _cut(text, MOST_NOTE if self._room > 0 else SHORT_NOTE)
        if note not in self._strings:
            self._room -= len(json_in_script(note).encode())
        return self._keep(note)

    def _string(self, text: str) -> int:
        return self._keep(_cut(self._first.seats.brief(text), MOST_LINE))

    def _keep(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))

    def _scene(self, frame: replays.Frame) -> drawing_kit.Scene:
        with self._first.fitting(frame.line):
            return self._drawing.scene(frame.views, frame.events)

    def _symbols(self) -> Iterator[drawing_kit.Symbol]:
        """Returns the symbols that are placed, and those that they are made of."""
        all_symbols = {symbol.name: symbol for symbol in every_symbol(self._drawing, self._first.rules.seats)}
        if self._whole:
            return iter(all_symbols.values())
        wanted = [*(f"M{seat}" for seat in range(self._first.rules.seats)), *sorted(self._used)]
        wanted += _USED.findall(self._drawing.ground())
        found: dict[str, drawing_kit.Symbol] = {}
        while wanted:
            name = wanted.pop()
            if name not in found:
                found[name] = all_symbols[name]
                wanted += _USED.findall(all_symbols[name].markup)
        return (symbol for name, symbol in all_symbols.items() if name in found)


def opening(
    header: log_records.Header,
    presenter: presenters.Presenter,
    drawing: drawing_kit.Drawing,
    symbols: Iterable[drawing_kit.Symbol],
) -> Payload:
    """Returns what a page is told of a game besides its frames, their sentences and whose eyes there are."""
    played = header.settings
    board = [] if played.board is None else [plain(played.board.name)]
    width, height = drawing.size
    return {
        "format": FORMAT,
        "game": header.game,
        "facts": [
            _title(played.rules),
            plain(played.ruleset),
            standings_texts.players_text(played.players, played.teams),
            *board,
            "no clock" if header.times == "off" else header.times,
        ],
        "turn": presenter.turn_name,
        "gain": presenter.gain_name,
        "gained": presenter.gained_name,
        "seats": [{"name": plain(bot.name), "version": plain(bot.version)} for bot in header.bots],
        "between": standings_texts.between(played.teams),
        "labels": drawing.labels,
        "size": [round(width, 1), round(height, 1)],
        "corner": drawing.corner,
        "symbols": {symbol.name: [symbol.markup, symbol.width, symbol.height, symbol.words] for symbol in symbols},
        "ground": drawing.ground(),
    } | ({"board": [presenter.rules.name, *board]} if board else {})


def _title(rules: str) -> str:
    """Returns what a game is called; one of a family as `--rules` takes it."""
    return plain(rules) if ":" in rules else plain(rules).replace("_", " ").capitalize()


def mark_slow(frames: list[Payload]) -> None:
    """Marks the decisions that took much longer than their bots usually do."""
    used: dict[Seat, list[float]] = {}
    for frame in frames:
        if "ms" in frame:
            used.setdefault(frame["s"], []).append(frame["ms"])
    usual = {seat: median(times) for seat, times in used.items()}
    for frame in frames:
        if "ms" in frame and frame["ms"] > max(SLOW_MS, SLOW_TIMES * usual[frame["s"]]):
            frame["m"] = frame.get("m", "") + "t"


def folded(data: Payload) -> dict[str, list[drawing_kit.Scene]]:
    """Returns the whole scene of every frame, for every pair of eyes: what a page makes of the data."""
    scenes: dict[str, list[drawing_kit.Scene]] = {}
    for eye in data["eyes"]:
        common: drawing_kit.Scene = {}
        own: drawing_kit.Scene = {}
        scenes[eye] = []
        for frame in data["frames"]:
            common = _after(common, frame.get("d", {}))
            own = _after(own, frame.get("e", {}).get(eye, {}))
            scenes[eye].append(common | own)
    return scenes


_Split: TypeAlias = tuple[drawing_kit.Scene, dict[str, drawing_kit.Scene]]
"""Scenes by eyes: what is alike in all, and the rest of each."""


def _changes(last: _Split, scenes: Mapping[str, drawing_kit.Scene]) -> tuple[Payload, _Split]:
    """Returns what changed in all scenes alike and in some, as a frame holds it, and the scenes for the next time."""
    first, *others = scenes.values()
    common = {key: value for key, value in first.items() if all(key in one and one[key] == value for one in others)}
    own = {eye: {key: value for key, value in scene.items() if key not in common} for eye, scene in scenes.items()}
    shown: Payload = {}
    if changed := difference(last[0], common):
        shown["d"] = changed
    if each := {eye: changed for eye in own if (changed := difference(last[1][eye], own[eye]))}:
        shown["e"] = each
    return shown, (common, own)


def _after(scene: drawing_kit.Scene, changed: drawing_kit.Scene) -> drawing_kit.Scene:
    return {key: value for key, value in (scene | changed).items() if value is not None}


def difference(before: drawing_kit.Scene, after: drawing_kit.Scene) -> drawing_kit.Scene:
    """Returns what changed: None takes a key away."""
    changed = {key: value for key, value in after.items() if key not in before or before[key] != value}
    return changed | {key: None for key in before if key not in after}


def _symbols_of(key: str, value: Any) -> Iterator[str]:
    if not key.startswith("#"):
        if value[1]:
            yield value[1]
    elif not isinstance(value, str):
        yield from (item if isinstance(item, str) else item[0] for item in value)


def every_symbol(drawing: drawing_kit.Drawing, seats: int) -> Iterator[drawing_kit.Symbol]:
    """Yields all that a scene of a game can place."""
    yield from drawing_kit.mark_symbols(seats)
    yield from drawing.symbols()


def _cut(text: str, most: int) -> str:
    return text if len(text.removesuffix(_CUT)) <= most else f"{text[:most]}{_CUT}"

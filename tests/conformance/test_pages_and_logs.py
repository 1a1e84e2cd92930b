"""What a stranger needs beside the messages to referee a game: files of boards, and which record holds which events.

All of it is read from the pages in `rules/` alone, and compared with the example logs and with the engine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from arena.core.catalogue import default_board, make_rules, resolve_options
from arena.core.rules.base import Event
from arena.core.testing import walk
from arena.games.samurai.options import RULESETS
from tests.conformance.kit import FOLDER
from tests.conformance.logs import LOGS

PAGES = {name: (FOLDER / "rules" / f"{name}.md").read_text(encoding="utf-8") for name in ("samurai", "gardener")}
LOG_PAGE = (FOLDER / "LOG.md").read_text(encoding="utf-8")
ALL = {
    path.stem: [json.loads(line) for line in path.read_bytes().splitlines()] for path in sorted(LOGS.glob("*.jsonl"))
}


# The files of boards


@pytest.mark.parametrize(("page", "file"), [("samurai", "japan.txt"), ("gardener", "garden.txt")])
def test_the_pages_have_the_files_that_games_are_played_on(page: str, file: str) -> None:
    shown = re.search(rf"<!-- file: {file} -->\n```text\n(.*?)```\n<!-- end -->", PAGES[page], re.DOTALL)
    assert shown
    assert shown[1].rstrip("\n") == (FOLDER.parent / "boards" / file).read_text(encoding="utf-8").rstrip("\n")


def section(text: str, name: str) -> tuple[dict[str, str], list[str]]:
    """The header of a board's file, and the lines below `name:` (§S9-3, §G8-3)."""
    lines = text.split("\n")
    head = lines.index(f"{name}:")
    pairs = [line.split(":", 1) for line in lines[:head] if line.strip() and not line.startswith("#")]
    return {key.strip(): value.strip() for key, value in pairs}, lines[head + 1 :]


def spaces(text: str, players: int) -> list[dict[str, Any]]:
    """The spaces of a map (§S9-3, §S9-4)."""
    header, lines = section(text, "map")
    kinds = {"~": "sea", ".": "land", "v": "village", "c": "city", "E": "edo"}
    cells = [
        (number, at.start() // 3, kinds[at[0][0]])
        for number, line in enumerate(lines)
        for at in re.finditer(r"\S\d", line)
        if int(at[0][1]) <= players
    ]
    numbers = {(line, column): number for number, (line, column, _) in enumerate(cells)}
    made = []
    for line, column, kind in cells:
        around = [(line + down, column) for down in (-2, 2)]
        around += [(line + down, column + right) for down in (-1, 1) for right in (-1, 1)]
        space = {"kind": kind, "neighbours": sorted(numbers[at] for at in around if at in numbers)}
        space |= {"col": column, "row": line // 2}
        name = header.get(f"place {column}-{line // 2}")
        made.append(space | ({"name": name} if name else {}))
    return made


def cards(text: str) -> list[list[str]]:
    kinds = {"=": "tatami", ".": "path", "~": "pond", "*": "garden"}
    found = []
    for block in re.split(r"\n *\n", "\n".join(section(text, "cards")[1]).strip("\n")):
        rows = [re.findall(r"\S\S", line) for line in block.split("\n")]
        found += [[kinds[square] for row in card for square in row] for card in zip(*rows, strict=True)]
    return found


@pytest.mark.parametrize("name", ALL)
def test_a_board_is_what_its_text_says(name: str) -> None:
    """§S9-1, §S9-3, §S9-4; §G8-1, §G8-3."""
    header = ALL[name][0]
    settings, board = header["settings"], header["board"]
    text = settings["board"]["text"]
    if settings["rules"] == "samurai":
        assert spaces(text, settings["players"]) == board["spaces"]
    else:
        assert cards(text) == board["cards"]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_japan_is_what_its_text_says_for_each_number_of_players(players: int) -> None:
    rules: Any = make_rules("samurai", players, RULESETS["standard"].options, default_board("samurai"))
    text = (FOLDER.parent / "boards" / "japan.txt").read_text(encoding="utf-8")
    assert spaces(text, players) == rules.board_payload["spaces"]


# Which record holds which events (§G12-3, §S13-3)

Parts = list[tuple[str, str]]  # of each step of a game what it was, and the names of its events


def named(events: list[dict[str, Any]]) -> str:
    """The names of events, each followed by a blank; those to some seats alone are marked."""
    return "".join(f"{event['data']['event']}{'*' if event.get('to') is not None else ''} " for event in events)


def logged(name: str) -> Parts:
    return [
        (record.get("stream", record.get("kind", "forfeit")).split("/")[0], named(record["events"]))
        for record in ALL[name]
        if record.get("events") and record.get("stream", "").split("/")[0] != "proxy"
    ]


def played(rules: Any, seed: int) -> Parts:
    """The same of a random game of the engine, in which every play is an action."""
    parts = []
    for step in walk(rules, seed, forfeits=0.03):
        what = "forfeit" if step.gone else ""
        if not what and step.seat is None:
            what = rules.draw_wanted(step.before).stream.split("/")[0]
        what = what or next(decision.kind for decision in rules.pending(step.before) if decision.seat == step.seat)
        parts.append((what, named([as_map(event) for event in step.events])))
    return parts


def as_map(event: Event) -> dict[str, Any]:
    return {"data": event.data, "to": event.to}


GARDENER = {
    "face_up": {
        "deck": "next (garden |(round )?turned_up )?",
        "seize": "seized ",
        "plant": "planted (scored )*(bonus )?(over |round turned_up )?",
        "score": "(scored )*(bonus )?(over |round turned_up )?",
        "forfeit": "(forfeited )+(over |round turned_up )?",
    },
    "face_down": {
        "deck": "(garden (round )?|turned_up )",
        "seize": "seized ",
        "plant": "planted (scored )*(bonus )?(over |round )?",
        "score": "(scored )*(bonus )?(over |round )?",
        "forfeit": "(forfeited )+(over |round )?",
    },
}
END = "(over |(turn passed )*(turn |turn passed over ))"
SAMURAI = {
    "hand": r"hand\* hand\* (setup )?",
    "stack": rf"hand\* hand\* (setup |{END})?",
    "setup": "piece (setup |turn )?",
    "turn": rf"((placed |switched |moved )(captured |set_aside )*)*({END})?",
    "forfeit": rf"(forfeited )+(over |(captured |set_aside )*{END})?",
}


def misfits(parts: Parts, patterns: dict[str, str]) -> Iterator[tuple[str, str]]:
    for what, events in parts:
        if not re.fullmatch(patterns[what], events):
            yield what, events


@pytest.mark.parametrize("name", ALL)
def test_events_stand_in_the_record_that_the_page_says(name: str) -> None:
    settings = ALL[name][0]["settings"]
    patterns = SAMURAI if settings["rules"] == "samurai" else GARDENER[settings["options"]["deck"]]
    assert [*misfits(logged(name), patterns)] == []


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    ("game", "ruleset", "players"),
    [
        ("gardener", "draft", 5), ("gardener", "race", 3), ("gardener", "young", 2), ("samurai", "standard", 4),
        ("samurai", "basic", 3), ("samurai", "classic", 2), ("samurai", "summary", 4),
    ],
)  # fmt: skip
def test_events_stand_there_in_every_game(game: str, ruleset: str, players: int) -> None:
    for deck in ("face_up", "face_down"):
        overrides = {"deck": deck} if game == "gardener" else {}
        _, options = resolve_options(game, ruleset, overrides)
        rules = make_rules(game, players, options, default_board(game))
        for seed in range(4):
            patterns = GARDENER[deck] if game == "gardener" else SAMURAI
            assert [*misfits(played(rules, seed), patterns)] == []


def test_the_first_lines_of_the_log_page_are_of_the_examples() -> None:
    (shown,) = re.findall(r"```\n(\{\"record\":\"header\".*?)```", LOG_PAGE, re.DOTALL)
    lines = [
        path.read_text(encoding="utf-8")
        for path in map(LOGS.joinpath, ("gardener-race.jsonl", "gardener-forfeits.jsonl"))
    ]
    for line in shown.splitlines():
        pattern = ".*".join(re.escape(part) for part in line.split("…"))
        assert any(re.search(rf"^{pattern}$", text, re.MULTILINE) for text in lines), line


def test_what_a_ruleset_takes_from_the_summary() -> None:
    """§S7-3."""
    (row,) = re.findall(r"^\| the summary \| (.*) \|$", PAGES["samurai"], re.MULTILINE)
    taken = dict(re.findall(r"`(\w+): (\w+)`", row))
    standard, summary = RULESETS["standard"].options, RULESETS["summary"].options
    assert taken == {name: value for name, value in summary.items() if value != standard[name]}

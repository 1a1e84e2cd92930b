"""The specification, the schemas, the vectors and the code say the same."""

from __future__ import annotations

import re
import tomllib
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from jsonschema import Draft202012Validator

from arena.core.link.base import LAST_MESSAGE_MS
from arena.core.link.bots import Manifest
from arena.core.link.caps import USUAL
from arena.core.link.watch import SETTLE_MS
from arena.core.types import MARGIN_MS, RACE_WINDOW_MS, Termination
from arena.core.wire import messages
from arena.core.wire.messages import ErrorCode, FromBot, FromReferee
from arena.core.wire.session import TRANSITIONS, State
from tests.conformance.kit import (
    BREACHES,
    DIALOGUES,
    FOLDER,
    INVALID,
    PROTOCOL,
    SPECIFICATION,
    VALID,
    first_column,
    load,
    section,
)

TAGS = {str(message.__struct_config__.tag) for message in (*get_args(FromBot), *get_args(FromReferee))}
NUMBERED = re.findall(r"^- \*\*§((\d+(?:\.\d+)?)-(\d+))(°?)\*\* (.*(?:\n  .*)*)", SPECIFICATION, re.MULTILINE)
"""Number, section, count, mark, sentence."""
TESTS = Path(__file__).parents[1]
VECTOR_FILES = sorted(
    path
    for path in (FOLDER / "vectors").rglob("*.json")
    if path.parents[1].name != "tournaments" and path.parent.name != "league"
)
"""All but what was published with the tournaments there, and what is another page's."""
EVERY_VECTOR = [*VALID, *INVALID, *DIALOGUES, *BREACHES]


def test_generated_files_are_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert PROTOCOL["generate"]["main"](["--check"]) == 0, capsys.readouterr().err


def test_the_version_is_everywhere_the_same() -> None:
    assert f"| version | {messages.PROTOCOL} |" in SPECIFICATION
    assert f"- **{messages.PROTOCOL}** " in section("17")
    for path in (FOLDER / "schemas").glob("*.json"):
        assert load(path)["$id"] == f"urn:arena:protocol:{messages.PROTOCOL}:{path.stem}"
    for path in VECTOR_FILES:
        if path.name != "vectors.schema.json":
            assert load(path)["protocol"] == messages.PROTOCOL, path


def test_every_message_has_a_section_in_the_same_form() -> None:
    found = re.findall(
        r"^### 8\.\d+ (\w+)\n\n([^\n]+(?:\n[^\n]+)*)\n\n(.*?)(?=^##)", SPECIFICATION, re.MULTILINE | re.DOTALL
    )
    assert {name for name, _, _ in found} == TAGS
    for name, head, body in found:
        assert re.match(
            r"(bot → referee|referee → bot|either → the other) · in .* · reply: ", " ".join(head.split())
        ), name
        assert f"<!-- fields:{name} -->" in body
        assert "<!-- example:" in body


def test_examples_are_of_their_message() -> None:
    for tag in TAGS:
        for vector in re.findall(r"<!-- example:(\S+) -->", SPECIFICATION.split(f" {tag}\n", 1)[1].split("\n### ")[0]):
            assert next(v for v in VALID if v["id"] == vector)["decoded"]["type"] == tag


def test_the_state_table_is_the_code() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (bot|referee) \| `(\w+)` \|$", section("6"), re.MULTILINE)
    assert len(rows) == len(set(rows))
    assert {(state, message, after) for state, message, _, after in rows} == edges()
    for _, message, sender, _ in rows:
        assert (sender == "bot") == (message in {kind.__struct_config__.tag for kind in get_args(FromBot)})


def test_the_state_diagram_is_the_code() -> None:
    diagram = section("6").split("```")[1]
    forward = re.findall(r"(?=\b(\w+) (?:--(\w+)-->|==(\w+)==>) (\w+))", diagram)
    backward = re.findall(r"(\w+) <==(\w+)== (\w+)", diagram)
    drawn = {(start, a or b, end) for start, a, b, end in forward} | {(start, m, end) for end, m, start in backward}
    assert drawn == edges()
    for _, by_bot, by_referee, _ in forward:
        assert by_bot not in {"welcome", "game_start", "request", "goodbye"}
        assert by_referee not in {"hello", "ready", "action"}


def edges() -> set[tuple[str, str, str]]:
    return {
        (str(state), str(message.__struct_config__.tag), str(after))
        for state, allowed in TRANSITIONS.items()
        for message, after in allowed.items()
    }


def test_every_state_is_reached_in_a_dialogue() -> None:
    assert {step["state"] for dialogue in DIALOGUES for step in dialogue["steps"]} == set(State)


def test_limits_are_those_of_the_code() -> None:
    for limit in (messages.MAX_FRAME, messages.MAX_REFEREE_FRAME, messages.MAX_NOTE):
        assert f"{limit:,} bytes" in SPECIFICATION
    assert f"more than {messages.MAX_DEPTH} deep" in section("5.2")
    assert messages.MAX_INT == 2**53 - 1
    assert f"window is {RACE_WINDOW_MS:g} ms" in section("9")
    assert f"margin is {MARGIN_MS} ms" in section("9")
    assert f"{LAST_MESSAGE_MS} milliseconds after the `error` was sent" in section("8.9")
    assert f"send {messages.MAX_IGNORED:,} messages or more" in section("5")
    assert SETTLE_MS == 2_000
    assert "the process lived on for two seconds" in section("10")


def test_error_codes_and_terminations_are_those_of_the_code() -> None:
    codes, terminations = section("10").split("`game_over.termination` and", 1)
    assert set(first_column(codes)) == set(get_args(ErrorCode))
    assert first_column(terminations) == [str(termination) for termination in Termination]
    for told in re.findall(r"^\| `\w+` \| .* \| `(\w+)` \|$", codes, re.MULTILINE):
        assert told in set(Termination)


def test_every_error_code_occurs_in_a_vector() -> None:
    given = {vector["error"] for vector in INVALID}
    given |= {
        step["decoded"]["code"]
        for d in DIALOGUES
        for step in d["steps"]
        if step.get("decoded", {}).get("type") == "error"
    }
    assert set(get_args(ErrorCode)) <= given


def test_numbers_count_up_in_their_section() -> None:
    counts: dict[str, int] = {}
    for number, part, count, _, sentence in NUMBERED:
        counts[part] = counts.get(part, 0) + 1
        assert int(count) == counts[part], number
        assert number in re.findall(r"§(\S+?)°?\*\*", section(part)), f"§{number} stands outside its section"
        assert re.search(r"\bMUST\b|The referee ends the session|is allowed in any state", sentence), number
    assert len(NUMBERED) > 60


def test_every_must_has_a_number() -> None:
    text = SPECIFICATION.split("## 2. ")[1]
    for match in re.finditer(r"^(?!- \*\*§|  ).*\bMUST\b.*$", text, re.MULTILINE):
        assert "every MUST" in match[0], f"a MUST without a number: {match[0]}"


def test_every_number_that_bytes_can_show_is_cited_and_exists() -> None:
    cited = {number for vector in EVERY_VECTOR for number in vector["spec"]}
    testable = {f"§{number}" for number, _, _, mark, _ in NUMBERED if not mark}
    assert cited <= testable, f"cited but not there: {cited - testable}"
    assert testable <= cited, f"not cited: {testable - cited}"


def test_every_number_that_bytes_can_show_is_broken_in_a_vector() -> None:
    broken = {number for vector in [*INVALID, *BREACHES] for number in vector["spec"]}
    broken |= {number for d in DIALOGUES if any("error" in step for step in d["steps"]) for number in d["spec"]}
    testable = {f"§{number}" for number, _, _, mark, _ in NUMBERED if not mark}
    assert testable <= broken, f"never broken: {testable - broken}"


def test_every_number_is_cited_by_a_vector_or_a_test() -> None:
    """Also those that bytes cannot show."""
    tests = [path for path in TESTS.rglob("*.py") if path.name not in ("oracle.py", "test_catalogue.py")]
    cited = {number for path in tests for number in re.findall(r"§\d+(?:\.\d+)?-\d+", path.read_text(encoding="utf-8"))}
    cited |= {number for vector in EVERY_VECTOR for number in vector["spec"]}
    assert {f"§{number}" for number, *_ in NUMBERED} <= cited


def test_numbers_in_the_text_exist() -> None:
    exists = {number for number, *_ in NUMBERED}
    assert set(re.findall(r"§(\d+(?:\.\d+)?-\d+)", SPECIFICATION)) <= exists


@pytest.mark.parametrize(("page", "letter"), [("samurai", "S"), ("gardener", "G")])
def test_statements_of_a_page_count_up_and_those_that_tests_cite_exist(page: str, letter: str) -> None:
    text = (FOLDER / "rules" / f"{page}.md").read_text(encoding="utf-8")
    numbers = [(int(part), int(count)) for part, count in re.findall(rf"\*\*§{letter}(\d+)-(\d+)\*\*", text)]
    expected = [(part, count) for part, group in groupby(numbers, first) for count, _ in enumerate(group, start=1)]
    assert numbers == expected
    assert [part for part, _ in groupby(numbers, first)] == list(range(1, numbers[-1][0] + 1))
    tests = [path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")]
    cited = {number for test in tests for number in re.findall(rf"§({letter}\d+-\d+)", test)}
    exists = {f"{letter}{part}-{count}" for part, count in numbers}
    assert cited <= exists
    assert len(cited) > 20


UNSHOWN = {"§G9-9", "§G10-3", "§G11-1", "§S4-8", "§S8-10", "§S10-6", "§S10-8", "§S10-9", "§S11-2", "§S12-1"}
"""Numbers of the games' pages that no vector shows yet: only tests of the pages do. It may only shrink."""


def test_every_number_of_chance_and_rules_is_shown_by_a_vector_that_is_there() -> None:
    shown = load(FOLDER / "rules" / "shown.json")
    pages = (FOLDER / name for name in ("CHANCE.md", "rules/samurai.md", "rules/gardener.md"))
    numbers = [found for page in pages for found in re.findall(r"\*\*(§[CSG]\d+-\d+)\*\*", page.read_text("utf-8"))]
    assert [*shown] == numbers
    assert {number for number, where in shown.items() if not where} == UNSHOWN
    for place in {place for where in shown.values() for place in where}:
        file, _, vector = place.partition("#")
        assert f'"{vector}"' in (FOLDER / file).read_text("utf-8") if vector else (FOLDER / file).exists(), place
    text = (FOLDER / "CHANCE.md").read_text("utf-8")
    assert all("§C" in line or "every MUST" in line or "Each MUST" in line or line[:2] == "  "
               for line in text.splitlines() if "MUST" in line)  # fmt: skip


def first(pair: tuple[int, int]) -> int:
    return pair[0]


def test_links_lead_somewhere() -> None:
    for path in [*FOLDER.glob("*.md"), *(FOLDER / "rules").glob("*.md")]:
        text = path.read_text(encoding="utf-8")
        anchors = {slug(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
        for target in re.findall(r"\]\(([^)]+)\)", text):
            if target.startswith("#"):
                assert target[1:] in anchors, f"{path.name}: {target}"
            elif not target.startswith("https://"):
                assert (path.parent / target.partition("#")[0]).exists(), f"{path.name}: {target}"


def slug(heading: str) -> str:
    """The anchor that common renderers give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_ids_are_unique() -> None:
    ids = [vector["id"] for vector in EVERY_VECTOR]
    assert len(ids) == len(set(ids)) >= 60


@pytest.mark.parametrize("path", VECTOR_FILES, ids=lambda path: path.stem)
def test_vector_files_fit_their_schema(path: Any) -> None:
    schema = load(FOLDER / "vectors" / "vectors.schema.json")
    if path.name == "vectors.schema.json":
        Draft202012Validator.check_schema(schema)
    else:
        Draft202012Validator(schema).validate(load(path))


def test_the_schema_of_vectors_knows_the_codes_and_states() -> None:
    definitions = load(FOLDER / "vectors" / "vectors.schema.json")["$defs"]
    assert set(definitions["code"]["enum"]) == set(get_args(ErrorCode))
    assert definitions["state"]["enum"] == [str(state) for state in State]


def test_the_manifest_has_every_key_and_the_limits_are_those_of_a_bot_that_names_none() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", section("16"), re.DOTALL)
    table = tomllib.loads(example)
    assert table.keys() == {*Manifest.__struct_fields__}
    assert table["limits"] == msgspec.to_builtins(USUAL)
    msgspec.convert(table, Manifest)

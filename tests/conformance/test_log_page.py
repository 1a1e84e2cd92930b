"""The page on logs, its schemas, the checker and the viewer beside it, and arena say the same of every log."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from formats_kit import example_of
from golden.breaking import CASES
from golden.logs import EXAMPLES, files
from jsonschema import Draft202012Validator

from arena.core.catalogue import game, names
from arena.core.errors import LogError, ReplayMismatch
from arena.core.record import log as records
from arena.core.record.compressed import compress
from arena.core.record.log import canonical, parse_log, play_digest
from arena.core.referee.verify import verify
from arena.core.store.store import open_store
from arena.core.tournament.formats import FORMATS
from arena.core.types import Termination
from tests import instant
from tests.conformance.kit import FOLDER, load
from tests.conformance.logs import CHECK_LOG, LOGS, bodies, broken, checker, summed

ROOT = FOLDER.parent
PAGE = (FOLDER / "LOG.md").read_text(encoding="utf-8")
SCHEMAS = {path.stem: load(path) for path in (FOLDER / "schemas" / "log").glob("*.json")}
BROKEN = load(LOGS / "broken.json")["broken"]
PUBLISHED = load(LOGS / "examples.json")
SECRET = bytes.fromhex(PUBLISHED["secret"])
NUMBERED = re.findall(r"^- \*\*(§L(\d+(?:\.\d+)?)-(\d+))(°?)\*\* (.*(?:\n  .*)*)", PAGE, re.MULTILINE)
"""Number, section, count, mark, sentence."""
LOG_FILES = sorted(LOGS.glob("*.jsonl"))
LEVELS = ["sums", "shape", "order", "form", "consistency", "digest", "secret", "rules"]
VIEWER = ROOT / "examples" / "log-viewer" / "view.js"
STRUCTS: dict[str, type] = {
    "header": records.Header,
    "chance": records.Chance,
    "action": records.ActionRecord,
    "late": records.LateRecord,
    "forfeit": records.ForfeitRecord,
    "outcome": records.OutcomeRecord,
}

by_file = pytest.mark.parametrize("path", LOG_FILES, ids=lambda path: path.stem)
by_kind = pytest.mark.parametrize("kind", SCHEMAS)
by_vector = pytest.mark.parametrize("vector", BROKEN, ids=lambda vector: vector["id"])


# The page


def table(kind: str) -> str:
    rows = ["| key | type | required | meaning |", "|---|---|---|---|"]
    rows += _rows(SCHEMAS[kind], SCHEMAS[kind], "", [])
    return "\n".join(rows) + "\n"


def _rows(schema: Any, root: Any, prefix: str, shown: list[Any]) -> Iterator[str]:
    for key, value in schema["properties"].items():
        if prefix or key not in ("record", "sum"):
            required = "yes" if key in schema["required"] else "no"
            yield f"| `{prefix}{key}` | {_words(value, root)} | {required} | {value['description']} |"
            for inner, suffix in _inner(value, root):
                if inner not in shown:  # the keys of a map stand where it comes first
                    shown.append(inner)
                    yield from _rows(inner, root, f"{prefix}{key}{suffix}.", shown)


def _inner(schema: Any, root: Any) -> Iterator[tuple[Any, str]]:
    """The maps with keys of their own in a value: itself, or the elements of an array."""
    for one in schema.get("anyOf", [schema]):
        found, suffix = (one["items"], "[]") if one.get("type") == "array" else (one, "")
        if "$ref" in found:
            yield root["$defs"][found["$ref"].rpartition("/")[2]], suffix


def _words(schema: Any, root: Any) -> str:
    if "anyOf" in schema:
        return ", or ".join(_words(one, root) for one in schema["anyOf"])
    if "$ref" in schema:
        return "map"
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return "string: " + ", ".join(f"`{value}`" for value in schema["enum"])
    match schema["type"]:
        case "array":
            return f"array: {_words(schema['items'], root)}"
        case "object" if "additionalProperties" in schema:
            return f"map: {_words(schema['additionalProperties'], root)}"
        case "object":
            return "map"
        case "string" if schema.get("pattern") == "^[0-9a-f]{64}$":
            return "string: 64 hex digits"
        case "string" if "pattern" in schema:
            return f"string, `{schema['pattern']}`"
        case "integer" | "number" as kind if schema["minimum"] >= 0:
            return f"{kind}, at least {schema['minimum']}"
        case kind:
            return str(kind)


@by_kind
def test_the_tables_are_those_of_the_schemas(kind: str) -> None:
    shown = re.search(rf"<!-- table: {kind} -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)
    assert shown
    assert shown[1] == table(kind)


def test_numbers_count_up_in_their_section() -> None:
    counts: dict[str, int] = {}
    sections = dict(re.findall(r"^##+ (\d+(?:\.\d+)?)\.? .*?\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
    for number, part, count, _, _ in NUMBERED:
        counts[part] = counts.get(part, 0) + 1
        assert int(count) == counts[part], number
        assert f"**{number}" in sections[part], f"{number} stands outside its section"
    assert len(NUMBERED) > 40


def test_every_must_has_a_number() -> None:
    text = PAGE.split("## 1. ")[1].split("## 9. ")[0]
    for match in re.finditer(r"^(?!- \*\*§|  ).*\bMUST\b.*$", text, re.MULTILINE):
        raise AssertionError(f"a MUST without a number: {match[0]}")


def test_every_number_that_a_log_can_show_is_broken_by_a_vector() -> None:
    cited = {number for vector in BROKEN for number in vector["spec"]}
    testable = {number for number, _, _, mark, _ in NUMBERED if not mark}
    assert cited <= testable
    assert testable - cited == {"§L8-1"}, "of which there is a test below"


def test_numbers_in_the_text_exist() -> None:
    assert set(re.findall(r"§L\d+(?:\.\d+)?-\d+", PAGE)) == {number for number, *_ in NUMBERED}
    cited = set(re.findall(r'"(\d+(?:\.\d+)?-\d+)"', CHECK_LOG.read_text(encoding="utf-8")))
    assert cited
    assert {f"§L{number}" for number in cited} <= {number for number, *_ in NUMBERED}


def test_links_lead_somewhere() -> None:
    anchors = {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in re.findall(r"^#+ (.*)$", PAGE, re.M)}
    for target in re.findall(r"\]\(([^)]+)\)", PAGE):
        path, _, anchor = target.partition("#")
        assert (FOLDER / path).exists(), target
        assert path or anchor in anchors, target


def test_the_play_lines_of_the_page_have_its_digest() -> None:
    (lines,) = re.findall(r"```\n(\{\"board\":null.*?)```", PAGE, re.DOTALL)
    assert f"`{hashlib.sha256(lines.encode()).hexdigest()}`" in PAGE
    for line in lines.splitlines():
        assert checker["canonical"](json.loads(line)).decode() == line


def test_the_levels_of_the_page_are_those_of_the_vectors() -> None:
    assert (
        re.findall(r"^\| (\w+) \| [^|]+ \| [^|]+ \|$", PAGE.split("## 9. ")[1].split("## 10. ")[0], re.M)[1:] == LEVELS
    )


# The schemas, and the records as arena reads them


@by_kind
def test_schemas_are_schemas(kind: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[kind])
    assert SCHEMAS[kind]["$id"] == f"urn:arena:log:{records.FORMAT}:{kind}"
    assert SCHEMAS[kind]["properties"]["record"] == {"const": kind}


def test_every_record_has_a_schema() -> None:
    assert SCHEMAS.keys() == STRUCTS.keys()
    assert {struct.__struct_config__.tag for struct in STRUCTS.values()} == set(STRUCTS)  # type: ignore[attr-defined]


@by_kind
def test_the_keys_are_those_of_the_code(kind: str) -> None:
    compare(STRUCTS[kind], SCHEMAS[kind], SCHEMAS[kind], {"record", "sum"})


ALWAYS = {"format", "ms", "text", "bank_ms", "increment_ms", "limit_ms", "board", "race_window_ms", "margin_ms"}
"""What arena has a default for, and always writes."""


def compare(struct: Any, schema: Any, root: Any, more: set[str]) -> None:
    """Compare the fields of a class with the keys of a schema, and of the classes in it."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(struct)}
    assert schema["properties"].keys() - more == fields.keys()
    required = {name for name, field in fields.items() if field.required or name in ALWAYS}
    assert set(schema["required"]) - more == required
    for name, field in fields.items():
        value = schema["properties"][name]
        nullable = type(None) in typing.get_args(field.type)
        assert ({"type": "null"} in value.get("anyOf", [])) == nullable, name
        for inner, _ in _inner(value, root):
            (found,) = [kind for kind in _structs(field.type) if {*inner["properties"]} == {*kind.__struct_fields__}]
            compare(found, inner, root, set())


def _structs(kind: Any) -> Iterator[Any]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
    for one in typing.get_args(kind):
        yield from _structs(one)


def test_the_terminations_are_those_of_the_code() -> None:
    guilty = SCHEMAS["forfeit"]["$defs"]["Forfeit"]["properties"]["code"]["enum"]
    assert set(guilty) == {*Termination} - {Termination.FINISHED, Termination.INTERRUPTED}
    assert SCHEMAS["outcome"]["properties"]["termination"]["enum"] == ["finished", *guilty]


# The examples


def publish(folder: Path) -> Path:
    """Writes into a folder what is published of the tournament of the examples, and returns the folder."""
    files = {"secret": ("secret", "commitment"), "contributions": ("beacon", "entropy", "mix")}
    for name, keys in files.items():
        document = PUBLISHED | PUBLISHED["contributions"]
        text = json.dumps({key: document[key] for key in ("tournament", *keys)})
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


def test_the_examples_are_current() -> None:
    """As files, so that another format, another rule or another draw is seen; `make golden` writes them."""
    made = dict(files())
    assert {*made} == {*LOGS.iterdir()}
    for path, data in made.items():
        assert path.read_bytes() == data, f"{path.name} is not what the code makes; run: make golden"


def test_every_ruleset_has_an_example() -> None:
    shown = {(example.rules, example.ruleset) for example in EXAMPLES}
    assert shown == {(name, ruleset) for name in names() for ruleset in game(name).rulesets}


def test_the_examples_show_all_that_a_log_can_hold() -> None:
    lines = [json.loads(line) for path in LOG_FILES for line in path.read_bytes().splitlines()]
    for kind, schema in SCHEMAS.items():
        keys = {key for line in lines if line["record"] == kind for key in line}
        assert keys >= schema["properties"].keys(), kind
    assert any(line["record"] == "chance" and line["stream"].startswith("proxy/") for line in lines)
    assert any(len(line.get("forfeits", [])) > 1 for line in lines)
    assert sum(path.stat().st_size for path in LOGS.iterdir()) < 600_000


@by_file
def test_records_fit_their_schemas(path: Path) -> None:
    for line in path.read_bytes().splitlines():
        record = json.loads(line)
        Draft202012Validator(SCHEMAS[record["record"]]).validate(record)


@by_file
def test_arena_and_the_checker_accept_the_examples(path: Path, tmp_path: Path) -> None:
    found = checker["check"](path.read_bytes(), SECRET)
    verdict = verify(Path(shutil.copy(path, publish(tmp_path))))
    assert (found["records"], found["draws"]) == (verdict.records, verdict.draws)
    assert verdict.draws_checked
    assert found["draws_checked"]


@by_file
def test_both_compute_the_same_digest(path: Path) -> None:
    log = parse_log(path.read_bytes(), path.name)
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert play_digest([log.header, *log.records]) == checker["play_digest"](lines) == log.outcome.play_digest


@pytest.mark.parametrize(
    "value",
    [
        {"b": 1, "a": [None, True, -(2**53) + 1], "": {}},
        {"\u00e9": 1, "z": 2, "Z": 3, "\U0001f600": 4, "\uffee": 5},
        "".join(map(chr, range(0x80))) + "\u2028\u00e9\U0001f600",
    ],
)
def test_both_write_the_same_canonical_json(value: Any) -> None:
    assert canonical(value) == checker["canonical"](value)


def test_unknown_keys_are_ignored() -> None:
    """§L8-1: a key that a later program adds changes nothing, and the digest does not cover it."""
    path = LOGS / "gardener-race.jsonl"
    lines = [line + ',"x_later":{"y":[1]}' for line in bodies(path.read_bytes())]
    lines = [line.replace('{"data":', '{"x_later":1,"data":') for line in lines]
    lines[0] = lines[0].replace('"settings":{', '"settings":{"x_later":null,').replace('"bots":[{', '"bots":[{"x":1,')
    data = summed(lines)
    assert len(data) > len(path.read_bytes()) + 1_000
    assert parse_log(data, "log").outcome.play_digest == parse_log(path.read_bytes(), "log").outcome.play_digest
    assert checker["check"](data, SECRET)["draws_checked"]


# Broken logs


def test_the_cases_are_the_vectors() -> None:
    assert [case.id for case in CASES] == [vector["id"] for vector in BROKEN]
    assert len({*map(json.dumps, BROKEN)}) == len({vector["id"] for vector in BROKEN}) == len(BROKEN) >= 25
    assert {vector["needs"] for vector in BROKEN} == set(LEVELS)


@by_vector
def test_the_checker_finds_what_it_can(vector: dict[str, Any]) -> None:
    data = broken((LOGS / vector["base"]).read_bytes(), vector)
    if vector["needs"] == "rules":
        checker["check"](data)
        return
    if vector["needs"] == "secret":
        checker["check"](data)
    with pytest.raises(checker["Fault"]) as caught:
        checker["check"](data, SECRET if vector["needs"] == "secret" else None)
    assert caught.value.line == vector["line"]
    assert caught.value.number in vector["spec"]


@by_vector
def test_arena_finds_it_on_the_line(vector: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_bytes(broken((LOGS / vector["base"]).read_bytes(), vector))
    if vector["needs"] == "secret":
        publish(tmp_path)
    with pytest.raises((ReplayMismatch, LogError)) as caught:
        verify(path)
    assert line_of(caught.value) == vector["line"]


def line_of(error: LogError | ReplayMismatch) -> int:
    """The line that an error names; what is no log at all is wrong from its first line."""
    if isinstance(error, ReplayMismatch):
        return error.line
    found = re.search(r"\.jsonl:(\d+)", str(error))
    return int(found[1]) if found else 1


Place = tuple[Any, ...]
WRONG: list[Any] = [None, True, "x", 1, -1, 2**53, 1.5, [], {}, ["x"], [-1]]
FREE = {"action", "data", "options", "text"}  # what holds values of any form


def places(value: Any, here: Place = ()) -> Iterator[Place]:
    """Where a record holds a value; of an array the first element stands for all."""
    if here and here != ("record",):
        yield here
    if isinstance(value, dict) and here != ("board",) and here[-1:] not in {(name,) for name in FREE}:
        for key, inner in value.items():
            yield from places(inner, (*here, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*here, 0))


def put(record: Any, place: Place, value: Any) -> Any:
    copied = json.loads(json.dumps(record))
    at = copied
    for key in place[:-1]:
        at = at[key]
    if value is ...:
        del at[place[-1]]
    else:
        at[place[-1]] = value
    return copied


def mutants() -> Iterator[tuple[str, int, Place]]:
    """A log, a line and a place in it: every place of every kind of record once."""
    seen = set()
    for name in ("gardener-absent", "gardener-race", "samurai-forfeits", "gardener-forfeits"):
        for index, line in enumerate(bodies((LOGS / f"{name}.jsonl").read_bytes())):
            record = json.loads(line + "}")
            for place in places(record):
                if (record["record"], place) not in seen:
                    seen.add((record["record"], place))
                    yield name, index, place


@pytest.mark.quick(12, 30)
@pytest.mark.parametrize(("name", "index", "place"), [*mutants()])
def test_whatever_a_schema_refuses_all_refuse(name: str, index: int, place: Place, tmp_path: Path) -> None:
    """Every value of every kind of record is replaced by ones of other types and ranges, or left out."""
    lines = bodies((LOGS / f"{name}.jsonl").read_bytes())
    record = json.loads(lines[index] + "}")
    schema = SCHEMAS[record["record"]]
    refused = 0
    for value in [*WRONG, ...]:
        changed = put(record, place, value)
        whole = changed | {"sum": "01234567"}
        is_right = Draft202012Validator(schema).is_valid(whole)
        assert is_right == (not list(checker["misfits"](whole, schema, schema, "$"))), value
        if not is_right and place != ("format",):
            refused += 1
            text = json.dumps(changed, separators=(",", ":"), ensure_ascii=False)[:-1]
            data = summed([*lines[:index], text, *lines[index + 1 :]])
            with pytest.raises(checker["Fault"]) as fault:
                checker["check"](data)
            assert fault.value.line == index + 1, value
            (tmp_path / "log.jsonl").write_bytes(data)
            with pytest.raises((ReplayMismatch, LogError)) as caught:
                verify(tmp_path / "log.jsonl")
            assert line_of(caught.value) == index + 1, value
    assert refused or place == ("format",)


# The checker by itself


def test_the_checker_needs_nothing_but_python(tmp_path: Path) -> None:
    protocol = tmp_path / "protocol"
    shutil.copytree(FOLDER / "schemas", protocol / "schemas")
    shutil.copy(CHECK_LOG, protocol)
    shutil.copy(LOGS / "gardener-draft.jsonl", tmp_path)
    data = (LOGS / "gardener-draft.jsonl").read_bytes()
    (tmp_path / "cut.jsonl").write_bytes(data[:-9])
    secret = {"tournament": "examples", "secret": SECRET.hex(), "commitment": hashlib.sha256(SECRET).hexdigest()}
    (tmp_path / "secret.json").write_text(json.dumps(secret))
    command = [sys.executable, "-I", "-S", str(protocol / "check_log.py"), "--json"]
    ran = subprocess.run(
        [*command, "gardener-draft.jsonl", "cut.jsonl"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1, ran.stderr
    right, wrong = map(json.loads, ran.stdout.splitlines())
    assert right == {"log": "gardener-draft.jsonl", "ok": True, "records": 195, "draws": 64, "draws_checked": True}
    assert (wrong["ok"], wrong["line"], wrong["number"]) == (False, 195, "§L2-2")
    missing = subprocess.run([*command, "missing"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert missing.returncode == 2
    (tmp_path / "log.jsonl.zst").write_bytes(compress(data))
    bare = subprocess.run([*command, "log.jsonl.zst"], cwd=tmp_path, env={"PATH": ""}, capture_output=True, text=True)
    assert "expected the program zstd, which expands log.jsonl.zst, got none; install it" in bare.stdout
    many = [*command, *["cut.jsonl"] * 2_000]
    with subprocess.Popen(many, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as gone:
        assert gone.stdout
        assert gone.stderr
        gone.stdout.close()
        assert gone.stderr.read() == b"", "nobody reads on, as after `| head`"


def test_the_checker_expands_what_is_compressed(tmp_path: Path, needs: Callable[..., None]) -> None:
    needs("zstd")
    (log := tmp_path / "log.jsonl.zst").write_bytes(compress(data := (LOGS / "gardener-draft.jsonl").read_bytes()))
    assert checker["bytes_of"](log) == data
    log.write_bytes(log.read_bytes()[:-9])
    with pytest.raises(OSError, match="expected a log that zstd expands"):
        checker["bytes_of"](log)


def test_the_checker_holds_the_secret_to_what_was_published(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deals = FOLDER / "vectors" / "tournaments" / "deals"
    log = tmp_path / "20260101-0001-000000.jsonl"
    shutil.copy(deals / log.name, log)
    right = {name: load(deals / f"{name}.json") for name in ("secret", "commitment", "contributions")}
    secret, entropy = bytes.fromhex(right["secret"]["secret"]), right["contributions"]["entropy"]
    settings, mix = right["commitment"]["settings"], right["contributions"]["mix"]
    other = hashlib.sha256(b"other").hexdigest()
    for name, file, changes, status in (
        ("right", "secret", {}, 0),
        ("another secret", "secret", {"secret": other}, 2),
        ("another commitment", "commitment", {"commitment": other}, 2),
        ("a beacon that was not named", "contributions", {"beacon": "other", "mix": None}, 2),
        ("a beacon that is not there", "commitment", {"settings": settings | {"beacon": "other"}}, 2),
        ("another mix", "contributions", {"mix": other}, 2),
        ("other contributions", "contributions", {"entropy": [other, None], "mix": None}, 1),
        ("a contribution of nobody", "contributions", {"entropy": [*entropy, None]}, 2),
    ):
        for published, document in right.items():
            changed = document | (changes if published == file else {})
            text = json.dumps({key: value for key, value in changed.items() if value is not None})
            (tmp_path / f"{published}.json").write_text(text)
        assert checker["main"]([str(log)]) == status, name
    assert "expected the mix" in capsys.readouterr().out
    assert checker["check"](log.read_bytes(), secret, mix, [one for one in entropy if one])
    with pytest.raises(checker["Fault"], match="expected a contribution of the tournament in seat"):
        checker["check"](log.read_bytes(), secret, mix, [])
    (tmp_path / "secret.json").write_text('{"secret": "00", ' + json.dumps(right["secret"])[1:])
    assert checker["main"]([str(log)]) == 2, "which secret is it?"
    (tmp_path / "secret.json").write_text(json.dumps(right["secret"]))
    (tmp_path / "contributions.json").unlink()
    assert checker["main"]([str(log)]) == 1, "a commitment and no contributions: then nobody put anything into chance"


TOURNAMENTS = sorted((FOLDER / "vectors" / "tournaments").glob("*/commitment.json"))


@pytest.mark.parametrize("commitment", TOURNAMENTS, ids=lambda path: path.parent.name)
def test_the_checker_accepts_tournaments_by_their_own_files(
    commitment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = sorted(commitment.parent.glob("*.jsonl"))
    assert checker["main"]([*map(str, logs), "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    is_finished = (commitment.parent / "secret.json").exists()
    assert len(found) == len(logs)
    assert (len(logs) == load(commitment)["games"]) == is_finished
    assert all(one["draws_checked"] == is_finished for one in found)


@pytest.mark.parametrize("commitment", TOURNAMENTS, ids=lambda path: path.parent.name)
def test_settings_and_schedule_have_their_digests_in_canonical_json(commitment: Path) -> None:
    """§L11-2."""
    document = load(commitment)
    for name in ("settings", "schedule"):
        assert hashlib.sha256(checker["canonical"](document[name])).hexdigest() == document[f"{name}_sha256"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_commitment_describes_every_format(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """§L11-2 and section 11.1. The checker minds no null in it."""
    with open_store(tmp_path / "arena.db") as store:
        begun = instant.start(store, instant.settings(("ann", "bob"), format=example_of(name)), tmp_path)
    document = load(Path(begun.tournament.logs) / "commitment.json")
    for part in ("settings", "schedule"):
        assert hashlib.sha256(checker["canonical"](document[part])).hexdigest() == document[f"{part}_sha256"]
    schedule = document["schedule"]
    assert (schedule["format"], schedule["entrants"], schedule["players"]) == (name, 2, 2)
    assert schedule["circles"] == [[0, 1]]
    assert schedule["games"] == document["games"]
    assert document["games"] is None or document["deals"] is not None

    example = FOLDER / "vectors" / "tournaments" / "deals"
    for file in example.iterdir():
        shutil.copy(file, tmp_path)
    same = {key: load(example / "commitment.json")[key] for key in ("tournament", "commitment")}
    (tmp_path / "commitment.json").write_text(json.dumps(document | same))
    assert checker["main"]([*map(str, sorted(tmp_path.glob("*.jsonl"))), "--json"]) == 0, capsys.readouterr().out


def test_a_game_without_a_board_has_null_for_it() -> None:
    """No game of the folder is played without one, but others are."""
    lines = bodies((LOGS / "gardener-absent.jsonl").read_bytes())
    header = json.loads(lines[0] + "}")
    header["settings"]["board"] = header["board"] = None
    lines[0] = json.dumps(header, separators=(",", ":"))[:-1]
    found = [json.loads(line + "}") for line in lines]
    digest = checker["play_digest"](found)
    lines[-1] = lines[-1].replace(found[-1]["play_digest"], digest)
    for was, now in zip(found[-1]["receipts"], checker["receipts"](found), strict=True):
        lines[-1] = lines[-1].replace(was["digest"], now["digest"])
    data = summed(lines)
    assert checker["check"](data)["records"] == 3
    log = parse_log(data, "log")
    assert play_digest([log.header, *log.records]) == digest


# The viewer

View = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def view(needs: Callable[..., None]) -> View:
    needs("node")

    def run(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
        command = ["node", str(VIEWER), str(path), *options]
        return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)

    return run


@pytest.mark.quick(4)
@by_file
def test_the_viewer_shows_every_record(view: View, path: Path) -> None:
    shown = view(path)
    assert (shown.returncode, shown.stderr) == (0, "")
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    header, outcome = lines[0], lines[-1]
    assert all(bot["name"] in shown.stdout for bot in header["bots"])
    told = re.findall(r"^   to (?:all|nobody|[\d,]+): (\w+)", shown.stdout, re.MULTILINE)
    assert told == [event["data"]["event"] for line in lines for event in line.get("events", [])]
    assert shown.stdout.count("too late") == sum(line["record"] == "late" for line in lines)
    assert shown.stdout.count("equally fast") == sum("tied" in line for line in lines)
    assert shown.stdout.count(" forfeits, ") == sum(len(line.get("forfeits", [])) for line in lines)
    assert re.findall(r"^   rank (\d+): seat", shown.stdout, re.MULTILINE) == [str(rank) for rank in outcome["ranks"]]


@pytest.mark.quick(4)
@by_file
def test_the_viewer_shows_what_one_seat_knew(view: View, path: Path) -> None:
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    header = lines[0]
    for seat, bot in enumerate(header["bots"]):
        shown = view(path, "--seat", str(seat)).stdout
        forfeits = [at for at, line in enumerate(lines) if seat in [one["seat"] for one in line.get("forfeits", [])]]
        events = [event for line in lines[: min(forfeits, default=None)] for event in line.get("events", [])]
        reaching = [event for event in events if seat in event.get("to", [seat])]
        told = re.findall(r"^   (\w+) (?!\d+: )", shown, re.MULTILINE)
        assert [word for word in told if word != "note"] == [event["data"]["event"] for event in reaching]
        for other, one in enumerate(header["bots"]):
            assert (str(one["bot_seed"]) in shown) == (other == seat)
            assert (f"({one['name']})" in shown) == (one is bot)
        hidden = [event["data"] for event in events if seat not in event.get("to", [seat]) and "tiles" in event["data"]]
        for data in hidden:
            assert not re.search(rf"hand seat {data['seat']}, .*tiles", shown)


@pytest.mark.quick(12, 12)
@pytest.mark.parametrize(
    "vector", [vector for vector in BROKEN if vector["needs"] in LEVELS[:3]], ids=lambda v: v["id"]
)
def test_the_viewer_refuses_what_it_can_find(view: View, vector: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_bytes(broken((LOGS / vector["base"]).read_bytes(), vector))
    shown = view(path)
    assert (shown.returncode, shown.stdout) == (1, "")
    assert shown.stderr.startswith(f"{path}:{vector['line']}: ")


def test_the_viewer_escapes_what_a_bot_wrote(view: View, tmp_path: Path) -> None:
    path = LOGS / "samurai-standard.jsonl"
    lines = [line.replace('"note":"', '"note":"\\u001b[31m\\u202e') for line in bodies(path.read_bytes())]
    (tmp_path / "log.jsonl").write_bytes(summed(lines))
    shown = view(tmp_path / "log.jsonl").stdout
    assert "\\u{1b}[31m\\u{202e}" in shown
    assert "\x1b" not in shown


def test_the_viewer_is_short() -> None:
    """It shows that a log is easy to read: about sixty lines to read it, and sixty to show it."""
    for file in VIEWER.parent.glob("*.js"):
        assert len(file.read_text(encoding="utf-8").splitlines()) < 85, file
        assert set(re.findall(r'require\("([^"]+)"\)', file.read_text(encoding="utf-8"))) <= {"fs", "path", "./log.js"}

"""What the door says of itself in `openapi.json`, beside what it does."""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from door_kit import League, OpenDoor, opened
from hypothesis import HealthCheck, given, settings
from starlette.routing import Route

from arena.league.door.app import _Routes
from arena.league.door.openapi import document
from arena.league.door.uploads import Announced, Uploads
from tests.thorough import THOROUGH


def test_every_request_of_the_door_is_described_and_no_other(tmp_path: Path) -> None:
    described = {
        (path, method.upper()) for path, methods in json.loads(document())["paths"].items() for method in methods
    }
    with opened(League(tmp_path)) as open_door:
        routes = [route for route in _Routes(open_door.door).routes if isinstance(route, Route)]
    served = {
        (route.path, method)
        for route in routes
        for method in route.methods
        if method != "HEAD" or len(route.methods) == 1
    }
    assert described == served - {("/openapi.json", "GET")}


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[tuple[League, OpenDoor, str]]:
    """A door of which anna asks, a thousand times as fast as the clock; the league answers each order."""
    league = League(tmp_path)
    token = league.author("anna")
    version = {"version": "fox/1", "bot": "fox", "state": "active", "digest": "0" * 64}
    status = {"versions": [version], "notices": [{"at": "", "text": "fox/1 plays"}], "seat": "match-1-0"}
    league.publish("authors/anna/status.json", status)
    league.publish("authors/anna/games-1.json", {"games": [{"game": "cup-1-000001", "bot": "fox", "lost": True}]})
    league.publish("game.json", {"rules": "samurai"})
    league.publish("standings.json", {"season": "first", "items": [{"name": "fox/1"}]})
    league.publish("reports/anna/fox/1/check.json", {"kind": "check"})
    league.publish("logs/cup-1-000001.jsonl.zst", b"log")
    league.publish("seasons/cup-1/season.json", {})
    (tmp_path / "incoming/uploads").mkdir(parents=True)
    begun = Announced("fox", "0" * 64, 10)
    uploads = Uploads(tmp_path / "incoming/uploads", room=lambda folder: True)
    uploads.begin("anna", begun, 0)
    uploads.add("anna", begun, 0, b"12345")
    stopped = threading.Event()

    def answer() -> None:
        while not stopped.wait(0.01):
            for order in league.orders():
                said = {"retired": ["fox/1"]} if order["verb"] == "retire" else {**version, "before": 0, "same": False}
                league.answer(order, said)

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        with opened(league, clock=lambda: time.monotonic() * 1_000) as open_door:
            yield league, open_door, token
    finally:
        stopped.set()
        thread.join()


NAMES = {
    "bot": "fox", "number": 1, "kind": "check", "game": "cup-1-000001", "rules": "samurai",
    "tournament": "cup-1", "file": "season.json", "name": "anna",
}  # fmt: skip


def _number(text: str) -> float:
    """A number as clients write it: 5.0 is an integer to a schema, and none to whoever reads JSON strictly."""
    return int(found) if (found := float(text)).is_integer() else found


@pytest.mark.parametrize(
    ("names", "mode"),
    [
        pytest.param(NAMES, "POSITIVE", id="what is there"),
        pytest.param({}, "POSITIVE", id="anything", marks=pytest.mark.long),
        pytest.param({}, "NEGATIVE", id="what is wrong", marks=pytest.mark.long),
    ],
)
def test_the_door_keeps_to_it(busy: tuple[League, OpenDoor, str], names: dict[str, Any], mode: str) -> None:
    schemathesis = pytest.importorskip("schemathesis")
    _, open_door, token = busy
    right = ["2xx", "304", "404", "409", "413", "416", "422", "429"]  # 413: a league may take less than the most
    config = {"checks": {"positive_data_acceptance": {"expected-statuses": right}}}
    schema = schemathesis.openapi.from_url(
        f"{open_door.address}/api/v1/openapi.json", config=schemathesis.Config.from_dict(config)
    )

    @schema.auth()  # so it takes the token away, too, and sees that nothing is answered then
    class Token:
        def get(self, case: Any, context: Any) -> str:
            return token

        def set(self, case: Any, data: str, context: Any) -> None:
            case.headers = {**case.headers, "Authorization": f"Bearer {data}"}

    found: dict[str, set[int]] = defaultdict(set)
    operations = [result.ok() for result in schema.get_all_operations()]
    for operation in sorted(
        operations, key=lambda one: one.method
    ):  # a new upload takes the place of one that is begun
        label = f"{operation.method} {operation.path}"

        @given(case=operation.as_strategy(schemathesis.GenerationMode[mode], auth_storage=schema.auth))
        @settings(max_examples=3 if names else 30 if THOROUGH else 6, suppress_health_check=list(HealthCheck))
        def keeps(case: Any) -> None:
            case.path_parameters |= {name: names.get(name, value) for name, value in case.path_parameters.items()}
            if mode == "POSITIVE" and isinstance(case.body, dict):
                case.body = json.loads(json.dumps(case.body), parse_float=_number)
            found[label].add(case.call_and_validate().status_code)  # noqa: B023

        if mode == "POSITIVE" or operation.path != "/":  # there is nothing to get wrong
            keeps()
    found.pop("post /seat")  # nobody is asked here
    assert not names or all(statuses & {200, 201, 202, 204, 206} for statuses in found.values()), found

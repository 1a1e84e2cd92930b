"""The example of a bot that asks a model: a stub in the model's place answers well, badly, late or not at all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.command_kit import arena

ROOT = Path(__file__).parents[3]
Answer = Callable[[int, list[dict[str, str]]], str | int]
"""Returns what the model says to its Nth question, or the status of a refusal."""


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Callable[..., list[dict[str, Any]]]]:
    """Plays a match against `random` with a stub as the model, and returns the records of the log."""
    folder = tmp_path / "oracle"
    arena(tmp_path, "bot", "new", "oracle")
    shutil.copy(ROOT / "examples" / "model_bot" / "bot.py", folder)
    servers: list[ThreadingHTTPServer] = []

    def play(answer: Answer, **settings: str) -> list[dict[str, Any]]:
        asked: list[dict[str, Any]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                asked.append(body | {"key": self.headers["Authorization"]})
                said = answer(len(asked), body["messages"])
                self.send_response(said if isinstance(said, int) else 200)
                self.end_headers()
                choices = [{"message": {"content": said}}]
                usage = {"prompt_tokens": 800, "completion_tokens": 20}
                self.wfile.write(json.dumps({"choices": choices, "usage": usage}).encode())

            def log_message(self, *words: object) -> None:
                """Prints nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        Thread(target=server.serve_forever, daemon=True).start()
        given = {
            "ARENA_MODEL_URL": f"http://127.0.0.1:{server.server_port}/v1",
            "ARENA_MODEL_KEY": "sesame",
            **settings,
        }
        (folder / ".env").write_text("".join(f"{name}={value}\n" for name, value in given.items()))
        arena(tmp_path, "match", "oracle", "random", "--rules", "gardener", "-q", "--time", "60s/move", "--seed", "tea")
        assert {body["key"] for body in asked} <= {"Bearer sesame"}
        log = next((tmp_path / "logs").rglob("*-000000.jsonl"))
        records = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
        shutil.rmtree(tmp_path / "logs")
        return records

    yield play
    for server in servers:
        server.shutdown()
        server.server_close()


def last(messages: list[dict[str, str]]) -> dict[str, Any]:
    """What the model was asked for."""
    found: dict[str, Any] = json.loads(messages[1]["content"])
    return found


def good(messages: list[dict[str, str]]) -> str:
    """A model's answer with a legal play, in prose."""
    play = {
        key: values["of"][-values["choose"] :] if isinstance(values, dict) else values[-1]
        for key, values in last(messages)["legal"][-1].items()
    }
    return f"I think so: {json.dumps({'play': play, 'why': 'it is the last'})}"


def notes(records: list[dict[str, Any]]) -> list[str]:
    """What the bot noted at its plays: it has seat 0 in the first game."""
    return [record["note"] for record in records if record["record"] == "action" and record["seat"] == 0]


def test_its_plays_are_the_model_s_and_a_bad_answer_is_asked_again(model: Callable[..., Any]) -> None:
    def answer(number: int, messages: list[dict[str, str]]) -> str | int:
        if number == 1:
            return '{"play": {"nonsense": 1}}'
        if number == 2:
            assert "expected a value for each key" in messages[-1]["content"]
        return good(messages) if number != 4 else 503

    noted = notes(model(answer, ARENA_MODEL_PRICE="1,10"))
    assert noted[0] == "asked 2: it is the last\ncost: tokens_in=1600 tokens_out=40 microdollars=2000 retries=1"
    once = "asked 2: it is the last\ncost: tokens_in=800 tokens_out=20 microdollars=1000 retries=1"
    assert once in noted, "one answer was refused, which costs nothing"
    assert all("it is the last\n" in note for note in noted)


def test_without_a_budget_or_an_answer_it_plays_on(model: Callable[..., Any]) -> None:
    noted = notes(model(lambda number, messages: good(messages) if number < 3 else 401, ARENA_MODEL_TOKENS="2000"))
    free = "cost: tokens_in=0 tokens_out=0 microdollars=0 retries="
    assert noted[2] == f"asked 3: first legal play: HTTP 401\n{free}2"
    noted = notes(model(lambda _, messages: good(messages), ARENA_MODEL_TOKENS="1000"))
    assert noted[2:]
    assert set(noted[2:]) == {f"asked 0: first legal play: the budget is spent\n{free}0"}

"""Binding, serving and ending."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from web_kit import PATIENCE_S, ask, served

from arena.core.errors import ConfigError
from arena.pages.web.serving import listen


async def _hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


APP = Starlette(routes=[Route("/", _hello)])


def test_only_this_machine_connects_unless_told_otherwise() -> None:
    with served(APP) as listening:
        assert listening.is_local
        assert listening.warning == ""
        assert listening.url("k") == f"http://127.0.0.1:{listening.port}/?key=k"
        assert ask(listening).body == b"hello"


def test_an_open_address_is_named() -> None:
    with served(APP, listen("0.0.0.0:0")) as listening:
        assert not listening.is_local
        assert f"0.0.0.0:{listening.port}" in listening.warning
        assert listening.url() == f"http://localhost:{listening.port}/"


@pytest.mark.parametrize("bind", ["", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "::1:80", "a b:80", ":80"])
def test_an_address_that_is_none_is_refused(bind: str) -> None:
    with pytest.raises(ConfigError, match="expected an address"):
        listen(bind)


def test_an_address_that_is_taken_is_refused() -> None:
    with listen().socket as taken, pytest.raises(ConfigError, match=r"in use - at .*; end what listens there"):
        listen(f"127.0.0.1:{taken.getsockname()[1]}")
    with pytest.raises(ConfigError, match="give an address of this machine"):
        listen("203.0.113.9:0")


def test_what_the_application_raises_is_reported_and_not_shown() -> None:
    async def broken(request: Request) -> PlainTextResponse:
        raise ValueError("a secret")

    with served(Starlette(routes=[Route("/", broken)]), errors=["a secret"]) as listening:
        answer = ask(listening)
    assert answer.status == 500
    assert b"secret" not in answer.body


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_politely_and_reaches_who_was_there_before(number: int) -> None:
    program = (
        "import signal, sys\n"
        "from starlette.applications import Starlette\n"
        "from arena.pages.web.serving import listen, Server\n"
        f"signal.signal({int(number)}, lambda number, frame: print('then', number, flush=True))\n"
        "listening = listen()\n"
        "Server(Starlette(), listening, ready=lambda: print('ready', flush=True),"
        " on_stop=lambda: print('stop', flush=True)).run()\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.communicate(timeout=PATIENCE_S)[0] == f"stop\nthen {int(number)}\n"
        assert process.returncode == 0


def test_a_signal_that_was_ignored_stays_ignored() -> None:
    program = (
        "import os, signal, threading\n"
        "from starlette.applications import Starlette\n"
        "from arena.pages.web.serving import listen, Server\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "def ready():\n"
        "    os.kill(os.getpid(), signal.SIGHUP)\n"
        "    server.stop()\n"
        "server = Server(Starlette(), listen(), ready=ready)\n"
        "server.run()\n"
        "print('ended')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.stdout, done.stderr) == ("ended\n", "")


def test_the_server_tells_nothing_about_itself_and_trusts_no_proxy() -> None:
    async def whose(request: Request) -> PlainTextResponse:
        assert request.client is not None
        return PlainTextResponse(f"{request.client.host} {request.url.scheme}")

    with served(Starlette(routes=[Route("/", whose)])) as listening:
        answer = ask(listening, x_forwarded_for="192.0.2.9", x_forwarded_proto="https")
    assert answer.body == b"127.0.0.1 http"
    assert "server" not in answer.headers

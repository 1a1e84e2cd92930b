"""Tells a program or a web address that something is over (`--when-done`). What becomes of that changes no result.

A program gets the document on its standard input, and in its environment `ARENA_EVENT`, `ARENA_ID` and `ARENA_DB`. So
nothing that a bot's author chose is ever part of a command line.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from arena import __version__
from arena.core.text import plain

WEB_S: Final = 10.0


def notify(
    hook: str,
    event: str,
    id: str,
    db: Path,
    result: Any,
    tell: Callable[[str], object],
    *,
    limit_s: float | None = None,
) -> None:
    """Tells that something is over, and says with `tell` if that failed.

    Args:
        hook: A command line for the shell, or an address that begins with `http://` or `https://`; empty: nobody.
        event: What is over, such as `tournament`, `comparison` or `season`.
        id: Its identifier.
        db: Its database.
        result: What came of it, as `--json` prints it.
        tell: Called with a sentence.
        limit_s: How long the command may run; None means as long as it likes.
    """
    if not hook:
        return
    told = {"ARENA_EVENT": event, "ARENA_ID": id, "ARENA_DB": str(db.absolute())}
    data = msgspec.json.encode({"event": event, "id": id, "db": told["ARENA_DB"], "result": result})
    is_address = hook.startswith(("http://", "https://"))
    if reason := _post(hook, data) if is_address else _run(hook, data, told, limit_s):
        tell(plain(f"Nobody was told of the {event} {id}: {reason}. The results are kept"))


def _run(line: str, data: bytes, told: dict[str, str], limit_s: float | None) -> str:
    """Runs a command line. Returns what is wrong with how it ended, or nothing."""
    with tempfile.TemporaryFile() as given:  # a pipe would wait for who does not read it
        given.write(data)
        given.seek(0)
        is_limited, env = limit_s is not None, os.environ | told  # stdout is for our own data
        try:
            process = subprocess.Popen(line, shell=True, stdin=given, stdout=2, env=env, start_new_session=is_limited)
        except (OSError, ValueError) as error:
            return f"the command could not be started: {error}"
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return f"the command ran longer than {limit_s:g} s, and was ended"
    how = f"was ended by signal {-code}" if code < 0 else f"ended with {code}"
    return f"the command {how}" if code else ""


def _post(address: str, data: bytes) -> str:
    """Posts a document. Returns what is wrong with the answer, or nothing. The path of an address may be a secret."""
    import urllib.error  # not before: they would take a tenth of each command's time
    import urllib.request
    from http.client import HTTPException

    class Nowhere(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *request: Any) -> None:
            """Follows no redirect: the document would be lost on the way."""

    headers = {"Content-Type": "application/json", "User-Agent": f"arena/{__version__}"}
    try:
        host = urlsplit(address).hostname
        request = urllib.request.Request(address, data, headers)
        with urllib.request.build_opener(Nowhere).open(request, timeout=WEB_S):
            return ""
    except urllib.error.HTTPError as error:
        return f"{host} answered {error.code} {error.reason}"
    except urllib.error.URLError as error:
        return f"{host} cannot be reached: {error.reason}"
    except TimeoutError:
        return f"{host} did not answer within {WEB_S:g} s"
    except (OSError, HTTPException) as error:
        return f"{host} gave no whole answer: {error}"
    except ValueError:
        return "expected an address https://HOST/PATH, got another"

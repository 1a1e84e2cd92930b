"""docs/cluster.md, followed word by word on two pretended machines: each sees its own folder only."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="needs the packages of the extra `cluster`")

from tests.cluster_kit import apart, has_namespaces, until
from tests.command_kit import ROOT, environment
from tests.ports import free_port

psutil = pytest.importorskip("psutil")
pytestmark = pytest.mark.long
BESIDE = Path(sys.executable).parent
VARIABLES = {**environment(), "PATH": os.pathsep.join([str(BESIDE), os.environ.get("PATH", os.defpath)])}
PAGE = (ROOT / "docs/cluster.md").read_text()


def block(begin: str, port: int) -> str:
    """The commands on the page of which the first begins so; this machine pretends to be the one at 10.0.0.1."""
    (found,) = (text for text in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) if text.startswith(begin))
    return found.replace("10.0.0.1", "127.0.0.1").replace("8786", str(port))


class Pretended:
    """A machine: a folder, and what runs in it sees nothing beside it."""

    def __init__(self, all_of_them: Path, name: str) -> None:
        self.folder = all_of_them / name
        self.folder.mkdir()
        self._before = apart(all_of_them, self.folder) if has_namespaces() else ()

    def _command(self, text: str) -> list[str]:
        return [*self._before, "bash", "-euc", text]

    def run(self, text: str) -> subprocess.CompletedProcess[str]:
        """Runs commands to their end."""
        done = subprocess.run(
            self._command(text), cwd=self.folder, env=VARIABLES, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, check=False, timeout=240,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    @contextmanager
    def started(self, text: str, ready: str) -> Iterator[subprocess.Popen[bytes]]:
        """Starts a command, and goes on when it has said that it is ready."""
        output = self.folder / "output"
        with output.open("wb") as written:
            command = self._command(f"exec {text}")
            process = subprocess.Popen(command, cwd=self.folder, env=VARIABLES, stderr=written)
            try:
                until(lambda: output.read_text().count(ready) >= text.count("--nworkers 2") + 1)
                yield process
            finally:
                process.terminate()
                process.wait()


def listening(process: subprocess.Popen[bytes]) -> list[tuple[str, int]]:
    """Where a command, with all that it has started, takes connections."""
    top = psutil.Process(process.pid)
    connections = [each for one in (top, *top.children(recursive=True)) for each in one.net_connections("tcp")]
    return sorted({tuple(each.laddr) for each in connections if each.status == psutil.CONN_LISTEN})


def answers_without_a_key(port: int) -> bool:
    """Whether whoever has no key gets more than an alert of TLS."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(b"GET /json/identity.json HTTP/1.0\r\n\r\n")
        connection.settimeout(10)
        got = connection.recv(2)
        return got not in (b"", b"\x15\x03")
    return False


@pytest.mark.skipif(not (BESIDE / "arena").exists(), reason="needs the commands that installing arena makes")
@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_the_page_is_followed_word_by_word(tmp_path: Path) -> None:
    port = free_port()
    one, two = Pretended(tmp_path, "one"), Pretended(tmp_path, "two")
    one.run(block("openssl", port))
    for name in ("ca.crt", "node.crt", "node.key"):
        shutil.copy(one.folder / name, two.folder / name)
    with (
        one.started(block("dask scheduler", port), "Scheduler at") as scheduler,
        two.started(block("dask worker", port), "Registered to") as workers,
    ):
        for process in (scheduler, workers):
            open_to_all = [port for host, port in listening(process) if not ip_address(host).is_loopback]
            assert [port for port in open_to_all if answers_without_a_key(port)] == []
        assert open_to_all, "expected the ports of the workers, for those with keys"
        done = one.run(block("export DASK", port))
    assert "All 2 workers are fit to play together." in done.stdout
    assert re.search(r"^1 +greedy", done.stdout, re.MULTILINE)
    logs = list(one.folder.glob("logs/*/*.jsonl"))
    assert logs
    assert list(two.folder.rglob("*.jsonl")) == []

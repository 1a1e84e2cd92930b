"""`make test-all`: the tests in short form with each Python that is promised, and with the oldest dependencies allowed.

nox and not tox, because the last session is a measurement, which is a program and no table of settings. nox finds
interpreters on the path, says which are missing, and goes on without them. It never downloads one.
"""

from __future__ import annotations

import resource
import time
from pathlib import Path

import nox

nox.options.default_venv_backend = "uv"
nox.options.reuse_venv = "yes"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False

PROMISED = nox.project.python_versions(nox.project.load_toml("pyproject.toml"))
"""Those of the classifiers, the oldest first."""

FREE_THREADED = ("3.13t", "3.14t")
"""Builds without the global lock. They are not promised: one that is found is tried."""

SHORT = (
    "tests/core",
    "tests/core/property",
    "tests/meta",
    "tests/golden",
    "tests/cli/e2e/test_cli.py",
    "tests/cluster/e2e/test_cluster_here.py",
    "tests/core/e2e/test_link.py",
    "tests/sandbox/e2e/test_start.py",
    "tests/core/e2e/test_tournament.py",
    "--ignore=tests/bots",
    "--ignore=tests/benchmarks",
)
"""What an interpreter or a dependency can change. All other tests run with one Python: `make test`, `make test-long`.
How strong the bundled bots are, and what those in other languages do, does not depend on it."""

# uv leaves compiling to the first import. A dependency that warns while it is compiled would fail the test that
# happens to import it first, since warnings are errors in tests.
INSTALL = ("--compile-bytecode", "--upgrade", "--editable", ".[test]")


def short(session: nox.Session) -> None:
    """Runs the short form with few examples of each property, or the tests named after `--`."""
    session.run("pytest", "--quiet", "--hypothesis-profile=short", *(session.posargs or SHORT))


@nox.session(python=PROMISED)
def promised(session: nox.Session) -> None:
    """The short form with the newest dependencies."""
    session.install(*INSTALL)
    short(session)


@nox.session(python=FREE_THREADED)
def free_threaded(session: nox.Session) -> None:
    """The same without the global lock."""
    session.install(*INSTALL)
    short(session)


@nox.session(python=PROMISED[0])
def lowest(session: nox.Session) -> None:
    """The short form with the oldest dependencies that pyproject.toml allows, on the oldest Python."""
    session.install("--resolution=lowest-direct", *INSTALL)
    short(session)


@nox.session
def installation(session: nox.Session) -> None:
    """Measures how long the wheel takes to install into an empty environment, once all downloads are cached."""
    session.install("pip", "hatchling")
    folder = Path(session.create_tmp())
    session.run("python", "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder), silent=True)
    wheel = str(max(folder.glob("*.whl"), key=lambda path: path.stat().st_mtime))
    for tool in (("python", "-m", "pip", "--python"), ("uv", "pip", "install", "--python")):
        for cache in ("cold or warm", "warm"):
            environment = folder / "environment"
            session.run("uv", "venv", "--quiet", "--clear", str(environment), external=True)
            command = [*tool, str(environment), *(["install"] if tool[2] == "pip" else []), "--quiet", wheel]
            began, before = time.monotonic(), cpu_seconds()
            session.run(*command, external=True, silent=True)
            seconds, cpu = time.monotonic() - began, cpu_seconds() - before
            session.log(f"{' '.join(tool[:-1])}, {cache} cache: {seconds:.1f} s, of a processor {cpu:.1f} s")


def cpu_seconds() -> float:
    """Returns the processor time of all commands that have ended: on a busy machine it says more than the clock."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

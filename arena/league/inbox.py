"""Carries orders to the league, and answers back: files, so that nothing is lost with a process.

Laws:
1. An order's archive is on the disk before the order, and the order is written whole or not at all.
2. The answer is on the disk before the order's files are removed. A kill in between makes the order come again, and it
   gets the same answer.
3. What is no order is put aside and told to the operator; it holds nothing up.
4. Whose keys are valid is published before an order that changes it is answered: who was told that a key is revoked
   can rely on it, whether a service runs or not.
"""

from __future__ import annotations

import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from arena import files
from arena.errors import ArenaError, Refused, StoreError
from arena.league.desk import Order, Verb, read_order
from arena.league.folder import ORDER, Folder
from arena.league.keyring import publish_keys
from arena.league.orders import OF_KEYS, VERBS, obey
from arena.league.settings import Settings
from arena.store.league import LeagueStore, open_league
from arena.store.lock import is_written_to
from arena.types import Payload

WAIT_S: Final = 10.0
"""How long a command waits for the service's answer."""
KEPT_S: Final = 86_400.0
"""How long an answer is kept that nobody fetched, in seconds."""
AT_ONCE: Final = 16
"""How many orders are obeyed before the service looks at everything else."""
_POLL_S: Final = 0.05
UNKNOWN: Final = "unknown"
"""Stands for the verb of an order that has none, or one that does not exist."""
_ARCHIVE: Final = ".tar.zst"


def new_order(verb: str, arguments: Payload) -> Order:
    """Returns an order of the operator."""
    return Order(id=secrets.token_hex(16), verb=verb, arguments=arguments, at=datetime.now(UTC).isoformat())


def give(
    folder: Folder,
    settings: Settings,
    order: Order,
    archive: bytes | None = None,
    wait_s: float = WAIT_S,
    *,
    verbs: Mapping[str, Verb] | None = None,
    sleep: Callable[[float], object] = time.sleep,
) -> Payload | None:
    """Gives an order to the league, and returns the answer.

    A service that runs gets it as a file. If none runs, it is obeyed here.

    Args:
        folder: The league.
        settings: Its settings.
        order: The order.
        archive: The archive that belongs to it.
        wait_s: How long to wait for the answer, or for another command to end.
        verbs: As for `obey`.
        sleep: Waits.

    Returns:
        The answer; None if there is none yet. The order is kept then, and obeyed when a service runs.

    Raises:
        Refused: The league refuses the order.
        ArenaError: The order could not be given, or not be obeyed, and is forgotten.
    """
    path = _write(folder.inbox, order, archive)
    end = time.monotonic() + wait_s
    while (answer := _fetch(folder, order.id)) is None:
        if not folder.is_running:
            _obey_here(folder, settings, path, verbs)
        if path.exists():
            if time.monotonic() >= end:
                return None
            sleep(_POLL_S)
    if "code" in answer:
        raise Refused(
            str(answer["code"]),
            str(answer["message"]),
            str(answer["remedy"]),
            limit=answer.get("limit"),
            retry_after_s=answer.get("retry_after_s"),
        )
    return answer


def _obey_here(folder: Folder, settings: Settings, path: Path, verbs: Mapping[str, Verb] | None) -> None:
    """Obeys the orders that wait, as far as one, in this process; none while another one writes the database."""
    with ExitStack() as stack:
        try:
            store = stack.enter_context(open_league(folder.database))
        except StoreError:
            if is_written_to(folder.database):
                return
            _remove(path)
            raise
        inbox = Inbox(store, folder, settings, lambda sentence: None, verbs)
        while path.exists():
            try:
                inbox.look()
            except ArenaError:
                _remove(path)
                raise


def _remove(path: Path) -> None:
    """Takes an order back that could not be obeyed."""
    path.unlink(missing_ok=True)
    archive_of(path).unlink(missing_ok=True)


def archive_of(path: Path) -> Path:
    """Returns where the archive lies that belongs to an order's file."""
    return path.with_name(path.name.removesuffix(ORDER) + _ARCHIVE)


def _write(inbox: Path, order: Order, archive: bytes | None) -> Path:
    path = inbox / f"{order.id}{ORDER}"
    if archive is not None:
        files.write(inbox / f"{order.id}{_ARCHIVE}", archive, durably=True)
    try:
        files.write(path, msgspec.json.encode(order), durably=True)
    except OSError:
        archive_of(path).unlink(missing_ok=True)  # nobody would ever ask for it
        raise
    return path


def _fetch(folder: Folder, order: str) -> Payload | None:
    """Returns an answer, which is removed by that; None if there is none yet."""
    path = folder.answer(order)
    if not path.exists():
        return None
    answer: Payload = msgspec.json.decode(files.read(path, "an answer", files.MIB, StoreError), type=Payload)
    path.unlink(missing_ok=True)
    return answer


class Inbox:
    """The orders that wait, as the service sees them.

    Args:
        store: The league.
        folder: Its folder.
        settings: Its settings.
        tell: Called with a sentence for each order that is obeyed.
        verbs: As for `obey`.
    """

    def __init__(
        self,
        store: LeagueStore,
        folder: Folder,
        settings: Settings,
        tell: Callable[[str], object],
        verbs: Mapping[str, Verb] | None = None,
    ) -> None:
        self._store = store
        self._folder = folder
        self._settings = settings
        self._tell = tell
        self._verbs = verbs
        self.obeyed: Counter[str] = Counter()
        """By verb how many orders were obeyed or refused; those with a verb that does not exist are `unknown`."""

    def look(self) -> int:
        """Obeys the orders that wait, some at a time, the oldest first. Returns how many were obeyed."""
        obeyed = 0
        for path in self._folder.orders():
            verb, answer = _obey_file(self._store, self._folder, self._settings, path, self._verbs)
            self.obeyed[verb] += 1
            self._tell(f"order {path.stem}: {answer.get('message', 'done')}")
            obeyed += 1
            if obeyed == AT_ONCE:
                break
        return obeyed

    def tidy(self) -> None:
        """Removes answers that nobody fetched for a day."""
        oldest = time.time() - KEPT_S
        with os.scandir(self._folder.answers) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.stat().st_mtime < oldest:
                        os.unlink(entry.path)


def _obey_file(
    store: LeagueStore, folder: Folder, settings: Settings, path: Path, verbs: Mapping[str, Verb] | None
) -> tuple[str, Payload]:
    """Obeys the order in a file, publishes the answer, and removes the order's files. Returns its verb, too."""
    archive = archive_of(path)
    try:
        order = read_order(files.read(path, "an order", files.MIB, StoreError, links=False))
        if order.id != path.stem or (order.author is None) != (path.parent == folder.inbox):
            raise ValueError("it is not where an order of its kind and name is")
    except (ValueError, StoreError) as error:
        text = f"expected an order, got: {error} - at {path}; it is put aside as {path.name}.bad"
        with suppress(OSError):
            path.replace(path.with_name(f"{path.name}.bad"))
        store.notices.add(None, "order", text)
        return UNKNOWN, {"code": "order", "message": text, "remedy": ""}
    answer = obey(store, folder, settings, order, archive if archive.exists() else None, verbs)
    if order.verb in OF_KEYS:
        publish_keys(store, folder)
    told = answer if order.author is None else folder.places.hide_all(answer)
    files.write(folder.answer(order.id), msgspec.json.encode(told), durably=True)
    path.unlink(missing_ok=True)
    archive.unlink(missing_ok=True)
    return order.verb if order.verb in {**VERBS, **(verbs or {})} else UNKNOWN, answer

"""Carries orders to the league, and answers back: files, so that nothing is lost with a process.

Laws:
1. An order's archive is on the disk before the order, and the order is written whole or not at all.
2. The answer is on the disk before the order's files are removed. A kill in between makes the order come again, and it
   gets the same answer.
3. What is no order, or cannot be obeyed, is put aside and told to the operator. Whoever waits for it gets an answer,
   and it holds nothing up. Only a fault of the machine leaves an order where it is: that may pass.
4. Whose keys are valid is published before an order that changes it is answered: who was told that a key is revoked
   can rely on it, whether a service runs or not.
"""

from __future__ import annotations

import re
import secrets
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from arena.core.face import Payload, errors, files, locks, plain
from arena.league.folder import ARCHIVE, ASIDE, ORDER, Folder
from arena.league.keeping import calendar
from arena.league.order_context import Order, read_order
from arena.league.public.publishing import publish_keys, remove_left, remove_replays
from arena.league.service.orders import OF_KEYS, VERBS, obey
from arena.league.settings import Settings
from arena.league.store import LeagueStore, open_league

WAIT_S: Final = 10.0
"""Seconds that a command waits for the service's answer."""
AT_ONCE: Final = 16
"""Number of orders that are obeyed before the service looks at everything else."""
_POLL_S: Final = 0.05
AGAIN_S: Final = 3_600.0
"""How long a season that could not be closed at its date is left alone."""
UNKNOWN: Final = "unknown"
"""Stands for the verb of an order that has none, or one that does not exist."""
_ID: Final = re.compile(r"[A-Za-z0-9]{1,64}")
"""Form of an order's identifier: it becomes the name of its answer's file."""


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
    sleep: Callable[[float], object] = time.sleep,
) -> Payload | None:
    """Gives an order to the league, and returns the answer.

    A service that runs gets it as a file. If none runs, it is obeyed here.

    Args:
        wait_s: How long to wait for the answer, or for another command to end.

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
            _obey_here(folder, settings, path)
        if path.exists():
            if time.monotonic() >= end:
                return None
            sleep(_POLL_S)
        elif not folder.answer(order.id).exists():
            raise errors.StoreError(
                f"expected an answer to the order {order.id}, got: none, and the order is gone - at {path}; "
                "`arena league status` shows what became of it"
            )
    if "code" in answer:
        raise errors.Refused(
            str(answer["code"]), str(answer["message"]), str(answer["remedy"]), limit=answer.get("limit"),
            retry_after_s=answer.get("retry_after_s"),
        )  # fmt: skip
    return answer


def _obey_here(folder: Folder, settings: Settings, path: Path) -> None:
    """Obeys the orders that wait, as far as one, in this process; none while another one writes the database."""
    with ExitStack() as stack:
        try:
            store = stack.enter_context(open_league(folder.database))
        except errors.StoreError:
            if locks.is_written_to(folder.database):
                return
            _remove(path)
            raise
        inbox = Inbox(store, folder, settings, lambda sentence: None)
        try:
            while path.exists() and inbox.look():
                pass
        except errors.ArenaError:
            _remove(path)
            raise


def _remove(path: Path) -> None:
    """Takes an order back that could not be obeyed."""
    path.unlink(missing_ok=True)
    archive_of(path).unlink(missing_ok=True)


def archive_of(path: Path) -> Path:
    """Returns where the archive lies that belongs to an order's file."""
    return path.with_name(path.name.removesuffix(ORDER) + ARCHIVE)


def _write(inbox: Path, order: Order, archive: bytes | None) -> Path:
    path = inbox / f"{order.id}{ORDER}"
    if archive is not None:
        files.write(inbox / f"{order.id}{ARCHIVE}", archive, durably=True)
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
    answer: Payload = msgspec.json.decode(files.read(path, "an answer", files.MIB, errors.StoreError), type=Payload)
    path.unlink(missing_ok=True)
    return answer


class Inbox:
    """The orders that wait, as the service sees them."""

    def __init__(self, store: LeagueStore, folder: Folder, settings: Settings, tell: Callable[[str], object]) -> None:
        self._store = store
        self._folder = folder
        self._settings = settings
        self._tell = tell
        self._stuck: set[Path] = set()
        """What is no order and cannot be put aside: it is passed over."""
        self.obeyed: Counter[str] = Counter()
        """Number of orders by verb that were obeyed or refused; those with a verb that does not exist are `unknown`."""
        self.leaving: Callable[[], object] = lambda: None
        """Called when an author has left: whoever makes pages knows the names of before."""

    def look(self) -> int:
        """Obeys the orders that wait, some at a time, the oldest first. Returns how many were obeyed."""
        obeyed = 0
        for path in self._folder.orders():
            if path in self._stuck:
                continue
            verb, answer = self._obey(path)
            self.obeyed[verb] += 1
            self._tell(f"order {path.stem}: {answer.get('message', 'done')}")
            obeyed += 1
            if obeyed == AT_ONCE:
                break
        return obeyed

    def _obey(self, path: Path) -> tuple[str, Payload]:
        """Obeys the order in a file, publishes the answer, and removes the order's files. Returns its verb, too."""
        try:
            order = self._read(path)
        except (ValueError, errors.StoreError) as error:
            text = plain(f"expected an order, got: {error}")
            return UNKNOWN, self._put_aside(path, text, {"code": "order", "message": text, "remedy": ""})
        verb = order.verb if order.verb in VERBS else UNKNOWN
        archive = archive_of(path)
        if order.verb in OF_KEYS:
            remove_left(self._store, self._folder)  # else who gets a name next could read what a kill left there
        try:
            answer = obey(self._store, self._folder, self._settings, order, archive if archive.exists() else None)
        except errors.InternalError as error:
            return verb, self._put_aside(path, str(error), _FAILED)
        if order.verb in OF_KEYS:
            publish_keys(self._store, self._folder)
            remove_left(self._store, self._folder)
        if order.verb == "author_remove" and "author" in answer:
            self.leaving()
            remove_replays(self._store, self._folder, str(answer["author"]))
        self._answer(order.id, answer if order.author is None else self._folder.places.hide_all(answer))
        path.unlink(missing_ok=True)
        archive.unlink(missing_ok=True)
        return verb, answer

    def _read(self, path: Path) -> Order:
        """Reads an order, and checks that it is what place and name say. Raises ValueError, StoreError: it is none."""
        order = read_order(files.read(path, "an order", files.MIB, errors.StoreError, links=False))
        if not _ID.fullmatch(path.stem):
            raise ValueError("one whose name is none of an order")
        if order.id != path.stem or (order.author is None) != (path.parent == self._folder.inbox):
            raise ValueError("it is not where an order of its kind and name is")
        archive = archive_of(path)
        if archive.is_symlink() or (archive.exists() and not archive.is_file()):
            raise ValueError(f"one whose archive {archive.name} is no regular file")
        return order

    def _put_aside(self, path: Path, reason: str, answer: Payload) -> Payload:
        """Puts an order aside with its archive, answers whoever waits for it, and tells the operator why."""
        aside = _aside(path)
        if _ID.fullmatch(path.stem):
            self._answer(path.stem, answer)
        text = plain(f"{reason} - at {path}; it is put aside as {aside.name}")  # whatever its name is
        self._store.notices.add(None, "order", text)
        try:
            with suppress(FileNotFoundError):
                archive = archive_of(path)
                archive.replace(_aside(archive))
            path.replace(aside)
        except OSError:  # then it stays, and must not be found again and again
            self._stuck.add(path)
        return answer

    def _answer(self, order: str, answer: Payload) -> None:
        files.write(self._folder.answer(order), msgspec.json.encode(answer), durably=True)


class OrderDuty(Inbox):
    """The orders as a service that runs obeys them, and what they have set.

    Args:
        workers: Games at a time; None means as the settings say, if no order says it.
        then: Called after some were.
    """

    def __init__(
        self,
        store: LeagueStore,
        folder: Folder,
        settings: Settings,
        workers: int | None,
        tell: Callable[[str], object],
        then: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(store, folder, settings, tell)
        self._dates = settings.season.dates
        self._not_before = 0.0
        self._awaits = True  # until a look at the season says that it has the value of its beacon, or needs none
        self._then = then
        self._workers = workers or settings.games_at_a_time

    @property
    def paused(self) -> bool:
        """Whether no game may begin."""
        return self._store.controls.paused or self._waits

    @property
    def closing(self) -> bool:
        """Whether the season is to end."""
        return self._store.controls.closing is not None

    @property
    def workers(self) -> int:
        """Games at a time."""
        return self._store.controls.workers or self._workers

    def look(self) -> int:
        """Orders that the season closes, if it is time for that, and obeys orders. Returns how many were obeyed."""
        self._close()
        if obeyed := super().look():
            self._then()
        return obeyed

    def _close(self) -> None:
        """Closes the open season at its date, as `arena league season close` would. A clock in doubt closes nothing."""
        season = None if self._dates.closes is None else self._store.seasons.current()
        if season is None or self.closing:
            return
        closes, now = self._dates.of_season(season.opened).closes, calendar.now(self._store)
        if closes is not None and now >= max(closes, self._not_before):
            self._not_before = now + AGAIN_S
            self._tell(f"The season {season.name} closes, as was set: {self._dates.text(closes)}")
            _write(self._folder.inbox, new_order("season_close", {"season": season.name}), None)

    @property
    def _waits(self) -> bool:
        """Whether no game of the open season may begin yet: its date is to come, or the value of its beacon."""
        season = self._store.seasons.current() if self._dates.opens or self._awaits else None
        if season is None:
            return False
        self._awaits = self._awaits and bool(self._store.games.tournament(season.tournament).awaits)
        opens = self._dates.of_season(season.opened).opens
        return self._awaits or (opens is not None and calendar.now(self._store) < opens)


_FAILED: Final[Payload] = {
    "code": "failed",
    "message": "expected an order that the league can obey, got: one that it cannot",
    "remedy": "the league's operator was told why: `arena league status FOLDER`",
}
"""The answer to an order that could not be obeyed. Whoever gave it need not see the league's insides."""


def _aside(path: Path) -> Path:
    """Returns what a file is called that is put aside: a name that fits and is text, whatever its own was."""
    return path.with_name(f"{plain(path.name)[:60]}{ASIDE}")

"""Unrated matches that authors ask for, of a version of theirs or with themselves in a seat: noted, and then played.

Laws:
1. Such a match is no part of a season: it has no number there, no row and no line; its deal has a secret of its own. So
   nothing of a season depends on it, and the record of the season says nothing of it.
2. A request is noted until its match is over, its author's logs are on the disk, and the notice to them is stored. What
   was played before a kill is not played again, and the rest is played on the same deal.
3. Its logs are its author's alone. Of the other bot they show what every log shows.
4. Which versions there are that do not play is told to nobody but their authors.
5. An author in a seat plays one game, and sees a deal once: a game that was cut short is over. Its clock bounds it.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from arena.core.face import Level, Payload, errors, log_records
from arena.league import visible
from arena.league.door.relay import is_open, tell_end
from arena.league.folder import Folder
from arena.league.keeping.retention import QUALIFYING
from arena.league.order_context import OrderContext
from arena.league.store import LeagueStore
from arena.league.store.controls import Request
from arena.league.store.records import StepReport, Verdict, Version
from arena.league.store.states import State
from arena.league.submissions.submitting import check_day

if TYPE_CHECKING:
    from arena.league.submissions.step_runner import StepWorker
    from arena.league.submissions.tools import LeagueTools

_LOOK_S: Final = 0.5
_REST_S: Final = 30.0
"""Seconds in which no such match begins after the machine could not play one."""


def match(context: OrderContext) -> Payload:
    """Notes an unrated match that an author wants of a version of theirs against another one that plays."""
    store = context.store
    author = store.authors.known(context.order.author or context.text("author"))
    found = [_playing(store, context.text("bot"), author.name), _playing(store, context.text("against"))]
    if found[0].id == found[1].id:
        raise errors.Refused("argument", f"expected two versions, got: {found[0].name} twice")
    one, other = (version.id for version in found)
    asked = [known for known in store.controls.requests if known.seat is None]
    limit = context.settings.limits.of_author(author.quotas)["matches"]
    same = [at for at, known in enumerate(asked) if (known.version, known.against) == (one, other)]
    if context.order.author is not None and not same:
        check_day(store.commands.times(context.order.verb, author.name), limit, "matches on request")
        if sum(one.author == author.name for one in asked) >= limit:
            expected = f"expected at most {limit} matches that an author has asked for and that wait, got: one more"
            when = "when nothing rated is" if context.settings.service.requested == "idle" else "one after another"
            raise errors.Refused("quota", expected, f"they are played {when}: wait", limit=limit)
    if not same:
        _note(store, Request(order=context.order.id, author=author.name, version=one, against=other))
    told = {"version": found[0].name, "against": found[1].name, "before": [*same, len(asked)][0]}
    return told | ({"same": True} if same else {})


def seat(context: OrderContext) -> Payload:
    """Notes that an author wants to play themselves, over the door, against a version that plays."""
    store, settings = context.store, context.settings
    author = store.authors.known(context.order.author or context.text("author"))
    other, number = _playing(store, context.text("against")), context.number("seat")
    if not settings.service.seats or settings.level is Level.FENCED:
        expected = "expected a league that gives seats to authors, got: one that gives none"
        raise errors.Refused("not_accepted", expected, "ask its operator")
    if number >= (seats := min(settings.game.players)):
        raise errors.Refused("argument", f"expected a seat from 0 to {seats - 1}, got: {number}")
    asked = [one for one in store.controls.requests if one.seat is not None]
    same = own = next((one for one in asked if one.author == author.name), None)
    if own is None:
        limit = settings.limits.of_author(author.quotas)["seats"]
        check_day(store.commands.times(context.order.verb, author.name), limit, "seats")
        own = Request(order=context.order.id, author=author.name, version=None, against=other.id, seat=number)
        _note(store, own)
        asked.append(own)
    elif own.began:
        expected = f"expected one seat at a time, got: another while {own.game} is played"
        raise errors.Refused("state", expected, "play that to its end, or resign; then ask again", retry_after_s=1)
    else:  # they may think better of it
        _note(store, new := msgspec.structs.replace(own, against=other.id, seat=number), own)
        asked[asked.index(own)] = own = new
    before = max(0, asked.index(own) + 1 - settings.service.seats)  # games that end before it begins
    return {"against": other.name, "game": own.game, "before": before, **({"same": True} if same else {})}


def _note(store: LeagueStore, new: Request, old: Request | None = None) -> None:
    """Notes a request, in place of an older one if one is given."""
    noted = store.controls.requests
    at = len(noted) if old is None else noted.index(old)
    noted[at : at + 1] = [new]
    store.set_control("requests", noted)


def _playing(store: LeagueStore, name: str, author: str | None = None) -> Version:
    """Returns a version that plays, by its name or its bot's; `author`: whose it must be."""
    bot, _, number = name.partition("/")
    for one in store.versions.active():
        if one.bot.lower() == bot.lower() and number in ("", str(one.number)) and author in (None, one.author):
            return one
    what = f"a bot{'' if author is None else ' of yours'} that plays, or a version such as fox/2"
    remedy = "`arena league standings` has those that play"
    raise errors.Refused("unknown_version", f"expected {what}, got: {name!r:.80}", remedy)


class Requested(msgspec.Struct, eq=False):
    """Plays the matches that authors have asked for, one after another, in a worker of its own.

    Args:
        absent: Returns the names of versions that cannot play now.
        seats: Whether it plays those in which authors have a seat, and no others.
    """

    store: LeagueStore
    folder: Folder
    tools: LeagueTools
    worker: StepWorker
    tell: Callable[[str], object]
    absent: Callable[[], frozenset[str]] = frozenset
    seats: bool = False
    _at: Request | None = None
    _tries: Counter[str] = msgspec.field(default_factory=Counter)
    """By order how often the machine could not play its match."""
    _due: float = 0.0

    @property
    def waits(self) -> bool:
        """Whether a match is being played, or could be."""
        return self.worker.busy or self._next() is not None

    def look(self, *, may_start: bool) -> None:
        """Notes what came of a match, and begins the next one."""
        now = time.monotonic()
        if self.worker.busy:
            self._fetch()
        if self.worker.busy or now < self._due:
            return
        self._due = now + _LOOK_S
        request = self._next() if may_start else None
        if request is None:
            self.worker.rest()
            return
        try:
            if self.seats:  # before anybody sees the deal
                _note(self.store, begun := msgspec.structs.replace(request, began=True), request)
                request = begun
            do, arguments = self.tools.meeting(request, *self._versions(request))
            self.worker.start("qualify", do, *arguments)
        except (errors.ArenaError, OSError) as error:
            self._failed(request, str(error))
        else:
            self._at = request

    def resume(self, why: str = "the league was stopped") -> None:
        """Ends the games of seats that were left in the middle, and says why; one that has a log is over."""
        for request in self.store.controls.requests:
            if request.began and self._log(request.game).exists():  # else it is played anew: not on that deal
                again = msgspec.structs.replace(request, began=False, secret=secrets.token_hex(32))
                _note(self.store, again, request)
            elif request.began:
                self._end(request, f"{request.game} was cut short: {why}; ask for a seat again")

    def _log(self, game: str) -> Path:
        return log_records.existing_log(self.folder.logs / QUALIFYING / f"{game}{log_records.SUFFIX}")

    def _versions(self, request: Request) -> list[Version]:
        """Returns the author's version, unless it is a seat, and the other one."""
        return [self.store.versions.get(id) for id in (request.version, request.against) if id is not None]

    def _next(self) -> Request | None:
        """Returns the first request whose versions can play now. One whose versions play no more is dropped."""
        asked = (one for one in self.store.controls.requests if not one.began)
        requests = [one for one in asked if (one.seat is not None) is self.seats]
        absent = self.absent() if requests else frozenset[str]()
        for request in requests if not self.seats or is_open(self.folder.path) else ():
            versions = self._versions(request)
            names = [version.name for version in versions]
            is_theirs = self.seats or versions[0].author == request.author
            if not is_theirs or {version.state for version in versions} != {State.ACTIVE}:
                self._end(request, f"{' and '.join(['you', *names][-2:])} do not meet: one of them plays no more")
            elif not absent & {*names}:
                return request
        return None

    def _fetch(self) -> None:
        request = self._at
        assert request is not None
        report = self.worker.fetch()
        try:
            if report is not None and report.verdict is Verdict.PASSED:
                self._over(request, report)
            elif report is not None:
                self._failed(request, report.finding)
        except errors.ArenaError as error:
            self._failed(request, str(error))

    def _over(self, request: Request, report: StepReport) -> None:
        """Gives the author the logs, and says how the match ended."""
        games, versions = report.detail["games"], self._versions(request)
        if request not in self.store.controls.requests or not (self.seats or versions[0].author == request.author):
            return  # its author has left, or the bot has another one
        for game in games:
            original = self._log(game["game"])
            log = log_records.read_log(original)
            authors = [request.author if seat == game["seat"] else None for seat, _ in enumerate(log.header.bots)]
            visible.publish(log, original, self.folder.published, authors, public=False)
            if self.seats:
                tell_end(self.folder.path, request.author, request.game, game.get("forfeit", {"code": ""})["code"])
        ranks = ", ".join(f"rank {game['rank']} in {game['game']}" for game in games)
        met = "you have met" if self.seats else f"{versions[0].name} has met"
        self._end(request, f"{met} {versions[-1].name}, unrated: {ranks}. `arena league log GAME` gets a game", True)

    def _failed(self, request: Request, reason: str) -> None:
        """Counts a fault of the machine. Gives the match up after the third."""
        self._tries[request.order] += 1
        self._due = time.monotonic() + _REST_S
        self.tell(f"A match that {request.author} asked for was not played: {reason}")
        if self.seats or self._tries[request.order] >= 3:
            self._end(request, "a match that you asked for could not be played; ask again, or tell the operator")

    def _end(self, request: Request, text: str, was_played: bool = False) -> None:
        """Forgets a request, and tells its author why. Only one that was played to its end counts to a quota."""
        with self.store.transaction():
            if request in (noted := self.store.controls.requests):
                self.store.set_control("requests", [one for one in noted if one != request])
                self.store.notices.add(request.author, "match", text, request.version)
                if not was_played:
                    self.store.commands.cut(request.order)

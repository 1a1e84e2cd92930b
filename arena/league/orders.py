"""Obeys orders: what other terminals, and authors through the door, want the league to do.

Laws:
1. The service and a command that finds no service do the same, by `obey`.
2. An order is obeyed once, however often it is delivered: its answer is stored with what it does, in one transaction.
3. A file is on the disk before a row tells of it.
4. An author's order reaches the author's things only. Who the author is, the door has seen; the order does not say it.
5. Whatever an order says, obeying it ends in an answer, in a fault of the machine, or in an `InternalError`. A value is
   checked before anything is done with it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from arena.errors import ConfigError, InternalError, MachineFault, Refused, did_you_mean
from arena.league.bounds import MOST_MATCHES, MOST_NUMBER, MOST_WORKERS
from arena.league.closing import season_close
from arena.league.desk import Desk, Order, Verb
from arena.league.folder import Folder
from arena.league.settings import Settings
from arena.league.submitting import remote, submit
from arena.store.league import LeagueStore
from arena.store.league.records import HOUSE, Version
from arena.store.league.states import State
from arena.types import Payload

MOST_VERB: Final = 100
"""Characters of a verb that are compared with those that there are."""


def obey(
    store: LeagueStore,
    folder: Folder,
    settings: Settings,
    order: Order,
    archive: Path | None = None,
) -> Payload:
    """Obeys an order, and returns the answer: what became of it, or `code`, `message` and `remedy` of a refusal.

    Args:
        store: The league.
        folder: Its folder.
        settings: Its settings.
        order: The order.
        archive: The archive that came with it, if one did. It stays where it is.

    Raises:
        InternalError: The order cannot be obeyed, now or later. Nothing has changed: put it aside, and tell the
            operator.
        OSError, MachineFault, sqlite3.DatabaseError: The machine failed. The order is not obeyed, and may be delivered
            again.
        StoreError: The database is not the one that was opened any more.
    """
    known = store.commands.answer(order.id)
    if known is not None:
        return known
    desk = Desk(store=store, folder=folder, settings=settings, order=order, archive=archive)
    possible = VERBS if order.author is None else {verb: VERBS[verb] for verb in OF_AUTHORS}

    def act() -> Payload:
        if order.verb not in possible:
            close = did_you_mean(order.verb[:MOST_VERB], possible)
            raise Refused("verb", f"expected one of {', '.join(sorted(possible))}, got: {order.verb!r:.40}{close}")
        try:
            return possible[order.verb](desk)
        except ConfigError as error:
            raise Refused("argument", str(error)) from None

    with store.transaction():  # what its end raises is no matter of the order
        try:
            answer = store.commands.once(order.id, order.verb, order.arguments, act, order.author)
            _tell_author(desk, answer)
        except Exception as error:
            if _is_of_machine(error):
                raise
            raise InternalError(
                f"expected an order that can be obeyed, got: {order.verb!r:.40}, which fails with "
                f"{type(error).__name__}: {error!s:.200}; report this, with the order"
            ) from error
    return answer


def _is_of_machine(error: Exception) -> bool:
    """Says whether the machine is the reason of an error, so that the same order may succeed later."""
    if isinstance(error, sqlite3.DatabaseError):
        # The other classes below this one are about a statement or its values; its own is that of a broken file.
        return isinstance(error, sqlite3.OperationalError) or type(error) is sqlite3.DatabaseError
    return isinstance(error, OSError | MachineFault | MemoryError)


def _tell_author(desk: Desk, answer: Payload) -> None:
    """Notes for an author that a submission was refused."""
    order, store = desk.order, desk.store
    if order.verb != "submit" or "code" not in answer:
        return
    whom = order.author or order.arguments.get("author")
    if isinstance(whom, str) and store.authors.get(whom) is not None:
        store.notices.add(whom, "refused", "; ".join(filter(None, [answer["message"], answer["remedy"]])))


def suspend(desk: Desk) -> Payload:
    """Suspends the active version of a bot."""
    return _change(desk, _active_of(desk), State.SUSPENDED, "the operator")


def lift(desk: Desk) -> Payload:
    """Lets a suspended version play again: the newest of a bot, or the one that is named."""
    name = desk.text("version")
    version = desk.store.versions.named(name)
    if "/" not in name:
        suspended = [one for one in desk.store.versions.of_bot(name) if one.state is State.SUSPENDED]
        version = suspended[0] if suspended else version
    return _change(desk, version, State.ACTIVE, "the operator lifts it")


def retire(desk: Desk) -> Payload:
    """Takes a bot out of the league, or one version of it."""
    name = desk.text("bot")
    found = desk.store.versions.named(name)
    if desk.order.author is not None and found.author != desk.order.author:
        raise Refused("unknown_version", f"expected a bot of yours, got: {name!r}")
    versions = [found] if "/" in name else desk.store.versions.of_bot(name)
    retired = [one for one in versions if one.state not in (State.REJECTED, State.RETIRED)]
    if not retired:
        raise Refused("state", f"expected a bot that is not retired, got: {name}")
    reason = desk.text("reason", "") or f"the {desk.actor} wants it"
    for version in retired:
        _not_of_house(version)
        desk.store.versions.change(version.id, State.RETIRED, desk.actor, reason)
    return {"retired": [version.name for version in retired]}


def pause(desk: Desk) -> Payload:
    """Begins no game until it is resumed."""
    desk.store.controls.set("paused", True)
    return {"paused": True}


def resume(desk: Desk) -> Payload:
    """Ends a pause."""
    desk.store.controls.set("paused", False)
    return {"paused": False}


def concurrency(desk: Desk) -> Payload:
    """Sets the number of games at a time; 0 is what the settings say."""
    workers = desk.number("workers")
    if workers > MOST_WORKERS:
        raise Refused("argument", f"expected at most {MOST_WORKERS} games at a time, got: {workers}")
    desk.store.controls.set("workers", workers or None)
    return {"workers": workers or None}


def replay_games(desk: Desk) -> Payload:
    """Plays matches again: their results count no more, and the same versions meet on new deals.

    Ratings are made again afterwards, some games at a time.
    """
    numbers = desk.order.arguments.get("matches")
    if (
        not isinstance(numbers, list)
        or not 1 <= len(numbers) <= MOST_MATCHES
        or any(type(number) is not int or not 0 <= number <= MOST_NUMBER for number in numbers)
    ):
        raise Refused("argument", f"expected numbers of matches, {MOST_MATCHES} at most, got: {numbers!r:.80}")
    reason = desk.text("reason", "") or "the operator plays it again"
    return {"matches": [_again(desk, number, reason) for number in sorted(set(numbers))]}


def _again(desk: Desk, number: int, reason: str) -> Payload:
    planned = desk.store.matches.strike(number, reason)
    return {"match": number, "again": None if planned is None else planned.number}


def notices_read(desk: Desk) -> Payload:
    """Notes that the operator has read their notices from one to another."""
    return {"read": desk.store.notices.mark_read(desk.number("first"), desk.number("last"))}


def author_add(desk: Desk) -> Payload:
    """Adds an author, with a key if one is given."""
    name = desk.name("name", "an author")
    author = desk.store.authors.add(name, desk.quotas())
    if desk.order.arguments.get("key"):
        desk.store.authors.add_key(name, desk.key(), desk.text("label", ""))
    return {"author": author.name}


def author_remove(desk: Desk) -> Payload:
    """Removes an author: their keys are revoked, and their bots retired."""
    author = desk.store.authors.known(desk.text("name")).name
    if author == HOUSE:
        raise Refused("house", "expected an author who can leave, got: the house", "its bots are those of [bots]")
    retired = []
    for version in desk.store.versions.of_author(author):
        if version.state not in (State.REJECTED, State.RETIRED):
            desk.store.versions.change(version.id, State.RETIRED, desk.actor, f"{author} has left")
            retired.append(version.name)
    desk.store.authors.remove(author)
    return {"author": author, "retired": retired}


def key_add(desk: Desk) -> Payload:
    """Gives an author one more key."""
    key = desk.store.authors.add_key(desk.text("author"), desk.key(), desk.text("label", ""))
    return {"author": key.author, "key": key.public_key}


def key_revoke(desk: Desk) -> Payload:
    """Revokes a key."""
    key = desk.store.authors.revoke_key(desk.text("key"))
    return {"author": key.author, "key": key.public_key}


VERBS: Final[Mapping[str, Verb]] = {
    "submit": submit,
    "remote": remote,
    "retire": retire,
    "suspend": suspend,
    "lift": lift,
    "pause": pause,
    "resume": resume,
    "concurrency": concurrency,
    "replay_games": replay_games,
    "author_add": author_add,
    "author_remove": author_remove,
    "key_add": key_add,
    "key_revoke": key_revoke,
    "season_close": season_close,
    "notices_read": notices_read,
}
"""What the operator can order. Whoever obeys orders, a service or a command, knows all of it."""
OF_KEYS: Final = frozenset({"author_add", "author_remove", "key_add", "key_revoke"})
"""What changes whose keys are valid."""
OF_AUTHORS: Final = frozenset({"submit", "remote", "retire"})
"""What authors can order through the door."""


def _change(desk: Desk, version: Version, to: State, reason: str) -> Payload:
    _not_of_house(version)
    given = desk.text("reason", "")
    changed = desk.store.versions.change(version.id, to, desk.actor, given or reason)
    active = [one.name for one in desk.store.versions.of_bot(version.bot) if one.state is State.ACTIVE]
    return {"version": changed.name, "state": changed.state, "active": active[0] if active else None}


def _active_of(desk: Desk) -> Version:
    """Returns the version that is named, or the active one of the bot that is."""
    name = desk.text("version")
    version = desk.store.versions.named(name)
    if "/" not in name:
        active = [one for one in desk.store.versions.of_bot(name) if one.state is State.ACTIVE]
        version = active[0] if active else version
    return version


def _not_of_house(version: Version) -> None:
    if version.is_of_house:
        raise Refused("house", f"expected a bot of an author, got: {version.name}, which is the house's and stays")

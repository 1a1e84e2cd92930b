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

from msgspec.structs import replace

from arena.core.face import Payload, errors, texts
from arena.league.bounds import MOST_MATCHES, MOST_NUMBER, MOST_WORKERS
from arena.league.folder import Folder
from arena.league.keeping.calendar import trust_clock
from arena.league.order_context import Order, OrderContext, Verb
from arena.league.season.closing import season_close
from arena.league.season.opening import season_beacon
from arena.league.service.stopping import Manager
from arena.league.settings import Settings
from arena.league.store import LeagueStore
from arena.league.store.controls import TakenBack
from arena.league.store.records import HOUSE, Version
from arena.league.store.states import State
from arena.league.submissions.requested import match, seat
from arena.league.submissions.submitting import check_quotas, remote, submit

MOST_VERB: Final = 100
"""Characters of a verb that are compared with those that there are."""


def obey(store: LeagueStore, folder: Folder, settings: Settings, order: Order, archive: Path | None = None) -> Payload:
    """Obeys an order, and returns the answer: what became of it, or `code`, `message` and `remedy` of a refusal.

    Args:
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
    context = OrderContext(store=store, folder=folder, settings=settings, order=order, archive=archive)
    possible = VERBS if order.author is None else {verb: VERBS[verb] for verb in OF_AUTHORS}

    def act() -> Payload:
        if order.verb not in possible:
            close = errors.did_you_mean(order.verb[:MOST_VERB], possible)
            raise errors.Refused(
                "verb", f"expected one of {', '.join(sorted(possible))}, got: {order.verb!r:.40}{close}"
            )
        try:
            return possible[order.verb](context)
        except errors.ConfigError as error:
            raise errors.Refused("argument", str(error)) from None

    with store.transaction():  # what its end raises is no matter of the order
        try:
            answer = store.commands.once(order.id, order.verb, order.arguments, act, order.author)
            _tell_author(context, answer)
        except Exception as error:
            if _is_of_machine(error):
                raise
            raise errors.InternalError(
                f"expected an order that can be obeyed, got: {order.verb!r:.40}, which fails with "
                f"{type(error).__name__}: {error!s:.200}; report this, with the order"
            ) from error
    return answer


def _is_of_machine(error: Exception) -> bool:
    """Says whether the machine is the reason of an error, so that the same order may succeed later."""
    if isinstance(error, sqlite3.DatabaseError):
        # The other classes below this one are about a statement or its values; its own is that of a broken file.
        return isinstance(error, sqlite3.OperationalError) or type(error) is sqlite3.DatabaseError
    return isinstance(error, OSError | errors.MachineFault | MemoryError)


def _tell_author(context: OrderContext, answer: Payload) -> None:
    """Notes for an author that a submission was refused."""
    order, store = context.order, context.store
    if order.verb != "submit" or "code" not in answer:
        return
    whom = order.author or order.arguments.get("author")
    if isinstance(whom, str) and store.authors.get(whom) is not None:
        store.notices.add(whom, "refused", "; ".join(filter(None, [answer["message"], answer["remedy"]])))


def suspend(context: OrderContext) -> Payload:
    """Suspends the active version of a bot."""
    return _change(context, _version_in(context, State.ACTIVE), State.SUSPENDED, "the operator")


def lift(context: OrderContext) -> Payload:
    """Lets a suspended version play again: the newest of a bot, or the one that is named."""
    return _change(context, _version_in(context, State.SUSPENDED), State.ACTIVE, "the operator lifts it")


def retire(context: OrderContext) -> Payload:
    """Takes a bot out of the league, or one version of it."""
    name = context.text("bot")
    found = context.store.versions.named(name)
    if context.order.author is not None and found.author != context.order.author:
        raise errors.Refused("unknown_version", f"expected a bot of yours, got: {name!r}")
    versions = [found] if "/" in name else context.store.versions.of_bot(name)
    retired = [one for one in versions if one.state not in (State.REJECTED, State.RETIRED)]
    if not retired and context.order.author is not None:  # an answer that was lost is asked for again
        retired = [one for one in versions if one.state is State.RETIRED]
    if not retired:
        raise errors.Refused("state", f"expected a bot that is not retired, got: {name}")
    reason = context.text("reason", "") or f"the {context.actor} wants it"
    for version in retired:
        _not_of_house(version)
        if version.state is not State.RETIRED:
            context.store.versions.change(version.id, State.RETIRED, context.actor, reason)
    return {"retired": [version.name for version in retired]}


def pause(context: OrderContext) -> Payload:
    """Begins no game until it is resumed."""
    context.store.set_control("paused", True)
    return {"paused": True}


def resume(context: OrderContext) -> Payload:
    """Ends a pause."""
    context.store.set_control("paused", False)
    return {"paused": False}


def concurrency(context: OrderContext) -> Payload:
    """Sets the number of games at a time; 0 is what the settings say."""
    workers = context.number("workers")
    if workers > MOST_WORKERS:
        raise errors.Refused("argument", f"expected at most {MOST_WORKERS} games at a time, got: {workers}")
    context.store.set_control("workers", workers or None)
    return {"workers": workers or None}


def replay_games(context: OrderContext) -> Payload:
    """Plays matches again: their results count no more, and the same versions meet on new deals."""
    numbers = context.order.arguments.get("matches")
    if (
        not isinstance(numbers, list)
        or not 1 <= len(numbers) <= MOST_MATCHES
        or any(type(number) is not int or not 0 <= number <= MOST_NUMBER for number in numbers)
    ):
        raise errors.Refused("argument", f"expected numbers of matches, {MOST_MATCHES} at most, got: {numbers!r:.80}")
    reason = context.text("reason", "") or "the operator plays it again"
    struck = sorted(set(numbers))
    planned = context.store.matches.strike(struck, reason, Manager().alive)
    again = [(None, new) if isinstance(new, str) else (new.number, "") for new in planned]
    return {"matches": [{"match": one, "again": to, "why": why} for one, (to, why) in zip(struck, again, strict=True)]}


def strike(context: OrderContext) -> Payload:
    """Takes all results of a bot, a version or an author back, who play no more: for somebody who cheated."""
    store, name, reason = context.store, context.text("name"), context.text("reason")
    if context.text("of", "bot") == "author":
        author = store.authors.get(name)
        versions = [] if author is None else store.versions.of_author(author.name)
        what = _all_of("" if author is None else author.name)
    else:
        found = store.versions.named(name)
        versions = [found] if "/" in name else store.versions.of_bot(name)
        what = found.name if "/" in name else found.bot
    if not versions:
        raise errors.Refused("unknown_author", f"expected an author who has submitted a bot, got: {name!r}")
    for version in versions:
        _not_of_house(version)
        if version.state not in (State.REJECTED, State.RETIRED):
            store.versions.change(version.id, State.RETIRED, context.actor, reason)
    entrants = [version.entrant for version in versions if version.entrant is not None]
    recorded = what if context.text("of", "bot") == "bot" else _all_of("one author")
    told = f"all results of {recorded} are taken back: {reason}"
    season, matches = store.seasons.current(), 0
    if season is not None:
        matches = store.matches.strike_all(entrants, told, Manager().alive)
    if season is not None and matches:
        taken = TakenBack(season.name, what, matches, reason)
        store.set_control("taken_back", [*store.controls.taken_back, taken])
    for author_name in {version.author for version in versions}:
        store.notices.add(author_name, "struck", told)
    return {"retired": [version.name for version in versions], "matches": matches}


def notices_read(context: OrderContext) -> Payload:
    """Notes that the operator has read their notices from one to another."""
    return {"read": context.store.notices.mark_read(context.number("first"), context.number("last"))}


def author_add(context: OrderContext) -> Payload:
    """Adds an author, with a key if one is given."""
    name = context.name("name", "an author")
    author = context.store.authors.add(name, context.quotas())
    offers = context.store.controls.offers  # those to whoever had the name before are none to this one
    context.store.set_control("offers", {bot: to for bot, to in offers.items() if to.lower() != name.lower()})
    if context.order.arguments.get("key"):
        context.store.authors.add_key(name, context.key(), context.text("label", ""))
    return {"author": author.name}


def author_remove(context: OrderContext) -> Payload:
    """Removes an author, or whoever gives the order: keys are revoked, bots retired, and a pseudonym takes the name."""
    store = context.store
    author = store.authors.known(context.text("name")).name
    if context.order.author not in (None, author):
        raise errors.Refused("unknown_author", f"expected your own name, got: {context.text('name')!r:.80}")
    if author == HOUSE:
        raise errors.Refused(
            "house", "expected an author who can leave, got: the house", "its bots are those of [bots]"
        )
    retired = []
    for version in store.versions.of_author(author):
        if version.state not in (State.REJECTED, State.RETIRED):
            store.versions.change(version.id, State.RETIRED, context.actor, "its author has left")
            retired.append(version.name)
    pseudonym = store.authors.remove(author)
    told = (
        replace(one, what=_all_of(pseudonym)) if one.what == _all_of(author) else one
        for one in store.controls.taken_back
    )
    store.set_control("taken_back", [*told])
    own = {one.bot for one in store.versions.of_author(pseudonym)}
    offers = {bot: to for bot, to in store.controls.offers.items() if bot not in own and to != author}
    store.set_control("offers", offers)
    asked = (one for one in store.controls.requests if one.author != author)
    store.set_control("requests", [*asked])
    return {"author": pseudonym, "retired": retired}


def bot_author(context: OrderContext) -> Payload:
    """Hands a bot over: at once for the operator; an author offers theirs, and whoever it is offered to takes it."""
    store, giver, named = context.store, context.order.author, context.text("author")
    bot, known = _bot(context, offered=True), store.authors.get(named)
    to = named if known is None else known.name
    owner, offers = store.versions.of_bot(bot)[0].author, dict(store.controls.offers)
    if giver == owner:
        offers |= {bot: to}
        if to == owner:
            del offers[bot]
        elif known is not None:
            told = f"the author of {bot} offers it to you: `arena league hand-over {bot} {to}` takes it"
            store.notices.add(to, "owner", told)  # which names nobody else: who has left is named nowhere
    else:
        heir = store.authors.known(to).name
        offers.pop(bot, None)
        if giver is not None:
            check_quotas(context, heir, bot, submits=False)
        store.versions.hand_over(bot, heir)
        store.set_control("moved", sorted({*store.controls.moved, owner, heir}))
        store.notices.add(owner, "owner", f"{bot} is handed over, and yours no more")
        store.notices.add(heir, "owner", f"{bot} is yours from now on")
        owner = heir
    store.set_control("offers", offers)
    return {"author": owner, "offered": offers.get(bot, "")}


def bot_display(context: OrderContext) -> Payload:
    """Gives a bot another display name, until a version brings one of its own."""
    name = context.text("display_name", "")
    if fault := texts.display_fault(name):
        raise errors.Refused("argument", f"{fault} - at display_name")
    if not context.store.versions.rename(bot := _bot(context), name):
        raise errors.Refused("state", f"expected a bot that has played in this season, got: {bot}", "wait for that")
    return {"display_name": name}


def _bot(context: OrderContext, *, offered: bool = False) -> str:
    """Returns the name of a bot of whoever gives the order; or, if it may be `offered`, one that is offered to them."""
    name, giver = context.text("bot"), context.order.author
    for version in () if "/" in name else context.store.versions.all():
        if version.bot == name and not version.is_of_house:
            takes = offered and (context.store.controls.offers.get(name), context.text("author")) == (giver, giver)
            if giver in (None, version.author) or takes:
                return name
    raise errors.Refused("unknown_version", f"expected a bot of yours, got: {name!r:.80}")


def key_add(context: OrderContext) -> Payload:
    """Gives an author one more key."""
    key = context.store.authors.add_key(context.text("author"), context.key(), context.text("label", ""))
    return {"author": key.author, "key": key.public_key}


def key_revoke(context: OrderContext) -> Payload:
    """Revokes a key."""
    key = context.store.authors.revoke_key(context.text("key"))
    return {"author": key.author, "key": key.public_key}


VERBS: Final[Mapping[str, Verb]] = {
    verb.__name__: verb
    for verb in (
        *(submit, remote, retire, match, seat, suspend, lift, pause, resume, concurrency, replay_games, strike),
        *(author_add, author_remove, bot_author, bot_display, key_add, key_revoke, notices_read),
        *(season_close, season_beacon, trust_clock),
    )
}
"""What the operator can order. Whoever obeys orders, a service or a command, knows all of it."""
OF_KEYS: Final = frozenset({"author_add", "author_remove", "bot_author", "key_add", "key_revoke"})
"""What changes whose keys are valid, or who may read what."""
OF_AUTHORS: Final = frozenset(
    {"submit", "remote", "retire", "match", "seat", "bot_author", "bot_display", "author_remove"}
)
"""What authors can order through the door."""


def _change(context: OrderContext, version: Version, to: State, reason: str) -> Payload:
    _not_of_house(version)
    given = context.text("reason", "")
    changed = context.store.versions.change(version.id, to, context.actor, given or reason)
    active = [one.name for one in context.store.versions.of_bot(version.bot) if one.state is State.ACTIVE]
    return {"version": changed.name, "state": changed.state, "active": active[0] if active else None}


def _version_in(context: OrderContext, state: State) -> Version:
    """Returns the version that is named; of a bot that is named the newest in a state, else the newest of all."""
    name = context.text("version")
    version = context.store.versions.named(name)
    if "/" not in name:
        return next((one for one in context.store.versions.of_bot(name) if one.state is state), version)
    return version


def _all_of(author: str) -> str:
    return f"all bots of {author}"


def _not_of_house(version: Version) -> None:
    if version.is_of_house:
        raise errors.Refused(
            "house", f"expected a bot of an author, got: {version.name}, which is the house's and stays"
        )

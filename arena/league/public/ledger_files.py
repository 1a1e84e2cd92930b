"""Keeps the ledger of a league: adds each game that is over, once, and never changes what is there.

Laws:
1. The entries are the ledger. They are on the disk before the head that counts them. The nodes follow from them and are
   made again if a kill, a full disk or a backup has left others.
2. A game is added once, however often its match is published: after a kill, or a full disk, that happens again.
3. What is there stays, even if it contradicts the head: the operator is told, and authors will see it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from typing import Final

import msgspec

from arena.core.face import files, game_rows
from arena.league.folder import Folder
from arena.league.public import season_files
from arena.league.record import ledger, merkle
from arena.league.record.ledger import Entry, Head
from arena.league.record.season import DealRevealed, pages
from arena.league.store import LeagueReader

_REMEMBERED: Final = 2 * ledger.PAGE
"""Of how many of the last games it is known that they are there. Many fewer are published at once."""


def entries_of(store: LeagueReader, deals: Iterable[DealRevealed]) -> Iterator[Entry]:
    """Yields the entries of the games of matches that are over, in order.

    Args:
        deals: What is published of the matches.
    """
    for tournament, some in groupby(deals, key=lambda deal: deal.tournament):
        names = {entrant.number: entrant.name for entrant in store.finder.entrants(tournament)}
        for deal in some:
            for result in store.seasons.of_match(tournament, deal.match, names):
                game = game_rows.game_id(tournament, result.number)
                yield Entry(
                    game=game,
                    status=result.status,
                    entrants=result.entrants,
                    ranks=result.ranks,
                    play_digest=result.play_digest,
                    log=deal.logs.get(game),
                )


class Ledger:
    """The ledger of a league. It is read when something is first added."""

    def __init__(self, folder: Folder, tell: Callable[[str], object]) -> None:
        """Takes the league's folder, and what is called with a sentence about what is wrong with the ledger."""
        self._folder = folder
        self._place = folder.published / ledger.LEDGER
        self._tell = tell
        self._builder: merkle.Builder | None = None
        """None while it is not known what is on the disk."""
        self._known: dict[str, None] = {}
        """The last games that are there."""

    def add(self, entries: Iterable[Entry], alive: Callable[[], object] = lambda: None) -> None:
        """Adds the entries that are not there, and writes the head.

        Args:
            entries: The entries. Of those that are there, nothing is compared.
            alive: Called now and then if the nodes have to be made again.

        Raises:
            OSError: It cannot be written.
            LogError: What is there cannot be read.
        """
        builder = self._builder or self._opened(alive)
        self._builder = None  # until everything is written
        fresh = [entry for entry in entries if entry.game not in self._known]
        if not fresh:
            self._builder = builder
            return
        added = [(number, ledger.encoded(entry)) for number, entry in enumerate(fresh, builder.size)]
        for name, some in groupby(added, lambda one: ledger.page(one[0])):
            files.append_lines(self._place / name, b"".join(line + b"\n" for _, line in some))
        nodes = b"".join(node for _, line in added for node in builder.add(merkle.leaf_hash(line)))
        files.append(self._place / ledger.NODES_FILE, nodes)
        self._write_head(builder)
        self._remember(entry.game for entry in fresh)
        self._builder = builder

    def catch_up(self, store: LeagueReader, alive: Callable[[], object] = lambda: None) -> None:
        """Makes again what a kill has left out; all of it, if there is none, from the deals beside the original logs.

        A league that was restored from a backup has none, nor has one that is older than ledgers.

        Args:
            alive: As in `add`.

        Raises:
            OSError: It cannot be written.
            LogError: What is there cannot be read.
        """
        self.add((), alive)
        if self._builder is not None and self._builder.size == 0:
            entries = entries_of(store, season_files.original_deals(store, self._folder))
            while some := list(islice(entries, ledger.PAGE)):
                self.add(some, alive)
                alive()

    def _opened(self, alive: Callable[[], object]) -> merkle.Builder:
        """Reads what is there, and makes the nodes and the head again if they are not those of the entries."""
        self._place.mkdir(exist_ok=True)
        found = pages(self._place, ledger.ENTRIES)
        if found:
            files.append_lines(found[-1], b"")  # without a last line that was not written whole
        last = max(0, len(found) - 2)
        count = last * ledger.PAGE
        self._known.clear()
        for line in ledger.lines(self._place, last):
            count += 1
            self._remember([msgspec.json.decode(line, type=Entry).game])
        head = ledger.head_of(self._place)
        builder = self._from_nodes(head) if head.size == count else None
        return builder or self._made_again(head, alive)

    def _from_nodes(self, head: Head) -> merkle.Builder | None:
        """Returns what goes on from a head; None if the nodes are not those of it."""
        path = self._place / ledger.NODES_FILE
        if not path.is_file() or path.stat().st_size != merkle.nodes_of(head.size) * merkle.BYTES:
            return None
        with ledger.nodes(self._place) as node:
            builder = merkle.Builder(head.size, node)
        return builder if builder.root().hex() == head.root else None

    def _made_again(self, head: Head, alive: Callable[[], object]) -> merkle.Builder:
        builder = merkle.Builder()
        path, found = self._place / ledger.NODES_FILE, ledger.EMPTY
        with files.writing(path) as file:
            for line in ledger.lines(self._place):
                file.write(b"".join(builder.add(merkle.leaf_hash(line))))
                if builder.size == head.size:
                    found = Head(builder.size, builder.root().hex())
                if builder.size % ledger.PAGE == 0:
                    alive()
        if found != head:
            self._tell(
                f"The ledger in {self._place} is not the one that was published, of {head.size} games: authors will "
                "see that it was changed"
            )
        self._write_head(builder)
        return builder

    def _write_head(self, builder: merkle.Builder) -> None:
        head = Head(builder.size, builder.root().hex())
        files.write(self._place / ledger.HEAD_FILE, msgspec.json.encode(head) + b"\n", durably=True)

    def _remember(self, games: Iterable[str]) -> None:
        self._known |= dict.fromkeys(games)
        while len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]

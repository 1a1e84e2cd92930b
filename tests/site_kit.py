"""Databases to make sites of: tournaments that take no time, some games of which have real logs."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from golden.logs import FOLDER

from arena.core.standings.closing import close
from arena.core.store.store import open_store
from arena.core.tournament.formats.round_robin import RoundRobin
from arena.pages.site.build import SiteBuilt, Wish, build
from tests import instant

LOG = FOLDER / "samurai-standard.jsonl"
EVIL = "</td><script>document.title='hacked'</script><img src=https://example.org/x onerror=alert(1)>$x^2$\u202e\0"


def tournament(
    folder: Path,
    bots: tuple[str, ...] = instant.BOTS,
    *,
    deals: int = 2,
    games: int | None = None,
    real: int = 2,
    seed: str = "spring",
) -> str:
    """Plays a tournament into `arena.db`, and returns its identifier. The logs of its first games are real ones.

    Args:
        folder: Where the database and the logs are.
        bots: The bots' names.
        deals: How many each pair plays.
        games: After how many it stops; None means it is played to its end.
        real: How many games have a log that can be shown.
        seed: Makes it another tournament.
    """
    setting = instant.settings(bots, format=RoundRobin(deals=deals), seed=seed)
    with open_store(folder / "arena.db") as store:
        store._db.execute("PRAGMA synchronous = OFF")
        begun = instant.start(store, setting, folder / "logs")
        for _ in zip(
            range(10**9 if games is None else games), instant.runner(store, begun, setting).run(), strict=False
        ):
            pass
        if games is None:
            close(store, begun.tournament)
    for number in range(real):
        log = Path(begun.tournament.logs) / f"{begun.tournament.id}-{number:06d}.jsonl"
        if log.exists():
            log.write_bytes(LOG.read_bytes())
    return begun.tournament.id


def repeat(folder: Path, id: str, block: int, times: range) -> None:
    """Adds rows as if the first `block` games had been played again so many times: quicker than to play them."""
    with sqlite3.connect(folder / "arena.db") as database:
        for time in times:
            values = {"id": id, "block": block, "shift": block * time, "time": time}
            for statement in _REPEAT:
                database.execute(statement, values)
        count = "(SELECT count(*) FROM games WHERE tournament = :id)"
        database.execute(f"UPDATE tournaments SET games = {count}, rated = {count}", values)


WORDS = (
    "UPDATE seats SET figures = json_set(figures, '$.forfeit.sentence', ?, '$.forfeit.stderr', json(?))"
    " WHERE forfeit IS NOT NULL"
)
"""Changes what is told of each forfeit: its sentence, and the last words."""
_GAME = "printf('%s-%06d', :id, number + :shift)"
_REPEAT = (
    "INSERT INTO games (id, tournament, number, deal, rotation, seating, status, termination, turns, actions, seconds,"
    f" log, log_sha256, play_digest, finished) SELECT {_GAME}, tournament, number + :shift, deal + :time, rotation,"
    f" seating, status, termination, turns, actions, seconds, {_GAME} || '.jsonl', log_sha256, play_digest, finished"
    " FROM games WHERE tournament = :id AND number < :block",
    f"INSERT INTO seats (game, seat, entrant, figures) SELECT {_GAME}, seat, entrant, figures"
    " FROM seats JOIN games ON games.id = game WHERE tournament = :id AND number < :block",
    "INSERT INTO ratings (pool, tournament, entrant, number, mu, sigma) SELECT pool, tournament, entrant,"
    " number + :shift, mu, sigma FROM ratings WHERE tournament = :id AND number < :block",
    "INSERT INTO pairs (tournament, deal, one, other, better, equal, worse) SELECT tournament, deal + :time, one,"
    " other, better, equal, worse FROM pairs WHERE tournament = :id AND deal = 0",
    "UPDATE tallies SET games = games * (:time + 1) / :time WHERE tournament = :id",
)


def quiet(unit: str, count: int) -> Callable[[], object]:
    """Shows no progress."""
    return lambda: None


def make(folder: Path, out: str = "site", *, title: str = "Cup", verify: bool = False, address: str = "") -> SiteBuilt:
    """Makes the site of the folder's database in it."""
    wish = Wish(database=folder / "arena.db", folder=folder / out, title=title, address=address, verify=verify)
    return build(wish, quiet)


def content(site: Path) -> dict[str, bytes]:
    """Every file of a site."""
    return {str(path.relative_to(site)): path.read_bytes() for path in sorted(site.rglob("*")) if path.is_file()}


def links(page: Path) -> Iterator[Path]:
    """The files that a page names: links, pictures, styles, scripts."""
    for found in re.findall(r'(?:href|src|srcset)="([^"]*)"', page.read_text(encoding="utf-8")):
        name = re.split(r"[?#]", found)[0]
        if name and not name.startswith("data:"):
            yield page.parent / name


def broken(site: Path) -> list[str]:
    """The links of all pages that lead to no file."""
    return [f"{page}: {file}" for page in site.rglob("*.html") for file in links(page) if not file.is_file()]

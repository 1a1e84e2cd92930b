"""A league is copied while it runs, and the copy is a league again; whatever is wrong with a copy is found."""

from __future__ import annotations

import hashlib
import io
import multiprocessing
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from league_kit import active, claim, league, opened, plan, play, record, season, submit

from arena.core import files
from arena.core.errors import StoreError
from arena.core.ratings.running import Rating, rate
from arena.core.record.compressed import compress
from arena.core.record.log import read_log
from arena.core.store.database import connect
from arena.league.keeping import backup
from arena.league.keeping.backup import SUMS, back_up, check_backup, restore
from arena.league.store import LeagueStore

LOG = Path(__file__).parents[2] / "protocol" / "vectors" / "logs" / "samurai-standard.jsonl"


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """A league's folder: three bots, two matches with logs, one of them compressed, an order that waits."""
    root = tmp_path / "cup"
    for folder in ("submissions", "logs", "inbox", "door", "bots/built", "published"):
        (root / folder).mkdir(parents=True)
    (root / "league.toml").write_text("# settings\n")
    (root / "inbox" / "order.json").write_text("{}")
    (root / "door" / "key").write_text("secret")
    (root / "bots" / "built" / "bot").write_text("can be made again")
    with league(root, "anna", "ben") as store:
        fox, owl = active(store, "fox"), active(store, "owl", author="ben")
        submit(store, "fox", "next")
        play(store, fox, owl)
        play(store, fox, owl)
        sha256 = read_log(LOG).sha256
        store._db.execute("UPDATE games SET log_sha256 = ?", (sha256,))
        for version in (*store.versions.of_author("anna"), *store.versions.of_author("ben")):
            (root / "submissions" / f"{version.digest}.tar.zst").write_bytes(version.digest.encode())
        names = [row[0] for row in store._db.execute("SELECT id FROM games ORDER BY number")]
    for name in names[:2]:
        (root / "logs" / f"{name}.jsonl").write_bytes(LOG.read_bytes())
    for name in names[2:]:
        (root / "logs" / f"{name}.jsonl.zst").write_bytes(compress(LOG.read_bytes()))
    (root / "logs" / f"{names[0]}.seat1.output").write_text("printed")
    (root / "published" / "seasons" / "cup-1").mkdir(parents=True)
    (root / "published" / "seasons" / "cup-1" / "rounds-0.jsonl").write_text("{}\n")
    return root


def restored(archive: Path, into: Path) -> Path:
    restore(archive, into)
    return into


def listing(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_a_backup_holds_all_that_cannot_be_made_again(cup: Path, tmp_path: Path) -> None:
    done = back_up(cup, tmp_path / "cup.tar")
    assert done.missing == []
    assert (tmp_path / "cup.tar").stat().st_mode & 0o777 == 0o600
    again = restored(tmp_path / "cup.tar", tmp_path / "again")
    expected = {name for name in listing(cup) if not name.startswith(("bots/", "league.db-"))}
    assert listing(again) == expected
    assert done.files == len(expected)
    assert [name for name in listing(tmp_path) if name.startswith(".")] == []
    for name in expected - {"league.db"}:
        assert (again / name).read_bytes() == (cup / name).read_bytes()


def test_a_restored_league_goes_on(cup: Path, tmp_path: Path) -> None:
    with opened(cup) as store:
        versions = [version for version in store.versions.active() if not version.is_of_house]
        plan(store, *versions)
        running = claim(store)
    back_up(cup, tmp_path / "cup.tar")
    again = restored(tmp_path / "cup.tar", tmp_path / "again")
    with opened(again) as store:
        store.games.resume(season(store).tournament)
        [claimed] = claim(store)
        assert claimed.number == running[0].number
        record(store, claimed)


def ratings_of(store: LeagueStore) -> tuple[dict[int, float], dict[int, float]]:
    """By entrant the rating that is stored, and the one that follows from the results."""
    stored = {one.entrant: round(one.mu, 9) for one in store.facts.standing()}
    db = store._db
    played = {number: Rating(mu, sigma) for number, mu, sigma in db.execute("SELECT number, mu0, sigma0 FROM entrants")}
    games = db.execute("SELECT id FROM games WHERE status = 'done' AND counts = 1 ORDER BY number").fetchall()
    for (game,) in games:
        rows = db.execute("SELECT entrant, rank FROM seats WHERE game = ? ORDER BY seat", (game,)).fetchall()
        moved = rate([played[entrant] for entrant, _ in rows], tuple(rank for _, rank in rows))
        played |= {entrant: rating for (entrant, _), rating in zip(rows, moved, strict=True)}
    return stored, {entrant: round(played[entrant].mu, 9) for entrant in stored}


def plays_on(root: Path, begun: Callable[[], object], stop: Callable[[], bool]) -> None:
    """A service that never rests: a process of its own."""
    with opened(root) as store:
        fox, owl = [version for version in store.versions.active() if not version.is_of_house]
        while not stop():
            play(store, fox, owl)
            begun()


@pytest.fixture
def busy(cup: Path) -> Iterator[Path]:
    """The league while another process plays games as fast as it can."""
    context = multiprocessing.get_context("fork")
    begun, stop = context.Event(), context.Event()
    writer = context.Process(target=plays_on, args=(cup, begun.set, stop.is_set))
    writer.start()
    assert begun.wait(60)
    yield cup
    assert writer.is_alive(), "the writer ended before the backup was done"
    stop.set()
    writer.join(60)
    assert writer.exitcode == 0


def test_a_league_that_plays_is_copied_at_one_moment(busy: Path, tmp_path: Path) -> None:
    for number in range(3):
        back_up(busy, tmp_path / "cup.tar", with_logs=False)
        with opened(restored(tmp_path / "cup.tar", tmp_path / f"again-{number}")) as store:
            stored, played_again = ratings_of(store)
            assert stored == played_again
            assert len(stored) == 4


def test_an_archive_that_is_missing_is_named_and_logs_are_counted(cup: Path, tmp_path: Path) -> None:
    archive = next((cup / "submissions").iterdir())
    before = back_up(cup, tmp_path / "cup.tar")
    archive.unlink()
    next((cup / "logs").glob("*.jsonl.zst")).unlink()
    done = back_up(cup, tmp_path / "cup.tar")
    assert (before.missing, done.missing) == ([], [f"submissions/{archive.name}"])
    assert (before.logs, done.logs) == (4, 3)


def test_without_logs(cup: Path, tmp_path: Path) -> None:
    done = back_up(cup, tmp_path / "cup.tar", with_logs=False)
    assert (done.logs, done.missing) == (0, [])
    there = listing(restored(tmp_path / "cup.tar", tmp_path / "again"))
    assert not [name for name in there if name.startswith("logs")]
    assert "published/seasons/cup-1/rounds-0.jsonl" in there, "what was shown of a season stays"


def test_an_order_that_is_obeyed_meanwhile_is_in_the_backup(
    cup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At worst it is obeyed again by the restored league, which knows its id, and never lost."""
    real = backup.databases.copy_database

    def obeyed_just_before(database: Path, copy: Path) -> None:
        (cup / "inbox" / "order.json").unlink()
        real(database, copy)

    monkeypatch.setattr(backup.databases, "copy_database", obeyed_just_before)
    back_up(cup, tmp_path / "cup.tar")
    assert "inbox/order.json" in listing(restored(tmp_path / "cup.tar", tmp_path / "again"))


def test_a_full_disk_leaves_the_older_backup(cup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "cup.tar"
    target.write_text("the older one")

    def full(path: Path, copy: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup.databases, "copy_database", full)
    with pytest.raises(OSError, match="No space"):
        back_up(cup, target)
    assert target.read_text() == "the older one"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def rewritten(archive: Path, change: Callable[[dict[str, bytes]], object]) -> Path:
    """The same archive with other files, as a forger or a fault of ours would make it."""
    with tarfile.open(archive) as tar:
        found = {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]
    change(found)
    other = archive.with_name("other.tar")
    with tarfile.open(other, "w") as tar:
        for name, data in found.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return other


def listed_anew(found: dict[str, bytes]) -> None:
    found.pop(SUMS)
    found[SUMS] = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in found.items()).encode()


def test_what_is_wrong_with_a_backup_is_found(cup: Path, tmp_path: Path) -> None:
    archive = tmp_path / "cup.tar"
    done = back_up(cup, archive)
    assert check_backup(archive) == done
    assert check_backup(rewritten(archive, lambda found: None)).files == done.files

    def alter(start: str, *, listed: bool) -> Callable[[dict[str, bytes]], object]:
        def altering(found: dict[str, bytes]) -> None:
            name = next(name for name in found if name.startswith(start))
            found[name] = found[name][:-1] + bytes([found[name][-1] ^ 1])
            if listed:
                listed_anew(found)

        return altering

    wrongs = [
        (alter("league.toml", listed=False), "'league.toml', which was altered"),
        (alter("logs/cup", listed=True), ""),
        (lambda found: found.pop("league.toml"), "'league.toml', which is missing"),
        (lambda found: found.pop(SUMS), "at its end: it was cut off"),
        (lambda found: (found.pop("league.db"), listed_anew(found)), "an archive without league.db"),
        (lambda found: found.update({"logs/more": b""}), f"'logs/more', which stands after {SUMS}"),
        (lambda found: (found.update({"../more": b""}), listed_anew(found)), "which leads out"),
        (lambda found: (found.update({"/tmp/more": b""}), listed_anew(found)), "which leads out"),
    ]
    for wrong, why in wrongs:
        with pytest.raises(StoreError, match=f"expected a whole backup of a league, got: .*{why}"):
            check_backup(rewritten(archive, wrong))
    data = archive.read_bytes()
    for cut in (b"", data[:100], data[: len(data) // 2], data[: -len(data) // 20]):
        files.write(tmp_path / "cut.tar", cut)
        with pytest.raises(StoreError, match="expected a whole backup"):
            check_backup(tmp_path / "cut.tar")
        with pytest.raises(StoreError, match="expected a whole backup"):
            restore(tmp_path / "cut.tar", tmp_path / "again")
        assert not (tmp_path / "again").exists()


def test_a_folder_with_files_is_not_restored_into(cup: Path, tmp_path: Path) -> None:
    back_up(cup, tmp_path / "cup.tar")
    before = listing(cup)
    with pytest.raises(StoreError, match="a new folder"):
        restore(tmp_path / "cup.tar", cup)
    assert listing(cup) == before
    (tmp_path / "empty").mkdir()
    restore(tmp_path / "cup.tar", tmp_path / "empty")
    assert (tmp_path / "empty" / "league.toml").read_text() == "# settings\n"


def test_a_restore_that_fails_leaves_nothing(cup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    back_up(cup, tmp_path / "cup.tar")

    def full(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "move", full)
    before = listing(tmp_path)
    with pytest.raises(OSError, match="No space"):
        restore(tmp_path / "cup.tar", tmp_path / "again")
    assert listing(tmp_path) == before
    assert not (tmp_path / "again").exists()


def test_folders_of_the_user_beside_it_stay_whatever_they_are_called(cup: Path, tmp_path: Path) -> None:
    kept = [tmp_path / name for name in (".cup.tar.old", ".cup2.d", ".cup.bak")]
    for folder in kept:
        folder.mkdir()
        (folder / "file").write_text("of the user")
    back_up(cup, tmp_path / "cup.tar")
    restore(tmp_path / "cup.tar", tmp_path / "cup2")
    assert [(folder / "file").read_text() for folder in kept] == ["of the user"] * len(kept)


def test_tar_alone_unpacks_a_backup_as_well(cup: Path, tmp_path: Path) -> None:
    back_up(cup, tmp_path / "cup.tar")
    with tarfile.open(tmp_path / "cup.tar") as tar:
        tar.extractall(tmp_path / "by-tar", filter="data")
    words = ["sha256sum", "--check", "--quiet", SUMS]
    assert subprocess.run(words, cwd=tmp_path / "by-tar", check=False).returncode == 0
    assert listing(tmp_path / "by-tar") - {SUMS} == listing(restored(tmp_path / "cup.tar", tmp_path / "again"))


def test_a_database_that_is_damaged_is_found(cup: Path, tmp_path: Path) -> None:
    back_up(cup, tmp_path / "cup.tar")

    def damage(found: dict[str, bytes]) -> None:
        data = bytearray(found["league.db"])
        data[4096 * 3 : 4096 * 3 + 40] = bytes(40)  # the head of a page
        found["league.db"] = bytes(data)
        listed_anew(found)

    with pytest.raises(StoreError):
        check_backup(rewritten(tmp_path / "cup.tar", damage))


def test_the_copy_is_of_the_same_rows(cup: Path, tmp_path: Path) -> None:
    backup.databases.copy_database(cup / "league.db", tmp_path / "copy.db")
    with (
        closing(connect(cup / "league.db", write=False)) as one,
        closing(connect(tmp_path / "copy.db", write=False)) as other,
    ):
        for table in ("games", "seats", "versions", "changes", "ratings"):
            query = f"SELECT * FROM {table} ORDER BY 1, 2"
            assert one.execute(query).fetchall() == other.execute(query).fetchall()

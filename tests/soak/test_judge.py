"""The judge of a soak: a league in which everything is right passes, and whatever is wrong is said and reported."""

# The table of what is doctored is read down its columns.
# ruff: noqa: E501
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from arena.core.ratings.running import Rating, rate
from tests.soak import judge, report, watch
from tests.soak.evidence import Entrant, Evidence, FoundLog, Game, Seat, Version
from tests.soak.judge import Finding
from tests.soak.scenario import Arrival, Bot, draw
from tests.soak.soak import Outcome
from tests.soak.watch import Sample

FOX = Bot(name="fox", author="anna", style="first")
OWL = Bot(name="owl", author="bob", style="last")
BAD = Bot(name="bad", author="eve", style="first", attack="P4")
ARRIVALS = [Arrival(at=at, bot=bot, number=1, by_door=at > 1) for at, bot in enumerate((FOX, OWL, BAD))]
PLAYED = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1), (1, 0)]
"""Who sat where. The lower number wins, and `bad` forfeits its last game. The last game is planned."""


def game(number: int) -> Game:
    """A game of the league."""
    seating = PLAYED[number]
    if number == len(PLAYED) - 1:
        return Game(
            game=f"g{number}", number=number, status="planned", counts=True, match=3, is_published=False, deal=3,
            seating=seating, play_digest=None, log_sha256=None, seats=(),
        )  # fmt: skip
    seats = tuple(
        Seat(
            entrant=entrant,
            rank=1 if entrant == min(seating) else 2,
            forfeit="crashed" if entrant == 2 and number == 5 else None,
            overloaded=False,
            sentence=None,
        )
        for entrant in seating
    )
    return Game(
        game=f"g{number}", number=number, status="done", counts=True, match=number // 2, is_published=True,
        deal=number // 2, seating=seating, play_digest=f"p{number}", log_sha256=f"l{number}", seats=seats,
    )  # fmt: skip


def sound() -> Evidence:
    """What a league has left in which everything is right."""
    games = tuple(map(game, range(len(PLAYED))))
    now = [Rating(), Rating(), Rating()]
    for one in games[:-1]:
        after = rate([now[number] for number in one.seating], one.ranks)
        for number, rating in zip(one.seating, after, strict=True):
            now[number] = rating
    names = ("fox", "owl", "bad")
    return Evidence(
        tournament="cup-1",
        planned=len(games),
        rated=len(games) - 1,
        games=games,
        entrants=tuple(
            Entrant(
                name=f"{name}/1", mu0=Rating().mu, sigma0=Rating().sigma, mu=now[number].mu, sigma=now[number].sigma,
                games=4, wins=4 - 2 * number, draws=0, forfeits=int(name == "bad"),
            )
            for number, name in enumerate(names)
        ),
        pairs=((0, 0, 1, 2, 0, 0), (1, 0, 2, 2, 0, 0), (2, 1, 2, 2, 0, 0)),
        versions=tuple(
            Version(
                name=f"{name}/1", bot=name, author=author, digest=name, entrant=number, reason="",
                state="suspended" if name == "bad" else "active",
            )
            for number, (name, author) in enumerate(zip(names, ("anna", "bob", "eve"), strict=True))
        ),
        logs=tuple(
            FoundLog(
                game=one.game, sha256=one.log_sha256 or "", play_digest=one.play_digest or "", ranks=one.ranks,
                seats=tuple(names[number] for number in one.seating),
            )
            for one in games[:-1]
        ),
        public=tuple(one.game for one in games[:-1]),
        unpublished=0,
        broken=(),
        left=(),
    )  # fmt: skip


TOLD = {f"g{number}": (f"p{number}", f"l{number}", "[1,2]" if number % 2 == 0 else "[2,1]") for number in range(6)}


def failing(evidence: Evidence, told: dict[str, tuple[str, str, str]] | None = None) -> dict[str, str]:
    """Returns what is found to be wrong, by promise."""
    findings = judge.judge(evidence, ARRIVALS, TOLD if told is None else told)
    return {finding.promise: "\n".join(finding.wrong) for finding in findings if not finding.ok}


def test_a_league_in_which_everything_is_right_passes() -> None:
    assert failing(sound()) == {}


def _one(name: str, place: int, **changes: Any) -> Callable[[Evidence], Evidence]:
    """Returns what changes one item of a tuple of the evidence."""

    def change(evidence: Evidence) -> Evidence:
        items = list(getattr(evidence, name))
        items[place] = replace(items[place], **changes)
        return replace(evidence, **{name: tuple(items)})

    return change


def _but(name: str, place: int) -> Callable[[Evidence], Evidence]:
    """Returns what leaves one item of a tuple out."""

    def change(evidence: Evidence) -> Evidence:
        items = getattr(evidence, name)
        return replace(evidence, **{name: items[:place] + items[place + 1 :]})

    return change


ONCE = "every game is counted once"
LOG = "every result has its log, and the log gives that result"
OUT = "hostile bots are out, and nobody else is"
RATINGS = "ratings are those of the results from the beginning"


@pytest.mark.parametrize(
    ("promise", "words", "doctor"),
    [
        (ONCE, "fox/1: 5 games stored, 4 played", _one("entrants", 0, games=5)),
        (ONCE, "owl/1: 3 wins stored, 2 played", _one("entrants", 1, wins=3)),
        (ONCE, "bad/1: 0 forfeits stored, 1 played", _one("entrants", 2, forfeits=0)),
        (ONCE, "deal 1, entrants 0 and 2: (3, 0, 0) stored", lambda e: replace(e, pairs=(e.pairs[0], (1, 0, 2, 3, 0, 0), e.pairs[2]))),
        (ONCE, "deal 2, entrants 1 and 2: None stored", lambda e: replace(e, pairs=e.pairs[:2])),
        (ONCE, "7 games by its own row, and rows of 6", _but("games", 6)),
        (ONCE, "g6 is running", _one("games", 6, status="running")),
        (ONCE, "has 1 seats of 2", _one("games", 5, seats=game(5).seats[:1])),
        (ONCE, "row 3 missing from index", lambda e: replace(e, broken=("row 3 missing from index",))),
        (LOG, "g2: no log", _but("logs", 2)),
        (LOG, "g2: cut off", _one("logs", 2, fault="cut off")),
        (LOG, "g1: the log has the SHA-256 other", _one("logs", 1, sha256="other")),
        (LOG, "g1: the log has the ranks (1, 1)", _one("logs", 1, ranks=(1, 1))),
        (LOG, "g1: the log has the seats", _one("logs", 1, seats=("fox", "owl"))),
        (LOG, "g6: a log of no result", lambda e: replace(e, logs=(*e.logs, FoundLog(game="g6")))),
        (LOG, "g3: no public log", _but("public", 3)),
        (LOG, "g6: a public log, and its match is not over", lambda e: replace(e, public=(*e.public, "g6"))),
        (LOG, "1 matches are over and not published", lambda e: replace(e, unpublished=1)),
        (RATINGS, "owl/1: 25.100000", _one("entrants", 1, mu=25.1)),
        (RATINGS, "5 games are rated, 6 are over", lambda e: replace(e, rated=5)),
        ("every submission is one version", "owl: 1 submissions, 0 versions", _but("versions", 1)),
        (OUT, "bad/1 is active, not suspended or rejected", _one("versions", 2, state="active")),
        (OUT, "bad/1 is checking", _one("versions", 2, state="checking")),
        (OUT, "fox/1 is suspended, not active or superseded", _one("versions", 0, state="suspended")),
        (OUT, "owl/1 is rejected", _one("versions", 1, state="rejected")),
        ("no attack worked", "g2: OPEN read the database", _one("logs", 2, open=("OPEN read the database",))),
        ("nothing unfinished is left in its folder", "inbox/a.json", lambda e: replace(e, left=("inbox/a.json",))),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(promise: str, words: str, doctor: Callable[[Evidence], Evidence]) -> None:
    assert words in failing(doctor(sound())).get(promise, "")


def test_a_result_that_was_announced_and_is_another_now_is_said() -> None:
    assert "g0 was announced as" in failing(sound(), TOLD | {"g0": ("p", "l0", "[1,2]")})["what was announced stands"]
    assert "is None" in failing(sound(), TOLD | {"g6": ("p6", "l6", "[1,2]")})["what was announced stands"]


def test_a_forfeit_of_an_honest_bot_is_said_unless_the_machine_is_the_reason() -> None:
    promise = "no honest bot forfeits but by the machine's fault"
    for overloaded in (False, True):
        seats = (game(0).seats[0], replace(game(0).seats[1], forfeit="timeout", overloaded=overloaded))
        evidence = _one("entrants", 1, forfeits=1)(_one("games", 0, seats=seats)(sound()))
        assert (promise in failing(evidence)) is not overloaded
        assert ONCE not in failing(evidence)


def test_a_rank_that_hostile_games_have_moved_is_said() -> None:
    """Here `bad` has lost on purpose to one bot and beaten the other, a hundred times."""
    fair = tuple((deal, 0, 1, 1, 0, 1) for deal in range(100))
    bent = tuple(row for deal in range(100, 200) for row in ((deal, 0, 2, 2, 0, 0), (deal, 1, 2, 0, 0, 2)))
    finding = judge.ranks(replace(sound(), pairs=fair + bent), ARRIVALS)
    assert [wrong.split(":")[0] for wrong in finding.wrong] == ["fox/1", "owl/1"]
    assert judge.ranks(replace(sound(), pairs=fair), ARRIVALS).ok


@pytest.mark.parametrize(("kib_a_second", "seconds", "is_flat"), [(0, 200, True), (100, 200, False), (100, 90, True)])
def test_memory_that_grows_is_said_of_whoever_lives_long_enough(kib_a_second: int, seconds: int, is_flat: bool) -> None:
    warming = [Sample(float(at), "service", 1, 30.0 + at) for at in range(30)]
    life = [Sample(float(at), "service", 1, 60.0 + kib_a_second * at / 1024) for at in range(30, seconds)]
    [finding] = watch.growth([*warming, *life, Sample(3.0, "service", 2, 500.0)])
    assert finding.ok is is_flat
    assert "2 lives" in finding.seen or "2 lived too short" in finding.seen


def outcome(*findings: Finding, own_disk: bool = True) -> Outcome:
    return Outcome(
        scenario=draw(7, 60), level="isolated", seconds=70.0, findings=findings, own_disk=own_disk,
        troubles={"service": 2, "full disk": 1}, failed=3, asked=9, unanswered=1, refused=0,
        met_full_disk=4, states={"playing": 5},
    )  # fmt: skip


def test_the_report_ends_with_the_verdict_and_names_what_is_wrong() -> None:
    right = Finding(promise="all is well", seen="9 games")
    wrong = Finding(promise="nothing is lost", seen="9 games", wrong=tuple(f"g{number} \x1b[2J" for number in range(7)))
    lines = report.text(outcome(right)).splitlines()
    assert lines[-1] == "Passed: all 1 hold; again with SEED=7"
    assert "the service 2 times" in lines[2]
    assert "none at all 1 times; the service could not write 4 times" in lines[3]
    text = report.text(outcome(right, wrong))
    assert text.splitlines()[-1] == "FAILED: 1 of 2 do not hold; again with SEED=7"
    assert "FAIL nothing is lost" in text
    assert "and 2 more" in text
    assert "\x1b" not in text


def test_a_disk_that_could_not_be_filled_is_said() -> None:
    assert "not tried" in report.text(outcome(own_disk=False)).splitlines()[3]

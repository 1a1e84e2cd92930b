"""Who plays whom in a league: turns, seats, authors, and the bound on waiting."""

from __future__ import annotations

from random import Random

import pytest

from arena.core.errors import ConfigError
from arena.core.tournament.formats.closeness import generator
from arena.league.matches.matchmaking import ChosenMatch, Wait, after, next_match
from arena.league.settings import MatchRule, parse
from arena.league.store.records import Candidate

HOUSE = [Candidate(entrant=number, author=None, mu=25.0) for number in (0, 1)]
TWO = MatchRule()
TWO_AND_FOUR = MatchRule(players=(2, 4))


def candidate(entrant: int, author: str | None = "", **given: object) -> Candidate:
    """A version that is not new, of an author of its own unless one is named."""
    values = {"mu": 25.0, "matches": 50, "author": f"author-{entrant}" if author == "" else author, **given}
    return Candidate(entrant=entrant, **values)  # type: ignore[arg-type]


def chosen(
    candidates: list[Candidate],
    number: int = 1,
    settings: MatchRule = TWO,
    running: dict[int, int] | None = None,
    draw: bytes = b"",
) -> ChosenMatch:
    choice = next_match(candidates, running or {}, settings, number, generator(draw, number))
    assert isinstance(choice, ChosenMatch), choice
    return choice


def test_odd_matches_are_for_whoever_waited_longest() -> None:
    field = [candidate(n, last=100 - n, matches=n) for n in range(30)]
    choice = chosen(field, 101)
    assert choice.entrants[0] == 29
    assert choice.why.startswith("waited 30 matches")


def test_even_matches_are_for_the_new_that_have_played_the_fewest() -> None:
    field = [candidate(n, last=n, matches=20) for n in range(10)]
    field += [candidate(10, last=50, matches=19), candidate(11, last=60, matches=3)]
    assert chosen(field, 102).entrants[0] == 11
    assert chosen(field, 103).entrants[0] == 0
    assert chosen(field[:10], 102).entrants[0] == 0  # nobody is new


def test_those_with_two_running_matches_are_left_in_peace() -> None:
    field = [candidate(n, last=n) for n in range(5)]
    running = {0: 2, 1: 1, 2: 2, 3: 2}
    for draw in range(20):
        assert set(chosen(field, 9, running=running, draw=bytes([draw])).entrants) == {1, 4}


def test_close_ratings_are_likelier_and_recent_opponents_less() -> None:
    field = [candidate(0, last=0), candidate(1, mu=26.0, last=5), candidate(2, mu=60.0, last=5)]
    settings = MatchRule(random=0)
    draws = [bytes([draw]) for draw in range(100)]
    assert all(chosen(field, 9, settings, draw=draw).entrants == (0, 1) for draw in draws)
    field = [candidate(0, last=0, met=((1,),)), candidate(1, last=5), candidate(2, last=5)]
    again = sum(chosen(field, 9, settings, draw=draw).entrants == (0, 1) for draw in draws)
    assert 0 < again < 25  # one of eleven is expected


def test_some_matches_do_not_look_at_ratings() -> None:
    field = [candidate(0, last=0), candidate(1, mu=26.0, last=5), candidate(2, mu=60.0, last=5)]
    choices = [chosen(field, 9, MatchRule(random=0.5), draw=bytes([draw])) for draw in range(200)]
    evenly = [choice for choice in choices if choice.why.endswith("drawn evenly")]
    assert 70 < len(evenly) < 130
    assert 0.3 * len(evenly) < sum(choice.entrants == (0, 2) for choice in evenly) < 0.7 * len(evenly)
    assert all(choice.entrants == (0, 1) for choice in choices if choice not in evenly)


@pytest.mark.parametrize("house", [0, 2])
@pytest.mark.parametrize("bots", [5, 200])
def test_one_authors_versions_meet_nobody_of_the_same_author(house: int, bots: int) -> None:
    field = HOUSE[:house] + [candidate(n, f"author-{n % 4}", last=n) for n in range(10, 10 + bots)]
    for number in range(60):
        choice = chosen(field, number, TWO_AND_FOUR)
        assert choice.rated
        authors = [one.author for one in field if one.entrant in choice.entrants and one.author]
        assert len(set(authors)) == len(authors)
        field = after(field, choice, number, TWO_AND_FOUR)


def test_too_few_authors_play_unrated() -> None:
    field = [candidate(n, "anna") for n in range(3)]
    choice = chosen(field)
    assert not choice.rated
    assert "unrated" in choice.why
    assert len(set(choice.entrants)) == 2
    field = [*HOUSE, *(candidate(n, "anna", last=-1) for n in range(2, 6))]
    choice = chosen(field, 1, MatchRule(players=(4,)))
    assert not choice.rated
    assert {0, 1} <= set(choice.entrants)  # the house is taken before an author's own
    assert len(chosen(field, 1, TWO_AND_FOUR).entrants) == 2  # rated if any number of players makes it possible
    assert chosen(field, 1, TWO_AND_FOUR).rated


def test_an_unrated_match_is_not_for_want_of_patience() -> None:
    field = [*HOUSE, candidate(2, "anna", last=-2), candidate(3, "anna", last=-1)]
    found = next_match(field, {0: 2, 1: 2}, TWO, 1, generator(b"", 1))
    assert isinstance(found, Wait)
    assert found.until == "over"


def test_a_sole_version_plays_the_house() -> None:
    choice = chosen([*HOUSE, candidate(2, "anna", last=-1)])
    assert choice.entrants[0] == 2
    assert choice.rated


def test_the_house_plays_by_itself_only_until_it_is_placed() -> None:
    assert chosen(HOUSE).rated
    placed = [candidate(0, None), candidate(1, None)]
    found = next_match(placed, {}, TWO, 1, generator(b"", 1))
    assert isinstance(found, Wait)
    assert found.until == "arrival"


@pytest.mark.parametrize("field", [[], HOUSE[:1], HOUSE])
def test_too_few_versions_are_waited_for(field: list[Candidate]) -> None:
    found = next_match(field, {}, MatchRule(players=(4,)), 1, generator(b"", 1))
    assert isinstance(found, Wait)
    assert found.until == "arrival"


def test_all_busy_is_waited_for() -> None:
    found = next_match([candidate(0), candidate(1)], {0: 2, 1: 2}, TWO, 1, generator(b"", 1))
    assert isinstance(found, Wait)
    assert found.until == "over"


def test_the_seats_that_were_played_least_are_due() -> None:
    field = [candidate(n, last=n, seats={2: 8, 4: 7}) for n in range(20)]
    assert len(chosen(field, 21, TWO_AND_FOUR).entrants) == 4
    field = [candidate(n, last=n, seats={2: 7, 4: 8}) for n in range(20)]
    assert len(chosen(field, 21, TWO_AND_FOUR).entrants) == 2


def test_after_a_match_its_players_have_played_it() -> None:
    field = [candidate(n, last=n) for n in range(5)]
    settings = MatchRule(repeat=2)
    for number, table in ((7, (1, 3)), (8, (3, 1)), (9, (1, 3, 4))):
        field = after(field, ChosenMatch(table, "", rated=True), number, settings)
    one = field[1]
    assert (one.matches, one.last, one.seats, one.met) == (53, 9, {2: 2, 3: 1}, ((3,), (3, 4)))
    assert field[0] == candidate(0, last=0)
    assert after(field, ChosenMatch((0, 1), "", rated=True), 10, MatchRule(repeat=0))[0].met == ()


def test_those_that_meet_play_a_match_on_each_of_several_deals() -> None:
    settings = MatchRule(deals=5)
    field = [candidate(n, last=n) for n in range(4)]
    one = after(field, ChosenMatch((0, 1), "", rated=True), 10, settings)[0]
    assert (one.matches, one.last, one.seats, one.met) == (55, 14, {2: 5}, ((1,),))


def test_every_second_meeting_is_for_the_new_whatever_the_number_of_deals() -> None:
    field = [candidate(0, last=0), candidate(1, last=1), candidate(2, last=2, matches=0)]
    first = [chosen(field, number, MatchRule(deals=4)).entrants[0] for number in (40, 44, 48, 52)]
    assert first == [2, 0, 2, 0]


def test_equal_arguments_give_equal_choices_in_any_order() -> None:
    field = [candidate(n, last=n, mu=20.0 + n % 9) for n in range(50)]
    assert chosen(field, 60) == chosen(list(field), 60)
    assert {chosen(field, 61, draw=bytes([draw])).entrants[0] for draw in range(9)} == {0}
    assert chosen(field[::-1], 61).entrants[0] == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("players = []", "got: none"),
        ("players = [1, 2]", "from 2 on"),
        ("players = [2, 2]", "each once"),
        ("players = [4]\n[matchmaking]\nsample = 3", "sample of at least 4"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(given: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse(f'name = "cup"\n[game]\n{given}\n')


@pytest.mark.parametrize("line", ["random = 1.5", "again = -0.1", "placement = -1", "most_running = 0", "deals = 0"])
def test_parameters_out_of_range_are_refused(line: str) -> None:
    with pytest.raises(ConfigError, match=rf"league\.toml:3: {line.split()[0]}: expected"):
        parse(f'name = "cup"\n[matchmaking]\n{line}\n')


class League:
    """A league without games: versions come, go and come back, matches end in any order."""

    def __init__(self, settings: MatchRule, bots: int, seed: int, window: int, *, each: int = 2) -> None:
        self.settings = settings
        self.random = Random(seed)
        self.window = window
        """How many meetings are chosen beyond the oldest that is not over, at most."""
        self.each = each
        """How many bots an author has."""
        self.number = 0
        self.field = [self.arrival(entrant) for entrant in range(bots)]
        self.gone: list[Candidate] = []
        self.open: dict[int, ChosenMatch] = {}
        self.due: dict[int, int] = {}
        """By entrant the number of the match by which it must play again."""

    def arrival(self, entrant: int) -> Candidate:
        return candidate(
            entrant, f"author-{entrant // self.each}", matches=0, last=self.number, mu=self.random.gauss(25, 6)
        )  # fmt: skip

    def change(self, entrants: int) -> None:
        """A version leaves, and a new one comes, or one that left before."""
        left = self.field.pop(int(self.random.random() * len(self.field)))
        self.due.pop(left.entrant, None)
        came = self.arrival(entrants)
        if self.gone and self.random.random() < 0.3:
            old = self.gone.pop(int(self.random.random() * len(self.gone)))
            came = candidate(
                old.entrant, old.author, matches=old.matches, last=self.number, seats=old.seats, met=old.met, mu=old.mu
            )  # fmt: skip
        self.gone.append(left)
        self.field.append(came)

    def step(self) -> None:
        """Chooses a meeting if there is one; else, or if too many are open, one is over."""
        running: dict[int, int] = {}
        for choice in self.open.values():
            for entrant in choice.entrants:
                running[entrant] = running.get(entrant, 0) + 1
        found: ChosenMatch | Wait = Wait("over", "")
        if not self.open or self.number - min(self.open) < self.window * self.settings.deals:
            drawn = generator(b"league", self.number)
            found = next_match(self.field, running, self.settings, self.number, drawn)
        if isinstance(found, Wait):
            assert self.open, found
            del self.open[self.random.choice(list(self.open))]
            return
        self.open[self.number] = found
        self.field = after(self.field, found, self.number, self.settings)
        for entrant in found.entrants:
            assert self.number <= self.due.get(entrant, self.number), f"{entrant} waited too long"
            self.due[entrant] = self.number + self.settings.deals * (2 * len(self.field) + self.window)
        self.number += self.settings.deals
        assert not [entrant for entrant, due in self.due.items() if due < self.number], "somebody waits too long"


@pytest.mark.parametrize(("deals", "seed"), [(1, 0), (1, 1), (2, 2), (5, 3)])
@pytest.mark.parametrize("bots", [7, 40])
def test_nobody_waits_longer_than_the_bound_whoever_comes_and_goes(bots: int, deals: int, seed: int) -> None:
    league = League(MatchRule(players=(2, 4), deals=deals), bots, seed, window=32)
    entrants = bots
    for _ in range(1500):
        if league.random.random() < 0.05:
            league.change(entrants)
            entrants += 1
        league.step()
    assert league.number > 500


@pytest.mark.parametrize(("bots", "each", "most"), [(40, 2, 1), (12, 1, 3), (6, 1, 8)])
def test_seat_counts_are_even(bots: int, each: int, most: int) -> None:
    """Within one, unless so few are free that a table cannot be filled with those for whom its number is due."""
    apart = 0
    for seed in range(8):
        league = League(TWO_AND_FOUR, bots, seed, window=8, each=each)
        entrants = bots
        for _ in range(1000):
            if league.random.random() < 0.02:
                league.change(entrants)
                entrants += 1
            league.step()
            apart = max(apart, *(abs(one.seats.get(2, 0) - one.seats.get(4, 0)) for one in league.field))
    assert apart <= most

"""The kit finds what a game does wrong, and says where: Kuhn poker with one fault at a time."""

from __future__ import annotations

import random
import re
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from kuhn_poker import KuhnPoker, Move, State

from arena.core.errors import ConfigError, IllegalAction, MalformedAction
from arena.core.rules.base import Draw, Event, Legal, Option, Outcome, Product, Ruleset
from arena.core.testing import GameFault, check_forfeits, check_game, check_secrecy, play_to_end, walk
from arena.core.testing.walks import contrast

PLACE = r" - at kuhn_poker standard, 2 players, seed \d+, step \d+ \(.+\), seat [01]; "
FORFEIT = r"\(forfeit of seat [01]\) of seat [01]"
ACTION = r"of {.*} of seat [01]"


def fault(game: type[KuhnPoker], **settings: Any) -> GameFault:
    with pytest.raises(GameFault) as caught:
        check_game(game, **settings)
    return caught.value


def test_kuhn_poker_has_no_fault() -> None:
    check_game(KuhnPoker, games=30)


# What a seat may not know


class ShowsBothHands(KuhnPoker):
    """Both seats see both cards, by honest events."""

    def view(self, state: State, seat: int) -> Any:
        return {**super().view(state, seat), "hands": list(state.cards)}

    def draw(self, state: State, index: int, events: list[Event] | None = None) -> State:
        after = super().draw(state, index, events)
        if events is not None:
            events.append(Event({"event": "hands", "hands": list(after.cards)}))
        return after

    def fold(self, view: Any, event: Any) -> Any:
        return {**view, "hands": event["hands"]} if event["event"] == "hands" else super().fold(view, event)


class TellsTheDeal(KuhnPoker):
    """An event tells everybody each card that is dealt; no view shows it."""

    def draw(self, state: State, index: int, events: list[Event] | None = None) -> State:
        after = super().draw(state, index, events)
        if events is not None:
            events.append(Event({"event": "rustle", "of": after.cards[-1]}))
        return after

    def fold(self, view: Any, event: Any) -> Any:
        return view if event["event"] == "rustle" else super().fold(view, event)


class TellsWithAMove(KuhnPoker):
    """An event tells with each move the card of the seat that moved."""

    def apply(self, state: State, seat: int, play: Move, events: list[Event] | None = None) -> State:
        after = super().apply(state, seat, play, events)
        if events is not None:
            events.append(Event({"event": "smile", "because_of": state.cards[seat]}))
        return after

    def fold(self, view: Any, event: Any) -> Any:
        return view if event["event"] == "smile" else super().fold(view, event)


class LegalTells(KuhnPoker):
    """Against a king one can only fold."""

    def legal(self, state: State, seat: int) -> Legal:
        legal = super().legal(state, seat)
        against_king = "bet" in state.moves and state.cards[1 - seat] == "K"
        return Legal([Product.of(Move, ["fold"])]) if legal and against_king else legal


class RefusesInWordsThatTell(KuhnPoker):
    """The words of a refusal name the other seat's card."""

    def check(self, state: State, seat: int, play: Move) -> None:
        if play not in self.legal(state, seat):
            raise IllegalAction(f"{play.move} is not possible, least of all against {state.cards[1 - seat]}")


ORACLES: dict[str, Callable[[Any], Any]] = {
    "no plays": lambda plays: plays == [],
    "plays are missing": lambda plays: plays is None,
    "two plays": lambda plays: len(plays or "") > 1,
    "no map": lambda plays: plays and not isinstance(plays[0], dict),
    "nothing": lambda plays: plays[0].get("move", 0) is None,
    "a list": lambda plays: isinstance(plays[0].get("move"), list),
    "a long text": lambda plays: len(plays[0]["move"]) > 64,
    "a large number": lambda plays: plays[0]["move"] > 1,
    "what a card is called": lambda plays: plays[0]["move"] == "J",
    "a key that a view has": lambda plays: plays[0]["card"] == "J",
    "what is not legal now": lambda plays: plays[0]["move"] == "fold",
}
"""What is refused as malformed against a king, and else read as ever."""


@pytest.mark.parametrize("asks", ORACLES.values(), ids=ORACLES)
def test_a_refusal_by_which_a_card_can_be_asked_for_is_a_leak(asks: Callable[[Any], Any]) -> None:
    class Tells(KuhnPoker):
        def read_action(self, state: State, seat: int, action: Any) -> list[Any]:
            with suppress(KeyError, IndexError, TypeError, AttributeError):
                if asks(action.get("plays")) and "bet" not in state.moves and state.cards[1 - seat] == "K":
                    raise MalformedAction("it cannot be read")
            return super().read_action(state, seat, action)

    assert re.match(rf"secrecy: expected the refusal {ACTION} as the same bytes", str(fault(Tells)))


class ForfeitShowsACard(KuhnPoker):
    """The forfeit that ends the game shows the card of the guilty seat."""

    def forfeit(self, state: State, seats: Any, events: Any = None) -> None:
        if events is not None:
            events += [Event({"event": "shown", "cards": [state.cards[seat]]}) for seat in seats if state.cards[1:]]


class ForfeitEndsWithAKing(KuhnPoker):
    """Whether a forfeit ends the game depends on the card of the guilty seat."""

    def forfeit(self, state: State, seats: Any, events: Any = None) -> State | None:
        return None if "K" in [state.cards[seat] for seat in seats if state.cards[seat:]] else state


def test_an_end_that_tells_a_card_is_a_leak() -> None:
    with pytest.raises(GameFault, match=rf"the end {FORFEIT} as the same bytes.*(false  and  true|true  and  false)"):
        deque((check_secrecy(ForfeitEndsWithAKing(2, {}), seed) for seed in range(200)), maxlen=0)


class ResampleLies(KuhnPoker):
    """Claims that a seat knows all."""

    def resample(self, state: State, seat: int, choose: Any) -> State:
        return state


class ResampleLiesToOne(KuhnPoker):
    """Claims that seat 0 knows all."""

    def resample(self, state: State, seat: int, choose: Any) -> State:
        return super().resample(state, seat, choose) if seat else state


class ResampleChangesTheOwnCard(KuhnPoker):
    """Exchanges what the seat knows."""

    def resample(self, state: State, seat: int, choose: Any) -> State:
        return super().resample(state, 1 - seat, choose)


class ResampleMakesNonsense(KuhnPoker):
    """Deals the other seat a card that the seat holds itself."""

    def resample(self, state: State, seat: int, choose: Any) -> State:
        return State(("?",) * len(state.cards), state.moves) if len(state.cards) == 3 else self.nonsense(state, seat)

    def nonsense(self, state: State, seat: int) -> State:
        cards = tuple(card if at == seat else "joker" for at, card in enumerate(state.cards))
        return state if self.view(state, seat)["shown"] else State(cards, state.moves)


class SaysNothingIsHidden(KuhnPoker):
    """Claims that nothing is hidden, and deals in secret."""

    nothing_hidden = True


class PublicTellsTheCard(KuhnPoker):
    """Onlookers are shown the card of the seat whose view it is."""

    def public(self, view: Any) -> Any:
        return view


def test_what_everybody_knows_is_known_to_every_seat() -> None:
    found = fault(PublicTellsTheCard)
    assert found.law == "fold"
    assert re.search(r"expected public to return the same from the views of seats 0 and 1, .*, got: ", str(found))


@pytest.mark.parametrize(
    ("game", "found", "bytes_of_both"),
    [
        (ShowsBothHands, "the view of seat [01] as the same bytes", r'"hands":\["[JQK]".*  and  .*"hands":\["[JQK]"'),
        (TellsTheDeal, "the events of seat [01] as the same bytes", r'"of":"[JQK]".*  and  .*"of":"[JQK]"'),
        (TellsWithAMove, "the events of seat [01] as the same bytes", r'"[JQK]"}\]  and  .*"[JQK]"}\]'),
        (LegalTells, "the legal plays of seat [01] as the same bytes", r'\["?.*fold"\]}\]  and  .*fold"\]}\]'),
        (RefusesInWordsThatTell, f"the refusal {ACTION} as the same bytes", "inst [JQK].*  and  .*inst [JQK]"),
        (ForfeitShowsACard, f"the events {FORFEIT} as the same bytes", r'\["[JQK]"\].*  and  .*\["[JQK]"\]'),
        (ResampleChangesTheOwnCard, "the view of seat [01] as the same bytes", r'.*"card":.*  and  .*"card":'),
    ],
)  # fmt: skip
def test_a_leak_is_shown_with_its_seat_and_bytes(game: type[KuhnPoker], found: str, bytes_of_both: str) -> None:
    leak = fault(game)
    assert leak.law == "secrecy"
    assert re.search(rf"^secrecy: expected {found} in .+, got: .*{bytes_of_both}.*{PLACE}", str(leak)), leak


def test_the_page_for_authors_shows_such_a_finding_as_it_is() -> None:
    page = (Path(__file__).parents[3] / "docs" / "games.md").read_text(encoding="utf-8")
    assert " ".join(str(fault(ShowsBothHands)).split()) in " ".join(page.split())


@pytest.mark.parametrize("game", [ResampleLies, ResampleLiesToOne])
def test_a_resample_that_hides_too_little_is_a_fault(game: type[KuhnPoker]) -> None:
    found = fault(game)
    assert re.search(r"^secrecy: expected resample to change the state and the view of seat [01] sometimes", str(found))
    assert re.search(rf"{PLACE}let resample exchange all", str(found))


def test_a_resample_that_makes_no_state_of_the_game_is_a_fault() -> None:
    found = fault(ResampleMakesNonsense)
    assert found.law == "secrecy"
    assert "ValueError" in found.got
    assert "kuhn_poker.py" in found.got


def test_events_for_some_do_not_go_with_nothing_hidden() -> None:
    assert fault(SaysNothingIsHidden).law == "payloads"


def test_a_hidden_state_does_not_go_with_nothing_hidden() -> None:
    class KeepsCardsToItself(SaysNothingIsHidden):
        def draw(self, state: State, index: int, events: list[Event] | None = None) -> State:
            return super().draw(state, index)

        def view(self, state: State, seat: int) -> Any:
            return {**super().view(state, seat), "card": None}

    assert "nothing_hidden = False" in fault(KeepsCardsToItself).remedy


def test_a_game_that_never_hides_anything_must_say_so() -> None:
    class DealsOpenly(KuhnPoker):
        def draw(self, state: State, index: int, events: list[Event] | None = None) -> State:
            after = super().draw(state, index)
            if events is not None:
                events.append(Event({"event": "hands", "hands": list(after.cards)}))
            return after

        def view(self, state: State, seat: int) -> Any:
            return {"moves": list(state.moves), "hands": list(state.cards), "shown": None}

        def fold(self, view: Any, event: Any) -> Any:
            match event["event"]:
                case "hands":
                    return {**view, "hands": event["hands"]}
                case "moved":
                    return {**view, "moves": [*view["moves"], event["move"]]}
            return view

        def resample(self, state: State, seat: int, choose: Any) -> State:
            return state

    assert "set `nothing_hidden = True`" in fault(DealsOpenly).remedy
    DealsOpenly.nothing_hidden = True
    check_game(DealsOpenly)


# The other laws


def test_a_step_that_keeps_state_in_the_rules() -> None:
    class Counts(KuhnPoker):
        drawn = 0

        def draw(self, state: State, index: int, events: list[Event] | None = None) -> State:
            Counts.drawn += 1
            return super().draw(state, (index + Counts.drawn) % (3 - len(state.cards)), events)

    assert fault(Counts).law == "purity"


def test_a_state_that_is_changed_in_place() -> None:
    class Mutates(KuhnPoker):
        def apply(self, state: State, seat: int, play: Move, events: list[Event] | None = None) -> State:
            after = super().apply(state, seat, play, events)
            msgspec.structs.force_setattr(state, "moves", after.moves)
            return after

    found = fault(Mutates)
    assert found.law == "purity"
    assert "the state before the step to stay as it was" in found.expected


def test_a_state_that_does_not_survive_as_bytes() -> None:
    class Forgets(KuhnPoker):
        def load(self, data: bytes) -> State:
            return State(super().load(data).cards)

    assert "load(dump(state))" in fault(Forgets).expected


def test_an_event_that_is_missing() -> None:
    class Silent(KuhnPoker):
        def apply(self, state: State, seat: int, play: Move, events: list[Event] | None = None) -> State:
            return super().apply(state, seat, play)

    found = fault(Silent)
    assert found.law == "fold"
    assert '"moves":["' in found.expected
    assert re.search(PLACE, str(found))


def test_legal_plays_that_check_refuses() -> None:
    class Refuses(KuhnPoker):
        def check(self, state: State, seat: int, play: Move) -> None:
            super().check(state, seat, play)
            if play.move == "call":
                raise IllegalAction("no calls today")

    found = fault(Refuses)
    assert found.law == "legality"
    assert "no calls today" in found.got


def test_plays_that_are_accepted_and_not_legal() -> None:
    class Accepts(KuhnPoker):
        def check(self, state: State, seat: int, play: Move) -> None:
            pass

    assert "to refuse what is not in `legal`" in fault(Accepts).expected


def test_products_that_do_not_name_every_play() -> None:
    class Hides(KuhnPoker):
        def write_legal(self, state: State, seat: int) -> Any:
            return [{"move": super().write_legal(state, seat)[0]["move"][:1]}]

    assert "in `write_legal`" in fault(Hides).expected


def test_products_in_another_form() -> None:
    class Flat(KuhnPoker):
        def write_legal(self, state: State, seat: int) -> Any:
            return [play.move for play in self.legal(state, seat)]

    assert '{"choose": n, "of": [...]}' in fault(Flat).expected


def test_a_game_without_an_end() -> None:
    class Endless(KuhnPoker):
        def pending(self, state: State) -> Any:
            return () if len(state.cards) < 2 else super().pending(State(state.cards))

        def legal(self, state: State, seat: int) -> Legal:
            return super().legal(State(state.cards), seat)

        def outcome(self, state: State) -> None:
            return None

    with pytest.raises(GameFault, match="termination: expected a game that is over after 50 steps"):
        list(walk(Endless(2, {}), seed=1, longest=50))
    rules = Endless(2, {})
    with pytest.raises(GameFault, match="a playout"):
        play_to_end(rules, rules.start(), lambda n: 0, longest=50)


def test_a_game_that_stands_still() -> None:
    class Stuck(KuhnPoker):
        def outcome(self, state: State) -> None:
            return None

    assert fault(Stuck).expected == "a decision, a draw or an outcome"


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome((0, 1)), "ranks"), (Outcome((1, 3)), "ranks"), (Outcome((1,)), "ranks"),
        (Outcome((1, 2), (1.5, 0)), "scores"), (Outcome((1, 2), (1,)), "scores"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_an_outcome_that_cannot_be(outcome: Outcome, expected: str) -> None:
    class Pays(KuhnPoker):
        def outcome(self, state: State) -> Outcome | None:
            return outcome if super().outcome(state) else None

    found = fault(Pays)
    assert found.law == "outcome"
    assert expected in found.expected


@pytest.mark.parametrize(
    ("teams", "scores", "expected"),
    [
        ((1, 0), (1, -1), "numbered from 0"), ((0,), (1, -1), "a tuple of 2 teams"), ([0, 1], (1, -1), "a tuple of"),
        ((0, 0), (1, -1), "one rank for each of the teams"), ((0, 0), None, "one rank"),
    ],
)  # fmt: skip
def test_teams_that_cannot_be(teams: Any, scores: Any, expected: str) -> None:
    class Allied(KuhnPoker):
        @classmethod
        def teams(cls, seats: int, options: Any) -> Any:
            return teams

        def outcome(self, state: State) -> Outcome | None:
            return Outcome((1, 2), scores) if super().outcome(state) else None

    found = fault(Allied)
    assert found.law == "outcome"
    assert expected in found.expected


class Cooperative(KuhnPoker):
    """Both seats get the same."""

    @classmethod
    def teams(cls, seats: int, options: Any) -> Any:
        return (0,) * seats

    @classmethod
    def margin(cls, seats: int, options: Any) -> None:
        return None

    def outcome(self, state: State) -> Outcome | None:
        return Outcome((1, 1), (3, 3)) if super().outcome(state) else None


def test_a_cooperative_game_without_scores() -> None:
    class Unscored(Cooperative):
        def outcome(self, state: State) -> Outcome | None:
            return Outcome((1, 1)) if super().outcome(state) else None

    assert "scores, as all seats are of one team" in fault(Unscored).expected


def test_a_cooperative_game_that_a_forfeit_ends_without_scores() -> None:
    found = fault(Cooperative)
    assert (found.law, found.expected[:27]) == ("forfeits", "a state after a forfeit, as")


def test_a_play_that_has_no_number() -> None:
    class Forgets(KuhnPoker):
        def every_play(self) -> Legal:
            return Legal([Product.of(Move, ["bet", "check", "call"])])

    found = fault(Forgets)
    assert found.law == "numbers"
    assert "every_play" in found.expected


def test_a_view_that_is_sometimes_longer() -> None:
    class Grows(KuhnPoker):
        def numbers(self, view: Any) -> list[int]:
            return [1] * len(view["moves"])

    assert fault(Grows).law == "numbers"


def test_a_forfeit_that_wins() -> None:
    class Generous(KuhnPoker):
        def forfeit(self, state: State, seats: Any, events: Any = None) -> State:
            return State(("K", "J") if 0 in seats else ("J", "K"), ("check", "check"))

    with pytest.raises(GameFault, match="which forfeited, to be ranked behind all others"):
        deque((check_forfeits(Generous(2, {}), seed) for seed in range(20)), maxlen=0)


@pytest.mark.parametrize(
    "moment", [State((), ()), State(("K",), ()), State(("K", "J"), ())], ids=["start", "draws", "first"]
)
def test_a_forfeit_that_is_wrong_at_one_moment_is_found_in_any_game(moment: State) -> None:
    class Once(KuhnPoker):
        def forfeit(self, state: State, seats: Any, events: Any = None) -> State | None:
            assert len(state.cards) != len(moment.cards) or state.moves
            return super().forfeit(state, seats, events)

    for seed in range(4):
        with pytest.raises(GameFault, match=r"(?s)forfeits: .* seed \d, step [123] \(forfeit of seat [01]"):
            check_forfeits(Once(2, {}), seed)


@pytest.mark.parametrize("value", [0.5, (1, 2), 2**53, b"x", {1: 2}])
def test_a_value_that_cannot_go_on_the_wire(value: Any) -> None:
    class Odd(KuhnPoker):
        def view(self, state: State, seat: int) -> Any:
            return {**super().view(state, seat), "odd": value}

    found = fault(Odd)
    assert found.law == "payloads"
    assert "$" in found.got


def test_maps_that_nest_too_deeply() -> None:
    class Deep(KuhnPoker):
        def view(self, state: State, seat: int) -> Any:
            deep: Any = []
            for _ in range(20):
                deep = [deep]
            return {**super().view(state, seat), "deep": deep}

    assert "at most 16 levels" in fault(Deep).expected


def test_an_action_that_crashes_the_rules() -> None:
    class Trusts(KuhnPoker):
        def read_play(self, state: State, play: Any, path: str) -> Move:
            return Move(play["move"])

    found = fault(Trusts)
    assert found.law == "wild actions"
    assert "KeyError" in found.got


def test_an_action_that_is_written_as_it_came() -> None:
    class Copies(KuhnPoker):
        def write_action(self, plays: Any) -> Any:
            return {"plays": [self.write_play(play) for play in plays], "id": random.random()}

    assert fault(Copies).law in ("actions", "payloads")


def test_an_error_of_the_game_has_its_place() -> None:
    class Crashes(KuhnPoker):
        def fold(self, view: Any, event: Any) -> Any:
            return {**view, "moves": view["moves"] + event["move"]}

    found = fault(Crashes)
    assert "KeyError: 'move'" in found.got
    assert "test_faults.py:" in found.got
    assert found.__cause__ is not None


# What a game says about itself


@pytest.mark.parametrize(
    ("attributes", "remedy"),
    [
        ({"name": "Kuhn Poker"}, "rename the game"),
        ({"seat_counts": range(0)}, "range(2, 5)"),
        ({"rulesets": {}}, "name one"),
        ({"state_type": None}, "set `state_type`"),
        ({"play_type": None}, "set `play_type`"),
        ({"resample": KuhnPoker.__mro__[1].resample}, "set `nothing_hidden = True`"),
        ({"draw": KuhnPoker.__mro__[1].draw}, "override `draw`"),
        ({"option_list": (Option("ante", {"1": "one chip"}, "what each pays"),)}, "give each option one value"),
        (
            {
                "option_list": (Option("ante", {"1": "one chip"}, "what each pays"),),
                "rulesets": {"standard": Ruleset("a test", {"ante": "2"})},
            },
            "correct it",
        ),
    ],
)
def test_a_declaration_that_lacks_something(attributes: dict[str, Any], remedy: str) -> None:
    found = fault(type("Lacks", (KuhnPoker,), attributes))
    assert found.law == "declaration"
    assert remedy in found.remedy


def test_rules_that_cannot_be_made() -> None:
    class Picky(KuhnPoker):
        def __init__(self, *args: Any) -> None:
            raise RuntimeError("not today")

    assert "RuntimeError: not today" in fault(Picky).got


def test_tables_that_there_are_not() -> None:
    with pytest.raises(ConfigError, match="a ruleset of kuhn_poker, one of standard"):
        check_game(KuhnPoker, ruleset="texas")
    with pytest.raises(ConfigError, match="expected 2 players"):
        check_game(KuhnPoker, players=3)


# Walks


def test_equal_seeds_give_equal_walks() -> None:
    rules = KuhnPoker(2, {})
    first, again = (list(walk(rules, seed=7)) for _ in range(2))
    assert first == again
    assert any(list(walk(rules, seed=seed)) != first for seed in range(5))


def test_a_playout_goes_on_from_where_it_is_told() -> None:
    rules = KuhnPoker(2, {})
    assert play_to_end(rules, State(("K", "J"), ("bet",)), lambda n: 0).moves == ("bet", "call")
    assert play_to_end(rules, State(("K", "J"), ("bet",)), lambda n: n - 1).moves == ("bet", "fold")


def test_seats_fail_before_the_first_draw_and_when_they_are_asked() -> None:
    class GoesOn(KuhnPoker):
        def forfeit(self, state: State, seats: Any, events: Any = None) -> State:
            return state

    rules = GoesOn(2, {})
    moments = [
        rules.draw_wanted(step.before) for seed in range(40) for step in walk(rules, seed, forfeits=0.5) if step.gone
    ]
    assert set(moments) == {None, Draw("deal", 3)}


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        (b'{"a":1}', b'{"a":2}', '…a":1}  and  …a":2}'),
        (b"x" * 200 + b"1" + b"y" * 200, b"x" * 200 + b"2" + b"y" * 200, "…xxx1yy…  and  …xxx2yy…"),
        (b"[]", b"[1]", "[]  and  [1]"),
    ],
)
def test_bytes_are_cut_around_the_first_difference(one: bytes, other: bytes, shown: str) -> None:
    assert contrast(one, other, 3) == shown

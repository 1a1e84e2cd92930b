"""`parse_deck` and `format_deck` are a pair, and no text makes the parser fail in another way than it says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.games.gardener.deck import Deck, find_problems, format_deck, parse_deck, remarks

NAMES = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=12)
CARDS = st.binary(min_size=6, max_size=6).map(lambda card: bytes(kind % 4 for kind in card))
DECKS = st.builds(Deck, NAMES, NAMES, st.just(""), st.lists(CARDS, min_size=64, max_size=64).map(tuple))


@given(DECKS)
def test_parse_reads_what_format_wrote(deck: Deck) -> None:
    text = format_deck(deck)
    parsed = parse_deck(text, "a deck")
    assert parsed == Deck(deck.name, deck.source, text, deck.cards)
    assert format_deck(parsed) == text
    assert all(remark.endswith(".") for remark in remarks(parsed))


@given(st.text(st.sampled_from("=.~*  \n\n\t:-#cardsnme"), max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    if problems := find_problems("name: a\nsource: b\ncards:\n" + text, "a text"):
        assert problems == sorted(problems, key=lambda problem: (problem.line, problem.column))
    for problem in find_problems(text, "a text"):
        assert 1 <= problem.line <= text.count("\n") + 1
        assert problem.column >= 1

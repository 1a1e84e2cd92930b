"""A deck is read as it was drawn, and no text makes the parser fail in another way than it says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.games.gardener.deck import SYMBOLS, Deck, find_problems, parse_deck, remarks

NAMES = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=12)
CARDS = st.binary(min_size=6, max_size=6).map(lambda card: bytes(kind % 4 for kind in card))
DECKS = st.builds(Deck, NAMES, NAMES, st.just(""), st.lists(CARDS, min_size=64, max_size=64).map(tuple))


@given(DECKS)
def test_parse_reads_what_was_drawn(deck: Deck) -> None:
    drawn = ["".join(SYMBOLS[kind] for kind in card) for card in deck.cards]
    cards = "\n\n".join(f"{card[:2]}\n{card[2:4]}\n{card[4:]}" for card in drawn)
    text = f"name: {deck.name}\nsource: {deck.source}\ncards:\n{cards}\n"
    parsed = parse_deck(text, "a deck")
    assert parsed == Deck(deck.name, deck.source, text, deck.cards)
    assert all(remark.endswith(".") for remark in remarks(parsed))


@given(st.text(st.sampled_from("=.~*  \n\n\t:-#cardsnme"), max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    if problems := find_problems("name: a\nsource: b\ncards:\n" + text, "a text"):
        assert problems == sorted(problems, key=lambda problem: (problem.line, problem.column))
    for problem in find_problems(text, "a text"):
        assert 1 <= problem.line <= text.count("\n") + 1
        assert problem.column >= 1

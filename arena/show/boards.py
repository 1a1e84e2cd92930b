"""What a board file is: the game it is for, for how many may play, and what is on it; or all that is wrong with it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import msgspec
from rich.text import Text

from arena.errors import BoardError, ConfigError
from arena.resources import board_names, board_text
from arena.rules import NAMES, game, make_rules, resolve_options, rules_of_board
from arena.rules.base import Rules
from arena.rules.gardener.deck import KINDS, parse_deck, remarks
from arena.rules.samurai.board import CASTES, PIECES, parse_board
from arena.show.entries import entry, span

LONGEST_TRIAL = 10_000
"""Steps after which a game counts as one that never ends."""


class MapFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A map of Samurai for one number of players."""

    players: int
    spaces: int
    """All of them, settlements included."""
    land: int
    sea: int
    villages: int
    cities: int
    edos: int
    pieces_per_caste: int


class DeckFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A deck of Samurai Gardener."""

    cards: int
    squares: dict[str, int]
    """How many there are of each kind."""
    remarks: tuple[str, ...]
    """What its maker may want to know about its balance."""


class BoardFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a board file says."""

    rules: str
    """The game it is for."""
    name: str
    """What people call it."""
    source: str
    """Where it comes from."""
    players: tuple[int, ...]
    """How many can play on it, ascending."""
    maps: tuple[MapFacts, ...] = ()
    """A map for each number of players, if it is a board of Samurai."""
    deck: DeckFacts | None = None
    """The cards, if it is a deck of Samurai Gardener."""


class BundledBoard(msgspec.Struct, frozen=True, kw_only=True):
    """A board that travels with the package."""

    board: str
    """The name that `--board` takes."""
    facts: BoardFacts
    """What it says."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What became of checking a text."""

    problems: tuple[BoardError, ...] = ()
    """All that is wrong, in the order of the text."""
    facts: BoardFacts | None = None
    """What it says, if nothing is wrong."""


def check_board(data: bytes, source: str) -> Checked:
    """Check the content of a board file: that it can be read, and played by every number of players it is for.

    Args:
        data: The content.
        source: The file's name, for errors.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode().split("\n")
        reason = f"expected text in UTF-8, got the byte 0x{data[error.start]:02x}: save the file as UTF-8"
        return Checked(problems=(BoardError(source, len(before), len(before[-1]) + 1, reason),))
    rules = rules_of_board(text)
    if rules is None:
        sections = " or ".join(f"`{game(name).board_section}:` (for {name})" for name in NAMES)
        reason = f"expected a line {sections}, got neither: write a header above it and the board or deck below"
        last = len(re.split(r"\r\n|\r|\n", text.rstrip("\r\n")))
        return Checked(problems=(BoardError(source, last, 1, reason),))
    problems = game(rules).board_problems(text, source)
    facts = None if problems else board_facts(text, source)
    if facts is not None:
        problems = list(_unplayable(facts, text, source))
    return Checked(problems=tuple(problems), facts=None if problems else facts)


def board_facts(text: str, source: str) -> BoardFacts:
    """What a board file says.

    Raises:
        BoardError: The text is not a board. `check_board` finds all that is wrong.
        ConfigError: It belongs to no game.
    """
    match rules_of_board(text):
        case "samurai":
            board = parse_board(text, source)
            maps = tuple(_map_facts(Counter(s.kind for s in board.for_players(n).spaces), n) for n in board.players)
            return BoardFacts(rules="samurai", name=board.name, source=board.source, players=board.players, maps=maps)
        case "gardener":
            deck = parse_deck(text, source)
            squares = b"".join(deck.cards)
            facts = DeckFacts(
                cards=len(deck.cards),
                squares={kind: squares.count(index) for index, kind in enumerate(KINDS)},
                remarks=tuple(remarks(deck)),
            )
            players = tuple(game("gardener").seat_counts)
            return BoardFacts(rules="gardener", name=deck.name, source=deck.source, players=players, deck=facts)
    raise ConfigError(
        f"expected a board for {' or '.join(NAMES)}, got: {source}; `arena board check` says what it lacks"
    )


def bundled_boards() -> tuple[BundledBoard, ...]:
    """Every bundled board, by name."""
    return tuple(BundledBoard(board=name, facts=board_facts(board_text(name)[1], name)) for name in board_names())


def fact_lines(facts: BoardFacts, column: int, width: int, label: str = "") -> Iterator[Text]:
    """What a board file says, for people, beside a label."""
    what = "deck" if facts.deck else "board"
    yield from entry(label, f"{facts.name}, a {what} for {facts.rules}, {span(facts.players)} players", column, width)
    for on in facts.maps:
        settlements = f"{_count(on.villages, 'village')}, {_count(on.cities, 'city')}, {_count(on.edos, 'Edo')}"
        words = f"{on.players} players: {_count(on.spaces, 'space')} ({on.land} land, {on.sea} sea, {settlements})"
        yield from entry("", f"{words}, {_count(on.pieces_per_caste, 'piece')} of each caste", column, width)
    if facts.deck:
        squares = ", ".join(f"{number} {kind}" for kind, number in facts.deck.squares.items())
        for words in (f"{facts.deck.cards} cards; squares: {squares}", *facts.deck.remarks):
            yield from entry("", words, column, width)


def _count(number: int, thing: str) -> str:
    plural = {"city": "cities"}.get(thing, f"{thing}s")
    return f"{number} {thing if number == 1 else plural}"


def _map_facts(kinds: Counter[str], players: int) -> MapFacts:
    return MapFacts(
        players=players,
        spaces=kinds.total(),
        land=kinds["land"],
        sea=kinds["sea"],
        villages=kinds["village"],
        cities=kinds["city"],
        edos=kinds["edo"],
        pieces_per_caste=sum(kinds[kind] * pieces for kind, pieces in PIECES.items()) // CASTES,
    )


def _unplayable(facts: BoardFacts, text: str, source: str) -> Iterator[BoardError]:
    """Why the numbers of players that it promises cannot play on it."""
    _, options = resolve_options(facts.rules, None, {})
    for players in facts.players:
        try:
            fault = _trial(make_rules(facts.rules, text, source, players, options))
        except ConfigError as error:
            fault = str(error)
        if fault:
            yield BoardError(
                source, 1, 1, f"expected a board that {players} can play on, got one with a fault: {fault}"
            )


def _trial(rules: Rules[object]) -> str | None:
    """Play the first legal play again and again; why that did not come to an end, or None if it did."""
    state = rules.start()
    for _ in range(LONGEST_TRIAL):
        if rules.ranks(state) is not None:
            return None
        if rules.draw_wanted(state):
            state = rules.draw(state, 0)
            continue
        seat = rules.pending(state)[0].seat
        legal = rules.legal(state, seat)
        if not legal:
            return f"seat {seat} has nothing to play in turn {rules.turn(state)}"
        state = rules.apply(state, seat, legal[0])
    return f"a game that is not over after {LONGEST_TRIAL} plays"

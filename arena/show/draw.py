"""Boards and decks as they lie on the table before a game: for a terminal, and as a picture."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from arena.errors import ConfigError
from arena.rules.gardener.deck import KINDS, Deck, parse_deck
from arena.rules.samurai.board import Board, parse_board
from arena.show.boards import BoardFacts, board_facts
from arena.show.entries import WIDEST, span
from arena.show.gardener.garden import card_lines, sign
from arena.show.layout import flow, shelves
from arena.show.samurai.board import TAKEN, map_lines
from arena.show.svg.gardener import gardener_svg
from arena.show.svg.samurai import samurai_svg
from arena.show.text import plain
from arena.types import Payload

_EMPTY: Payload = {"pieces": {}, "tiles": []}


def board_lines(text: str, source: str, players: int | None, width: int) -> Iterator[Text]:
    """A board for a terminal.

    Args:
        text: The board file's text.
        source: Its name, for errors.
        players: For how many, or None for as many as can play.
        width: Columns to draw in.

    Raises:
        BoardError: The text is not a board.
        ConfigError: It belongs to no game, or is not for so many players.
    """
    facts = board_facts(text, source)
    players = _players(facts, players)
    width = min(width, WIDEST)
    if facts.deck:
        yield from _deck_lines(parse_deck(text, source), width)
        return
    board = parse_board(text, source).for_players(players)
    yield Text.assemble((plain(board.name), "bold"), f", {players} players")
    yield Text()
    yield from map_lines(board, _EMPTY)
    yield Text()
    yield from flow(list(_map_legend(board)), width)


def board_svg(text: str, source: str, players: int | None) -> str:
    """A board as a picture; the arguments and errors are those of `board_lines`."""
    facts = board_facts(text, source)
    players = _players(facts, players)
    if facts.deck:
        return gardener_svg(parse_deck(text, source))
    return samurai_svg(parse_board(text, source).for_players(players), players)


def _players(facts: BoardFacts, players: int | None) -> int:
    if players is None:
        return facts.players[-1]
    if players not in facts.players:
        raise ConfigError(
            f"expected a number of players that board {facts.name!r} is for ({span(facts.players)}), got: {players}"
        )
    return players


def _map_legend(board: Board) -> Iterator[Text]:
    """What the signs on an empty map mean, and where the places with names lie, as a file would say it."""
    yield Text(f"{TAKEN} place of a piece")
    yield Text("~ sea")
    yield Text(". land")
    for number, space in enumerate(board.spaces):
        if space.name:
            yield Text(f"{number} {plain(space.name)} ({space.col}-{space.row})")


def _deck_lines(deck: Deck, width: int) -> Iterator[Text]:
    """All cards, each below its number."""
    yield Text.assemble((plain(deck.name), "bold"), f", {len(deck.cards)} cards")
    yield Text()
    cards = ([KINDS[square] for square in card] for card in deck.cards)
    yield from shelves(
        ([Text(f"{number:3}", "bold"), *card_lines(card)] for number, card in enumerate(cards)),
        width,
    )
    yield Text()
    yield from flow([sign(kind).append(f" {kind}", "") for kind in KINDS], width)

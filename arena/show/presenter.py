"""What a game must offer to be shown; `presenter` is how a replay comes by it.

A game that is to be shown has a package here of the same name as under `rules/`, with a class that fulfils
`Presenter`, and a line in `presenter`. It needs nothing of its engine but the payloads that its protocol page
describes, and what a board is: what a replay hands in was folded from events.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

from arena.errors import InternalError
from arena.types import Payload, Seat

if TYPE_CHECKING:
    from rich.text import Text

    from arena.record.log import Header


class Presenter(Protocol):
    """Tells and draws one logged game.

    Text from bots (their names in the header) goes through `arena.show.text`; events are facts that the rules made.
    """

    turn_name: ClassVar[str]
    """What the frames' headings call a turn: "Turn"."""

    def __init__(self, header: Header, board: Payload, eyes: Collection[Seat]) -> None:
        """`board` is what bots were told of it. `eyes` are the seats that look on: what they were told is shown."""

    def decision(self, kind: str, action: Payload | None = None) -> str:
        """What a seat does that decides, to be set behind its name, or "" where its events say enough.

        Without its action in general ("seizes a card"); with it exactly ("seizes card 12"), which is asked for only
        where it comes to nothing, because in a race others were faster.
        """

    def tell(self, events: Sequence[Payload]) -> Iterator[Text]:
        """Events in sentences. One sentence may tell several; none is for what the heading or the picture tells."""

    def draw(self, views: Mapping[Seat, Payload], events: Sequence[Payload], width: int) -> list[Text]:
        """What lies there, as lines for a terminal that is `width` characters wide.

        Args:
            views: What each of the seats that look on knows now, at least one.
            events: What they have just been told: what it changed is to be marked, for eyes without colours too.
            width: Characters in a line, at least.
        """


def presenter(name: str) -> type[Presenter]:
    """How the game of a name is shown. Only that game's modules are loaded."""
    if name == "samurai":
        from arena.show.samurai.game import Samurai

        return Samurai
    if name == "gardener":
        from arena.show.gardener.game import Gardener

        return Gardener
    raise InternalError(f"expected a way to show every game, there is none for {name!r}")

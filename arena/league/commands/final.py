"""Shows the final of a season."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.cli.output import counted, echo
from arena.core.face import plain

if TYPE_CHECKING:
    from arena.core.face import Payload


def show_final(final: Payload, indent: str = "") -> None:
    """Prints how far a final is, or how it ended, and how its finalists stand."""
    if final["outcome"] == "not played":
        echo(f"{indent}No final was played: {final['reason']}")
        return
    outcome = f"{final['outcome']}: {final['reason']}" if final["outcome"] else "being played"
    played = f"{final['deals']:,} of at most {final['most_deals']:,} deals"
    echo(f"{indent}Final of {counted(len(final['finalists']), 'version')}, {outcome} ({played})")
    for item in final["items"]:
        points = "" if item["points"] is None else f"  {item['points']:.1%} of the points"
        rating = "" if item["rating"] is None else f"  rating {item['rating']} ({item['low']} to {item['high']})"
        echo(plain(f"{indent}{item['rank']:>3}  {item['name']}{points}{rating}"))
    if final["left"]:
        echo(f"{indent}Out of it: {', '.join(final['left'])}")

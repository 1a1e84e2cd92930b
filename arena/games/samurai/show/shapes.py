"""The shapes of pieces and tiles of Samurai, and their colours: castes told apart by shape, owners by mark too."""

from __future__ import annotations

from arena.core.face import svg
from arena.games.samurai.state import TILES

_SHAPES = {
    "buddha": '<circle cy="-5.8" r="3.5"/><path d="M-8.8,9C-9.6,5.6 -6.8,4.7 -5.2,3.7C-5.8,.1 -3.9,-1.4 0,-1.4S5.8,.1 '
    '5.2,3.7C6.8,4.7 9.6,5.6 8.8,9Z"/>',
    "rice": '<path d="M-9,1.6H9C9,6 6,9 3.4,9H-3.4C-6,9 -9,6 -9,1.6Z"/>'
    '<path class="d-line" d="M-7.4,0C-7,-4.6 -3.8,-7.2 '
    '0,-7.2S7,-4.6 7.4,0M-3.5,-2.5l1.6,-1.3M.4,-3.3l1.5,-1.3M2.9,-1l1.5,-1"/>',
    "castle": '<path d="M-9.6,-3.2C-6,-4 -3,-6 0,-9.6C3,-6 6,-4 9.6,-3.2L7.7,-.6H-7.7ZM-5,.4H5V2.4H-5ZM-9.6,5.4C-8,4.8 '
    '-6.5,3.8 -5.5,2.6H5.5C6.5,3.8 8,4.8 9.6,5.4L8,7.2H6V9.8H1.8V7H-1.8V9.8H-6V7.2H-8Z"/>',
    "samurai": '<path d="M-8,8.6L-6.5,10L8.8,-7.6L9.2,-9.8L7,-9.4ZM8,8.6L6.5,10L-8.8,-7.6L-9.2,-9.8L-7,-9.4Z"/>'
    '<path class="d-line" d="M-9,3.4L-3.2,9M9,3.4L3.2,9"/>',
    "ship": '<path d="M-9.8,3.6H9.8C8.6,7.6 6,9.2 3,9.2H-3.5C-6.5,9.2 -8.8,7.4 -9.8,3.6ZM-.8,-9.8H.9V2.4H-.8Z"/>'
    '<path d="M2,-8.4C6.8,-6 7.8,-2.4 7.4,1.8H2ZM-2,-6.6C-5.8,-4.4 -6.6,-1.6 -6.4,1.8H-2Z"/>',
    "ronin": '<path d="M0,-8.8C3,-5 7,-1.8 10.2,.4C6,2.7 -6,2.7 -10.2,.4C-7,-1.8 -3,-5 0,-8.8Z"/>'
    '<path class="d-line" d="M-4.5,3.6C-3.9,7.8 -2,9.8 0,9.8S3.9,7.8 4.5,3.6"/>',
    "move": '<path d="M-9.6,-2H2.4V-6.6L10.6,0L2.4,6.6V2H-9.6Z"/>',
    "switch": '<path d="M-9.6,-5.8H2.6V-9.8L9.8,-4.2L2.6,1.4V-2.4H-9.6ZM9.6,6H-2.6V10L-9.8,4.4L-2.6,-1.2V2.6H9.6Z"/>',
}

PIECE_SHAPES = {
    caste: svg.element("g", _SHAPES[caste], transform="scale(.76)") for caste in ("buddha", "rice", "castle")
}
"""Drawing on a piece, by its caste."""


def _face(tile: str) -> str:
    if tile in _SHAPES:
        shape = svg.element("g", _SHAPES[tile], transform="translate(0 4.6) scale(1.15)")
    else:
        digit = svg.element("text", tile[-1], class_="d-digit", x=11.4, y=13.4)
        shape = svg.element("g", _SHAPES[tile[:-1]], transform="translate(-9 5) scale(1.04)") + digit
    return svg.element("g", shape, class_="d-face")


FACES = {tile.name: _face(tile.name) for tile in TILES}
"""Drawing on a tile below its owner's mark, by its name."""

STYLE = """
:root{--sea:light-dark(#d3e5ee,#1d3340);--sea-line:light-dark(#bdd6e2,#284453);--wave:light-dark(#9dbfd1,#3d6278);
--shallow:light-dark(#e6f1f5,#2b4a5a);--land:light-dark(#eceed2,#3c4334);--land-line:light-dark(#c9c39b,#525a45);
--village:light-dark(#f6dfae,#6b5630);--city:light-dark(#f1c389,#7d5a2a);--edo:light-dark(#e9a172,#8a4f2c);
--coast:light-dark(#7d6a45,#b39a68);--piece:light-dark(#fffdf6,#fff8e8);--piece-ink:#2b2116}
.d-space{stroke:var(--land-line)}.d-sea{fill:var(--sea);stroke:var(--sea-line)}.d-land{fill:var(--land)}
.d-village{fill:var(--village)}.d-city{fill:var(--city)}.d-edo{fill:var(--edo)}
.d-wave{fill:none;stroke:var(--wave);stroke-width:1.4;stroke-linecap:round}
.d-shallow{fill:none;stroke:var(--shallow);stroke-width:9;stroke-linecap:round}
.d-coast{fill:none;stroke:var(--coast);stroke-width:2.6;stroke-linecap:round}
.d-number{fill:var(--ink);text-anchor:middle}
.d-place{fill:var(--ink);text-anchor:middle;font-family:Georgia,"Times New Roman","DejaVu Serif",serif;
font-style:italic;font-weight:700}
.d-piece{fill:var(--piece);stroke:var(--piece-ink);stroke-width:1.5}
.d-figure{fill:var(--piece-ink);color:var(--piece-ink)}
.d-line{fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round}
.d-tile{fill:var(--own);stroke:var(--edge);stroke-width:1.7;stroke-linejoin:round}
.d-bevel{fill:none;stroke:var(--on);stroke-width:1.1;opacity:.4}
.d-face{fill:var(--on);color:var(--on)}
.d-digit{font:700 26px Helvetica,Arial,"DejaVu Sans",sans-serif;text-anchor:middle}
.d-won{fill:var(--own);stroke:var(--edge);stroke-width:1.5}.d-aside{stroke:var(--piece-ink);stroke-width:2.6;fill:none}
"""
"""The colours of the map, and how pieces and tiles take theirs."""

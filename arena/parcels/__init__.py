"""Parcels: a bot's folder as one archive, the same for the same files wherever they lie, and read without trust.

`docs/parcels.md` says what an archive looks like and which rules it keeps.
"""

from arena.parcels.base import LIMITS, Entry, Limits, is_digest
from arena.parcels.checking import Archive, Contents, check
from arena.parcels.packing import Parcel, pack
from arena.parcels.unpacking import bot_folder, unpack

__all__ = [
    "LIMITS",
    "Archive",
    "Contents",
    "Entry",
    "Limits",
    "Parcel",
    "bot_folder",
    "check",
    "is_digest",
    "pack",
    "unpack",
]

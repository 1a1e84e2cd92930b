"""Archives: a bot's folder as one archive, the same for the same files wherever they lie, and read without trust.

`docs/archives.md` says what an archive looks like and which rules it keeps.
"""

from arena.author.archives.checking import Archive, Contents, check
from arena.author.archives.foreign import is_archive, normalise, packed_bot
from arena.author.archives.packing import PackedBot, pack
from arena.author.archives.rules import HERE, LIMITS, MOST, ArchiveEntry, Limits, is_digest, within
from arena.author.archives.unpacking import bot_folder, unpack

__all__ = [
    "HERE", "LIMITS", "MOST", "Archive", "ArchiveEntry", "Contents", "Limits", "PackedBot", "bot_folder", "check",
    "is_archive", "is_digest", "normalise", "pack", "packed_bot", "unpack", "within",
]  # fmt: skip

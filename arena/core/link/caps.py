"""Caps: the most that a bot's manifest may ask for in `[limits]`. Who runs the games pays for it, and sets them.

They are those of `[caps]` in `league.toml` or `arena.toml`, else those of `Caps`. Limits are numbers of a manifest that
others wrote: `granted` is the only way from these to what a bot is started with.
"""

from __future__ import annotations

import os
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from arena.core.errors import BotError, ConfigError
from arena.core.types import Payload

MemoryMib: TypeAlias = Annotated[int, Meta(ge=16, le=2**20)]
FileMib: TypeAlias = Annotated[int, Meta(ge=1, le=2**20)]
StartMs: TypeAlias = Annotated[int, Meta(ge=100, le=600_000)]
_VARIABLE: Final = "ARENA_CAPS"  # the variable that keeps the caps: the processes that this one starts have them too


class Limits(msgspec.Struct, frozen=True):
    """`[limits]` of a manifest: what a bot asks for. Of what it does not name it gets the usual, or the cap if less."""

    memory_mib: MemoryMib | UnsetType = UNSET
    file_mib: FileMib | UnsetType = UNSET
    start_ms: StartMs | UnsetType = UNSET


class Caps(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[caps]`: the most that a bot may ask for in `[limits]` of its manifest."""

    memory_mib: MemoryMib = 2048
    file_mib: FileMib = 16
    """The largest size of a file that it writes, its output included, in MiB."""
    start_ms: StartMs = 10_000
    """Time for `hello` after its start, and again for each `ready`, in milliseconds."""


USUAL: Final = Caps()  # what a bot gets that does not ask for more


class BeyondCaps(BotError):
    """A manifest asks for more than whoever runs the games gives: `cap`."""

    def __init__(self, message: str, cap: int) -> None:
        super().__init__(message)
        self.cap = cap


def granted(limits: Limits, place: str, caps: Caps | None = None, source: str = "arena.toml") -> Caps:
    """Returns the limits that a bot is started with.

    Args:
        caps: The most that it may ask for; None: what was set.
        source: The file that sets these, or else would set them.

    Raises:
        BeyondCaps: It asks for more.
    """
    table = msgspec.json.decode(os.environ.get(_VARIABLE, "{}"), type=dict[str, tuple[int, str]])
    if caps is not None:
        table = {key: (cap, source) for key, cap in msgspec.structs.asdict(caps).items()}
    caps = Caps(**{key: cap for key, (cap, _) in table.items()})
    asked: dict[str, int] = msgspec.to_builtins(limits)
    for key, value in asked.items():
        if value > (cap := getattr(caps, key)):
            file = table[key][1] if key in table else source
            whose = f"the cap of {file}" if key in table else "arena's own cap"
            raise BeyondCaps(
                f"{place}: limits.{key}: expected at most {cap}, {whose}, got: {value}; ask for less, or have whoever "
                f"runs the games write `{key} = {value}` below [caps] in {file}",
                cap,
            )
    return Caps(**{key: min(getattr(USUAL, key), getattr(caps, key)) for key in Caps.__struct_fields__} | asked)


def set_caps(table: Payload, source: str) -> None:
    """Sets the caps for all bots that are loaded after this, here or in a child process.

    Args:
        table: Those that differ from `USUAL`, as `[caps]` of a file has them.
        source: The file, for errors.

    Raises:
        ConfigError: A key or a value is not allowed.
    """
    try:
        msgspec.convert(table, Caps)
    except msgspec.ValidationError as error:
        reason, _, key = str(error).replace("`", "").partition(" - at $.")
        place = f"caps.{key}" if key else "caps"
        raise ConfigError(f"{source}: {place}: {reason[:1].lower()}{reason[1:]}; correct it") from None
    os.environ[_VARIABLE] = msgspec.json.encode({key: (value, source) for key, value in table.items()}).decode()

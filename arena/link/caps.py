"""Caps: the most that a bot's manifest may ask for in `[limits]`. Who runs the games pays for it, and sets them.

They are those of `[caps]` in `league.toml` or `arena.toml`, else those of `Caps`. Limits are numbers of a manifest that
others wrote: `granted` is the only way from these to what a bot is started with.
"""

from __future__ import annotations

import os
from typing import Annotated, Final, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from arena.errors import BotError, ConfigError, did_you_mean
from arena.types import Payload

MemoryMib: TypeAlias = Annotated[int, Meta(ge=16, le=2**20)]
FileMib: TypeAlias = Annotated[int, Meta(ge=1, le=2**20)]
StartMs: TypeAlias = Annotated[int, Meta(ge=100, le=600_000)]
_VARIABLE: Final = "ARENA_CAPS"
"""The variable that keeps the caps: the processes that this one starts have them too."""
BUILT_IN: Final = "arena"
"""Who sets a cap that no file names."""


class Limits(msgspec.Struct, frozen=True):
    """`[limits]` of a manifest: what a bot asks for. Of what it does not name it gets the usual, or the cap if less."""

    memory_mib: MemoryMib | UnsetType = UNSET
    file_mib: FileMib | UnsetType = UNSET
    start_ms: StartMs | UnsetType = UNSET


class Caps(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[caps]`: the most that a bot may ask for in `[limits]` of its manifest."""

    memory_mib: MemoryMib = 2048
    """Memory, in MiB."""
    file_mib: FileMib = 16
    """The largest size of a file that it writes, its output included, in MiB."""
    start_ms: StartMs = 10_000
    """Time for `hello` after its start, and again for each `ready`, in milliseconds."""


USUAL: Final = Caps()
"""What a bot gets that does not ask for more."""


class Excess(NamedTuple):
    """A limit that is beyond its cap."""

    key: str
    asked: int
    cap: int


class BeyondCaps(BotError):
    """A manifest asks for more than whoever runs the games gives."""


def excess(limits: Limits, caps: Caps) -> Excess | None:
    """Returns the first limit that is beyond its cap; None if there is none."""
    for key in Caps.__struct_fields__:
        asked, cap = getattr(limits, key), getattr(caps, key)
        if asked is not UNSET and asked > cap:
            return Excess(key, asked, cap)
    return None


def granted(limits: Limits, place: str) -> Caps:
    """Returns the limits that a bot is started with.

    Args:
        limits: What its manifest asks for.
        place: How errors call the manifest.

    Raises:
        BeyondCaps: It asks for more than it may.
    """
    sources, caps = _in_force()
    if (found := excess(limits, caps)) is not None:
        raise BeyondCaps(
            f"{place}: {refusal(found, sources.get(found.key, BUILT_IN), sources.get(found.key, 'arena.toml'))}"
        )
    usual = {key: min(getattr(USUAL, key), getattr(caps, key)) for key in Caps.__struct_fields__}
    return Caps(**usual | msgspec.to_builtins(limits))


def refusal(found: Excess, whose: str, file: str) -> str:
    """Returns what is said of a limit beyond its cap.

    Args:
        found: The limit.
        whose: Who set the cap: a file, or `BUILT_IN`.
        file: The file in which the operator raises it.
    """
    return (
        f"limits.{found.key}: expected at most {found.cap}, the cap that {whose} sets, got: {found.asked}; ask for "
        f"less, or have whoever runs the games write `{found.key} = {found.asked}` below [caps] in {file}"
    )


def set_caps(table: Payload, source: str) -> None:
    """Sets the caps for all bots that are loaded after this, here or in a child process.

    Args:
        table: Those that differ from arena's own, as `[caps]` of a file has them.
        source: The file, for errors.

    Raises:
        ConfigError: A key or a value is not allowed.
    """
    known = Caps.__struct_fields__
    for key in table:
        if key not in known:
            close = did_you_mean(key, known)
            raise ConfigError(
                f"{source}: expected keys of [caps] among {', '.join(known)}, got: {key!r:.80}{close}; correct it"
            )
    try:
        msgspec.convert(table, Caps)
    except msgspec.ValidationError as error:
        reason, _, key = str(error).replace("`", "").partition(" - at $.")
        raise ConfigError(f"{source}: caps.{key}: {reason[:1].lower()}{reason[1:]}; correct it") from None
    os.environ[_VARIABLE] = msgspec.json.encode({key: (value, source) for key, value in table.items()}).decode()


def _in_force() -> tuple[dict[str, str], Caps]:
    """Returns by key the file that has set it, and the caps."""
    table = msgspec.json.decode(os.environ.get(_VARIABLE, "{}"), type=dict[str, tuple[int, str]])
    return {key: source for key, (_, source) in table.items()}, Caps(
        **{key: value for key, (value, _) in table.items()}
    )

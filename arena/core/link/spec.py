"""A bot that can be started, and its parameters, as values that go from process to process."""

from __future__ import annotations

import hashlib
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from arena.core.link.caps import USUAL
from arena.core.types import TimeControl

VALUES: Final = "@"  # stands between a bot and the values of its parameters: `planner@spite=0.5,spread=3`
MOST_ARGUMENT: Final = 256  # the most characters of a parameter that is a text


class Parameter(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A number that others may choose for a bot: `arena tune` looks for the best value."""

    value: int | float
    low: int | float
    high: int | float

    @property
    def is_whole(self) -> bool:
        """Whether its values are whole numbers: the manifest gives none with a point."""
        return isinstance(self.value, int) and isinstance(self.low, int) and isinstance(self.high, int)

    def text(self, value: float) -> str:
        """Returns a value as bots are sent it, within the range and with six digits at most.

        >>> Parameter(value=3, low=1, high=8).text(3.6), Parameter(value=0.5, low=0, high=1).text(1.5)
        ('4', '1')
        """
        bounded = min(max(value, self.low), self.high)
        return str(round(bounded)) if self.is_whole else f"{bounded:.6g}"


TEXT: Final = r"\A[^\x00]*\Z"
ArgumentText: TypeAlias = Annotated[str, Meta(max_length=MOST_ARGUMENT, pattern=TEXT)]


class Argument(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text that others may choose for a bot."""

    value: ArgumentText
    choices: Annotated[tuple[ArgumentText, ...], Meta(max_length=64)] = ()
    """Values that it may have; empty means any text."""


class BotSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A bot that can be started."""

    name: str
    version: str
    display_name: str = ""
    author: str = ""
    language: str = ""
    command: tuple[str, ...]
    """Program and arguments. `{python}` and `{python+arena}` are resolved where the bot is started."""
    folder: str
    """Absolute path: the process's working directory."""
    rules: tuple[str, ...] = ()
    digest: str
    """SHA-256 (hex) over manifest, files and included files; the same wherever the folder is."""
    memory_mib: int = USUAL.memory_mib
    file_mib: int = USUAL.file_mib
    start_ms: int = USUAL.start_ms
    entropy: bool = False
    tcp: bool = False
    """Whether it connects by TCP, because its library has no `ipc`."""
    reads: tuple[str, ...] = ()
    """Absolute paths of the files and folders that it needs beside its program and its folder."""
    sockets: tuple[str, ...] = ()
    """Absolute paths of the operator's sockets in its folder. Only a program of arena itself has any."""
    uses: tuple[str, ...] = ()
    cores: int = 1
    runtimes: tuple[tuple[str, str], ...] = ()
    """Programs that its command or its manifest calls by name, each with its absolute path, which is empty if it is not
    granted. Level trusted does not use them."""
    tune: tuple[tuple[str, Parameter], ...] = ()
    arguments: tuple[tuple[str, Argument], ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    """Names of parameters with the values that somebody chose, by name."""
    source: str = ""
    """Source that says which files its digest is made of: `bot.toml`, or `cmd:` and the command line. Empty for a
    program of arena itself."""
    own: str = ""
    """The name in its manifest if `name` is one that the operator gave."""
    time: TimeControl | None = None
    """The time that it has if the operator gave it another than all."""

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters that it is sent, by name."""
        return self.usual | dict(self.values)

    @property
    def usual(self) -> dict[str, str]:
        """The parameters that its manifest says, by name."""
        return {name: one.text(one.value) for name, one in self.tune} | {name: a.value for name, a in self.arguments}

    @property
    def identity(self) -> str:
        """SHA-256 (hex) that tells bots apart: that of its files, and of values or a time of its own."""
        own = self.suffix if self.time is None else f"{self.suffix} {self.time}"
        return hashlib.sha256(f"{self.digest}{own}".encode()).hexdigest() if own else self.digest

    @property
    def suffix(self) -> str:
        """The end of its name on the command line: `@` and the chosen values, or nothing."""
        return VALUES + ",".join(f"{name}={value}" for name, value in self.values) if self.values else ""

    @property
    def own_name(self) -> str:
        """The name in its manifest."""
        return self.own or self.name.partition(VALUES)[0]

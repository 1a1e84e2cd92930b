"""Every error that `arena` raises on purpose.

::

    ArenaError(Exception)             code, exit_code
     x ConfigError                    what the operator gave cannot be used; they can fix it
     |  + BoardError                  a board file, with line and column
     |  + BotError                    a bot's folder or manifest
     |  + ArchiveError                 an archive of a bot: it breaks a rule of archives
     x StoreError                     the database cannot be used
 x Refused                        a league refuses an order; programs read the reason
     x MachineFault                   the machine, not a bot, is the reason that a game cannot be played
     x ActionError                    abstract: an action that the rules refuse
     |  + MalformedAction             it cannot be read
     |  + IllegalAction               it can be read, and is not allowed here
     x ProtocolError                  abstract: a breach of the protocol
     |  + LocalProtocolError          ours: a bug of this program
     |  + RemoteProtocolError         the bot's: carries the error code to send back and the rule that was broken
     x LogError                       a game log that cannot be read
     |  + Unchecked                   it cannot be checked here
     |     + LaterVersion             of a later version of arena
     x ReplayMismatch                 a log and the rules disagree
     x CheckFailed                    a bot does not reach the level that its check demands
     x LevelError                     this machine cannot confine bots as far as was asked for
     x DoorError                      a league elsewhere cannot be reached, or refuses
     x InternalError                  a bug: please report it

A message says what was expected, what was got, where, and what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar


class ArenaError(Exception):
    """The root of the tree. Catch it to catch every error that `arena` raises on purpose."""

    code: ClassVar[str] = "error"
    """Stable name of the kind of error."""
    exit_code: ClassVar[int] = 1
    """Exit code of the command line when this error ends it."""


class ConfigError(ArenaError):
    """Something the operator gave (an option, a file, a name) cannot be used. Fix it and call again."""

    code = "config"
    exit_code = 2


class BoardError(ConfigError):
    """A board file is malformed.

    The message begins with `SOURCE:LINE:COLUMN: ` (both counted from 1).
    """

    code = "board"

    def __init__(self, source: str, line: int, column: int, reason: str) -> None:
        super().__init__(f"{source}:{line}:{column}: {reason}")
        self.source = source
        self.line = line
        self.column = column
        self.reason = reason


class BotError(ConfigError):
    """A bot cannot be found, or its folder or manifest cannot be used."""

    code = "bot"


class ArchiveError(ConfigError):
    """An archive of a bot breaks a rule, or a bot cannot be put into an archive. Nothing was unpacked.

    `rule` names the rule (the module that reads archives has the list), `path` the file that breaks it, as it is
    called in the archive, and `limit` the most that is allowed; "" and None where there is no such thing.
    """

    code = "archive"

    def __init__(self, rule: str, reason: str, *, path: str = "", limit: int | None = None) -> None:
        super().__init__(reason)
        self.rule = rule
        self.path = path
        self.limit = limit


class StoreError(ArenaError):
    """The database cannot be opened, is in use, or is of another version."""

    code = "store"


class Refused(ArenaError):
    """A league refuses an order. Nothing has changed. `reason` names the kind for programs, such as `quota`."""

    code = "refused"

    def __init__(
        self, reason: str, message: str, remedy: str = "", *, limit: int | None = None, retry_after_s: int | None = None
    ) -> None:
        super().__init__(f"{message}; {remedy}" if remedy else message)
        self.reason = reason
        self.message = message
        self.remedy = remedy  # what to do about it; may be empty
        self.limit = limit  # the limit that was exceeded, if it is one
        self.retry_after_s = retry_after_s  # after how many seconds the same order may be obeyed, if that is known


class MachineFault(ArenaError):
    """The machine cannot give what every bot needs: descriptors, processes, memory, disk, a sandbox.

    No bot is the reason: interrupt the game, rate nothing, and show the message to the operator.
    """

    code = "machine"


class ActionError(ArenaError):
    """Abstract: the rules refuse an action. The seat that sent it forfeits."""

    code = "action"


class MalformedAction(ActionError):
    """The action cannot be read: a missing field, a wrong type, an unknown name. Ends with ` - at $.path`."""

    code = "malformed"


class IllegalAction(ActionError):
    """The action can be read but is not allowed in this position."""

    code = "illegal_action"


class ProtocolError(ArenaError):
    """Abstract: a message that the protocol does not allow."""

    code = "protocol"


class LocalProtocolError(ProtocolError):
    """This program was about to break the protocol: a bug of ours."""

    code = "local_protocol"
    exit_code = 70


class RemoteProtocolError(ProtocolError):
    """The bot broke the protocol.

    `error_code` is the code of the `error` message to send back. `rule` is the number of the rule in
    `protocol/SPEC.md` that the bot broke, such as `§5.2-2`; the text does not repeat it.
    """

    code = "remote_protocol"

    def __init__(self, error_code: str, reason: str, rule: str) -> None:
        super().__init__(reason)
        self.error_code = error_code
        self.rule = rule


class LogError(ArenaError):
    """A game log cannot be read: not a log, cut off, or of another format version."""

    code = "log"


class Unchecked(LogError):
    """A log or a document beside it cannot be checked here: that says nothing against it."""

    code = "unchecked"
    exit_code = 5


class LaterVersion(Unchecked):
    """It is of a form that only a later version of arena knows."""

    code = "later_version"

    def __init__(self, what: str, place: object) -> None:
        super().__init__(f"not checked: written by a later version, {what} - at {place}; install the newest arena")


class ReplayMismatch(ArenaError):
    """A log and the rules disagree, or the log was altered. `line` is counted from 1, `check` names what found it."""

    code = "replay_mismatch"
    exit_code = 4

    def __init__(self, source: str, line: int, reason: str, *, check: str = "log") -> None:
        super().__init__(f"{source}:{line}: {reason}")
        self.check = check
        self.source = source
        self.line = line
        self.reason = reason


class CheckFailed(ArenaError):
    """A bot does not keep to the protocol as well as was demanded. The report says where."""

    code = "check_failed"
    exit_code = 3


class LevelError(ArenaError):
    """This machine cannot confine bots at the level that was asked for. Nothing was played and nothing stored."""

    code = "level"
    exit_code = 3


class DoorError(ArenaError):
    """A league elsewhere cannot be reached, or refuses a request. `refusal` is the code that it gave.

    Show the message to the author: it says what to do.
    """

    code = "door"

    def __init__(self, reason: str, refusal: str) -> None:
        super().__init__(reason)
        self.refusal = refusal


class InternalError(ArenaError):
    """This should never happen. If you get this error, please report it with the command that led to it."""

    code = "internal"
    exit_code = 70


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Returns the end of a message about an unknown name: ` (did you mean 'random'?)`, or "" if none is close."""
    from difflib import get_close_matches  # not before: most commands need it for nothing

    close = get_close_matches(name, known := [*names], n=1) or [it for it in known if name[2:] and it.startswith(name)]
    return f" (did you mean {close[0]!r}?)" if close else ""

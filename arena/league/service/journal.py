"""The service's own log: what it did, and what it could not do, with the time. It never grows beyond a size.

A journal that cannot be written ends nothing: what matters is in the database.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

from arena.files import MIB
from arena.text import plain

SIZE: Final = 8 * MIB
"""Bytes of the log before another is begun."""
KEPT: Final = 4
"""How many earlier ones stay: `league.log.1` is the newest of them."""


class _Handler(RotatingFileHandler):
    """Keeps silent if the disk is full."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Drops the line."""


class Journal:
    """Writes sentences to a file, each a line with its time in UTC. It also tells them to whoever wants to hear."""

    def __init__(self, path: Path, tell: Callable[[str], object] = lambda sentence: None) -> None:
        """Takes the log's path.

        Args:
            path: Where it is. Earlier logs stand beside it.
            tell: Called with each sentence.
        """
        self._tell = tell
        self._handler = _Handler(path, maxBytes=SIZE, backupCount=KEPT, encoding="utf-8", delay=True)
        formatter = logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%dT%H:%M:%SZ")
        formatter.converter = time.gmtime
        self._handler.setFormatter(formatter)

    def say(self, sentence: str) -> None:
        """Writes a sentence. Names and texts in it may be anybody's."""
        line = plain(sentence)
        self._handler.handle(logging.LogRecord("arena", logging.INFO, "", 0, line, None, None))
        self._tell(line)

    def close(self) -> None:
        """Closes the file."""
        self._handler.close()

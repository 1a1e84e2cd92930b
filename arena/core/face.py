"""The face of the core: all that wings and packages import of it, each name loaded when it is first asked for.

A line names a class, a function or a constant, or a module whose public names belong to the face too. Its docstring
stands where it is defined. What `import arena` offers (`arena/api.py`) is kept from version to version; what is here
may change with the wheel that it is in, so a module of the core can be moved by changing its line alone.
"""

# ruff: noqa: F401, I001 - every line is there for others, and the groups are for people

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Errors, files, texts, values: parts of everything.
    from arena.core import errors as errors
    from arena.core import files as files
    from arena.core import places as places
    from arena.core import plugs as plugs
    from arena.core import progress as progress
    from arena.core import resources as resources
    from arena.core import scratch as scratch
    from arena.core import text as texts
    from arena.core import toml as toml
    from arena.core import types as value_types
    from arena.core.extras import need as need
    from arena.core.text import counted as counted
    from arena.core.text import plain as plain
    from arena.core.types import GameResult as GameResult
    from arena.core.types import GameSettings as GameSettings
    from arena.core.types import Level as Level
    from arena.core.types import NS_PER_MS as NS_PER_MS
    from arena.core.types import Payload as Payload
    from arena.core.types import Seat as Seat
    from arena.core.types import Termination as Termination
    from arena.core.types import TimeControl as TimeControl

    # Games: what there is, and the kit for rules.
    from arena.core import catalogue as catalogue
    from arena.core import testing as testing
    from arena.core.rules import base as game_kit
    from arena.core.rules import course as courses
    from arena.core.rules import numbering as numbering
    from arena.core.rules import reading as rule_files
    from arena.core.rules import seats as seat_rules
    from arena.core.rules.boardtext import BoardText as BoardText
    from arena.core.rules.family import Family as Family
    from arena.core.rules.table import Table as Table

    # Drawings of games, and text for a terminal.
    from arena.core.show import drawing as drawing_kit
    from arena.core.show import layout as layouts
    from arena.core.show import presenter as presenters
    from arena.core.show import replay as replays
    from arena.core.show import scene as scenes
    from arena.core.show import seats as seat_styles
    from arena.core.show import standings as standings_texts
    from arena.core.show import svg as svg
    from arena.core.show import tables as text_tables

    # The wire.
    from arena.core.wire import codec as codec
    from arena.core.wire import messages as wire_messages
    from arena.core.wire import session as wire_session
    from arena.core.wire import variables as wire_variables

    # The record of a game and of a tournament.
    from arena.core.record import compressed as compression
    from arena.core.record import log as log_records
    from arena.core.record import published as record_files
    from arena.core.record import receipts as receipts
    from arena.core.record.kept import Kept as Kept
    from arena.core.record.old import GONE_SETTINGS as GONE_SETTINGS
    from arena.core.record.result import result_of as result_of

    # Bots and their processes.
    from arena.core.link import base as link_base
    from arena.core.link import bots as bot_manifests
    from arena.core.link import caps as capping
    from arena.core.link import confinement as confining
    from arena.core.link import connection as connections
    from arena.core.link import contents as bot_files
    from arena.core.link import fence as fences
    from arena.core.link import process as bot_processes
    from arena.core.link import programs as programs
    from arena.core.link import runtimes as runtimes
    from arena.core.link import tree as process_trees
    from arena.core.link import warden as warden
    from arena.core.link import watch as cpu_watch
    from arena.core.link.custody import Custody as Custody
    from arena.core.link.faults import machine_fault as machine_fault
    from arena.core.link.local import LocalLink as LocalLink
    from arena.core.link.pool import worker_pool as worker_pool
    from arena.core.link.unchanged import FilesChanged as FilesChanged

    # The referee.
    from arena.core.referee import beacon as beacons
    from arena.core.referee import chance as chance
    from arena.core.referee import clock as clocks
    from arena.core.referee import feed as feeds
    from arena.core.referee import replay as stepping
    from arena.core.referee import table as referee_table
    from arena.core.referee import tell as telling
    from arena.core.referee import worker as game_worker
    from arena.core.referee.job import Job as Job

    # Results and ratings.
    from arena.core.ratings import pairs as pentanomial
    from arena.core.ratings import refit as refit
    from arena.core.ratings import running as true_skill
    from arena.core.ratings.evidence import Evidence as Evidence
    from arena.core.store import database as databases
    from arena.core.store import lock as locks
    from arena.core.store import rated as rating_history
    from arena.core.store import records as game_rows
    from arena.core.store import store as stores
    from arena.core.store import views as sql_views
    from arena.core.store.finding import Finder as Finder
    from arena.core.store.reader import Reader as Reader
    from arena.core.store.removal import PARTS as PARTS
    from arena.core.store.temporary import temporary_store as temporary_store

    # Tournaments and their standings.
    from arena.core.standings import audit as auditing
    from arena.core.standings import examined as examining
    from arena.core.standings import rebuilt as rebuilding
    from arena.core.standings import report as standings_reports
    from arena.core.standings import table as ranking_tables
    from arena.core.standings import verdicts as verdicts
    from arena.core.standings.comparison import others_of as others_of
    from arena.core.tournament import blocks as blocks
    from arena.core.tournament import commands as repeating
    from arena.core.tournament import formats as formats
    from arena.core.tournament import lanes as lane_kit
    from arena.core.tournament import runner as running
    from arena.core.tournament import settings as tournament_settings
    from arena.core.tournament import together as match_workers
    from arena.core.tournament import workers as processor_cores
    from arena.core.tournament.formats import base as format_base
    from arena.core.tournament.formats import closeness as closeness
    from arena.core.tournament.formats import seating as seat_orders
    from arena.core.tournament.plan import make_log_folder as make_log_folder

    # Commands of a laptop.
    from arena.core.commands import compare as compare_command
    from arena.core.commands import logs as log_options
    from arena.core.commands import playing as playing_commands
    from arena.core.commands import progress as progress_lines
    from arena.core.commands import replay as replay_command
    from arena.core.commands import terminal as terminals
    from arena.core.commands.playing import enter as enter
    from arena.core.commands.playing import lanes_on as lanes_on
    from arena.core.commands.stepping import Stepper as Stepper

_PLACES = {
    name: (module, own)
    for module, own, name in re.findall(
        r"^    from (\S+) import (\w+) as (\w+)$", Path(__file__).read_text(encoding="utf-8"), re.MULTILINE
    )
}
"""Place of each name, read from the lines above: what type checkers see and what is loaded cannot differ."""


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, own = _PLACES[name]
    parent = import_module(module)
    value = getattr(parent, own) if hasattr(parent, own) else import_module(f"{module}.{own}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})

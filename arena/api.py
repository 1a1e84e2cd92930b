"""The names that `import arena` offers to Python programs. docs/library.md shows what they are for."""

from arena.analysis.analyse import analyse as analyse
from arena.errors import ArenaError as ArenaError
from arena.games import make_settings as make_settings
from arena.games import rules_of as rules_of
from arena.link.caps import set_caps as set_caps
from arena.record.log import find_logs as find_logs
from arena.record.log import read_log as read_log
from arena.referee.replay import replay as replay
from arena.referee.verify import verify as verify
from arena.standings.report import report as report
from arena.store.records import Played as Played
from arena.store.store import open_reader as open_reader
from arena.store.store import open_store as open_store
from arena.testing import check_game as check_game
from arena.tournament.formats import FORMATS as FORMATS
from arena.tournament.plan import Begun as Begun
from arena.tournament.settings import set_up as set_up
from arena.tournaments import Finished as Finished
from arena.tournaments import Planned as Planned
from arena.tournaments import Stopped as Stopped
from arena.tournaments import play_tournament as play_tournament
from arena.types import Level as Level

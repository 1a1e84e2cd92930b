"""The names that `import arena` offers to Python programs. docs/library.md shows what they are for."""

from arena.core.catalogue import make_settings as make_settings
from arena.core.catalogue import rules_of as rules_of
from arena.core.errors import ArenaError as ArenaError
from arena.core.link.caps import set_caps as set_caps
from arena.core.record.log import find_logs as find_logs
from arena.core.record.log import read_log as read_log
from arena.core.referee.replay import replay as replay
from arena.core.referee.verify import verify as verify
from arena.core.standings.report import report as report
from arena.core.store.records import Played as Played
from arena.core.store.store import open_reader as open_reader
from arena.core.store.store import open_store as open_store
from arena.core.testing import check_game as check_game
from arena.core.tournament.formats import FORMATS as FORMATS
from arena.core.tournament.plan import Begun as Begun
from arena.core.tournament.settings import set_up as set_up
from arena.core.tournaments import Finished as Finished
from arena.core.tournaments import Planned as Planned
from arena.core.tournaments import Stopped as Stopped
from arena.core.tournaments import play_tournament as play_tournament
from arena.core.types import Level as Level
from arena.learn.analysis.analyse import analyse as analyse

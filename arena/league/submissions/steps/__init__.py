"""What a submitted bot goes through before it plays: it is built, checked, and plays its first games.

Each step is a function that runs in a worker process, knows no database, and returns a report that the bot's author can
act on. Whatever the bot does is in the report. Whatever the machine lacks is, too, as the machine's fault.
"""

from arena.league.store.records import StepReport, Verdict
from arena.league.submissions.steps.build import build
from arena.league.submissions.steps.check import check
from arena.league.submissions.steps.qualify import meet, qualify

__all__ = ["StepReport", "Verdict", "build", "check", "meet", "qualify"]

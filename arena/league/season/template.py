"""The `league.toml` that a new league begins with: every key with its default and what it does."""

from __future__ import annotations

import json
from typing import Final

from arena.league.settings import Game, Settings

_TEMPLATE: Final = """\
# The settings of a league. The service reads them when it starts. docs/league.md explains a league.

# What the league is called. Its seasons are named after it.
name = {name}
# The version of the form of this file: which versions of arena can read it. Leave it as it is.
format = 1

# What is played. Ratings depend on all of it, so it is fixed for a season: to change it, end the season with
# `arena league season close`, and the next one begins with what is written here.
[game]
# A game (`arena rules list`).
rules = {rules}
# A ruleset of these rules (`arena rules list`); "" is their first.
ruleset = {ruleset}
# Options that differ from the ruleset's (`arena rules show`), such as {{ setup = "random" }}.
options = {options}
# How many play a game. With [2, 4] both are played, each as often.
players = {players}
# A board file, or the name of a bundled board; "" is the game's own. A path is relative to this folder.
board = {board}
# The time of a seat: BANK+INCREMENT or LIMIT/move, such as "10+0.1", "1m+1", "500ms/move".
time = {time}
# The CPU time of a bot in a game, such as "20s"; "" is no such limit.
cpu = {cpu}
# Answers of a race that lie this close, in milliseconds, are a tie.
race_window_ms = {race_window_ms}

[bots]
# How bots are confined: trusted (not at all: for your own bots), fenced (where no sandbox can be had; takes only bots
# that need no build), isolated or strict (`arena doctor`). Fixed for a season, too.
level = {level}
# Whether a bot has a new process for every game, at three to four times the cost. Else a process serves games of
# different deals, and may remember how others played.
fresh = false
# Whether authors may let bots play from their own machines. Such bots are uncontrolled, and shown so.
remote = false
# Bundled bots that play from the start of a season and never leave. New bots are tried against `random`.
house = {house}

# Programs that bots may call by name in `command` and `needs`, each with its absolute path. They see the folder that it
# is installed in. {{python}}, {{python+arena}}, awk, bash, java, lua, node, perl, php, ruby and sh need not be named.
[runtimes]
# deno = "/opt/deno/bin/deno"

# The most that a bot may ask for in [limits] of its bot.toml. A submission that asks for more is refused.
[caps]
# Memory, in MiB.
memory_mib = 2048
# The largest size of a file that it writes, its output included, in MiB.
file_mib = 16
# Time for `hello` after its start, and again for each `ready`, in milliseconds.
start_ms = 10000

# What an author may submit. An author can have other limits: `arena league author add NAME --quota bots=10`.
[limits]
# Bots, without those that are retired or rejected.
bots = 3
# Versions that wait or are being tried.
pending = 3
# Submissions in 24 hours.
submissions = 10
# The archive of a bot, packed, in MiB; 300 at most. Unpacked it may have eight times as much.
archive_mib = 16
# What is built of all bots together, in MiB on the disk: of versions that play or are being tried, and of each bot's
# last good one.
built_mib = 4096
# Seconds in an hour that rated games wait for their bots to start, beyond the first second of each start: 360 are a
# tenth of one worker's time. While they are used up, their bots play only if nobody else does.
start_s = 360
# Unrated matches against bots of their choice, in 24 hours; 0 is none.
matches = 5
# Unrated games that they play themselves, in 24 hours; 0 is none.
seats = 20

# When a version is suspended by itself. Losses on time while the machine was overloaded are not counted.
[suspension]
# So many forfeits ...
forfeits = 5
# ... in so many of its last games.
games = 20
# Or so many one after another.
in_a_row = 3

# Who meets. docs/matchmaking.md says what each value does, and shows what others would do to a league.
[matchmaking]
# How many deals versions play when they meet, each in all seatings. A bot starts once for its games in one seating:
# where games take less time than bots take to start, 5 or 10 give more games, from fewer opponents.
deals = 1
# A version with fewer matches is new: it comes first in every second meeting.
placement = 20
# From how many the others of a match are chosen.
sample = 64
# The part of the meetings whose others are chosen without regard to ratings.
random = 0.1
# Whoever was met in this number of last meetings is less likely to be chosen ...
repeat = 10
# ... by this factor.
again = 0.1
# A version with this number of unfinished meetings is in no other.
most_running = 2

[service]
# Games at a time; 0 is all cores but one. `arena league concurrency` changes it while the service runs.
workers = 0
# How often standings are published, in seconds.
publish_s = 10
# How long running games may take once the service is asked to stop, in seconds.
stop_s = 60
# When matches are played that authors ask for: beside (one at a time beside rated games, which come first on each core)
# or idle (a worker has nothing rated to play, which in a large league may never be).
requested = "beside"
# How many authors may play unrated games themselves at a time, over the door; 0 is none. Such games wait for people and
# models rather than for a core.
seats = 2
# The clock of such an author: it bounds the whole game.
seat_time = "20m+10"

[site]
# How often the league's pages are made in the folder `site`, in seconds; 0 is never. They need
# packages that `arena site` names.
every_s = 60

# How long logs of games are kept. Results and digests stay for ever.
[logs]
# Those of most games, in days.
days = 30
# Those of games in which somebody forfeited, in days.
forfeit_days = 365
# All logs together, in GiB on the disk.
gib = 20

[season]
# How ratings of the next season begin: anew, or decayed (from those of the last one, with a wider sigma).
start = "anew"
# How many of the best play a final before a season ends, one of each author; 0 is none. They all meet equally often.
final = 8
# The final ends when it is settled who has won, or when another round would need more deals than this.
final_deals = 2000
# A rating is provisional before so many matches. Such a version plays the final only if others leave a place.
final_matches = 20
# Dates, such as "2026-12-20 18:00"; "" is none, and so is one from before the season was opened. When its games begin.
opens = ""
# When submissions to it freeze.
freezes = ""
# When it closes by itself, with its final, and the next one begins.
closes = ""
# The time zone of these dates, such as "Europe/Berlin".
zone = "UTC"
# "quicknet": the round of drand that is out ten minutes after a season opens goes into its deals, so that nobody can
# have chosen them. No game begins before `arena league season beacon VALUE` has its value. "" is none.
beacon = {beacon}

# What the operator is told of, beside the notices of `arena league status`.
[notify]
# A command for the shell, or an address https://..., that gets a JSON document with `event`, `id` and `result`.
command = ""
# Of what: a season that is closed, a version that is suspended or rejected.
of = ["season", "suspended", "rejected"]

# Whether `arena league run` opens the league to authors elsewhere, as `arena league open` does.
[door]
# Where to listen, such as "127.0.0.1:8780" behind a web server with TLS; "" is nowhere.
bind = ""
# The address that authors use, such as "https://cup.example"; "" is that at which it listens.
url = ""
# Without a web server in front: ["CERT", "KEY"], the files of a certificate and its key; "self" makes one; "" is none.
tls = ""
"""


def text(settings: Settings) -> str:
    """Returns the text of a `league.toml` for a new league: what was chosen, and defaults for all else.

    The name, `[game]`, of `[bots]` the level and the house's bots, and a season's beacon are taken from the settings.
    """
    game = settings.game
    chosen = {field: getattr(game, field) for field in Game.__struct_fields__}
    values = {**chosen, "name": settings.name, "level": settings.bots.level, "house": list(settings.bots.house)}
    values |= {"players": list(game.players), "beacon": settings.season.beacon}
    written = {key: _value(value) for key, value in values.items()}
    return _TEMPLATE.format(**written)


def _value(value: object) -> str:
    """Returns a value as TOML has it.

    >>> _value({"setup": "random"}), _value([2, 4]), _value("a")
    ('{ setup = "random" }', '[2, 4]', '"a"')
    """
    if isinstance(value, dict):
        inner = ", ".join(f"{key} = {_value(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    return json.dumps(value)

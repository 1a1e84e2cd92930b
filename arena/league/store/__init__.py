"""The league's part of the store: authors, versions, reports, matches, seasons, notices, orders."""

from __future__ import annotations

from arena.league.store.opening import LeagueReader, LeagueStore, league_of, open_league, read_league

__all__ = ["LeagueReader", "LeagueStore", "league_of", "open_league", "read_league"]

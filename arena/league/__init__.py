"""The league: a tournament that never ends, whose entrants come and go."""

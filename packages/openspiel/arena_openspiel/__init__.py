"""OpenSpiel's games as games of arena: a family, and each game in it."""

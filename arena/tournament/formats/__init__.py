"""The formats of a tournament: which entrants meet, round after round."""

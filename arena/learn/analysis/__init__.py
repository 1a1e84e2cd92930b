"""The worth of each decision of a logged game: games are played on in worlds that its seat could not rule out."""

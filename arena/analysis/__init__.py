"""What each decision of a logged game was worth: games are played on in worlds that its seat could not rule out."""

"""Games, tournaments and their results on one machine: what every wing stands on."""

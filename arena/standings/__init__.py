"""What came of tournaments: standings of one or of a pool, rounds, comparisons; and the end of a tournament."""

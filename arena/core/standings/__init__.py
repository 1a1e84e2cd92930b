"""What came of tournaments: standings of one or of a pool, rounds, comparisons; how one ends; its audit."""

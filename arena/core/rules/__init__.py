"""Pure rules of games: state, legal plays, what a play does, who may know it. `arena.core.catalogue` finds them."""

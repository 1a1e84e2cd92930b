"""Commands that show games on pages, on a screen, or to a person in a seat."""

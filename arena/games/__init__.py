"""The games that come with arena, each in one place: rules, numbers, drawings, words."""

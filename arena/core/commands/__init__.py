"""The commands of a laptop: one module per noun, no logic."""

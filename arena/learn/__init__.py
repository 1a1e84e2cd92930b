"""What programs and authors learn from games: analyses, tuning, tables, environments."""

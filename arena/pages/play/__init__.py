"""A person in a seat: the seat's process, a turn in the making, what is on the screen, and the table."""

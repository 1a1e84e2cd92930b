"""Boards and decks as pictures that one would print: SVG documents that need nothing but themselves.

1. The same board gives the same bytes.
2. Text from a file is escaped, and made plain first: XML has no place for control characters.
3. Nothing is told by colour alone, so that a picture can be printed in black and white.
"""

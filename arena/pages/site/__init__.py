"""A database as a folder of static pages."""

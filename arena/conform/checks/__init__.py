"""The checks, a module for each part of the report. Run in the order in which `CHECKS` has them."""

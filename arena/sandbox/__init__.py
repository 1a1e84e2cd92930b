"""Levels of protection: what a bot's process may see, do and use, and the probes that show it on this machine."""

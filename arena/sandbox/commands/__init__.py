"""Commands about the levels of protection."""

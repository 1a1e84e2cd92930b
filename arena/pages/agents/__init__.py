"""A seat for programs that were not written for arena: over MCP, and over HTTP."""

"""Commands about the machines of a cluster."""

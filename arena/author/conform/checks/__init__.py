"""The checks by topic. Each module has its checks in the order in which they run."""

"""Makes the seat's seccomp filter."""


def program() -> bytes:
    """Returns the filter as `bwrap --seccomp` reads it."""
    raise NotImplementedError

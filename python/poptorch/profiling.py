"""Channels for traces of the host. They record nothing."""
import contextlib


class Channel:
    """A named channel."""

    def __init__(self, name):
        self.name = name

    def instrument(self, obj, *methods):
        return obj

    @contextlib.contextmanager
    def tracepoint(self, name):
        yield

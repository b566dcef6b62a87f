"""Exceptions of popxl beside Python's own and `popart.popart_exception`."""


class UndefinedValue(Exception):
    """A property that has no value yet, such as the IPU of a variable that nothing uses."""

"""Aliases of types that annotations of users are compared with."""
from typing import NewType


def NewAliasAnnotation(name, tp):
    """A type that is another one to type checkers and a distinct object to code that inspects annotations.

    Args:
        name: the name of the alias.
        tp: what it stands for.
    """
    return NewType(name, tp)

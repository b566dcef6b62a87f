"""Regions of tensors: boxes from `lower` to `upper`."""
import math


class Region:
    def __init__(self, lower, upper, empty=False):
        self._lower, self._upper = tuple(lower), tuple(upper)
        if len(self._lower) != len(self._upper):
            raise ValueError(f"a region has as many lower as upper bounds, not {len(self._lower)} and {len(self._upper)}")
        self._empty = empty or any(low >= up for low, up in zip(self._lower, self._upper))

    @classmethod
    def getFull(cls, shape):
        return cls((0,) * len(shape), shape)

    @classmethod
    def getEmpty(cls, rank):
        # The bounds of a scalar's empty region are those of its full one: the word says it.
        return cls((0,) * rank, (0,) * rank, empty=True)

    def lower(self):
        return list(self._lower)

    def upper(self):
        return list(self._upper)

    def rank(self):
        return len(self._lower)

    def nelms(self):
        return 0 if self._empty else math.prod(up - low for low, up in zip(self._lower, self._upper))

    def isEmpty(self):
        return self._empty

    def __eq__(self, other):
        return isinstance(other, Region) and (self._lower, self._upper, self._empty) == (other._lower, other._upper, other._empty)

    def __hash__(self):
        return hash((self._lower, self._upper, self._empty))

    def __repr__(self):
        return f"Region({list(self._lower)}, {list(self._upper)}{', empty' if self._empty else ''})"

"""Which indices a program takes: those of an input are looked at on the host, as a program has no errors of its own."""
import dataclasses

import numpy as np
import torch
import torch.fx

from pando.torch.importer import line_of

aten = torch.ops.aten
# What keeps all elements.
_SAME = {getattr(packet, overload) for packet in (
    aten.view, aten.reshape, aten._unsafe_view, aten.unsqueeze, aten.squeeze, aten.permute, aten.t, aten.transpose, aten.expand, aten.clone, aten.detach, aten.alias,
    aten._to_copy, aten.view_copy, aten.unsqueeze_copy, aten.squeeze_copy, aten.permute_copy, aten.t_copy, aten.transpose_copy, aten.expand_copy, aten.detach_copy,
    aten.alias_copy) for overload in packet.overloads() if not overload.endswith("out")}
# Of arguments (tensor, dimension, indices).
_ALONG = {aten.gather.default, aten.index_select.default, aten.scatter.src, aten.scatter.value, aten.scatter_add.default, aten.scatter_reduce.two,
          aten.index_add.default}
# Of arguments (tensor, indices of its dimensions): these count from the end, too.
_OF_ALL = {aten.index.Tensor, aten._unsafe_index.Tensor, aten.index_put.default, aten._unsafe_index_put.default}


@dataclasses.dataclass(frozen=True)
class Bound:
    """Indices that an op takes: from `low` on, below `high`, and `other` (None: no other), which the model treats apart."""

    low: int
    high: int
    other: object
    op: str
    line: str

    def check(self, x, name):
        """Raises IndexError if an array has others. name: of the input."""
        if not x.size or x.min() >= self.low and x.max() < self.high:
            return
        wrong = ((x < self.low) | (x >= self.high)) & (True if self.other is None else x != self.other)
        if wrong.any():
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise IndexError(f"{name} has {x[place]} at {place}, and {self.op} takes from {self.low} to {self.high - 1}." + (f" {self.line}" if self.line else ""))


def _apart(node, value):
    """The number that where or masked_fill, one of whose arguments is a value, puts another in place of; None: of none that is known."""
    takes, condition = (node.args[1], node.args[0]) if node.target is aten.where.self else (node.args[0], node.args[1])
    wanted = aten.ne.Scalar if node.target is aten.where.self else aten.eq.Scalar
    if takes is not value or not isinstance(condition, torch.fx.Node) or condition.target is not wanted or not _is_same(condition.args[0], value):
        return None
    return condition.args[1]


def _is_same(a, b):
    """Whether two nodes have the same elements."""

    def root(node):
        while node.op == "call_function" and node.target in _SAME:
            node = node.args[0]
        return node

    return isinstance(a, torch.fx.Node) and root(a) is root(b)


def _uses(value, other=None):
    """The bounds of a value and of what has the same elements."""
    for user in value.users:
        if user.op != "call_function":
            continue
        length, low, takes = None, 0, user.args[2] if len(user.args) > 2 else None
        if user.target in _SAME:
            if not user.meta["val"].dtype.is_floating_point and user.meta["val"].dtype is not torch.bool:
                yield from _uses(user, other)
        elif user.target in (aten.where.self, aten.masked_fill.Scalar, aten.masked_fill.Tensor):
            apart = _apart(user, value)
            if apart is not None and other in (None, apart):
                yield from _uses(user, apart)
        elif user.target is aten.embedding.default and user.args[1] is value:
            length = user.args[0].meta["val"].shape[0]
        elif user.target in _ALONG and takes is value:
            shape = user.args[0].meta["val"].shape
            length = shape[user.args[1]] if shape else 1
        elif user.target in _OF_ALL and value in user.args[1]:
            length = user.args[0].meta["val"].shape[list(user.args[1]).index(value)]
            low = -length
        if length is not None:
            yield Bound(low, length, other, str(user.target), line_of(user))


def bounds(node):
    """The bounds of an input of a graph."""
    value = node.meta["val"]
    if not isinstance(value, torch.Tensor) or value.dtype.is_floating_point or value.dtype.is_complex or value.dtype is torch.bool:
        return []
    found = {}
    for bound in _uses(node):
        found.setdefault((bound.low, bound.high, bound.other), bound)
    return list(found.values())

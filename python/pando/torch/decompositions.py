"""Which ops of PyTorch are taken apart before they are imported: those that PyTorch can take apart and that have no rule here."""
import functools

import torch

from pando.torch import adapter, rules  # noqa: F401  (it fills the table)
from pando.torch.composed import COMPOSED, FOREIGN
from pando.torch.table import RULES

aten = torch.ops.aten


def _max_pool_backward(dy, x, kernel_size, stride, padding, dilation, ceil_mode, places):
    n = len(kernel_size)

    def spread(numbers, default):
        numbers = list(numbers) or list(default)
        return numbers * n if len(numbers) == 1 else numbers

    return torch.ops.pando.max_pool_backward(dy, x, list(kernel_size), spread(stride, kernel_size), spread(padding, [0]), spread(dilation, [1]), ceil_mode)


@functools.lru_cache(None)
def _table():
    # PyTorch's list for core ATen goes before all else that it can take apart. Graphs are functional: of the others what writes nowhere.
    table = {op: function for op, function in adapter.all_decompositions().items() if not op._schema.is_mutable}
    table.update(adapter.core_decompositions())
    table.update(COMPOSED)
    for overload in RULES:
        table.pop(overload, None)
    table[aten.max_pool2d_with_indices_backward.default] = _max_pool_backward
    table[aten.max_pool3d_with_indices_backward.default] = _max_pool_backward
    return table


def _foreign():
    """{overload: function} of ops of other packages, as far as they are imported."""
    found = {}
    for name, function in FOREIGN.items():
        namespace, op = name.split("::")
        packet = getattr(getattr(torch.ops, namespace), op, None)
        if packet is not None:
            found[packet.default] = function
    return found


def decompositions():
    """{overload: function} for make_fx and AOTAutograd."""
    return {**_table(), **_foreign()}

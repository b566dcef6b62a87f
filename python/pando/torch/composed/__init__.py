"""Ops of PyTorch, forward and backward, that are made of others: what PyTorch itself does not take apart. A file for each family."""
import functools
import importlib
import pkgutil

import torch
from torch.utils import _pytree


def _in_float32(function):
    """Makes a function of several steps compute numbers of 16 bits as float32 and round once, as kernels of PyTorch do."""

    @functools.wraps(function)
    def wide(*args, **kwargs):
        if not any(isinstance(x, torch.Tensor) and x.dtype is torch.float16 for x in args):
            return function(*args, **kwargs)
        made = function(*(x.float() if isinstance(x, torch.Tensor) and x.dtype is torch.float16 else x for x in args), **kwargs)
        return _pytree.tree_map(lambda x: x.half() if isinstance(x, torch.Tensor) and x.dtype is torch.float32 else x, made)

    return wide


# {overload: function}. A file says IN_FLOAT32 = True where all of its functions are more than one step of an op that PyTorch computes at once.
COMPOSED = {}
# {function of PyTorch: what is called in its place while a graph is traced}
FUNCTIONS = {}
# {name: function} of ops that other packages bring.
FOREIGN = {}
for _file in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    _module = importlib.import_module(f"{__name__}.{_file}")
    _composed = _module.COMPOSED
    if getattr(_module, "IN_FLOAT32", False):
        _composed = {op: _in_float32(function) for op, function in _composed.items()}
    COMPOSED.update(_composed)
    FOREIGN.update(getattr(_module, "FOREIGN", {}))
    FUNCTIONS.update(getattr(_module, "FUNCTIONS", {}))

"""Collectives of the host: numbers, NumPy arrays and tensors of torch, over all instances (inside of `popdist.execute_on_instances`: those that take
part). Every instance makes the same calls; arrays are of one shape and element type on all of them. Sums go in the order of the instances: each gets
the same bits."""
import pickle

import numpy as np

import popdist
from popxl import _instances

__all__ = ["all_reduce", "all_gather", "broadcast", "all_gather_object", "broadcast_object", "barrier"]

_REDUCTIONS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}


def _as_array(value):
    """(array, function that makes of an array what the caller gave)."""
    if hasattr(value, "detach"):
        import torch

        tensor = value.detach().cpu()
        if tensor.dtype == torch.bfloat16:
            return tensor.float().contiguous().numpy(), lambda a: torch.from_numpy(np.array(a)).to(torch.bfloat16)
        return tensor.contiguous().numpy(), lambda a: torch.from_numpy(np.array(a))
    array = np.asarray(value)
    if array.dtype.hasobject:
        raise TypeError(f"A collective takes numbers, arrays and tensors, not {type(value).__name__}; objects go through broadcast_object.")
    if isinstance(value, (bool, int, float)):
        return array, lambda a: a.item() if np.ndim(a) == 0 else a
    return array, lambda a: a


def _gathered(array, what):
    """Arrays of all instances, in their order.

    Raises:
        ValueError: they are of different shapes or element types.
    """
    form = f"{array.dtype.str} {array.shape}"
    parts = _instances.all_gather(form.encode() + b"\n" + np.ascontiguousarray(array).tobytes(), what)
    arrays = []
    for instance, part in zip(_instances.members(), parts):
        theirs, data = part.split(b"\n", 1)
        if theirs.decode() != form:
            raise ValueError(f"{what}: this instance has an array of {form}, instance {instance} one of {theirs.decode()}.")
        arrays.append(np.frombuffer(data, array.dtype).reshape(array.shape))
    return arrays


def all_reduce(value, op="sum"):
    """The sum (or mean, prod, min, max) of what the instances give, of the same kind and shape as what is given.

    Raises:
        ValueError: another reduction; arrays of different shapes or element types.
    """
    if op not in _REDUCTIONS:
        raise ValueError(f"all_reduce: {op!r} is not a reduction; {', '.join(sorted(_REDUCTIONS))} are.")
    array, back = _as_array(value)
    arrays = _gathered(array, f"all_reduce {op}")
    total = arrays[0].astype(np.int64) if array.dtype.kind == "b" and op in ("sum", "mean") else arrays[0].copy()
    for other in arrays[1:]:
        total = _REDUCTIONS[op](total, other)
    if op == "mean":
        total = total / len(arrays)
        if array.dtype.kind == "f":
            total = total.astype(array.dtype)
    return back(total)


def all_gather(value):
    """What all instances give, in their order, along a new first dimension."""
    array, back = _as_array(value)
    return back(np.stack(_gathered(array, "all_gather")))


def broadcast(value, root=0):
    """What instance `root` gives, on all of them. Shapes and element types are the same everywhere.

    Raises:
        ValueError: an instance that does not take part; arrays of different shapes or element types.
    """
    array, back = _as_array(value)
    return back(_gathered(array, "broadcast")[_place(root)].copy())


def _place(root):
    members = _instances.members()
    if root not in members:
        raise ValueError(f"Instance {root!r} does not take part; {members} do.")
    return members.index(root)


def all_gather_object(value):
    """What all instances give, any object that can be pickled: a list, in their order."""
    return [pickle.loads(part) for part in _instances.all_gather(pickle.dumps(value), "all_gather_object")]


def broadcast_object(value, root=0):
    """What instance `root` gives, any object that can be pickled."""
    place = _place(root)
    mine = pickle.dumps(value) if popdist.getInstanceIndex() == root else b""
    return pickle.loads(_instances.all_gather(mine, "broadcast_object")[place])


def barrier():
    """Returns when all have come here: `popdist.synchronize()`."""
    _instances.all_gather(b"", "barrier")

"""Reductions over IPUs of one replica."""
from typing import List, Optional

from popxl._build import op as _op
from popxl.errors import UndefinedValue
from popxl.ops.collectives.collectives import CollectiveOps, to_collective_op
from popxl.ops.utils import ints, tensors_of
from popxl.tensor import Tensor


def _ipus_of(ts, ipus, name):
    given = ints(ipus, f"{name}: ipus")
    if given is not None and len(given) != len(ts):
        raise ValueError(f"{name}: {len(ts)} tensors, but {len(given)} IPUs.")
    for i, t in enumerate(ts):
        try:
            known = t.ipu
        except UndefinedValue as error:
            if given is None:
                raise ValueError(f"{name}: could not infer the ipu on which {t!r} lies. Please specify `ipus`.") from error
            continue
        if given is not None and known != given[i]:
            raise ValueError(f"{name}: {t!r} lies on IPU {known}, not on {given[i]} as ipus says.")


def _reduce(name, ts, ipus, op):
    ts = tensors_of(ts, name)
    _ipus_of(ts, ipus, name)
    return _op(name, ts, {"op": to_collective_op(op)})


def all_reduce(ts: List[Tensor], ipus: Optional[List[int]] = None, op: CollectiveOps = "add") -> List[Tensor]:
    """The reduction of tensors that lie on different IPUs, on each of them.

    Args:
        ts: tensors of one shape and element type.
        ipus: the IPU of each; None: what is known of the tensors.
        op: the reduction.

    Returns:
        as many tensors as were given, all equal.

    Raises:
        ValueError: unknown IPUs or reductions.
    """
    return _reduce("all_reduce", ts, ipus, op)


def all_reduce_identical_inputs(ts: List[Tensor], ipus: Optional[List[int]] = None, op: CollectiveOps = "add") -> List[Tensor]:
    """The tensors themselves, which are equal; their gradients are reduced. Arguments as in `all_reduce`."""
    return _reduce("all_reduce_identical_inputs", ts, ipus, op)


def all_reduce_identical_grad_inputs(ts: List[Tensor], ipus: Optional[List[int]] = None, op: CollectiveOps = "add") -> List[Tensor]:
    """The same as `all_reduce`, where the gradients of the results are equal: they are those of the tensors."""
    return _reduce("all_reduce_identical_grad_inputs", ts, ipus, op)


__all__ = ["all_reduce", "all_reduce_identical_inputs", "all_reduce_identical_grad_inputs"]

"""t[key]."""
from popxl import dtypes
from popxl._lazy import np
from popxl.tensor import Tensor
from popxl.utils import is_torch


def get(t, key):
    from popxl import _variables, ops

    if isinstance(key, (str, bool, float)):
        raise TypeError(f"A tensor is indexed by integers, slices, tensors and arrays, not by {key!r}.")
    if isinstance(key, Tensor) or is_torch(key) or isinstance(key, (list, np.ndarray)):
        if not isinstance(key, Tensor):
            array = key.numpy() if is_torch(key) else np.asarray(key)
            if array.dtype.kind not in "iub":
                raise TypeError(f"A tensor is indexed by integers or bools, not by {array.dtype}.")
            key = _variables.constant(array if array.dtype.kind == "b" else _rows(t, array), None if array.dtype.kind == "b" else dtypes.int32)
        if key.dtype is dtypes.bool:
            return ops.where(key, t, t._ensure_tensor(0))
        if not key.dtype.is_int:
            raise TypeError(f"A tensor is indexed by integers or bools, not by {key.dtype}.")
        return ops.gather(t, key, axis=0)
    keys = key if isinstance(key, tuple) else (key,)
    if len(keys) > t.rank:
        raise IndexError(f"{len(keys)} indices for a tensor of rank {t.rank}.")
    return _take(t, keys)


def _rows(t, indices):
    """Indices of rows that the host knows, counted from the first row; from the last one where they are below 0."""
    rows, indices = t.shape[0] if t.rank else 0, indices.astype(np.int64)
    outside = (indices < -rows) | (indices >= rows)
    if outside.any():
        raise IndexError(f"Row {indices[outside].flat[0]} of {t!r}, which has {rows}.")
    return np.where(indices < 0, indices + rows, indices)


def _take(t, keys):
    from popxl import ops

    start, stop, step, axis, removed, strides = [], [], [], [], [], [1] * t.rank
    for i, k in enumerate(keys):
        if isinstance(k, slice):
            by = 1 if k.step is None else int(k.step)
            if by == 0:
                raise ValueError("A step of zero.")
            if k.start is None and k.stop is None and by > 0:
                strides[i] = by
                continue
            start.append(k.start)
            stop.append(k.stop)
            step.append(1 if by > 0 else -1)
            strides[i] = abs(by)
        elif isinstance(k, (int, np.integer)) and not isinstance(k, bool):
            k = int(k)
            if not -t.shape[i] <= k < t.shape[i]:
                raise IndexError(f"Index {k} is out of range for axis {i} of {t.shape[i]} elements.")
            k %= t.shape[i]
            start.append(k)
            stop.append(k + 1)
            step.append(1)
            removed.append(i)
        else:
            raise TypeError(f"A tensor is indexed by integers, slices, tensors and arrays, not by {k!r}.")
        axis.append(i)
    if axis:
        t = ops.slice(t, start, stop, step, axis)
    if any(s != 1 for s in strides):
        t = ops.subsample(t, strides)
    if removed:
        t = ops.squeeze(t, axes=removed)
    return t

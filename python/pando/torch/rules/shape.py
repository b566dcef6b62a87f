"""Shapes: the same elements in other places."""
import torch

from popxl.tensor import Tensor

from pando.torch.table import rule

aten = torch.ops.aten


def axis_of(t, axis):
    """An axis counted from the front."""
    return axis + max(len(t.shape), 1) if axis < 0 else axis


@rule(aten.view.default, aten.reshape.default, aten._unsafe_view.default, aten.unsqueeze.default, aten.squeeze.default, aten.squeeze.dim, aten.squeeze.dims,
      aten.view_copy.default, aten.unsqueeze_copy.default, aten.squeeze_copy.default, aten.squeeze_copy.dim, aten.squeeze_copy.dims,
       aten.flatten.using_ints, aten._reshape_alias.default)
def to_shape(g, x, *arguments, **options):
    return g.reshape(x, g.shape)


@rule(aten.permute.default, aten.permute_copy.default)
def permute(g, x, dims):
    return g.transpose(x, [axis_of(x, d) for d in dims])


@rule(aten.t.default, aten.t_copy.default)
def t(g, x):
    return g.transpose(x, range(len(x.shape))[::-1])


@rule(aten.transpose.int, aten.transpose_copy.int)
def transpose(g, x, a, b):
    if not x.shape:
        return x
    order = list(range(len(x.shape)))
    a, b = axis_of(x, a), axis_of(x, b)
    order[a], order[b] = order[b], order[a]
    return g.transpose(x, order)


@rule(aten.expand.default, aten.expand_copy.default)
def expand(g, x, size, implicit=False):
    return g.expand(x, g.shape)


@rule(aten.repeat.default)
def repeat(g, x, repeats):
    shape = [1] * (len(repeats) - len(x.shape)) + list(x.shape)
    # (r, d) for each dimension, r of them repeated.
    spread = [n for d in shape for n in (1, d)]
    wide = [n for r, d in zip(repeats, shape) for n in (r, d)]
    return g.reshape(g.expand(g.reshape(x, spread), wide), g.shape)


@rule(aten.cat.default)
def cat(g, tensors, dim=0):
    if 0 in g.shape:
        return g.constant(0, g.dtype, g.shape)
    kept = [g.cast(x, g.dtype) for x in tensors if 0 not in x.shape]
    return g.concat(kept, axis_of(kept[0], dim))


@rule(aten.stack.default)
def stack(g, tensors, dim=0):
    dim = dim + len(g.shape) if dim < 0 else dim
    parts = []
    for x in tensors:
        parts.append(g.reshape(g.cast(x, g.dtype), [*x.shape[:dim], 1, *x.shape[dim:]]))
    return g.concat(parts, dim)


def _bounds(length, start, end):
    start = 0 if start is None else start
    end = length if end is None else end
    start, end = (min(max(i + length if i < 0 else i, 0), length) for i in (start, end))
    return start, max(start, end)


def every(g, x, axis, step):
    """x[::step] along an axis."""
    if step == 1:
        return x
    strides = [1] * len(x.shape)
    strides[axis] = step
    return g.one("subsample", x, strides=strides)


@rule(aten.slice.Tensor, aten.slice_copy.Tensor)
def slice_(g, x, dim=0, start=None, end=None, step=1):
    dim = axis_of(x, dim)
    start, end = _bounds(x.shape[dim], start, end)
    return every(g, g.slice(x, dim, start, end), dim, step)


@rule(aten.select.int, aten.select_copy.int)
def select(g, x, dim, index):
    dim = axis_of(x, dim)
    index = index + x.shape[dim] if index < 0 else index
    return g.reshape(g.slice(x, dim, index, index + 1), g.shape)


@rule(aten.split.Tensor, aten.split_copy.Tensor)
def split(g, x, size, dim=0):
    dim = axis_of(x, dim)
    length = x.shape[dim]
    return tuple(g.slice(x, dim, i, min(i + size, length)) for i in range(0, length, size))


@rule(aten.split_with_sizes.default, aten.split_with_sizes_copy.default)
def split_with_sizes(g, x, sizes, dim=0):
    dim, parts, at = axis_of(x, dim), [], 0
    for size in sizes:
        parts.append(g.slice(x, dim, at, at + size))
        at += size
    return tuple(parts)


@rule(aten.unbind.int, aten.unbind_copy.int)
def unbind(g, x, dim=0):
    dim = axis_of(x, dim)
    rest = [*x.shape[:dim], *x.shape[dim + 1:]]
    return tuple(g.reshape(g.slice(x, dim, i, i + 1), rest) for i in range(x.shape[dim]))


def put(g, base, piece, axis, start, end, step):
    """base with base[start:end:step] along an axis replaced."""
    if step == 1:
        if start == 0 and end == base.shape[axis]:
            return piece
        return g.one("slice_assign", base, piece, start=[start], stop=[end], step=[1], axis=[axis])
    # Positions of the piece in the whole axis: rows of the piece where there is one, else of the base.
    positions = list(range(start, end, step))
    rows = list(range(base.shape[axis]))
    joined = g.concat([base, piece], axis)
    for i, p in enumerate(positions):
        rows[p] = base.shape[axis] + i
    import popxl

    return g.one("gather", joined, g.array(rows, popxl.int32), axis=axis)


@rule(aten.slice_scatter.default)
def slice_scatter(g, x, piece, dim=0, start=None, end=None, step=1):
    dim = axis_of(x, dim)
    start, end = _bounds(x.shape[dim], start, end)
    if start == end:
        return x
    return put(g, x, g.cast(piece, x.dtype), dim, start, end, step)


@rule(aten.select_scatter.default)
def select_scatter(g, x, piece, dim, index):
    dim = axis_of(x, dim)
    index = index + x.shape[dim] if index < 0 else index
    shape = [*x.shape[:dim], 1, *x.shape[dim + 1:]]
    return put(g, x, g.reshape(g.expand(g.cast(piece, x.dtype), [*x.shape[:dim], *x.shape[dim + 1:]]), shape), dim, index, index + 1, 1)


@rule(aten.flip.default)
def flip(g, x, dims):
    axes = sorted(axis_of(x, d) for d in dims if x.shape)
    if not axes:
        return x
    return g.one("slice", x, start=[2**31 - 1] * len(axes), stop=[-(2**31 - 1)] * len(axes), step=[-1] * len(axes), axis=axes)


@rule(aten.roll.default)
def roll(g, x, shifts, dims=()):
    if not dims:
        return g.reshape(_rolled(g, g.reshape(x, [x.nelms]), 0, shifts[0]), x.shape)
    for shift, dim in zip(shifts, dims):
        x = _rolled(g, x, axis_of(x, dim), shift)
    return x


def _rolled(g, x, axis, shift):
    length = x.shape[axis]
    cut = (-shift) % length if length else 0
    return x if cut == 0 else g.concat([g.slice(x, axis, cut, length), g.slice(x, axis, 0, cut)], axis)


@rule(aten.constant_pad_nd.default)
def constant_pad_nd(g, x, pad, value=0):
    # Pairs from the last dimension on; negative ones cut.
    value = g.constant(value, x.dtype)
    for i in range(len(pad) // 2):
        axis, before, behind = len(x.shape) - 1 - i, pad[2 * i], pad[2 * i + 1]
        length = x.shape[axis]
        x = g.slice(x, axis, max(0, -before), length - max(0, -behind))
        parts = [x]
        for n, at in ((before, 0), (behind, len(parts))):
            if n > 0:
                shape = [*x.shape[:axis], n, *x.shape[axis + 1:]]
                parts.insert(0 if at == 0 else len(parts), g.expand(value, shape))
        x = g.concat(parts, axis)
    return x


@rule(aten.diagonal.default, aten.diagonal_copy.default)
def diagonal(g, x, offset=0, dim1=0, dim2=1):
    import popxl

    a, b = axis_of(x, dim1), axis_of(x, dim2)
    rest = [i for i in range(len(x.shape)) if i not in (a, b)]
    moved = g.transpose(x, [*rest, a, b])
    rows, columns = x.shape[a], x.shape[b]
    count = g.shape[-1]
    first = max(0, -offset) * columns + max(0, offset)
    flat = g.reshape(moved, [*moved.shape[:-2], rows * columns])
    return g.one("gather", flat, g.array([first + i * (columns + 1) for i in range(count)], popxl.int32), axis=len(flat.shape) - 1)


@rule(aten.as_strided.default, aten.as_strided_copy.default)
def as_strided(g, x, size, stride, storage_offset=None):
    # Of a contiguous tensor: its elements in row-major order, looked up by position.
    import numpy as np
    import popxl

    at = np.full(tuple(size), storage_offset or 0, np.int64)
    for axis, (n, s) in enumerate(zip(size, stride)):
        at += (np.arange(n) * s).reshape([-1 if i == axis else 1 for i in range(len(size))])
    if at.size == x.nelms and (at.reshape(-1) == np.arange(x.nelms)).all():
        return g.reshape(x, size)
    return g.reshape(g.one("gather", g.reshape(x, [x.nelms]), g.array(at.reshape(-1), popxl.int32), axis=0), size)

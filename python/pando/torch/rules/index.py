"""Places that are computed: lookups, scattering. Indices are int32 in the program; negative ones count from the end, as in PyTorch."""
import torch

import popxl
from popxl.tensor import Tensor

from pando.torch.rules.elementwise import quotient_floored
from pando.torch.rules.reduction import running_sum
from pando.torch.rules.shape import axis_of
from pando.torch.table import rule

aten = torch.ops.aten


def _wrapped(g, indices, length):
    """Indices counted from the front."""
    indices = g.cast(indices, popxl.int32)
    return g.one("where", g.one("less", indices, g.constant(0, popxl.int32)), g.one("add", indices, g.constant(length, popxl.int32)), indices)


@rule(aten.embedding.default)
def embedding(g, weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return g.one("gather", weight, g.cast(indices, popxl.int32), axis=0)


@rule(aten.embedding_dense_backward.default)
def embedding_dense_backward(g, dy, indices, num_weights, padding_idx, scale_grad_by_freq):
    if scale_grad_by_freq:
        raise NotImplementedError("aten.embedding_dense_backward: scale_grad_by_freq.")
    width = dy.shape[-1]
    indices = g.reshape(g.cast(indices, popxl.int32), [indices.nelms])
    rows = g.reshape(dy, [indices.nelms, width])
    if padding_idx >= 0:
        kept = g.one("not_equal", indices, g.constant(padding_idx, popxl.int32))
        rows = g.one("where", g.reshape(kept, [indices.nelms, 1]), rows, g.constant(0, dy.dtype))
    return g.one("scatter_reduce", rows, indices, reduction="sum", axis=0, axis_size=num_weights, enable_index_broadcast=True)


@rule(aten.index_select.default)
def index_select(g, x, dim, index):
    if not x.shape:
        return x
    axis = axis_of(x, dim)
    return g.one("gather", x, g.reshape(g.cast(index, popxl.int32), [index.nelms]), axis=axis)


def _check_static(g, indices):
    if any(i is not None and i.dtype is popxl.bool for i in indices):
        raise NotImplementedError(f"{g.node.target}: a mask of bools gives a shape that depends on data; use torch.where.")


def _joined(g, x, indices):
    """(x with the indexed dimensions in front as one, flat indices into it, the shape of the indices, permutation, whether they stay where they were)."""
    axes = [i for i, index in enumerate(indices) if index is not None]
    rest = [i for i in range(len(x.shape)) if i not in axes]
    shape = torch.broadcast_shapes(*(indices[a].shape for a in axes))
    flat = None
    for a in axes:
        index = g.expand(_wrapped(g, indices[a], x.shape[a]), shape)
        flat = index if flat is None else g.one("add", g.one("mul", flat, g.constant(x.shape[a], popxl.int32)), index)
    count = 1
    for a in axes:
        count *= x.shape[a]
    order = axes + rest
    front = g.reshape(g.transpose(x, order), [count, *[x.shape[r] for r in rest]])
    adjacent = axes == list(range(axes[0], axes[-1] + 1))
    n = 1
    for d in shape:
        n *= d
    return front, g.reshape(flat, [n]), tuple(shape), order, axes, rest, adjacent


@rule(aten.index.Tensor, aten._unsafe_index.Tensor)
def index(g, x, indices):
    _check_static(g, indices)
    if all(i is None for i in indices):
        return x
    front, flat, shape, order, axes, rest, adjacent = _joined(g, x, indices)
    picked = g.reshape(g.one("gather", front, flat, axis=0), [*shape, *[x.shape[r] for r in rest]])
    if adjacent and axes[0] > 0:
        # The new dimensions stand where the indexed ones were.
        k, before = len(shape), axes[0]
        picked = g.transpose(picked, [*range(k, k + before), *range(k), *range(k + before, len(picked.shape))])
    return picked


@rule(aten.index_put.default, aten._unsafe_index_put.default)
def index_put(g, x, indices, values, accumulate=False):
    if not x.nelms:
        return x
    if any(i is not None and i.dtype is popxl.bool for i in indices):
        return _masked_put(g, x, indices, values, accumulate)
    if x.dtype is popxl.bool:
        # The row takes numbers.
        return g.cast(index_put(g, g.cast(x, popxl.int32), indices, g.cast(values, popxl.int32), accumulate), popxl.bool)
    front, flat, shape, order, axes, rest, adjacent = _joined(g, x, indices)
    rest_shape = [x.shape[r] for r in rest]
    if adjacent and axes[0] > 0:
        k, before = len(shape), axes[0]
        full = [*rest_shape[:before], *shape, *rest_shape[before:]]
        values = g.expand(g.cast(values, x.dtype), full)
        values = g.transpose(values, [*range(before, before + k), *range(before), *range(before + k, len(full))])
    values = g.reshape(g.expand(g.cast(values, x.dtype), [*shape, *rest_shape]), [flat.shape[0], *rest_shape])
    # With initial values a scatter's sum adds to them; the last one replaces them.
    new = g.one("scatter_reduce", values, flat, front, reduction="sum" if accumulate else "none", axis=0, axis_size=front.shape[0],
                enable_index_broadcast=True)
    new = g.reshape(new, [x.shape[i] for i in order])
    return g.transpose(new, [order.index(i) for i in range(len(order))])


def _masked_put(g, x, indices, values, accumulate):
    if len([i for i in indices if i is not None]) != 1 or indices[0] is None:
        raise NotImplementedError(f"{g.node.target}: a mask of bools among other indices has a shape that depends on data.")
    mask, values = indices[0], g.cast(values, x.dtype)
    rest = list(x.shape[len(mask.shape):])
    if len(values.shape) > len(rest) and values.shape[0] > 1:
        values = _in_turn(g, mask, values, rest)
    mask = g.reshape(mask, [*mask.shape, *[1] * len(rest)])
    values = g.expand(values if len(values.shape) <= len(x.shape) else g.reshape(values, values.shape[-len(x.shape):]), x.shape)
    return g.expand(g.one("where", mask, g.one("add", x, values) if accumulate else values, x), x.shape)


def _in_turn(g, mask, values, rest):
    """For the n-th True of a mask the n-th of some values; anything where it is False."""
    count = mask.nelms
    place = g.one("sub", running_sum(g, g.cast(g.reshape(mask, [count]), popxl.int32), 0), g.constant(1, popxl.int32))
    place = g.one("minimum", g.one("maximum", place, g.constant(0, popxl.int32)), g.constant(values.shape[0] - 1, popxl.int32))
    values = g.expand(values, [values.shape[0], *rest])
    return g.reshape(g.one("gather", values, place, axis=0), [*mask.shape, *rest])


def _cut_to(g, t, shape, axis):
    """A tensor's first elements in all dimensions but one."""
    for i, d in enumerate(shape):
        if i != axis:
            t = g.slice(t, i, 0, d)
    return t


@rule(aten.gather.default)
def gather(g, x, dim, index, sparse_grad=False):
    if not x.shape:
        return g.expand(x, index.shape)
    if 0 in index.shape:
        return g.constant(0, x.dtype, index.shape)
    axis = axis_of(x, dim)
    return g.one("gather_elements", _cut_to(g, x, index.shape, axis), g.cast(index, popxl.int32), axis=axis)


def _scattered_slices(g, x, dim, index, source, reduction):
    """The same for an index of one dimension, by which whole slices go (passes.remove_index_expansions)."""
    axis = axis_of(x, dim)
    shape = [index.nelms if i == axis else d for i, d in enumerate(x.shape)]
    source = g.expand(source, shape) if not source.shape else _cut_to(g, g.slice(source, axis, 0, index.nelms), shape, axis)
    return g.one("scatter_reduce", source, g.cast(index, popxl.int32), x, reduction=reduction, axis=axis, axis_size=x.shape[axis], enable_index_broadcast=True)


def _scattered(g, x, dim, index, source, reduction):
    if not x.nelms or not index.nelms:
        return x
    if x.dtype is popxl.bool:
        # The row takes numbers.
        return g.cast(_scattered(g, g.cast(x, popxl.int32), dim, index, g.cast(source, popxl.int32), reduction), popxl.bool)
    if len(index.shape) == 1 and len(x.shape) > 1:
        return _scattered_slices(g, x, dim, index, source, reduction)
    if not x.shape:
        rows = (g.reshape(t, [1]) for t in (x, index, source))
        return g.reshape(_scattered(g, next(rows), 0, next(rows), next(rows), reduction), [])
    axis = axis_of(x, dim)
    index = g.cast(index, popxl.int32)
    source = _cut_to(g, source, index.shape, axis) if source.shape else g.expand(source, index.shape)
    source = g.slice(source, axis, 0, index.shape[axis])
    whole = x
    part = _cut_to(g, x, index.shape, axis)
    new = g.one("scatter_reduce", source, index, part, reduction=reduction, axis=axis, axis_size=x.shape[axis], enable_index_broadcast=False)
    if part is whole or part.shape == whole.shape:
        return new
    axes = [i for i in range(len(x.shape)) if i != axis]
    return g.one("slice_assign", whole, new, start=[0] * len(axes), stop=[index.shape[i] for i in axes], step=[1] * len(axes), axis=axes)


@rule(aten.scatter.src, aten.scatter.value)
def scatter(g, x, dim, index, source):
    return _scattered(g, x, dim, index, g.cast(source, x.dtype), "none")


@rule(aten.scatter_add.default)
def scatter_add(g, x, dim, index, source):
    return _scattered(g, x, dim, index, source, "sum")


@rule(aten.scatter.reduce, aten.scatter.value_reduce)
def scatter_with(g, x, dim, index, source, *, reduce):
    source = g.expand(g.cast(source, x.dtype), index.shape) if not isinstance(source, Tensor) else g.cast(source, x.dtype)
    return _scattered(g, x, dim, index, source, "sum") if reduce == "add" else _multiplied(g, x, dim, index, source)


def _whole_index(g, x, axis, index):
    """An index of one dimension for each element."""
    if len(index.shape) != 1 or len(x.shape) == 1:
        return index
    along = [index.nelms if i == axis else 1 for i in range(len(x.shape))]
    return g.expand(g.reshape(index, along), [index.nelms if i == axis else d for i, d in enumerate(x.shape)])


def _multiplied(g, x, dim, index, source):
    """x, times what an index brings to each place. Each place looks at all that could come."""
    if not x.shape:
        return g.one("mul", x, g.reshape(source, []))
    axis = axis_of(x, dim)
    index = _whole_index(g, x, axis, index)
    length = x.shape[axis]
    source = g.slice(_cut_to(g, source, index.shape, axis), axis, 0, index.shape[axis])
    spread = [*index.shape[:axis], 1, *index.shape[axis:]]
    places = g.reshape(g.array(range(length), popxl.int32), [length, *[1] * (len(index.shape) - axis)])
    comes = g.one("equal", g.reshape(g.cast(index, popxl.int32), spread), places)
    factors = g.one("prod", g.one("where", comes, g.reshape(source, spread), g.constant(1, x.dtype)), axis=[axis + 1], keepdims=False)
    for i, d in enumerate(x.shape):
        if factors.shape[i] < d:
            rest = [*factors.shape[:i], d - factors.shape[i], *factors.shape[i + 1:]]
            factors = g.concat([factors, g.constant(1, x.dtype, rest)], i)
    return g.one("mul", x, factors)


# What a reduction begins with where the tensor itself takes no part.
_NEUTRAL = {"sum": 0, "mean": 0, "prod": 1, "amax": -float("inf"), "amin": float("inf")}


def _neutral(dtype, reduce):
    value = _NEUTRAL[reduce]
    return value if dtype.is_floating_point or abs(value) < 2 else -2**63 if value < 0 else 2**63 - 1


def _counts(g, x, dim, index):
    """How often an index names each element of x, or each slice of it, in a shape that is broadcast."""
    slices = len(index.shape) == 1 and len(x.shape) > 1
    axis = axis_of(x, dim)
    shape = [x.shape[axis]] if slices else x.shape
    counted = _scattered(g, g.constant(0, popxl.int32, shape), 0 if slices else dim, index, g.constant(1, popxl.int32, index.shape), "sum")
    return g.reshape(counted, [d if i == axis else 1 for i, d in enumerate(x.shape)]) if slices else counted


@rule(aten.scatter_reduce.two)
def scatter_reduce(g, x, dim, index, source, reduce, include_self=True):
    source = g.cast(source, x.dtype)
    if not include_self or reduce == "mean":
        count = _counts(g, x, dim, index)
    if not include_self:
        x = g.one("where", g.one("greater", count, g.constant(0, popxl.int32)), g.constant(_neutral(x.dtype, reduce), x.dtype), x)
    if reduce == "prod":
        return _multiplied(g, x, dim, index, source)
    made = _scattered(g, x, dim, index, source, {"amax": "max", "amin": "min"}.get(reduce, "sum"))
    if reduce != "mean":
        return made
    count = g.one("add", count, g.constant(1, popxl.int32)) if include_self else g.one("maximum", count, g.constant(1, popxl.int32))
    count = g.cast(count, x.dtype)
    return g.one("div", made, count) if x.dtype.is_floating_point else quotient_floored(g, made, count)


@rule(aten.unfold.default)
def unfold(g, x, dim, size, step):
    if not x.shape:
        return g.expand(g.reshape(x, [1]), g.shape)
    axis = axis_of(x, dim)
    count = (x.shape[axis] - size) // step + 1
    places = g.array([i * step + k for i in range(count) for k in range(size)], popxl.int32)
    windows = g.reshape(g.one("gather", x, places, axis=axis), [*x.shape[:axis], count, size, *x.shape[axis + 1:]])
    axes = [i for i in range(len(windows.shape)) if i != axis + 1]
    return g.transpose(windows, [*axes, axis + 1])


@rule(aten.index_reduce.default)
def index_reduce(g, x, dim, index, source, reduce, *, include_self=True):
    source = source if source.shape else g.reshape(source, [1])
    axis = axis_of(x, dim)
    index = g.cast(g.reshape(index, [index.nelms]), popxl.int32)
    return scatter_reduce(g, x, dim, index, source, reduce, include_self)


@rule(aten.index_add.default)
def index_add(g, x, dim, index, source, alpha=1):
    if not x.nelms or not index.nelms:
        return x
    if x.dtype is popxl.bool:
        # The row takes numbers.
        return g.cast(index_add(g, g.cast(x, popxl.int32), dim, index, g.cast(source, popxl.int32), int(alpha)), popxl.bool)
    if alpha != 1:
        source = g.one("mul", source, g.constant(alpha, x.dtype))
    if not x.shape:
        return g.one("add", x, g.reshape(source, ()))
    axis = axis_of(x, dim)
    return g.one("scatter_reduce", source, g.reshape(g.cast(index, popxl.int32), [index.nelms]), x, reduction="sum", axis=axis, axis_size=x.shape[axis],
                 enable_index_broadcast=True)


@rule(aten.masked_scatter.default)
def masked_scatter(g, x, mask, source):
    # The n-th True takes the n-th element of the source.
    mask, x = g.expand(mask, g.shape), g.expand(x, g.shape)
    return g.one("where", mask, _in_turn(g, mask, g.reshape(source, [source.nelms]), []), x)


@rule(aten.bucketize.Tensor)
def bucketize(g, values, boundaries, *, out_int32=False, right=False):
    return searchsorted(g, boundaries, values, right=right)


@rule(aten.searchsorted.Tensor)
def searchsorted(g, boundaries, values, *, out_int32=False, right=False, side=None, sorter=None):
    if sorter is not None:
        boundaries = g.one("gather_elements", boundaries, g.cast(sorter, popxl.int32), axis=len(boundaries.shape) - 1)
    right = right or side == "right"
    dtype = g.promoted()
    boundaries = g.cast(boundaries, dtype)
    # How many boundaries lie before each value.
    lower = g.reshape(boundaries, [*boundaries.shape[:-1], 1, boundaries.shape[-1]]) if len(boundaries.shape) > 1 else boundaries
    upper = g.reshape(g.cast(values, dtype), [*values.shape, 1])
    before = g.one("less", lower, upper)
    if right:
        before = g.one("logical_or", before, g.one("equal", lower, upper))
    return g.cast(g.reshape(g.one("sum", g.cast(before, popxl.int32), axis=[len(before.shape) - 1], keepdims=False), g.shape), g.dtype)

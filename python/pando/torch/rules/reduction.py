"""Sums, extremes, orders along dimensions."""
import math

import torch

import popxl

from pando.torch.rules.shape import axis_of
from pando.torch.table import rule

aten = torch.ops.aten


def axes_of(t, dims):
    """All axes for None or an empty list, as PyTorch has it."""
    if dims is None or dims == [] or dims == ():
        return list(range(len(t.shape)))
    return sorted(axis_of(t, d) for d in ([dims] if isinstance(dims, int) else dims))


def reduced(g, row, x, dims, keepdim):
    axes = axes_of(x, dims)
    if not x.shape:
        return x
    return g.one(row, x, axis=axes, keepdims=bool(keepdim))


@rule(aten.sum.default, aten.sum.dim_IntList)
def sum_(g, x, dim=None, keepdim=False, dtype=None):
    return reduced(g, "sum", g.cast(x, g.dtype), dim, keepdim)


@rule(aten.mean.default, aten.mean.dim)
def mean(g, x, dim=None, keepdim=False, dtype=None):
    if not x.nelms:
        return g.constant(math.nan, g.dtype, g.shape)
    return reduced(g, "mean", g.cast(x, g.dtype), dim, keepdim)


@rule(aten.prod.default, aten.prod.dim_int)
def prod(g, x, dim=None, keepdim=False, dtype=None):
    return reduced(g, "prod", g.cast(x, g.dtype), dim, keepdim)


def _extreme(row):
    def convert(g, x, dim=(), keepdim=False):
        if x.dtype is popxl.bool:
            return g.cast(reduced(g, row, g.cast(x, popxl.int32), dim, keepdim), popxl.bool)
        return reduced(g, row, x, dim, keepdim)

    return convert


rule(aten.amax.default)(_extreme("max"))
rule(aten.amin.default)(_extreme("min"))


@rule(aten.max.default)
def max_all(g, x):
    return _extreme("max")(g, x)


@rule(aten.min.default)
def min_all(g, x):
    return _extreme("min")(g, x)


def _with_place(row, place):
    def convert(g, x, dim, keepdim=False):
        if not x.shape:
            return x, g.constant(0, popxl.int32)
        axis, dtype = axis_of(x, dim), x.dtype
        x = g.cast(x, popxl.int32) if dtype is popxl.bool else x
        return g.cast(g.one(row, x, axis=[axis], keepdims=bool(keepdim)), dtype), g.one(place, x, dim=axis, keepdim=bool(keepdim))

    return convert


rule(aten.max.dim)(_with_place("max", "argmax"))
rule(aten.min.dim)(_with_place("min", "argmin"))


def _place(row):
    def convert(g, x, dim=None, keepdim=False):
        if not x.shape:
            return g.constant(0, popxl.int32)
        if dim is None:
            found = g.one(row, g.reshape(x, [x.nelms]), dim=0, keepdim=False)
            return g.reshape(found, g.shape)
        return g.one(row, x, dim=axis_of(x, dim), keepdim=bool(keepdim))

    return convert


rule(aten.argmax.default)(_place("argmax"))
rule(aten.argmin.default)(_place("argmin"))


def _quantifier(row):
    def convert(g, x, dim=None, keepdim=False):
        flags = g.cast(g.cast(x, popxl.bool), popxl.int32)
        return g.cast(reduced(g, row, flags, dim, keepdim), g.dtype)

    return convert


rule(aten.any.default, aten.any.dim, aten.any.dims)(_quantifier("max"))
rule(aten.all.default, aten.all.dim, aten.all.dims)(_quantifier("min"))


def scanned(g, row, neutral, x, axis):
    """Each element with those before it along an axis: of the last 1, 2, 4 ... elements."""
    by = 1
    while by < x.shape[axis]:
        front = g.constant(neutral, x.dtype, [*x.shape[:axis], by, *x.shape[axis + 1:]])
        x = g.one(row, x, g.concat([front, g.slice(x, axis, 0, x.shape[axis] - by)], axis))
        by *= 2
    return x


def _running_extreme(row, neutral):
    def convert(g, x, dim):
        if not x.shape:
            return x, g.constant(0, popxl.int32)
        axis, dtype = axis_of(x, dim), x.dtype
        x = g.cast(x, popxl.int32) if dtype is popxl.bool else x
        values = scanned(g, row, neutral if x.dtype.is_floating_point else 2**31 - 1 if neutral > 0 else -2**31, x, axis)
        # The last element that the running value has come from.
        along = [d if i == axis else 1 for i, d in enumerate(x.shape)]
        places = g.expand(g.reshape(g.array(range(x.shape[axis]), popxl.int32), along), x.shape)
        own = g.one("where", g.one("equal", x, values), places, g.constant(0, popxl.int32))
        return g.cast(values, dtype), scanned(g, "maximum", 0, own, axis)

    return convert


rule(aten.cummax.default)(_running_extreme("maximum", -float("inf")))
rule(aten.cummin.default)(_running_extreme("minimum", float("inf")))


def running_sum(g, x, axis):
    """The row takes floats; integers are exact to their last bit."""
    return g.one("cumsum", x, dim=axis) if x.dtype.is_floating_point else scanned(g, "add", 0, x, axis)


@rule(aten.cumsum.default)
def cumsum(g, x, dim, dtype=None):
    x = g.cast(x, g.dtype)
    return running_sum(g, x, axis_of(x, dim)) if x.shape else x


@rule(aten.logsumexp.default)
def logsumexp(g, x, dim, keepdim=False):
    return reduced(g, "logsumexp", g.cast(x, g.dtype), dim, keepdim)


def _variance(g, x, dim, correction, keepdim):
    axes = axes_of(x, dim)
    count = 1
    for a in axes:
        count *= x.shape[a]
    correction = 1 if correction is None else correction
    if not x.nelms:
        shape = [1 if i in axes else d for i, d in enumerate(x.shape) if keepdim or i not in axes]
        nothing = g.constant(math.nan, x.dtype, shape)
        return nothing, nothing
    mean = g.one("mean", x, axis=axes, keepdims=True) if x.shape else x
    squares = g.one("square", g.one("sub", x, mean))
    total = reduced(g, "sum", squares, axes, keepdim)
    divisor = max(0.0, count - correction)
    variance = g.one("div", total, g.constant(divisor, x.dtype))
    return variance, (mean if keepdim else g.reshape(mean, variance.shape))


@rule(aten.var.correction)
def var(g, x, dim=None, *, correction=None, keepdim=False):
    return _variance(g, x, dim, correction, keepdim)[0]


@rule(aten.std.correction)
def std(g, x, dim=None, *, correction=None, keepdim=False):
    return g.one("sqrt", _variance(g, x, dim, correction, keepdim)[0])


@rule(aten.var_mean.correction)
def var_mean(g, x, dim=None, *, correction=None, keepdim=False):
    return _variance(g, x, dim, correction, keepdim)


def _ordered(g, x, k, axis, largest):
    """The k first along an axis, the smallest or the largest, and where they lie."""
    if not x.nelms:
        shape = [*x.shape[:axis], k, *x.shape[axis + 1:]]
        return g.constant(0, x.dtype, shape), g.constant(0, popxl.int32, shape)
    # The row takes numbers.
    values, places = g.op("topk", g.cast(x, popxl.int32) if x.dtype is popxl.bool else x, k=k, axis=axis, largest=bool(largest), sorted=True)
    return g.cast(values, x.dtype), places


@rule(aten.topk.default)
def topk(g, x, k, dim=-1, largest=True, sorted=True):
    if not x.shape:
        return x, g.constant(0, popxl.int32)
    return _ordered(g, x, k, axis_of(x, dim), largest)


@rule(aten.sort.default, aten.sort.stable)
def sort(g, x, *arguments, dim=-1, descending=False, stable=None):
    places = [a for a in arguments if isinstance(a, int) and not isinstance(a, bool)]
    flags = [a for a in arguments if isinstance(a, bool)]
    dim = places[0] if places else dim
    descending = flags[-1] if flags else descending
    if not x.shape:
        return x, g.constant(0, popxl.int32)
    axis = axis_of(x, dim)
    return _ordered(g, x, x.shape[axis], axis, descending)


@rule(aten._softmax.default)
def softmax(g, x, dim, half_to_float=False):
    x = g.cast(x, g.dtype)
    return _on_last_axis(g, x, dim, lambda t: g.one("softmax", t, axis=len(t.shape) - 1))


@rule(aten._softmax_backward_data.default)
def softmax_backward(g, dy, y, dim, input_dtype):
    if not y.shape:
        return g.constant(0, g.dtype)
    axis = axis_of(y, dim)
    order = _last(y, axis)
    dx = g.one("softmax_grad", g.transpose(y, order), g.transpose(dy, order), axis=len(y.shape) - 1)
    return g.cast(g.transpose(dx, order), g.dtype)


@rule(aten._log_softmax.default)
def log_softmax(g, x, dim, half_to_float=False):
    x = g.cast(x, g.dtype)
    if not x.shape:
        return g.constant(0, g.dtype)
    return g.one("sub", x, g.one("logsumexp", x, axis=[axis_of(x, dim)], keepdims=True))


@rule(aten._log_softmax_backward_data.default)
def log_softmax_backward(g, dy, y, dim, input_dtype):
    if not y.shape:
        return g.constant(0, g.dtype)
    total = g.one("sum", dy, axis=[axis_of(y, dim)], keepdims=True)
    return g.cast(g.one("sub", dy, g.one("mul", g.one("exp", y), total)), g.dtype)


def _last(t, axis):
    """The permutation that exchanges an axis and the last one: its own inverse."""
    order = list(range(len(t.shape)))
    order[axis], order[-1] = order[-1], order[axis]
    return order


def _on_last_axis(g, x, dim, function):
    if not x.shape:
        return g.constant(1, x.dtype)
    order = _last(x, axis_of(x, dim))
    return g.transpose(function(g.transpose(x, order)), order)


@rule(aten.cumprod.default)
def cumprod(g, x, dim, dtype=None):
    x = g.cast(x, g.dtype)
    return scanned(g, "mul", 1, x, axis_of(x, dim)) if x.shape else x


def _ranked(g, x, k, dim, keepdim):
    """The k-th smallest element along a dimension, from 1, and where it lies."""
    if not x.shape:
        return x, g.constant(0, popxl.int32)
    axis = axis_of(x, dim)
    values, places = g.op("topk", x, k=k, axis=axis, largest=False, sorted=True)
    shape = [*x.shape[:axis], *([1] if keepdim else []), *x.shape[axis + 1:]]
    return tuple(g.reshape(g.slice(t, axis, k - 1, k), shape) for t in (values, places))


@rule(aten.kthvalue.default)
def kthvalue(g, x, k, dim=-1, keepdim=False):
    return _ranked(g, x, k, dim, keepdim)


@rule(aten.median.dim)
def median_dim(g, x, dim, keepdim=False):
    return _ranked(g, x, (x.shape[axis_of(x, dim)] + 1) // 2 if x.shape else 1, dim, keepdim)


@rule(aten.median.default)
def median(g, x):
    return _ranked(g, g.reshape(x, [x.nelms]), (x.nelms + 1) // 2, 0, False)[0]

"""Normalisation."""
import math

import torch

import popxl

from pando.torch.table import rule
from pando.torch.types import to_popxl

aten = torch.ops.aten


def _or_constant(g, t, value, length, dtype):
    return g.constant(value, dtype, (length,)) if t is None else g.reshape(t, [length])


def _statistics(g, mean, inv_std):
    """Results 1 and 2 of a normalisation, which are float32 in a program, as PyTorch has them."""
    return [g.cast(g.reshape(t, g.value(i).shape), to_popxl(g.value(i).dtype)) for i, t in ((1, mean), (2, inv_std))]


def _single(g, t, shape):
    """The statistics that a gradient takes: float32."""
    return g.cast(g.reshape(t, shape), popxl.float32)


def _of_nothing(g):
    """The results of a normalisation of a tensor without elements."""
    return tuple(g.constant(math.nan, to_popxl(g.value(i).dtype), g.value(i).shape) for i in range(3))


def _gradients_of_nothing(g, output_mask):
    """The gradients of a normalisation of a tensor without elements: nothing, and sums of nothing."""
    return tuple(g.constant(0, to_popxl(g.value(i).dtype), g.value(i).shape) if wanted else None for i, wanted in enumerate(output_mask))


@rule(aten.native_layer_norm.default)
def native_layer_norm(g, x, normalized_shape, weight, bias, eps):
    if not x.nelms:
        return _of_nothing(g)
    inner = math.prod(normalized_shape)
    outer = x.nelms // inner
    rows = g.reshape(x, [outer, inner])
    weight, bias = _or_constant(g, weight, 1, inner, x.dtype), _or_constant(g, bias, 0, inner, x.dtype)
    y, mean, inv_std = g.op("group_norm", rows, weight, bias, num_groups=1, eps=eps)
    return g.reshape(y, x.shape), *_statistics(g, mean, inv_std)


@rule(aten.native_layer_norm_backward.default)
def native_layer_norm_backward(g, dy, x, normalized_shape, mean, rstd, weight, bias, output_mask):
    if not x.nelms:
        return _gradients_of_nothing(g, output_mask)
    inner = math.prod(normalized_shape)
    outer = x.nelms // inner
    scale = _or_constant(g, weight, 1, inner, x.dtype)
    dx, dweight, dbias = g.op("group_norm_grad", g.reshape(x, [outer, inner]), scale, _single(g, mean, [outer]), _single(g, rstd, [outer]),
                              g.reshape(dy, [outer, inner]), num_groups=1, eps=0.0)
    return (g.reshape(dx, x.shape) if output_mask[0] else None, g.reshape(dweight, normalized_shape) if output_mask[1] else None,
            g.reshape(dbias, normalized_shape) if output_mask[2] else None)


def _grouped(g, t, groups):
    """(N * groups, channels of a group * space): what is normalised as rows."""
    return g.reshape(t, [t.shape[0] * groups, t.nelms // (t.shape[0] * groups)])


@rule(aten.native_group_norm.default)
def native_group_norm(g, x, weight, bias, n, channels, space, groups, eps):
    if not x.nelms:
        return _of_nothing(g)
    # Channels of a group lie together, in PyTorch.
    dtype, inner = x.dtype, channels // groups * space
    y, mean, inv_std = g.op("group_norm", _grouped(g, x, groups), g.constant(1, dtype, (inner,)), g.constant(0, dtype, (inner,)), num_groups=1, eps=eps)
    y = g.reshape(y, x.shape)
    shape = [channels, *[1] * (len(x.shape) - 2)]
    if weight is not None:
        y = g.one("mul", y, g.reshape(weight, shape))
    if bias is not None:
        y = g.one("add", y, g.reshape(bias, shape))
    return y, *_statistics(g, mean, inv_std)


@rule(aten.native_group_norm_backward.default)
def native_group_norm_backward(g, dy, x, mean, rstd, weight, n, channels, space, groups, output_mask):
    if not x.nelms:
        return _gradients_of_nothing(g, output_mask)
    dtype, inner = x.dtype, channels // groups * space
    shape = [channels, *[1] * (len(x.shape) - 2)]
    axes = [0, *range(2, len(x.shape))]
    dx = dweight = dbias = None
    if output_mask[0]:
        scaled = dy if weight is None else g.one("mul", dy, g.reshape(weight, shape))
        rows = g.op("group_norm_grad", _grouped(g, x, groups), g.constant(1, dtype, (inner,)), _single(g, mean, [n * groups]),
                    _single(g, rstd, [n * groups]), _grouped(g, scaled, groups), num_groups=1, eps=0.0)
        dx = g.reshape(rows[0], x.shape)
    if output_mask[1]:
        per_row = [n * groups, 1]
        mean, rstd = (g.cast(g.reshape(t, per_row), dtype) for t in (mean, rstd))
        normal = g.one("mul", g.one("sub", _grouped(g, x, groups), mean), rstd)
        dweight = g.one("sum", g.one("mul", dy, g.reshape(normal, x.shape)), axis=axes, keepdims=False)
    if output_mask[2]:
        dbias = g.one("sum", dy, axis=axes, keepdims=False)
    return dx, dweight, dbias

"""Pooling and resizing. Windows lie over the last dimensions; a missing batch is one of 1."""
import itertools
import math

import numpy as np
import torch

import popxl

from pando.torch.adapter import library
from pando.torch.rules.integers import exactly
from pando.torch.rules.linear import _spread as spread
from pando.torch.table import rule

aten = torch.ops.aten


def _batched(g, t, n):
    """(batch, channels, *space) of a tensor that may lack the batch."""
    return t if len(t.shape) == n + 2 else g.reshape(t, [1, *t.shape])


def _windows(n, kernel, stride, padding, dilation=(1,), ceil_mode=False):
    kernel = spread(kernel, n)
    padding = spread(padding, n)
    return dict(kernel_size=kernel, stride=spread(stride, n) if stride else kernel, padding=padding + padding, dilation=spread(dilation, n),
                out_pads=[0] * (2 * n), in_dilations=[1] * n, auto_pad="not_set", ceil_mode=bool(ceil_mode))


def _fitted(attributes, space, out):
    """The attributes with windows that end beyond the space counted as padding: PyTorch leaves out those that begin there."""
    n = len(space)
    padding = attributes["padding"]
    for i in range(n):
        reach = (out[i] - 1) * attributes["stride"][i] + attributes["dilation"][i] * (attributes["kernel_size"][i] - 1) + 1
        padding[n + i] = reach - space[i] - padding[i]
    return {**attributes, "ceil_mode": False}


def _needs(g, result):
    """Whether somebody uses a result of the node."""
    return any(user.args[1] == result and user.users for user in g.node.users)


def _max_pool(n):
    def convert(g, x, kernel_size, stride=(), padding=(0,), dilation=(1,), ceil_mode=False):
        whole = _batched(g, x, n)
        out = tuple(g.value(0).shape)
        attributes = _fitted(_windows(n, kernel_size, stride, padding, dilation, ceil_mode), whole.shape[2:], out[-n:])
        if not x.dtype.is_floating_point:
            return tuple(g.reshape(t, out) for t in _largest(g, whole, attributes, out))
        y = g.one("max_pool", whole, **attributes)
        return g.reshape(y, out), g.reshape(_largest(g, whole, attributes, out)[1], out) if _needs(g, 1) else None

    return convert


def _elements(g, x, attributes, out, outside):
    """For each place of a window: (the elements there of all windows, where in the image they lie, as an array). outside: what padding has."""
    n = len(attributes["kernel_size"])
    space, padding = x.shape[2:], attributes["padding"]
    padded = x
    for i in range(n):
        axis = 2 + i
        for amount, front in ((padding[i], True), (max(0, padding[n + i]), False)):
            if amount:
                edge = g.constant(outside, x.dtype, [*padded.shape[:axis], amount, *padded.shape[axis + 1:]])
                padded = g.concat([edge, padded] if front else [padded, edge], axis)
    for offset in itertools.product(*map(range, attributes["kernel_size"])):
        piece, at = padded, np.zeros(out[-n:], np.int64)
        for i in range(n):
            start, stride = offset[i] * attributes["dilation"][i], attributes["stride"][i]
            piece = g.slice(piece, 2 + i, start, start + (out[i - n] - 1) * stride + 1)
            position = start + np.arange(out[i - n]) * stride - padding[i]
            at = at * space[i] + position.reshape([-1 if j == i else 1 for j in range(n)])
        strides = [1, 1, *attributes["stride"]]
        yield (g.one("subsample", piece, strides=strides) if any(s != 1 for s in strides) else piece), np.maximum(at, 0)


def _largest(g, x, attributes, out):
    """(the largest element of each window, where in its image the first such lies)"""
    best = where = None
    floats = x.dtype.is_floating_point
    for piece, at in _elements(g, x, attributes, out, float("-inf") if floats else -2**63):
        index = g.array(at, popxl.int32)
        if best is None:
            best, where = piece, g.expand(index, piece.shape)
            continue
        larger = g.one("greater", piece, best)
        larger = g.one("logical_or", larger, g.one("isnan", piece)) if floats else larger
        best, where = g.one("where", larger, piece, best), g.one("where", larger, index, where)
    return best, where


def _mean_of_integers(g, x, attributes, counts, out):
    """The sum of each window divided by a number, towards 0."""
    total = None
    for piece, _ in _elements(g, x, attributes, out, 0):
        total = piece if total is None else g.one("add", total, piece)
    return g.one("div", total, g.array(counts, x.dtype))


rule(aten.max_pool2d_with_indices.default)(_max_pool(2))
rule(aten.max_pool3d_with_indices.default)(_max_pool(3))

# PyTorch's gradient of max_pool takes the places of the largest elements. Pando's finds them from the elements: a program need not keep places.
library.define("max_pool_backward(Tensor dy, Tensor x, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode) -> Tensor")


@torch.library.impl(library, "max_pool_backward", "Meta")
def _max_pool_backward_type(dy, x, kernel_size, stride, padding, dilation, ceil_mode):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@rule(torch.ops.pando.max_pool_backward.default)
def max_pool_backward(g, dy, x, kernel_size, stride, padding, dilation, ceil_mode):
    n = len(kernel_size)
    whole, dy = _batched(g, x, n), _batched(g, dy, n)
    attributes = _fitted(_windows(n, kernel_size, stride, padding, dilation, ceil_mode), whole.shape[2:], dy.shape[2:])
    y = g.one("max_pool", whole, **attributes)
    return g.reshape(g.one("max_pool_grad", whole, y, dy, **attributes), x.shape)


def _counts(out, space, attributes, include_pad, divisor):
    """For each window the number by which its sum is divided, as an array of the shape `out`."""
    n = len(out)
    if divisor:
        return np.full(out, float(divisor))
    counts = np.ones(out)
    for i in range(n):
        k, s, p = attributes["kernel_size"][i], attributes["stride"][i], attributes["padding"][i]
        start = np.arange(out[i]) * s - p
        end = np.minimum(start + k, space[i] + p)
        size = end - start if include_pad else np.minimum(end, space[i]) - np.maximum(start, 0)
        counts = counts * size.reshape([-1 if j == i else 1 for j in range(n)])
    return counts


def _factor(g, out, space, plain, include_pad, divisor, dtype):
    """What average_pool's result is multiplied with, as a constant, or None."""
    # average_pool divides by how many elements of a window lie in the space.
    ratio = _counts(out, space, plain, False, None) / _counts(out, space, plain, include_pad, divisor)
    return None if (ratio == 1).all() else g.array(ratio, dtype)


def _avg_pool(n):
    def convert(g, x, kernel_size, stride=(), padding=(0,), ceil_mode=False, count_include_pad=True, divisor_override=None):
        whole = _batched(g, x, n)
        out = tuple(g.value().shape)
        plain = _windows(n, kernel_size, stride, padding)
        if not x.dtype.is_floating_point:
            counts = _counts(out[-n:], whole.shape[2:], plain, count_include_pad, divisor_override)
            attributes = _fitted(_windows(n, kernel_size, stride, padding), whole.shape[2:], out[-n:])
            return g.reshape(_mean_of_integers(g, whole, attributes, counts, out), out)
        y = g.one("average_pool", whole, **_fitted(_windows(n, kernel_size, stride, padding), whole.shape[2:], out[-n:]))
        factor = _factor(g, out[-n:], whole.shape[2:], plain, count_include_pad, divisor_override, x.dtype)
        return g.reshape(y if factor is None else g.one("mul", y, factor), out)

    return convert


def _avg_pool_backward(n):
    def convert(g, dy, x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        whole, dy = _batched(g, x, n), _batched(g, dy, n)
        out, space = dy.shape[2:], whole.shape[2:]
        factor = _factor(g, out, space, _windows(n, kernel_size, stride, padding), count_include_pad, divisor_override, x.dtype)
        dy = dy if factor is None else g.one("mul", dy, factor)
        attributes = _fitted(_windows(n, kernel_size, stride, padding), space, out)
        return g.reshape(g.one("average_pool_grad", dy, **attributes, shape=list(whole.shape)), x.shape)

    return convert


rule(aten.avg_pool2d.default)(_avg_pool(2))
rule(aten.avg_pool3d.default)(_avg_pool(3))
rule(aten.avg_pool1d.default)(_avg_pool(1))
rule(aten.avg_pool2d_backward.default)(_avg_pool_backward(2))
rule(aten.avg_pool3d_backward.default)(_avg_pool_backward(3))


def _cells(size, out):
    """The rows of a matrix (out, size) that takes the mean of adaptive pooling's windows."""
    matrix = np.zeros((out, size))
    for i in range(out):
        start, end = i * size // out, math.ceil((i + 1) * size / out)
        matrix[i, start:end] = 1 / (end - start)
    return matrix


def along(g, t, axis, matrix):
    """t times a matrix (new, old) along an axis."""
    order = [i for i in range(len(t.shape)) if i != axis] + [axis]
    moved = exactly(g, lambda a, b: g.one("matmul", a, b), g.transpose(t, order), g.array(matrix.T, t.dtype), t.shape[axis])
    back = [order.index(i) for i in range(len(order))]
    return g.transpose(moved, back)


def _adaptive(n):
    def convert(g, x, output_size):
        first = len(x.shape) - n
        if all(o == 1 for o in output_size):
            return g.one("mean", x, axis=list(range(first, len(x.shape))), keepdims=True)
        for i, o in enumerate(output_size):
            x = along(g, x, first + i, _cells(x.shape[first + i], o))
        return x

    return convert


def _adaptive_backward(n):
    def convert(g, dy, x):
        first = len(x.shape) - n
        if all(d == 1 for d in dy.shape[first:]):
            count = math.prod(x.shape[first:])
            return g.expand(g.one("mul", dy, g.constant(1 / count, dy.dtype)), x.shape)
        for i in range(n):
            dy = along(g, dy, first + i, _cells(x.shape[first + i], dy.shape[first + i]).T)
        return dy

    return convert


rule(aten._adaptive_avg_pool2d.default)(_adaptive(2))
rule(aten._adaptive_avg_pool3d.default)(_adaptive(3))
rule(aten.adaptive_avg_pool1d.default)(_adaptive(1))
rule(aten._adaptive_avg_pool2d_backward.default)(_adaptive_backward(2))
rule(aten._adaptive_avg_pool3d_backward.default)(_adaptive_backward(3))

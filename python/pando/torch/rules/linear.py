"""Products and convolutions."""
import math

import torch

from pando.torch.rules.integers import exactly
from pando.torch.table import rule

aten = torch.ops.aten


@rule(aten.mm.default, aten.bmm.default, aten.mv.default, aten.dot.default)
def product(g, a, b):
    return exactly(g, lambda x, y: g.one("matmul", x, y), a, b, a.shape[-1])


@rule(aten.addmm.default, aten.baddbmm.default, aten.addmv.default)
def addmm(g, c, a, b, beta=1, alpha=1):
    # A factor of 0 leaves out what is not a number, too.
    result = product(g, a, b) if alpha != 0 else g.constant(0, g.dtype, g.shape)
    if alpha not in (0, 1):
        result = g.one("mul", result, g.constant(alpha, g.dtype))
    if beta == 0:
        return result
    if beta != 1:
        c = g.one("mul", c, g.constant(beta, g.dtype))
    return g.one("add", result, c)


def _spread(numbers, n):
    numbers = list(numbers)
    return numbers * n if len(numbers) == 1 else numbers


def _attributes(t, stride, padding, dilation, groups):
    n = len(t.shape) - 2
    padding = _spread(padding, n)
    return dict(stride=_spread(stride, n), padding=padding + padding, dilation=_spread(dilation, n), groups=groups, pad_type="not_set")


def _with_bias(g, y, bias):
    if bias is None:
        return y
    return g.one("add", y, g.reshape(bias, [bias.shape[0], *[1] * (len(y.shape) - 2)]))


@rule(aten.convolution.default)
def convolution(g, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    attributes, name = _attributes(x, stride, padding, dilation, groups), "conv"
    if transposed:
        more = list(_spread(output_padding, len(x.shape) - 2))
        attributes, name = {**attributes, "output_padding": more if any(more) else None}, "conv_transpose"
    terms = x.shape[1] // groups * math.prod(weight.shape[2:])
    return _with_bias(g, exactly(g, lambda a, b: g.one(name, a, b, **attributes), x, weight, terms), bias)


def _what_a_convolution_reads(g, t, result, weight, attributes):
    """t without what lies after the windows of a convolution to the shape of `result`, and the attributes for it.

    A transposed convolution may add more at the end (output_padding) than a stride: a convolution of that gives more than it was made of.
    """
    n = len(t.shape) - 2
    padding = list(attributes["padding"])
    for d in range(n):
        before, after, size = padding[d], padding[n + d], t.shape[2 + d]
        window = attributes["dilation"][d] * (weight.shape[2 + d] - 1) + 1
        if (before + size + after - window) // attributes["stride"][d] + 1 == result.shape[2 + d]:
            continue
        end = (result.shape[2 + d] - 1) * attributes["stride"][d] + window - before  # of the last window
        t = g.slice(t, 2 + d, 0, min(size, end))
        padding[n + d] = max(0, end - size)
    return t, {**attributes, "padding": padding}


@rule(aten.convolution_backward.default)
def convolution_backward(g, dy, x, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask):
    attributes = _attributes(x, stride, padding, dilation, groups)
    dx = dw = db = None
    read, attributes = _what_a_convolution_reads(g, dy, x, weight, attributes) if transposed else (dy, attributes)
    # A transposed convolution is the gradient of one: its own gradient is that convolution.
    if output_mask[0]:
        dx = g.one("conv", read, weight, **attributes) if transposed else g.one("conv_input_grad", dy, weight, **attributes, shape=list(x.shape))
    if output_mask[1]:
        first, second = (x, read) if transposed else (dy, x)
        dw = g.one("conv_weight_grad", first, second, **attributes, shape=list(weight.shape))
    if output_mask[2]:
        db = g.one("sum", dy, axis=[0, *range(2, len(dy.shape))], keepdims=False)
    return dx, dw, db


@rule(aten.addbmm.default)
def addbmm(g, c, a, b, beta=1, alpha=1):
    return addmm(g, c, g.reshape(g.transpose(a, [1, 0, 2]), [a.shape[1], a.shape[0] * a.shape[2]]), g.reshape(b, [b.shape[0] * b.shape[1], b.shape[2]]),
                 beta, alpha)


@rule(aten._trilinear.default)
def trilinear(g, a, b, c, expand1, expand2, expand3, sumdim, unroll_dim=1):
    # The product of three tensors, each with dimensions of 1 where it has none, summed.
    product = None
    for t, missing in ((a, expand1), (b, expand2), (c, expand3)):
        shape = list(t.shape)
        for axis in sorted(missing):
            shape.insert(axis, 1)
        t = g.reshape(t, shape)
        product = t if product is None else g.one("mul", product, t)
    return g.one("sum", product, axis=sorted(sumdim), keepdims=False)


@rule(aten._linalg_check_errors.default)
def check_errors(g, info, api_name, *, is_matrix):
    g.check(g.one("equal", info, g.constant(0, info.dtype)), f"{api_name}: a matrix cannot be factored: it is singular, or not positive-definite where that is "
            "asked for.", torch.linalg.LinAlgError)

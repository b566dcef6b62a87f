"""Tensors from nothing: constants, ranges, random numbers."""
import math

import numpy as np
import torch

import popxl

from pando.torch.adapter import library
from pando.torch.table import rule
from pando.torch.types import to_popxl

aten = torch.ops.aten

# What compositions know as numbers: torch.tensor writes into what it has made, which graphs of AOTAutograd do not have.
library.define("constant(Tensor like, float[] numbers, int[] sizes) -> Tensor")


@torch.library.impl(library, "constant", "Meta")
def _type_of_constant(like, numbers, sizes):
    return like.new_empty(sizes)


@rule(torch.ops.pando.constant.default)
def constant(g, like, numbers, sizes):
    return g.array(np.asarray(numbers).reshape(sizes), g.dtype)


@rule(aten.full.default, aten.full_like.default, aten.new_full.default)
def full(g, like_or_size, *rest, **options):
    value = rest[-1] if rest else options["fill_value"]
    return g.expand(g.tensor(value, g.dtype), g.shape)


@rule(aten.zeros.default, aten.zeros_like.default, aten.new_zeros.default, aten.empty.memory_format, aten.empty_like.default, aten.new_empty.default,
      aten.empty_strided.default, aten.new_empty_strided.default, aten.empty_permuted.default)
def zeros(g, *sizes, **options):
    return g.constant(0, g.dtype, g.shape)


@rule(aten.ones.default, aten.ones_like.default, aten.new_ones.default)
def ones(g, *sizes, **options):
    return g.constant(1, g.dtype, g.shape)


@rule(aten.scalar_tensor.default)
def scalar_tensor(g, value, **options):
    return g.constant(value, g.dtype)


@rule(aten.fill.Scalar, aten.fill.Tensor)
def fill(g, x, value):
    return g.expand(g.tensor(value, x.dtype), x.shape)


@rule(aten.arange.default, aten.arange.start, aten.arange.start_step)
def arange(g, *limits, dtype=None, layout=None, device=None, pin_memory=None):
    start, stop, step = (0, limits[0], 1) if len(limits) == 1 else (*limits, 1)[:3]
    count = max(0, math.ceil((stop - start) / step))
    return g.array(start + np.arange(count) * step, g.dtype)


@rule(torch.ops.prims.iota.default)
def iota(g, length, *, start, step, dtype, device, requires_grad):
    return g.array(start + np.arange(length) * step, g.dtype)


@rule(aten.eye.default, aten.eye.m)
def eye(g, *sizes, **options):
    return g.array(np.eye(*g.shape), g.dtype)


@rule(aten.triu_indices.default)
def triu_indices(g, row, col, offset=0, **options):
    return g.array(np.stack(np.triu_indices(row, offset, col)), g.dtype)


@rule(aten.tril_indices.default)
def tril_indices(g, row, col, offset=0, **options):
    return g.array(np.stack(np.tril_indices(row, offset, col)), g.dtype)


# --- random numbers: Pando's streams, another one for each op of a program, from a seed that torch's generator gives at each call


def _floats(g):
    """Random numbers are made as floats."""
    return g.dtype if g.dtype.is_floating_point else popxl.float32


def _uniform(g, shape, low=0.0, high=1.0, dtype=None):
    dtype = dtype or _floats(g)
    return g.one("random_uniform", g.next_seed(), shape=list(shape), low=low, high=high, dtype=dtype._index)


def _normal(g, shape, dtype=None):
    dtype = dtype or _floats(g)
    return g.one("random_normal", g.next_seed(), shape=list(shape), mean=0.0, std=1.0, dtype=dtype._index)


@rule(aten.rand.default, aten.rand_like.default)
def rand(g, *sizes, **options):
    return _uniform(g, g.shape)


@rule(aten.randn.default, aten.randn_like.default)
def randn(g, *sizes, **options):
    return _normal(g, g.shape)


@rule(aten.randint.default, aten.randint.low, aten.randint_like.default, aten.randint_like.low_dtype)
def randint(g, *args, **options):
    numbers = [a for a in args if isinstance(a, int)]
    low, high = (0, numbers[0]) if len(numbers) == 1 else numbers[:2]
    spread = g.one("floor", _uniform(g, g.shape, float(low), float(high), popxl.float32))
    # The upper end itself may come out of rounding.
    return g.cast(g.one("minimum", spread, g.constant(high - 1, popxl.float32)), g.dtype)


@rule(aten.uniform.default)
def uniform(g, x, low=0.0, high=1.0, generator=None):
    return _uniform(g, g.shape, low, high)


@rule(aten.normal_functional.default)
def normal(g, x, mean=0.0, std=1.0, generator=None):
    return g.one("add", g.one("mul", _normal(g, g.shape), g.constant(std, g.dtype)), g.constant(mean, g.dtype))


@rule(aten.normal.Tensor_float, aten.normal.float_Tensor, aten.normal.Tensor_Tensor, aten.normal.float_float)
def normal_of_tensors(g, mean=0.0, std=1.0, *size, generator=None, **options):
    return g.one("add", g.one("mul", _normal(g, g.shape), g.cast(std, g.dtype)), g.cast(mean, g.dtype))


@rule(aten.bernoulli.default)
def bernoulli(g, probabilities, generator=None):
    return g.cast(g.one("less", _uniform(g, g.shape, dtype=probabilities.dtype), probabilities), g.dtype)


@rule(aten.bernoulli.p)
def bernoulli_p(g, x, p=0.5, generator=None):
    return g.cast(g.one("less", _uniform(g, g.shape), g.constant(p, _floats(g))), g.dtype)


@rule(aten.native_dropout.default)
def native_dropout(g, x, p, train=True):
    if train is False or p == 0:
        return x, g.constant(True, popxl.bool, x.shape)
    if p == 1:
        return g.constant(0, x.dtype, x.shape), g.constant(False, popxl.bool, x.shape)
    kept = g.one("less", _uniform(g, x.shape, dtype=popxl.float32), g.constant(1 - p, popxl.float32))
    return g.one("mul", g.one("mul", x, g.cast(kept, x.dtype)), g.constant(1 / (1 - p), x.dtype)), kept


@rule(aten.native_dropout_backward.default)
def native_dropout_backward(g, dy, mask, scale):
    return g.one("mul", g.one("mul", dy, g.cast(mask, dy.dtype)), g.constant(scale, dy.dtype))


@rule(aten.randperm.default)
def randperm(g, n, **options):
    keys = g.one("random_uniform", g.next_seed(), shape=[n], low=0.0, high=1.0, dtype=popxl.float32._index)
    return g.cast(g.op("topk", keys, k=n, axis=0, largest=False, sorted=True)[1], to_popxl(g.value().dtype))


def _open_uniform(g, shape):
    """Uniform numbers above 0."""
    return g.one("maximum", _uniform(g, shape, dtype=popxl.float32), g.constant(2.0**-24, popxl.float32))


@rule(aten.exponential.default)
def exponential(g, x, lambd=1.0, generator=None):
    return g.cast(g.one("mul", g.one("log", _open_uniform(g, g.shape)), g.constant(-1 / lambd, popxl.float32)), g.dtype)


@rule(aten.log_normal.default)
def log_normal(g, x, mean=1.0, std=2.0, generator=None):
    normal_ = g.one("add", g.one("mul", _normal(g, g.shape, popxl.float32), g.constant(std, popxl.float32)), g.constant(mean, popxl.float32))
    return g.cast(g.one("exp", normal_), g.dtype)


@rule(aten.geometric.default)
def geometric(g, x, p, generator=None):
    return g.cast(g.one("ceil", g.one("mul", g.one("log", _open_uniform(g, g.shape)), g.constant(1 / math.log1p(-p), popxl.float32))), g.dtype)

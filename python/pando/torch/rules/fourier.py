"""Fourier transforms: products by matrices of cosines and sines, of long dimensions in two steps of factors."""
import functools
import math

import numpy as np
import torch

from pando.torch.complex import Complex
from pando.torch.rules.complex import times
from pando.torch.table import complex_rule

aten = torch.ops.aten

# The longest dimension that one matrix transforms.
_LONGEST = 256


@functools.lru_cache(64)
def _waves(rows, columns, length, sign):
    """Cosines and, times a sign, sines of 2 pi j k / length, of j < rows and k < columns."""
    angles = 2 * math.pi / length * (np.outer(np.arange(rows), np.arange(columns)) % length)
    return np.cos(angles), sign * np.sin(angles)


def _times(g, rows, matrix):
    """The product of a tensor's last dimension and a matrix."""
    flat = g.reshape(rows, [rows.nelms // rows.shape[-1], rows.shape[-1]])
    return g.reshape(g.one("matmul", flat, g.array(matrix, rows.dtype)), [*rows.shape[:-1], matrix.shape[1]])


def _halves(g, t, count):
    axis = len(t.shape) - 1
    return Complex(g.slice(t, axis, 0, count), g.slice(t, axis, count, 2 * count))


def _factor(n):
    """The largest factor of n up to its root."""
    return next(a for a in range(math.isqrt(n), 0, -1) if n % a == 0)


def _swap(g, x):
    order = [*range(len(x.shape) - 2), len(x.shape) - 1, len(x.shape) - 2]
    return Complex(g.transpose(x.re, order), g.transpose(x.im, order))


def _shaped(g, x, shape):
    return Complex(g.reshape(x.re, shape), g.reshape(x.im, shape))


def _transformed(g, x, sign, count=None):
    """The first `count` frequencies (None: all) of the last dimension of a value, or of a real tensor."""
    n = x.shape[-1]
    count = n if count is None else count
    factor = _factor(n)
    if n > _LONGEST and factor > 1:
        x = x if isinstance(x, Complex) else Complex(x, g.constant(0, x.dtype, x.shape))
        return _in_two_steps(g, x, sign, factor, count)
    cos, sin = _waves(n, count, n, sign)
    if not isinstance(x, Complex):
        return _halves(g, _times(g, x, np.concatenate([cos, sin], 1)), count)
    whole = g.concat([x.re, x.im], len(x.shape) - 1)
    return _halves(g, _times(g, whole, np.block([[cos, sin], [-sin, cos]])), count)


def _in_two_steps(g, x, sign, a, count):
    n = x.shape[-1]
    b, lead = n // a, x.shape[:-1]
    x = _transformed(g, _swap(g, _shaped(g, x, [*lead, a, b])), sign)
    x = times(g, "mul", x, Complex(*(g.array(wave, x.dtype) for wave in _waves(b, a, n, sign))))
    x = _shaped(g, _swap(g, _transformed(g, _swap(g, x), sign)), [*lead, n])
    return Complex(*(g.slice(part, len(lead), 0, count) for part in (x.re, x.im)))


def _real(g, x, n):
    """The real dimension of n elements whose first frequencies the last dimension holds."""
    axis, count = len(x.shape) - 1, n // 2 + 1
    if n > _LONGEST and _factor(n) > 1:
        # The other frequencies are the conjugates of these.
        def mirrored(part):
            return g.one("slice", part, start=[n - count], stop=[0], step=[-1], axis=[axis])

        whole = Complex(g.concat([x.re, mirrored(x.re)], axis), g.concat([x.im, g.one("negate", mirrored(x.im))], axis))
        return _transformed(g, whole, 1).re
    cos, sin = _waves(count, n, n, 1)
    twice = np.array([1.0 if k == 0 or 2 * k == n else 2.0 for k in range(count)]).reshape(-1, 1)
    return _times(g, g.concat([x.re, x.im], axis), np.concatenate([cos * twice, -sin * twice]))


def _parts(x, function):
    return Complex(function(x.re), function(x.im)) if isinstance(x, Complex) else function(x)


def _along(g, x, axis, function):
    """A function of the last dimension, of another one."""
    axis %= len(x.shape)
    order = [i for i in range(len(x.shape)) if i != axis] + [axis]
    back = [order.index(i) for i in range(len(order))]
    return _parts(function(_parts(x, lambda t: g.transpose(t, order))), lambda t: g.transpose(t, back))


def _scaled(g, x, normalization, lengths):
    """normalization: 0: none, 1: by the root of the number of elements, 2: by that number."""
    scale = math.prod(lengths)**(-normalization / 2)
    return _parts(x, lambda t: g.one("mul", t, g.constant(scale, t.dtype))) if normalization else x


@complex_rule(aten._fft_r2c.default)
def fft_r2c(g, x, dim, normalization, onesided):
    n = x.shape[dim[-1]]
    lengths = [x.shape[d] for d in dim]
    made = _along(g, x, dim[-1], lambda t: _transformed(g, t, -1, n // 2 + 1 if onesided else n))
    for d in dim[:-1]:
        made = _along(g, made, d, lambda t: _transformed(g, t, -1))
    return _scaled(g, made, normalization, lengths)


@complex_rule(aten._fft_c2c.default)
def fft_c2c(g, x, dim, normalization, forward):
    lengths = [x.shape[d] for d in dim]
    for d in dim:
        x = _along(g, x, d, lambda t: _transformed(g, t, -1 if forward else 1))
    return _scaled(g, x, normalization, lengths)


@complex_rule(aten._fft_c2r.default)
def fft_c2r(g, x, dim, normalization, last_dim_size):
    lengths = [*(x.shape[d] for d in dim[:-1]), last_dim_size]
    for d in dim[:-1]:
        x = _along(g, x, d, lambda t: _transformed(g, t, 1))
    return _scaled(g, _along(g, x, dim[-1], lambda t: _real(g, t, last_dim_size)), normalization, lengths)

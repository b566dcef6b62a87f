"""Bessel functions of orders 0 and 1, by polynomials: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 9.4.1 to 9.4.6 and 9.8.5 to 9.8.8."""
import functools
import math

import torch

from pando.torch.composed.special import COMPOSED as _SPECIAL
from pando.torch.composed.special import polynomial

aten = torch.ops.aten


class _Order:
    """The polynomials of one order, those of J and Y of (x / 3)^2 and of 3 / x, those of K of (x / 2)^2 and of 2 / x."""

    def __init__(self, j, y, size, phase, k, k_far, i):
        self.j, self.y, self.size, self.phase, self.k, self.k_far, self.i = j, y, size, phase, k, k_far, i


_ORDERS = (
    _Order(j=[1.0, -2.2499997, 1.2656208, -0.3163866, 0.0444479, -0.0039444, 0.0002100],
           y=[0.36746691, 0.60559366, -0.74350384, 0.25300117, -0.04261214, 0.00427916, -0.00024846],
           size=[0.79788456, -0.00000077, -0.00552740, -0.00009512, 0.00137237, -0.00072805, 0.00014476],
           phase=[-math.pi / 4, -0.04166397, -0.00003954, 0.00262573, -0.00054125, -0.00029333, 0.00013558],
           k=[-0.57721566, 0.42278420, 0.23069756, 0.03488590, 0.00262698, 0.00010750, 0.00000740],
           k_far=[1.25331414, -0.07832358, 0.02189568, -0.01062446, 0.00587872, -0.00251540, 0.00053208],
           i=_SPECIAL[aten.special_modified_bessel_i0.default]),
    _Order(j=[0.5, -0.56249985, 0.21093573, -0.03954289, 0.00443319, -0.00031761, 0.00001109],
           y=[-0.6366198, 0.2212091, 2.1682709, -1.3164827, 0.3123951, -0.0400976, 0.0027873],
           size=[0.79788456, 0.00000156, 0.01659667, 0.00017105, -0.00249511, 0.00113653, -0.00020033],
           phase=[-3 * math.pi / 4, 0.12499612, 0.00005650, -0.00637879, 0.00074348, 0.00079824, -0.00029166],
           k=[1.0, 0.15443144, -0.67278579, -0.18156897, -0.01919402, -0.00110404, -0.00004686],
           k_far=[1.25331414, 0.23498619, -0.03655620, 0.01504268, -0.00780353, 0.00325614, -0.00068245],
           i=_SPECIAL[aten.special_modified_bessel_i1.default]))


def _near(order, x):
    return polynomial((x / 3).square(), _ORDERS[order].j) * (x if order else 1)


def _far(order, x):
    """(the size, the phase) of both functions from 3 on. Rest of the phase and x apart: their sum would lose the rest's digits."""
    inverse = 3 / x
    rest = polynomial(inverse, _ORDERS[order].phase)
    size = polynomial(inverse, _ORDERS[order].size) * x.rsqrt()
    return size, rest


def _j(x, order):
    x = x if x.is_floating_point() else x.to(torch.float32)
    far = x.abs().clamp(min=3)
    size, rest = _far(order, far)
    wave = far.cos() * rest.cos() - far.sin() * rest.sin()
    return torch.where(x.abs() < 3, _near(order, x.clamp(-3, 3)), size * wave * (torch.where(x < 0, -1, 1) if order else 1))


def _y(x, order):
    x = x if x.is_floating_point() else x.to(torch.float32)
    far, near = x.clamp(min=3), x.clamp(1e-30, 3)
    size, rest = _far(order, far)
    wave = far.sin() * rest.cos() + far.cos() * rest.sin()
    low = 2 / math.pi * (near / 2).log() * _near(order, near) + polynomial((near / 3).square(), _ORDERS[order].y) / (near if order else 1)
    value = torch.where(x < 3, low, size * wave)
    return torch.where(x == 0, float("-inf"), torch.where(x < 0, float("nan"), value))


def _k(x, order, scaled):
    """The modified function of the second kind, times exp(x) (scaled)."""
    x = x if x.is_floating_point() else x.to(torch.float32)
    far, near = x.clamp(min=2), x.clamp(1e-30, 2)
    low = polynomial((near / 2).square(), _ORDERS[order].k) / (near if order else 1)
    logarithm = (near / 2).log() * _ORDERS[order].i(near)
    low = low + logarithm if order else low - logarithm
    high = polynomial(2 / far, _ORDERS[order].k_far) * far.rsqrt()
    value = torch.where(x <= 2, low * near.exp(), high) if scaled else torch.where(x <= 2, low, high * (-far).exp())
    value = torch.where(x == 0, float("inf"), torch.where(x < 0, float("nan"), value))
    return torch.where(x == float("inf"), 0, value)


# Of the distribution function of normal numbers: M. Wichura, Algorithm AS 241, Applied Statistics 37 (1988), PPND7.
_MIDDLE = ([3.3871327179, 50.434271938, 159.29113202, 59.109374720], [1.0, 17.895169469, 78.757757664, 67.187563600])
_TAIL = ([1.4234372777, 2.7568153900, 1.3067284816, 0.17023821103], [1.0, 0.73700164250, 0.12021132975])
_END = ([6.6579051150, 3.0812263860, 0.42868294337, 0.017337203997], [1.0, 0.24197894225, 0.012258202635])


def _quotient(x, numbers):
    return polynomial(x, numbers[0]) / polynomial(x, numbers[1])


def _ndtri(p):
    p = p if p.is_floating_point() else p.to(torch.float32)
    apart = p - 0.5
    middle = apart * _quotient(0.180625 - apart.square(), _MIDDLE)
    root = (-torch.minimum(p, 1 - p).clamp(min=1e-38).log()).sqrt()
    outside = torch.where(root <= 5, _quotient(root - 1.6, _TAIL), _quotient(root - 5, _END))
    value = torch.where(apart.abs() <= 0.425, middle, torch.where(apart < 0, -outside, outside))
    value = torch.where(p == 0, float("-inf"), torch.where(p == 1, float("inf"), value))
    return torch.where((p < 0) | (p > 1), float("nan"), value)


IN_FLOAT32 = True
COMPOSED = {aten.special_ndtri.default: _ndtri}
for _order in (0, 1):
    COMPOSED[getattr(aten, f"special_bessel_j{_order}").default] = functools.partial(_j, order=_order)
    COMPOSED[getattr(aten, f"special_bessel_y{_order}").default] = functools.partial(_y, order=_order)
    COMPOSED[getattr(aten, f"special_modified_bessel_k{_order}").default] = functools.partial(_k, order=_order, scaled=False)
    COMPOSED[getattr(aten, f"special_scaled_modified_bessel_k{_order}").default] = functools.partial(_k, order=_order, scaled=True)

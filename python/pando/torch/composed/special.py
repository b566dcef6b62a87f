"""Special functions, as series of other ops."""
import math

import torch

aten = torch.ops.aten


def polynomial(x, numbers):
    """The sum of numbers times powers of x, the constant first."""
    value = torch.full_like(x, numbers[-1])
    for number in reversed(numbers[:-1]):
        value = value * x + number
    return value


# Polynomials for modified Bessel functions up to 3.75 and above: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 9.8.1 to 9.8.4.
_I0 = ([1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813],
       [0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633, 0.00392377])
_I1 = ([0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411],
       [0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967, -0.02895312, 0.01787654, -0.00420059])


def _bessel(numbers, odd, scaled):
    """A function of a tensor: the modified Bessel function of the first kind of order 0 or 1 (odd), times exp(-|x|) (scaled)."""
    small, large = numbers

    def function(x):
        size = x.abs()
        low = polynomial((size / 3.75).square(), small) * (size if odd else 1)
        far = size.clamp(min=3.75)
        high = polynomial(3.75 / far, large) / far.sqrt()
        value = torch.where(size < 3.75, low * (-size).exp(), high) if scaled else torch.where(size < 3.75, low, high * far.exp())
        return torch.where(x < 0, -value, value) if odd else value

    return function


_SHIFT = 8


def _log_gamma_above(x):
    """The logarithm of the gamma function from 0 on: Stirling's series above 8."""
    product = torch.ones_like(x)
    low = x < _SHIFT
    for k in range(_SHIFT):
        product = torch.where(low, product * (x + k), product)
    far = torch.where(low, x + _SHIFT, x)
    series = polynomial((1 / far).square(), [1 / 12, -1 / 360, 1 / 1260]) / far
    return (far - 0.5) * far.log() - far + math.log(2 * math.pi) / 2 + series - product.log()


def _lgamma(x):
    mirrored = math.log(math.pi) - (math.pi * (x - x.floor())).sin().abs().log() - _log_gamma_above(torch.where(x < 0.5, 1 - x, x))
    return torch.where(x < 0.5, mirrored, _log_gamma_above(torch.where(x < 0.5, 1 - x, x)))


def _digamma(x):
    above = torch.where(x < 0.5, 1 - x, x)
    low, total = above < _SHIFT, torch.zeros_like(x)
    for k in range(_SHIFT):
        total = torch.where(low, total + 1 / (above + k), total)
    far = torch.where(low, above + _SHIFT, above)
    square = (1 / far).square()
    value = far.log() - 0.5 / far - square * polynomial(square, [1 / 12, -1 / 120, 1 / 252]) - total
    found = torch.where(x < 0.5, value - math.pi / (math.pi * (x - x.floor())).tan(), value)
    # Poles: at 0 with the sign of 0, at negative integers undefined.
    found = torch.where((x < 0) & (x == x.floor()), float("nan"), found)
    return torch.where(x == 0, torch.where(torch.signbit(x), float("inf"), float("-inf")), found)


def _logaddexp(a, b):
    distance = (a - b).abs()
    # Of infinities of one sign there is no difference.
    return torch.maximum(a, b) + torch.where(distance.isnan(), torch.zeros_like(distance), (-distance).exp().log1p())


def _logcumsumexp(x, dim):
    if not x.dim():
        return x.clone()
    by, length = 1, x.shape[dim]
    while by < length:
        front = torch.full_like(x.narrow(dim, 0, by), float("-inf"))
        x = _logaddexp(x, torch.cat([front, x.narrow(dim, 0, length - by)], dim))
        by *= 2
    return x


# M. Giles, Approximating the erfinv function, GPU Computing Gems: of w = -log(1 - x^2), around 2.5 below 5 and of its root around 3 above.
_ERFINV = ([1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087, -4.39150654e-06, -3.5233877e-06, 3.43273939e-07, 2.81022636e-08],
           [2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773, -0.00367342844, 0.00134934322, 0.000100950558, -0.000200214257])


def _erfinv(x):
    x = x if x.is_floating_point() else x.to(torch.float32)
    w = -((1 - x) * (1 + x)).log()
    found = x * torch.where(w < 5, polynomial(w - 2.5, _ERFINV[0]), polynomial(w.clamp(min=5).sqrt() - 3, _ERFINV[1]))
    return torch.where(x.abs() == 1, x * float("inf"), found)


# Bernoulli numbers of even order, each divided by the factorial of its order.
_BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160)


def _zeta_above(s, q):
    """The sum of (q + k)^-s over all k from 0 on, of q above 0: some terms, and the rest by Euler's and Maclaurin's formula."""
    total = torch.zeros_like(q)
    for k in range(_SHIFT):
        total = total + (q + k).pow(-s)
    far = q + _SHIFT
    power = far.pow(-s)
    total = total + power * far / (s - 1) + 0.5 * power
    factor, power = s, power / far
    for j, number in enumerate(_BERNOULLI):
        total = total + number * factor * power
        factor, power = factor * (s + (2 * j + 1)) * (s + (2 * j + 2)), power / (far * far)
    return total


def _zeta(s, q):
    if not isinstance(q, torch.Tensor):
        q = torch.full_like(s, q)
    if not isinstance(s, torch.Tensor):
        s = torch.full_like(q, s)
    s, q = torch.broadcast_tensors(s, q)
    # Below 0: the terms up to 0 have the sizes of those from 1 - rest to -q, and those behind begin with the rest.
    below = q < 0
    rest = torch.where(below, q - q.floor(), q)
    before = _zeta_above(s, torch.where(below, 1 - rest, 1)) - _zeta_above(s, torch.where(below, 1 - q, 1))
    odd = (s / 2 - (s / 2).floor()) != 0
    found = _zeta_above(s, rest) + torch.where(below, torch.where(odd, -before, before), 0)
    found = torch.where((q < 0) & (s != s.floor()), float("nan"), found)
    found = torch.where((q <= 0) & (q == q.floor()), float("inf"), found)
    return torch.where(s == 1, float("inf"), torch.where(s < 1, float("nan"), found))


def _polygamma(n, x):
    if n == 0:
        return _digamma(x)
    return _zeta(float(n + 1), x.to(torch.float32) if not x.is_floating_point() else x) * ((1 if n % 2 else -1) * math.factorial(n))


IN_FLOAT32 = True
COMPOSED = {
    aten.logcumsumexp.default: _logcumsumexp, aten.erfinv.default: _erfinv, aten.lgamma.default: _lgamma,
    aten.digamma.default: _digamma, aten.polygamma.default: _polygamma, aten.special_zeta.default: _zeta,
    aten.special_zeta.other_scalar: _zeta, aten.special_zeta.self_scalar: _zeta, aten.i0.default: _bessel(_I0, False, False),
    aten.special_modified_bessel_i0.default: _bessel(_I0, False, False), aten.special_modified_bessel_i1.default: _bessel(_I1, True, False),
    aten.special_i0e.default: _bessel(_I0, False, True), aten.special_i1.default: _bessel(_I1, True, False),
    aten.special_i1e.default: _bessel(_I1, True, True)}

"""The incomplete gamma functions, by their series below and by their continued fraction above: as many terms for all numbers."""
import torch

from pando.torch.rules.loop import written_once

aten = torch.ops.aten

# About six times the root of the largest order whose series ends within float32's rounding: 1,800.
_TERMS = 256
_LARGE = 1e30


def _factor(a, x):
    return (a * x.log() - x - aten.lgamma.default(a)).exp()


def _below(a, x):
    """The lower function, by its series: for x below a + 1."""

    def add(total, term, order):
        order = order + 1
        term = term * x / order
        return [total + term, term, order]

    return _factor(a, x) * written_once(_TERMS, add, [1 / a, 1 / a, a.clone()])[0]


def _above(a, x):
    """The upper function, by its continued fraction, as W. Lentz computes it: for x from a + 1 on."""

    def divide(found, c, d, b, k):
        k, b = k + 1, b + 2
        by = k * (a - k)
        d = 1 / (d * by + b)
        c = b + by / c
        return [found * c * d, c, d, b, k]

    first = x + 1 - a
    state = [1 / first, torch.full_like(x, _LARGE), 1 / first, first, torch.zeros_like(x)]
    return _factor(a, x) * written_once(_TERMS, divide, state)[0]


def _incomplete(a, x, upper):
    dtype = torch.result_type(a, x)
    a, x = (t.expand(torch.broadcast_shapes(a.shape, x.shape)).to(torch.float32) for t in (a, x))
    inside = (a > 0) & (x > 0) & a.isfinite() & x.isfinite()
    low = x < a + 1
    # Each form where it converges; elsewhere it has numbers that do no harm.
    below = _below(torch.where(inside & low, a, 1), torch.where(inside & low, x, 1))
    above = _above(torch.where(inside & ~low, a, 1), torch.where(inside & ~low, x, 3))
    value = torch.where(low, 1 - below, above) if upper else torch.where(low, below, 1 - above)
    # At the borders: nothing lies below 0, all below infinity; of order 0 all lies at 0.
    at_none, at_all = (1.0, 0.0) if upper else (0.0, 1.0)
    value = torch.where(x == 0, at_none, torch.where(x == float("inf"), at_all, value))
    value = torch.where(a == 0, at_all, torch.where(a == float("inf"), at_none, value))
    undefined = (a < 0) | (x < 0) | a.isnan() | x.isnan() | ((a == 0) & (x == 0)) | ((a == float("inf")) & (x == float("inf")))
    return torch.where(undefined, float("nan"), value).to(dtype)


IN_FLOAT32 = True
COMPOSED = {aten.igamma.default: lambda a, x: _incomplete(a, x, False), aten.igammac.default: lambda a, x: _incomplete(a, x, True)}

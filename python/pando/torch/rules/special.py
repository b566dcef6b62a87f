"""Special functions, as series and fractions of other ops."""
import torch

from pando.torch.table import rule

aten = torch.ops.aten

# Of erfc: W. Press et al., Numerical Recipes: a fit of the logarithm of erfc(x) / t, with a relative error below 1.2e-7.
_ERFC = (-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277)


def _polynomial(g, x, coefficients):
    """The sum of coefficients times powers of x, the constant first."""
    total = g.constant(coefficients[-1], x.dtype)
    for c in reversed(coefficients[:-1]):
        total = g.one("add", g.one("mul", total, x), g.constant(c, x.dtype))
    return total


def _fit(g, x):
    """erfc(x) / exp(-x^2) of |x|, as a factor and a logarithm."""
    one = g.constant(1, x.dtype)
    t = g.one("reciprocal", g.one("add", one, g.one("mul", g.constant(0.5, x.dtype), g.one("abs", x))))
    return t, _polynomial(g, t, _ERFC)


@rule(aten.erfc.default)
def erfc(g, x):
    x = g.cast(x, g.dtype)
    factor, logarithm = _fit(g, x)
    small = g.one("mul", factor, g.one("exp", g.one("sub", logarithm, g.one("mul", x, x))))
    return g.one("where", g.one("less", x, g.constant(0, x.dtype)), g.one("sub", g.constant(2, x.dtype), small), small)


@rule(aten.special_erfcx.default)
def erfcx(g, x):
    x = g.cast(x, g.dtype)
    factor, logarithm = _fit(g, x)
    small = g.one("mul", factor, g.one("exp", logarithm))
    mirrored = g.one("sub", g.one("mul", g.constant(2, x.dtype), g.one("exp", g.one("mul", x, x))), small)
    return g.one("where", g.one("less", x, g.constant(0, x.dtype)), mirrored, small)

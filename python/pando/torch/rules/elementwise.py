"""Element by element: arithmetic, comparisons, logic, activations. Operands broadcast; numbers and types are promoted as PyTorch does."""
import math
import operator

import torch

import popxl
from popxl.tensor import Tensor

from pando.torch.rules.integers import powers_of_integers
from pando.torch.table import in_float32, rule
from pando.torch.types import to_popxl

aten = torch.ops.aten


def _floating(dtype):
    return dtype.is_floating_point


def _unary(row, *overloads):
    """Ops that compute in floats: integers are converted first."""

    @rule(*overloads)
    def convert(g, x):
        return g.one(row, g.cast(x, g.dtype))


for _name in ("exp", "expm1", "log", "log1p", "log2", "sin", "cos", "sqrt", "rsqrt", "tanh", "sigmoid", "erf", "reciprocal", "abs", "relu"):
    _unary(_name, getattr(aten, _name).default)
_unary("negate", aten.neg.default)


@rule(aten.sign.default)
def sign(g, x):
    return x if x.dtype is popxl.bool else g.one("sign", x)


def _integral(row):
    """Rounding: integers stay what they are."""

    def convert(g, x):
        return g.one(row, x) if _floating(x.dtype) else x

    return convert


rule(aten.floor.default)(_integral("floor"))
rule(aten.ceil.default)(_integral("ceil"))


@rule(aten.trunc.default)
def trunc(g, x):
    if not _floating(x.dtype):
        return x
    return g.one("where", g.one("less", x, g.constant(0, x.dtype)), g.one("ceil", x), g.one("floor", x))


@rule(aten.round.default)
def round_to_even(g, x):
    if not _floating(x.dtype):
        return x
    # floor(x + 1/2), less one where that is odd and x lies in the middle. x + 1/2 is not exact for large x, which are integers.
    down = g.one("floor", x)
    rest = g.one("sub", x, down)
    half, two = g.constant(0.5, x.dtype), g.constant(2, x.dtype)
    odd = g.one("equal", g.one("sub", down, g.one("mul", two, g.one("floor", g.one("mul", down, half)))), g.constant(1, x.dtype))
    up = g.one("logical_or", g.one("greater", rest, half), g.one("logical_and", g.one("equal", rest, half), odd))
    return g.one("add", down, g.cast(up, x.dtype))


@rule(aten.round.decimals)
def round_decimals(g, x, decimals):
    if not _floating(x.dtype):
        return x
    power = g.constant(10.0**abs(decimals), x.dtype)
    there, back = ("mul", "div") if decimals >= 0 else ("div", "mul")
    return round_to_even(g, x) if decimals == 0 else g.one(back, round_to_even(g, g.one(there, x, power)), power)


@rule(aten.angle.default)
def angle(g, x):
    x = g.cast(x, g.dtype)
    turned = g.one("where", g.one("less", x, g.constant(0, x.dtype)), g.constant(math.pi, x.dtype), g.constant(0, x.dtype))
    return g.one("where", g.one("isnan", x), x, turned)


@rule(aten.frexp.Tensor)
def frexp(g, x):
    one, two, half = (g.constant(n, x.dtype) for n in (1, 2, 0.5))
    size = g.one("abs", x)
    exponent = g.one("add", g.one("floor", g.one("log2", size)), one)
    # The power in two parts: 2^-exponent is above the largest number where x is small.
    first = g.one("floor", g.one("mul", exponent, half))
    scaled = x
    for part in (first, g.one("sub", exponent, first)):
        scaled = g.one("mul", scaled, g.one("pow", two, g.one("negate", part)))
    # A logarithm may be on the wrong side of a whole number.
    large, small = g.one("logical_not", g.one("less", g.one("abs", scaled), one)), g.one("less", g.one("abs", scaled), half)
    mantissa = g.one("where", large, g.one("mul", scaled, half), g.one("where", small, g.one("mul", scaled, two), scaled))
    exponent = g.one("sub", g.one("add", exponent, g.cast(large, x.dtype)), g.cast(small, x.dtype))
    plain = g.one("logical_and", g.one("less", g.constant(0, x.dtype), size), g.one("less", size, g.constant(float("inf"), x.dtype)))
    exponent = g.one("where", plain, exponent, g.constant(0, x.dtype))
    return g.one("where", plain, mantissa, x), g.cast(exponent, popxl.int32)


@rule(aten.log10.default)
@in_float32
def log10(g, x):
    return g.one("mul", g.one("log", g.cast(x, g.dtype)), g.constant(1 / math.log(10), g.dtype))


@rule(aten.tan.default)
@in_float32
def tan(g, x):
    x = g.cast(x, g.dtype)
    return g.one("div", g.one("sin", x), g.one("cos", x))


@rule(aten.sinh.default)
@in_float32
def sinh(g, x):
    # (e^x - 1)(1 + 1 / e^x) / 2 keeps the digits of small x.
    x = g.cast(x, g.dtype)
    m, one = g.one("expm1", x), g.constant(1, x.dtype)
    return g.one("mul", g.constant(0.5, x.dtype), g.one("add", m, g.one("div", m, g.one("add", m, one))))


@rule(aten.cosh.default)
@in_float32
def cosh(g, x):
    x = g.cast(x, g.dtype)
    return g.one("mul", g.constant(0.5, x.dtype), g.one("add", g.one("exp", x), g.one("exp", g.one("negate", x))))


@rule(aten.atan2.default)
def atan2(g, y, x):
    return g.one("atan2", g.cast(y, g.dtype), g.cast(x, g.dtype))


@rule(aten.atan.default)
def atan(g, x):
    return g.one("atan2", g.cast(x, g.dtype), g.constant(1, g.dtype))


def _cathetus(g, x):
    """sqrt(1 - x^2), with the digits of x near 1."""
    one = g.constant(1, g.dtype)
    return g.one("sqrt", g.one("mul", g.one("sub", one, x), g.one("add", one, x)))


@rule(aten.asin.default)
@in_float32
def asin(g, x):
    x = g.cast(x, g.dtype)
    return g.one("atan2", x, _cathetus(g, x))


@rule(aten.acos.default)
@in_float32
def acos(g, x):
    x = g.cast(x, g.dtype)
    return g.one("atan2", _cathetus(g, x), x)


@rule(aten.asinh.default)
@in_float32
def asinh(g, x):
    # sign(x) log1p(|x| + x^2 / (1 + sqrt(x^2 + 1))).
    x = g.cast(x, g.dtype)
    one, a, s = g.constant(1, g.dtype), g.one("abs", x), g.one("square", x)
    root = g.one("sqrt", g.one("add", s, one))
    return g.one("mul", g.one("sign", x), g.one("log1p", g.one("add", a, g.one("div", s, g.one("add", root, one)))))


@rule(aten.acosh.default)
@in_float32
def acosh(g, x):
    x = g.cast(x, g.dtype)
    one = g.constant(1, g.dtype)
    return g.one("log", g.one("add", x, g.one("sqrt", g.one("mul", g.one("sub", x, one), g.one("add", x, one)))))


@rule(aten.atanh.default)
@in_float32
def atanh(g, x):
    x = g.cast(x, g.dtype)
    return g.one("mul", g.constant(0.5, g.dtype), g.one("sub", g.one("log1p", x), g.one("log1p", g.one("negate", x))))


@rule(aten.isnan.default)
def isnan(g, x):
    return g.one("isnan", x) if _floating(x.dtype) else g.constant(False, popxl.bool, x.shape)


@rule(aten.isinf.default)
def isinf(g, x):
    return g.one("isinf", x) if _floating(x.dtype) else g.constant(False, popxl.bool, x.shape)


@rule(aten.logical_not.default)
def logical_not(g, x):
    return g.one("logical_not", g.cast(x, popxl.bool))


@rule(aten.bitwise_not.default)
def bitwise_not(g, x):
    if x.dtype is popxl.bool:
        return g.one("logical_not", x)
    return g.one("sub", g.constant(-1, x.dtype), x)


# --- two operands


def _scaled(g, b, alpha):
    if not isinstance(alpha, Tensor) and alpha == 1:
        return g.cast(b, g.dtype)
    return g.one("mul", g.cast(b, g.dtype), g.cast(alpha, g.dtype))


def _sum(g, row, a, b, alpha):
    if not isinstance(alpha, Tensor) and alpha == 1:
        return g.one(row, g.cast(a, g.dtype), g.cast(b, g.dtype))
    return _scaled_sum(g, a, b, row, alpha)


@in_float32
def _scaled_sum(g, a, b, row, alpha):
    return g.one(row, g.cast(a, g.dtype), _scaled(g, b, alpha))


@rule(aten.add.Tensor, aten.add.Scalar)
def add(g, a, b, alpha=1):
    if g.dtype is popxl.bool:
        return g.one("logical_or", g.cast(a, g.dtype), g.cast(b, g.dtype))
    return _sum(g, "add", a, b, alpha)


@rule(aten.sub.Tensor, aten.sub.Scalar)
def sub(g, a, b, alpha=1):
    return _sum(g, "sub", a, b, alpha)


@rule(aten.rsub.Scalar, aten.rsub.Tensor)
def rsub(g, a, b, alpha=1):
    return _sum(g, "sub", b, a, alpha)


@rule(aten.mul.Tensor, aten.mul.Scalar)
def mul(g, a, b):
    if g.dtype is popxl.bool:
        return g.one("logical_and", g.cast(a, g.dtype), g.cast(b, g.dtype))
    return g.one("mul", g.cast(a, g.dtype), g.cast(b, g.dtype))


def quotient_floored(g, a, b):
    """floor(a / b) of integers or floats of one type."""
    if _floating(a.dtype):
        return g.one("floor", g.one("div", a, b))
    q = g.one("div", a, b)  # towards zero
    rest = g.one("sub", a, g.one("mul", q, b))
    zero = g.constant(0, a.dtype)
    wrong = g.one("logical_and", g.one("not_equal", rest, zero),
                  g.one("not_equal", g.one("less", rest, zero), g.one("less", b, zero)))
    return g.one("sub", q, g.cast(wrong, a.dtype))


@rule(aten.div.Tensor, aten.div.Scalar)
def div(g, a, b):
    return g.one("div", g.cast(a, g.dtype), g.cast(b, g.dtype))


@rule(aten.div.Tensor_mode, aten.div.Scalar_mode)
def div_mode(g, a, b, rounding_mode=None):
    a, b = g.cast(a, g.dtype), g.cast(b, g.dtype)
    if rounding_mode is None:
        return g.one("div", a, b)
    if rounding_mode == "floor":
        return quotient_floored(g, a, b)
    q = g.one("div", a, b)
    return trunc(g, q)


@rule(aten.floor_divide.default)
def floor_divide(g, a, b):
    return quotient_floored(g, g.cast(a, g.dtype), g.cast(b, g.dtype))


@rule(aten.remainder.Tensor, aten.remainder.Scalar)
def remainder(g, a, b):
    a, b = g.cast(a, g.dtype), g.cast(b, g.dtype)
    if _floating(a.dtype):
        # The remainder of C, moved to the divisor's sign: exact, as a - floor(a / b) b is not.
        rest, zero = g.one("fmod", a, b), g.constant(0, a.dtype)
        moved = g.one("logical_and", g.one("not_equal", rest, zero), g.one("not_equal", g.one("less", rest, zero), g.one("less", b, zero)))
        return g.one("where", moved, g.one("add", rest, b), rest)
    return g.one("sub", a, g.one("mul", quotient_floored(g, a, b), b))


@rule(aten.fmod.Tensor, aten.fmod.Scalar)
def fmod(g, a, b):
    a, b = g.cast(a, g.dtype), g.cast(b, g.dtype)
    return g.one("fmod", a, b)


@rule(aten.pow.Tensor_Scalar)
def pow_scalar(g, x, e):
    x = g.cast(x, g.dtype)
    if e == 1:
        return x
    if e == 2:
        return g.one("mul", x, x)
    if e == 3:
        return g.one("mul", g.one("mul", x, x), x)
    if _floating(x.dtype):
        if e == 0:
            return g.constant(1, x.dtype, x.shape)
        if e == 0.5:
            return g.one("sqrt", x)
        if e == -0.5:
            return g.one("rsqrt", x)
        if e == -1:
            return g.one("reciprocal", x)
        return g.one("pow", x, g.constant(e, x.dtype))
    return _integer_power(g, x, int(e))


def _integer_power(g, x, e):
    """By squaring. PyTorch rejects negative exponents of integers."""
    result, square = None, x
    while e:
        if e & 1:
            result = square if result is None else g.one("mul", result, square)
        e >>= 1
        if e:
            square = g.one("mul", square, square)
    return g.constant(1, x.dtype, x.shape) if result is None else result


@rule(aten.pow.Tensor_Tensor, aten.pow.Scalar)
def pow_tensor(g, x, e):
    x, e = g.cast(x, g.dtype), g.cast(e, g.dtype)
    return g.one("pow", x, e) if _floating(g.dtype) else powers_of_integers(g, x, e)


def _extreme(row, of_bool):
    def convert(g, a, b):
        return g.one(of_bool if g.dtype is popxl.bool else row, g.cast(a, g.dtype), g.cast(b, g.dtype))

    return convert


rule(aten.maximum.default)(_extreme("maximum", "logical_or"))
rule(aten.minimum.default)(_extreme("minimum", "logical_and"))


@rule(aten.clamp.default, aten.clamp.Tensor)
def clamp(g, x, min=None, max=None):
    x = g.cast(x, g.dtype)
    if min is not None:
        x = g.one("maximum", x, g.cast(min, g.dtype))
    if max is not None:
        x = g.one("minimum", x, g.cast(max, g.dtype))
    return x


def _compare(row, negated=False, swapped=False):
    def convert(g, a, b):
        dtype = g.promoted()
        a, b = g.cast(a, dtype), g.cast(b, dtype)
        result = g.one(row, *((b, a) if swapped else (a, b)))
        return g.one("logical_not", result) if negated else result

    return convert


rule(aten.eq.Tensor, aten.eq.Scalar)(_compare("equal"))
rule(aten.ne.Tensor, aten.ne.Scalar)(_compare("not_equal"))
rule(aten.lt.Tensor, aten.lt.Scalar)(_compare("less"))
rule(aten.gt.Tensor, aten.gt.Scalar)(_compare("greater"))


def _at_least(row):
    # What is not a number is in no order: the negated opposite would be true.
    def convert(g, a, b):
        dtype = g.promoted()
        a, b = g.cast(a, dtype), g.cast(b, dtype)
        return g.one("logical_or", g.one(row, a, b), g.one("equal", a, b))

    return convert


rule(aten.ge.Tensor, aten.ge.Scalar)(_at_least("greater"))
rule(aten.le.Tensor, aten.le.Scalar)(_at_least("less"))


def _logic(row):
    def convert(g, a, b):
        return g.one(row, g.cast(a, popxl.bool), g.cast(b, popxl.bool))

    return convert


rule(aten.logical_and.default)(_logic("logical_and"))
rule(aten.logical_or.default)(_logic("logical_or"))
rule(aten.logical_xor.default)(_logic("not_equal"))


def _bitwise(row, of_bool):
    def convert(g, a, b):
        return g.one(of_bool if g.dtype is popxl.bool else row, g.cast(a, g.dtype), g.cast(b, g.dtype))

    return convert


for _name, _of_bool in [("bitwise_and", "logical_and"), ("bitwise_or", "logical_or"), ("bitwise_xor", "not_equal")]:
    rule(getattr(aten, _name).Tensor, getattr(aten, _name).Scalar)(_bitwise(_name, _of_bool))


@rule(aten.where.self, aten.where.ScalarOther, aten.where.ScalarSelf, aten.where.Scalar)
def where(g, condition, a, b):
    return g.one("where", g.cast(condition, popxl.bool), g.cast(a, g.dtype), g.cast(b, g.dtype))


@rule(aten.masked_fill.Scalar, aten.masked_fill.Tensor)
def masked_fill(g, x, mask, value):
    return g.expand(g.one("where", mask, g.cast(value, g.dtype), x), g.shape)


@rule(aten.addcmul.default)
@in_float32
def addcmul(g, x, a, b, value=1):
    product = g.one("mul", g.cast(a, g.dtype), g.cast(b, g.dtype))
    return g.one("add", g.cast(x, g.dtype), _scaled(g, product, value))


@rule(aten.addcdiv.default)
@in_float32
def addcdiv(g, x, a, b, value=1):
    quotient = g.one("div", g.cast(a, g.dtype), g.cast(b, g.dtype))
    return g.one("add", g.cast(x, g.dtype), _scaled(g, quotient, value))


# --- activations and their gradients


@rule(aten.gelu.default)
def gelu(g, x, approximate="none"):
    return g.one("gelu" if approximate == "tanh" else "geluerf", x)


def _gradient(g, row, x, dy):
    """What a row gives for a value and a gradient, either of which may broadcast to the other, as under vmap."""
    dtype = g.dtype
    return g.one(row, g.expand(g.cast(x, dtype), g.shape), g.expand(g.cast(dy, dtype), g.shape))


@rule(aten.gelu_backward.default)
def gelu_backward(g, dy, x, approximate="none"):
    return _gradient(g, "gelu_grad" if approximate == "tanh" else "geluerf_grad", x, dy)


@rule(aten.silu.default)
def silu(g, x):
    return g.one("swish", x)


@rule(aten.silu_backward.default)
def silu_backward(g, dy, x):
    return _gradient(g, "swish_grad", x, dy)


@rule(aten.sigmoid_backward.default)
def sigmoid_backward(g, dy, y):
    return _gradient(g, "sigmoid_grad", y, dy)


@rule(aten.tanh_backward.default)
def tanh_backward(g, dy, y):
    return _gradient(g, "tanh_grad", y, dy)


@rule(aten.threshold_backward.default)
def threshold_backward(g, dy, x, threshold):
    if threshold == 0:
        return _gradient(g, "relu_grad", x, dy)
    return g.one("where", g.one("greater", x, g.constant(threshold, x.dtype)), dy, g.constant(0, dy.dtype))


@rule(aten.hardshrink_backward.default, aten.softshrink_backward.default)
def shrink_backward(g, dy, x, lambd):
    return g.one("where", g.one("greater", g.one("abs", x), g.constant(lambd, x.dtype)), dy, g.constant(0, dy.dtype))


@rule(aten.leaky_relu.default)
def leaky_relu(g, x, negative_slope=0.01):
    return g.one("where", g.one("greater", x, g.constant(0, x.dtype)), x, g.one("mul", x, g.constant(negative_slope, x.dtype)))


@rule(aten.elu.default)
@in_float32
def elu(g, x, alpha=1, scale=1, input_scale=1):
    negative = g.one("mul", g.one("expm1", g.one("mul", x, g.constant(input_scale, x.dtype))), g.constant(alpha * scale, x.dtype))
    positive = x if scale == 1 else g.one("mul", x, g.constant(scale, x.dtype))
    return g.one("where", g.one("greater", x, g.constant(0, x.dtype)), positive, negative)


@rule(aten.hardtanh.default)
def hardtanh(g, x, min_val=-1, max_val=1):
    return clamp(g, x, min_val, max_val)


# --- types and copies


@rule(aten._to_copy.default)
def to_copy(g, x, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, memory_format=None):
    return x if dtype is None else g.cast(x, to_popxl(dtype))


@rule(torch.ops.prims.convert_element_type.default)
def convert_element_type(g, x, dtype):
    return g.cast(x, to_popxl(dtype))


@rule(aten.clone.default, aten.alias.default, aten.detach.default, aten.detach_copy.default, aten.alias_copy.default, aten.lift_fresh_copy.default, aten.lift_fresh.default, aten.positive.default)
def same(g, x, memory_format=None):
    return x


@rule(aten.copy.default)
def copy(g, x, source, non_blocking=False):
    return g.expand(g.cast(source, x.dtype), x.shape)


# --- numbers that are read out of tensors and used as numbers: they stay tensors of one element


@rule(aten._local_scalar_dense.default)
def local_scalar_dense(g, x):
    return g.reshape(x, ())


def _number_op(row):
    def convert(g, a, *b):
        dtype = next(x.dtype for x in (a, *b) if isinstance(x, Tensor))
        return g.one(row, *(g.cast(x, dtype) for x in (a, *b)))

    return convert


for _function, _row in [(operator.neg, "negate"), (operator.add, "add"), (operator.sub, "sub"), (operator.mul, "mul"), (operator.truediv, "div"),
                        (operator.pow, "pow")]:
    rule(_function)(_number_op(_row))


# --- composed of the above


@rule(aten.copysign.Tensor, aten.copysign.Scalar)
def copysign(g, a, b):
    a, b = g.cast(a, g.dtype), g.cast(b, g.dtype)
    # 1 / -0 is below 0.
    negative = g.one("logical_or", g.one("less", b, g.constant(0, g.dtype)),
                     g.one("logical_and", g.one("equal", b, g.constant(0, g.dtype)), g.one("less", g.one("reciprocal", b), g.constant(0, g.dtype))))
    size = g.expand(g.one("abs", a), g.shape)
    return g.one("where", negative, g.one("negate", size), size)


def _but_nan(row):
    def convert(g, a, b):
        a, b = g.cast(a, g.dtype), g.cast(b, g.dtype)
        if not _floating(g.dtype):
            return g.one(row, a, b)
        return g.one("where", g.one("isnan", a), b, g.one("where", g.one("isnan", b), a, g.one(row, a, b)))

    return convert


rule(aten.fmax.default)(_but_nan("maximum"))
rule(aten.fmin.default)(_but_nan("minimum"))


@rule(aten.exp2.default)
@in_float32
def exp2(g, x):
    return g.one("pow", g.constant(2, g.dtype), g.cast(x, g.dtype))


@rule(aten.ldexp.Tensor)
@in_float32
def ldexp(g, x, e):
    return g.one("mul", g.cast(x, g.dtype), g.one("pow", g.constant(2, g.dtype), g.cast(e, g.dtype)))


@rule(aten.signbit.default)
def signbit(g, x):
    zero = g.constant(0, x.dtype)
    if not _floating(x.dtype):
        return g.one("less", x, zero)
    return g.one("logical_or", g.one("less", x, zero), g.one("logical_and", g.one("equal", x, zero), g.one("less", g.one("reciprocal", x), zero)))

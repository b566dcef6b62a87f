"""Ops of complex numbers: what is linear does the same with both parts; products, quotients and functions are written out."""
import torch

from popxl import Tensor
from popxl.ops.var_updates import copy_var_update_

from pando.torch.complex import Complex, joined, promoted, split
from pando.torch.table import RULES, complex_rule
from pando.torch.types import to_popxl

aten = torch.ops.aten


def _lift(overload, kept=()):
    """Both parts go through the rule of real numbers. kept: the arguments, by their places, that are not numbers to compute with."""
    rule = RULES[overload]

    @complex_rule(overload)
    def convert(g, *args, **kwargs):
        args = [a if i in kept else _with_parts(g, a) for i, a in enumerate(args)]
        made = [rule(g, *(_part(a, i) for a in args), **kwargs) for i in ("re", "im")]
        return tuple(map(Complex, *made)) if isinstance(made[0], tuple) else Complex(*made)


def _with_parts(g, x):
    if isinstance(x, (list, tuple)) and any(isinstance(y, (Tensor, Complex)) for y in x):
        return [_with_parts(g, y) for y in x]
    return promoted(g, x) if isinstance(x, (Tensor, Complex)) else x


def _part(x, name):
    if isinstance(x, list):
        return [_part(y, name) for y in x]
    return getattr(x, name) if isinstance(x, Complex) else x


for _name in ("view", "reshape", "_unsafe_view", "unsqueeze", "squeeze", "squeeze.dim", "squeeze.dims", "view_copy", "unsqueeze_copy", "squeeze_copy",
              "squeeze_copy.dim", "squeeze_copy.dims", "_reshape_alias", "permute", "permute_copy", "t", "t_copy", "transpose.int", "transpose_copy.int",
              "expand", "expand_copy", "repeat", "cat", "stack", "slice.Tensor", "slice_copy.Tensor", "select.int", "select_copy.int", "split.Tensor",
              "split_copy.Tensor", "split_with_sizes", "split_with_sizes_copy", "unbind.int", "unbind_copy.int", "slice_scatter", "select_scatter", "flip",
              "roll", "diagonal", "diagonal_copy", "as_strided", "as_strided_copy", "unfold", "clone", "alias", "alias_copy", "detach", "detach_copy",
              "lift_fresh_copy", "lift_fresh", "positive", "copy", "neg", "sum", "sum.dim_IntList", "mean", "mean.dim", "cumsum", "add.Tensor", "sub.Tensor",
              "zeros", "zeros_like", "new_zeros", "empty.memory_format", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted"):
    _packet, _, _overload = _name.partition(".")
    _lift(getattr(getattr(aten, _packet), _overload or "default"))
for _overload, _kept in [(aten.index_select.default, (2,)), (aten.index.Tensor, (1,)), (aten._unsafe_index.Tensor, (1,)), (aten.gather.default, (2,)),
                         (aten.index_put.default, (1,)), (aten._unsafe_index_put.default, (1,)), (aten.index_add.default, (2,)),
                         (aten.scatter.src, (2,)), (aten.scatter_add.default, (2,)), (aten.embedding.default, (1,)), (aten.where.self, (0,))]:
    _lift(_overload, _kept)


@complex_rule(aten.constant_pad_nd.default)
def pad(g, x, pads, value=0):
    value = complex(value)
    return Complex(*(RULES[aten.constant_pad_nd.default](g, *pair) for pair in ((x.re, pads, value.real), (x.im, pads, value.imag))))


@complex_rule(aten.full.default, aten.full_like.default, aten.new_full.default, aten.scalar_tensor.default, aten.fill.Scalar)
def full(g, *args, **options):
    value = promoted(g, options.get("fill_value", args[-1]))
    return Complex(g.expand(value.re, g.shape), g.expand(value.im, g.shape))


@complex_rule(aten.ones.default, aten.ones_like.default, aten.new_ones.default)
def ones(g, *sizes, **options):
    return Complex(g.constant(1, g.dtype, g.shape), g.constant(0, g.dtype, g.shape))


@complex_rule(aten.view_as_real.default, aten.view_as_real_copy.default)
def view_as_real(g, x):
    return joined(x)


@complex_rule(aten.view_as_complex.default, aten.view_as_complex_copy.default)
def view_as_complex(g, x):
    return split(x)


@complex_rule(aten.copy_.default)
def copy_(g, variable, source, non_blocking=False):
    source = promoted(g, source)
    copy_var_update_(variable.whole, joined(Complex(g.expand(source.re, variable.shape), g.expand(source.im, variable.shape))))
    return source


@complex_rule(aten._to_copy.default, torch.ops.prims.convert_element_type.default)
def to_type(g, x, dtype=None, **options):
    if g.value().is_complex():
        x = promoted(g, x)
        return Complex(g.cast(x.re, g.dtype), g.cast(x.im, g.dtype))
    return g.cast(x.re, to_popxl(dtype))


@complex_rule(aten.complex.default)
def from_parts(g, re, im):
    return Complex(g.expand(re, g.shape), g.expand(im, g.shape))


@complex_rule(aten.polar.default)
def polar(g, size, angle):
    return Complex(g.one("mul", size, g.one("cos", angle)), g.one("mul", size, g.one("sin", angle)))


@complex_rule(aten._conj.default, aten._conj_copy.default, aten.conj_physical.default, aten._conj_physical.default)
def conj(g, x):
    return Complex(x.re, g.one("negate", x.im))


@complex_rule(aten.resolve_conj.default)
def resolve_conj(g, x):
    return x


def _number(x):
    """A number without an imaginary part as a real one."""
    return x.real if isinstance(x, complex) and x.imag == 0 else x


def times(g, row, a, b):
    """The product of two values by a row of the table that is linear in both; one may be real."""
    if not isinstance(a, Complex):
        return Complex(g.one(row, a, b.re), g.one(row, a, b.im))
    if not isinstance(b, Complex):
        return Complex(g.one(row, a.re, b), g.one(row, a.im, b))
    re = g.one("sub", g.one(row, a.re, b.re), g.one(row, a.im, b.im))
    return Complex(re, g.one("add", g.one(row, a.re, b.im), g.one(row, a.im, b.re)))


def _operand(g, x):
    """A value, or a real tensor of the parts' type."""
    x = _number(x)
    return promoted(g, x) if isinstance(x, (Complex, complex)) else g.tensor(x, g.dtype)


def _as_complex(g, x):
    return x if isinstance(x, Complex) else promoted(g, x)


@complex_rule(aten.mul.Tensor, aten.mul.Scalar)
def mul(g, a, b):
    return _as_complex(g, times(g, "mul", _operand(g, a), _operand(g, b)))


@complex_rule(aten.add.Scalar, aten.sub.Scalar)
def add_number(g, a, b, alpha=1):
    sign = 1 if g.node.target is aten.add.Scalar else -1
    a, b = promoted(g, a), promoted(g, complex(b) * alpha * sign)
    return Complex(g.one("add", a.re, b.re), g.one("add", a.im, b.im))


def _square(g, x):
    """|x|^2"""
    return g.one("add", g.one("mul", x.re, x.re), g.one("mul", x.im, x.im))


@complex_rule(aten.div.Tensor, aten.div.Scalar)
def div(g, a, b):
    a, b = _operand(g, a), _operand(g, b)
    if not isinstance(b, Complex):
        return Complex(g.one("div", a.re, b), g.one("div", a.im, b))
    # By the larger part of the divisor, so that no square is beyond what a float holds.
    a, one = promoted(g, a), g.constant(1, g.dtype)
    size = g.one("maximum", g.one("abs", b.re), g.one("abs", b.im))
    scaled = Complex(g.one("div", b.re, size), g.one("div", b.im, size))
    top, below = times(g, "mul", a, conj(g, scaled)), g.one("div", g.one("div", one, _square(g, scaled)), size)
    return Complex(g.one("mul", top.re, below), g.one("mul", top.im, below))


@complex_rule(aten.reciprocal.default)
def reciprocal(g, x):
    return div(g, 1, x)


@complex_rule(aten.abs.default)
def absolute(g, x):
    return g.one("sqrt", _square(g, x))


@complex_rule(aten.angle.default)
def angle(g, x):
    return g.one("atan2", x.im, x.re)


@complex_rule(aten.sgn.default)
def sgn(g, x):
    size, zero = absolute(g, x), g.constant(0, x.dtype)
    nothing = g.one("equal", size, zero)
    return Complex(*(g.one("where", nothing, zero, g.one("div", part, size)) for part in (x.re, x.im)))


@complex_rule(aten.exp.default)
def exp(g, x):
    return polar(g, g.one("exp", x.re), x.im)


@complex_rule(aten.log.default)
def log(g, x):
    return Complex(g.one("log", absolute(g, x)), angle(g, x))


@complex_rule(aten.pow.Tensor_Scalar)
def power(g, x, exponent):
    exponent = _number(exponent)
    if isinstance(exponent, int) and 0 < exponent <= 8:
        found = x
        for _ in range(exponent - 1):
            found = times(g, "mul", found, x)
        return found
    turned = times(g, "mul", log(g, x), _operand(g, exponent))
    return exp(g, turned)


@complex_rule(aten.sqrt.default)
def sqrt(g, x):
    half = g.constant(0.5, x.dtype)
    return polar(g, g.one("sqrt", absolute(g, x)), g.one("mul", angle(g, x), half))


@complex_rule(aten.eq.Tensor, aten.eq.Scalar)
def equal(g, a, b):
    dtype = next(x for x in (a, b) if isinstance(x, Complex)).dtype
    if not isinstance(b, (Complex, Tensor)):
        b = Complex(g.constant(complex(b).real, dtype), g.constant(complex(b).imag, dtype))
    a, b = (x if isinstance(x, Complex) else Complex(g.cast(x, dtype), g.constant(0, dtype)) for x in (a, b))
    return g.one("logical_and", g.one("equal", a.re, b.re), g.one("equal", a.im, b.im))


@complex_rule(aten.ne.Tensor, aten.ne.Scalar)
def not_equal(g, a, b):
    return g.one("logical_not", equal(g, a, b))


@complex_rule(aten.mm.default, aten.bmm.default, aten.mv.default, aten.dot.default)
def product(g, a, b):
    return times(g, "matmul", a, b)


@complex_rule(aten.addmm.default, aten.baddbmm.default)
def addmm(g, c, a, b, beta=1, alpha=1):
    found = mul(g, times(g, "matmul", a, b), alpha)
    if beta == 0:
        return found
    c = promoted(g, mul(g, c, beta))
    return Complex(g.one("add", c.re, found.re), g.one("add", c.im, found.im))

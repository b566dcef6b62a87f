"""Complex numbers: a program has them as two tensors, and outside of it as one with a last dimension of 2, as torch.view_as_real gives them."""
import torch

import popxl
from popxl import _build

_PARTS = {torch.complex32: torch.float16, torch.complex64: torch.float32, torch.complex128: torch.float64}


class Complex:
    """A value of a graph: the tensors of its real and its imaginary parts.

    Attributes:
        whole: the tensor with a last dimension of 2 that it was read from, or None.
    """

    def __init__(self, re, im, whole=None):
        self.re, self.im, self.whole = re, im, whole

    @property
    def shape(self):
        return self.re.shape

    @property
    def dtype(self):
        """The element type of a part."""
        return self.re.dtype


def part_type(dtype):
    """The torch.dtype of a part of complex numbers; other types are what they are."""
    return _PARTS.get(dtype, dtype)


def whole_shape(fake):
    """The shape that the tensor of a graph has outside of a program."""
    return (*fake.shape, 2) if fake.dtype in _PARTS else tuple(fake.shape)


def is_complex(fake):
    return isinstance(fake, torch.Tensor) and fake.dtype in _PARTS


def involved(node):
    """Whether a node of a graph takes or gives complex numbers."""
    given = [n.meta.get("val") for n in node.all_input_nodes]
    made = node.meta.get("val")
    return any(is_complex(x) for x in [*given, *(made if isinstance(made, (tuple, list)) else [made])])


def split(whole):
    """The value of a tensor with a last dimension of 2."""
    axis = len(whole.shape) - 1
    parts = (_build.one("slice", (whole,), dict(start=[i], stop=[i + 1], step=[1], axis=[axis])) for i in (0, 1))
    return Complex(*(_build.one("reshape", (part,), dict(shape=list(whole.shape[:-1]))) for part in parts), whole)


def joined(value):
    """A tensor of a program for the world outside: a complex value gets a last dimension of 2."""
    if not isinstance(value, Complex):
        return value
    parts = [_build.one("reshape", (part,), dict(shape=[*part.shape, 1])) for part in (value.re, value.im)]
    return _build.one("concat", parts, dict(axis=len(value.shape)))


def promoted(g, x):
    """A value, tensor or number as a complex value."""
    if isinstance(x, Complex):
        return x
    if isinstance(x, popxl.Tensor):
        x = g.cast(x, g.dtype)
        return Complex(x, g.constant(0, g.dtype, x.shape))
    return Complex(g.constant(complex(x).real, g.dtype), g.constant(complex(x).imag, g.dtype))

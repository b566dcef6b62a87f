"""Shifts of integers by bits: products by powers of two, and quotients rounded down. int64 has 32 bits, as in programs."""
import torch

aten = torch.ops.aten


def _bits(x):
    return min(32, 8 * x.dtype.itemsize)


def _both(a, b):
    """Two operands, of which one may be a number, as tensors of the type that they have in common."""
    dtype = torch.result_type(a, b)
    a, b = (t.to(dtype) if isinstance(t, torch.Tensor) else torch.full([], t, dtype=dtype) for t in (a, b))
    return a, b


def _powers(x, count):
    """2^count for counts from 0 to two below the bits of the type, elements of count beyond being at the border."""
    last = _bits(x) - 2
    return torch.tensor([2**i for i in range(last + 1)], dtype=x.dtype)[count.clamp(0, last).to(torch.int64)]


def _left(x, count):
    """Bits that leave are lost; counts below 0 and from the number of bits on leave none."""
    x, count = _both(x, count)
    bits = _bits(x)
    moved = x * _powers(x, count)
    moved = torch.where(count == bits - 1, moved * 2, moved)
    return torch.where((count < 0) | (count >= bits), 0, moved)


def _right(x, count):
    """The sign comes after; counts below 0 and from the number of bits on leave it alone."""
    x, count = _both(x, count)
    bits = _bits(x)
    count = torch.where((count < 0) | (count > bits), bits, count)
    moved = torch.div(x, _powers(x, count), rounding_mode="floor")
    for more in (bits - 1, bits):
        moved = torch.where(count >= more, torch.div(moved, 2, rounding_mode="floor"), moved)
    return moved


COMPOSED = {getattr(getattr(aten, name), overload): function for name, function, overloads in (
    ("bitwise_left_shift", _left, ("Tensor", "Tensor_Scalar", "Scalar_Tensor")), ("bitwise_right_shift", _right, ("Tensor", "Tensor_Scalar", "Scalar_Tensor")),
    ("__lshift__", _left, ("Tensor", "Scalar")), ("__rshift__", _right, ("Tensor", "Scalar"))) for overload in overloads}

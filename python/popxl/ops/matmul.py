"""Matrix products."""
from typing import Optional

from popxl import dtypes
from popxl._build import describe, one
from popxl.ops.cast import _check_scale
from popxl.ops.utils import dtype_index
from popxl.tensor import Tensor


def matmul(lhs: Tensor, rhs: Tensor, available_memory_proportion: Optional[float] = None, output_type: Optional[dtypes.dtype] = None,
           partials_type: Optional[dtypes.dtype] = None) -> Tensor:
    """The product of matrices, or of batches of them, as NumPy's matmul: vectors have a dimension less, leading dimensions broadcast.

    Args:
        lhs, rhs: of one element type.
        available_memory_proportion: of a tile's memory, from 0 to 1, that the product may use while it runs.
        output_type: element type of the result; None: that of the operands.
        partials_type: of partial sums.
    """
    partials = partials_type
    if partials is None:
        from popxl.context import _context

        partials = _context.ir._partials_type() if _context._graphs else None
    return one("matmul", [lhs, rhs], {"available_memory_proportion": available_memory_proportion, "output_type": dtype_index(output_type),
                                      "partials_type": dtype_index(partials)})


def matmul_pow2scaled(lhs: Tensor, rhs: Tensor, log2_scale: Tensor, available_memory_proportion: Optional[float] = None) -> Tensor:
    """The product of float8 matrices times 2**log2_scale, as float16.

    Args:
        lhs, rhs: float8.
        log2_scale: an int32 scalar.
        available_memory_proportion: see `matmul`.

    Raises:
        TypeError: other element types.
        ValueError: log2_scale is not a scalar.
    """
    for t in (lhs, rhs):
        if not isinstance(t, Tensor):
            raise TypeError(f"matmul_pow2scaled: {describe(t)} is not a tensor.")
        if not t.dtype.name.startswith("float8"):
            raise TypeError(f"matmul_pow2scaled takes float8 tensors, {t.name} is {t.dtype}.")
    _check_scale(log2_scale, "matmul_pow2scaled")
    return one("matmul_pow2scaled", [lhs, rhs, log2_scale], {"available_memory_proportion": available_memory_proportion})


__all__ = ["matmul", "matmul_pow2scaled"]

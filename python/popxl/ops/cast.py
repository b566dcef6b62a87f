"""Other element types."""
from popxl._build import one
from popxl.dtypes import dtype, float16, float32, int32
from popxl.ops.utils import check_tensor
from popxl.tensor import Tensor


def _output_name(t, data_type):
    return f"{t.name.rpartition('/')[2]}_{data_type.name}" if isinstance(t, Tensor) else ""


def cast(t: Tensor, data_type: dtype) -> Tensor:
    """The values of `t` in another element type. Floats become integers by truncation, everything becomes bool by comparison with zero.

    Args:
        t: the tensor.
        data_type: the element type of the result.

    Returns:
        a tensor of the same shape.

    Raises:
        TypeError: data_type is a float8 type: pow2scale_cast_to_fp8 and pow2scale_cast_from_fp8 are for those.
    """
    data_type = dtype.as_dtype(data_type)
    for side in (data_type, t.dtype if isinstance(t, Tensor) else data_type):
        if side.name.startswith("float8"):
            raise TypeError(f"cast is not for {side}: use pow2scale_cast_to_fp8 or pow2scale_cast_from_fp8.")
    return one("cast", [t], {"data_type": data_type._index}, output_name=_output_name(t, data_type))


def _check_scale(log2_scale, what):
    if not isinstance(log2_scale, Tensor):
        raise TypeError(f"{what}: log2_scale must be a tensor, not {log2_scale!r}.")
    if log2_scale.nelms != 1 or log2_scale.rank > 1:
        raise ValueError(f"{what}: log2_scale must be a scalar tensor, its shape is {log2_scale.shape}.")
    if log2_scale.dtype is not int32:
        raise TypeError(f"{what}: log2_scale must be of type popxl.int32, not {log2_scale.dtype}.")


def pow2scale_cast_to_fp8(t: Tensor, log2_scale: Tensor, data_type: dtype) -> Tensor:
    """t * 2**log2_scale as float8.

    Args:
        t: float16 or float32.
        log2_scale: an int32 scalar, when the program runs of -32 to 31.
        data_type: float8_143 or float8_152.

    Raises:
        TypeError: other element types.
        ValueError: log2_scale is not a scalar.
    """
    check_tensor(t, "pow2scale_cast_to_fp8")
    data_type = dtype.as_dtype(data_type)
    if t.dtype not in (float16, float32):
        raise TypeError(f"pow2scale_cast_to_fp8 casts from float16 and float32, not from {t.dtype}.")
    if not data_type.name.startswith("float8"):
        raise TypeError(f"pow2scale_cast_to_fp8 casts to float8 types, not to {data_type}.")
    _check_scale(log2_scale, "pow2scale_cast_to_fp8")
    return one("pow2scale_cast_to_fp8", [t, log2_scale], {"data_type": data_type._index}, output_name=_output_name(t, data_type))


def pow2scale_cast_from_fp8(t: Tensor, log2_scale: Tensor, data_type: dtype) -> Tensor:
    """float8 as float16 or float32, times 2**log2_scale. Arguments and errors as in `pow2scale_cast_to_fp8`."""
    check_tensor(t, "pow2scale_cast_from_fp8")
    data_type = dtype.as_dtype(data_type)
    if not t.dtype.name.startswith("float8"):
        raise TypeError(f"pow2scale_cast_from_fp8 casts from float8 types, not from {t.dtype}.")
    if data_type not in (float16, float32):
        raise TypeError(f"pow2scale_cast_from_fp8 casts to float16 and float32, not to {data_type}.")
    _check_scale(log2_scale, "pow2scale_cast_from_fp8")
    name = f"{t.name.rpartition('/')[2]}_fp{8 * data_type.as_numpy().itemsize}"
    return one("pow2scale_cast_from_fp8", [t, log2_scale], {"data_type": data_type._index}, output_name=name)


__all__ = ["cast", "pow2scale_cast_to_fp8", "pow2scale_cast_from_fp8"]

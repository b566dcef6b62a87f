"""float8 on the host: conversions, and the scale that loses least.

float8_143 has 4 bits of exponent with a bias of 8 and 3 of mantissa, float8_152 has 5 with a bias of 16 and 2. There are no infinities; the byte 0x80 is
the one NaN. A number's scale lies beside it: what a byte b stands for is value(b) * 2**-log2_scale.
"""
from popxl import _core, dtypes
from popxl._lazy import np


def _type_of(dtype, wanted=None):
    if dtype is None:
        raise TypeError("A float8 type is needed: popxl.float8_143 or popxl.float8_152.")
    dtype = dtypes.dtype.as_dtype(dtype)
    if not dtype.name.startswith("float8"):
        raise TypeError(f"{dtype} is not a float8 type: popxl.float8_143 or popxl.float8_152.")
    return dtype


def host_pow2scale_cast_to_fp8(src, dtype=None, log2_scale=0, nan_on_overflow=True):
    """src * 2**log2_scale as float8, rounded to nearest even.

    Args:
        src: array of numbers.
        dtype: popxl.float8_143 or popxl.float8_152.
        log2_scale: an integer.
        nan_on_overflow: what is too large becomes NaN; otherwise the largest number of its sign. Infinities always become NaN.

    Returns:
        an array of src's shape, of the structured type `dtype.as_numpy()`.
    """
    dtype = _type_of(dtype)
    with np.errstate(over="ignore"):  # what no float32 holds is too large for float8, too
        floats = np.array(src, dtype=np.float32, order="C")
        if log2_scale:
            floats = np.ldexp(np.asarray(src, dtype=np.float64), log2_scale).astype(np.float32, order="C")
    out = np.empty(floats.shape, np.uint8)
    _core.float8_from_float(floats, out, dtype._index, floats.size, bool(nan_on_overflow))
    out[np.isinf(np.asarray(src))] = 0x80
    return out.view(dtype.as_numpy()) if out.ndim else out.reshape(1).view(dtype.as_numpy()).reshape(())


def host_pow2scale_cast_from_fp8(src, dtype=None, log2_scale=0):
    """What float8 numbers stand for, times 2**log2_scale.

    Args:
        src: array of a structured float8 type.
        dtype: float16, float32 or float64; None: float32.
        log2_scale: an integer.
    """
    src = np.asarray(src)
    if src.dtype.names is None:
        raise TypeError(f"{src.dtype} is not a float8 type.")
    of = _type_of(src.dtype.names[0])
    wanted = (dtypes.float32 if dtype is None else dtypes.dtype.as_dtype(dtype)).as_numpy()
    raw = np.ascontiguousarray(src[src.dtype.names[0]])
    floats = np.empty(src.shape, np.float32)
    _core.float_from_float8(raw, floats, of._index, raw.size)
    if log2_scale:
        floats = np.ldexp(floats.astype(np.float64), log2_scale)
    return floats.astype(wanted)


def host_fp8_mse_scale(src, dtype=None):
    """The log2_scale, of -31 to 31, with which a cast to float8 and back has the least mean squared error.

    Args:
        src: array of numbers.
        dtype: popxl.float8_143 or popxl.float8_152.

    Returns:
        (the error, the scale for `host_pow2scale_cast_to_fp8`). Of scales that do equally well, the one in their middle.
    """
    dtype = _type_of(dtype)
    exact = np.asarray(src, dtype=np.float64)
    errors = {}
    for scale in range(-31, 32):
        back = host_pow2scale_cast_from_fp8(host_pow2scale_cast_to_fp8(exact, dtype, scale, False), dtypes.float64, -scale)
        errors[scale] = float(np.mean((back - exact)**2)) if exact.size else 0.0
    least = min(errors.values())
    best = [scale for scale, error in errors.items() if error <= least * (1 + 1e-9)]
    return least, best[len(best) // 2]


def host_fp8_mse_scale_pb(src, dtype=None):
    """The scale alone of `host_fp8_mse_scale`."""
    return host_fp8_mse_scale(src, dtype)[1]

"""Host data as NumPy arrays, and descriptions of devices."""
import sys

from popxl import dtypes
from popxl._lazy import np
from popxl._views import view

_DOWNCAST = {"float64": "float32", "int64": "int32", "uint64": "uint32"}


def __getattr__(name):
    if name == "downcast_np_dtypes":
        value = {np.dtype(wide): np.dtype(narrow) for wide, narrow in _DOWNCAST.items()}
    elif name == "host_pow2scale_cast_to_fp8":
        from popxl.fp8_utils import host_pow2scale_cast_to_fp8 as value
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def is_torch(x):
    """Whether `x` is a tensor of torch, without importing it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def check_numbers(array, what):
    """Raises TypeError for an array of other things than numbers, as objects, texts or times are. float8 is a type with a name."""
    if array.dtype.kind not in "biufc" and not array.dtype.names:
        raise TypeError(f"{what}: elements of the type {array.dtype}; numbers are expected.")


def check_real(array, what):
    """Raises TypeError for complex numbers: no tensor of a program has them."""
    if array.dtype.kind == "c":
        raise TypeError(f"{what}: elements of the type {array.dtype}; real numbers are expected.")


def with_integers(array, wanted, what):
    """The array with integers or booleans of another type. Raises ValueError for a value that the type does not have, as a larger one or a fraction."""
    with np.errstate(invalid="ignore"):
        out = array.astype(wanted)
    wrong = out != array
    if wrong.any():
        at = np.unravel_index(int(np.argmax(wrong)), array.shape)
        raise ValueError(f"{what}: {array[at]} at {tuple(int(i) for i in at)} does not fit {wanted}.")
    return out


def to_numpy(x, dtype=None, downcast=True, copy=True, log2_scale=None, nan_on_overflow=None, what="Host data"):
    """Host data as a C-contiguous array.

    Args:
        x: number, sequence, array or torch tensor, of numbers of any type that NumPy has.
        dtype: popxl's type of the elements; None: those of `x`.
        downcast: whether elements of 64 bits become 32 bits wide where no type is given.
        copy: whether the result may share no memory with `x`.
        log2_scale, nan_on_overflow: of a cast to float8: elements are multiplied by 2**log2_scale first; what is too large becomes NaN or
            the largest number.
        what: how messages name the data.

    Raises:
        RuntimeError: log2_scale or nan_on_overflow for a type other than float8.
        TypeError: what is not a number; complex numbers, where `dtype` is real.
        ValueError: integers that are too large for 32 bits, where no type is given.
    """
    is_float8 = dtype is not None and dtype.name.startswith("float8")
    if not is_float8 and (log2_scale is not None or nan_on_overflow is not None):
        raise RuntimeError(f"log2_scale and nan_on_overflow are for float8 types, not for {dtype}.")
    if is_torch(x):
        x = x.detach().cpu().numpy()
    array = np.asarray(x)
    check_numbers(array, what)
    if dtype is not None and not dtype.is_complex:
        check_real(array, what)
    if is_float8:
        if array.dtype == dtype.as_numpy():
            return np.array(array, copy=True) if copy else np.ascontiguousarray(array).reshape(array.shape)
        from popxl.fp8_utils import host_pow2scale_cast_to_fp8

        return host_pow2scale_cast_to_fp8(array, dtype, 0 if log2_scale is None else log2_scale, True if nan_on_overflow is None else nan_on_overflow)
    wanted = array.dtype
    if dtype is not None:
        wanted = dtype.as_numpy()
    elif downcast:
        wanted = np.dtype(_DOWNCAST.get(array.dtype.name, array.dtype))
        if wanted != array.dtype and wanted.kind in "iu":
            return np.ascontiguousarray(with_integers(array, wanted, f"{what} of {array.dtype}, which become {wanted}")).reshape(array.shape)
    if copy:
        return np.array(array, dtype=wanted, order="C", copy=True)
    return np.asarray(array, dtype=wanted, order="C")


def table_to_string(rows, delimiter=" | ", header=True):
    """Rows of values as lines of aligned columns.

    Args:
        rows: of equal lengths.
        delimiter: between columns.
        header: whether the first row is underlined.
    """
    texts = [[str(value) for value in row] for row in rows]
    widths = [max(len(row[i]) for row in texts) for i in range(len(texts[0]))] if texts else []
    lines = [delimiter.join(value.ljust(width) for value, width in zip(row, widths)) for row in texts]
    if header and lines:
        lines.insert(1, "-" * (sum(widths) + len(delimiter) * (len(widths) - 1)))
    return "\n".join(lines) + "\n"


def _to_device_info(device_desc, num_ipus=1):
    """`popart.DeviceInfo` of a description: "cpu", "ipu_model", "ipu_hw" or the name of a system. Raises ValueError for others."""
    if device_desc == "cpu":
        if num_ipus > 1:
            raise ValueError(f"The device 'cpu' is one IPU; the program needs {num_ipus}.")
        return view("device", "createCpuDevice")
    if device_desc == "ipu_model":
        return view("device", "createIpuModelDevice", {"numIPUs": num_ipus})
    if device_desc == "ipu_hw":
        return _acquire_hw_device_with_timeout(num_ipus)
    return _offline_device_from_str(device_desc, num_ipus)


def _acquire_hw_device_with_timeout(num_ipus, timeout=None):
    """IPUs that wait to be attached to. There is no hardware: IPUs of the model take its place."""
    return view("device", "acquireAvailableDevice", num_ipus)


def _offline_device_from_str(system, num_ipus=1):
    """A device of a named system that programs are compiled for. Raises ValueError for an unknown one."""
    try:
        return view("device", "createOfflineIpuFromSystemString", system, num_ipus)
    except Exception as error:
        raise ValueError(f"Unknown device {system!r}: 'cpu', 'ipu_model', 'ipu_hw', or the name of a system.") from error

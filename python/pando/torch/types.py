"""Element types of PyTorch in programs of Pando.

int64 becomes int32: host data that do not fit are an error. float64 becomes float32, with a warning, once for each program. Other types keep their width.
Complex numbers have a last dimension of 2 outside of PyTorch.
"""
import warnings

import torch

import popxl

_SAME = {torch.float32: popxl.float32, torch.float16: popxl.float16, torch.bool: popxl.bool, torch.int8: popxl.int8, torch.int16: popxl.int16,
         torch.int32: popxl.int32, torch.uint8: popxl.uint8}
_NARROWED = {torch.int64: popxl.int32, torch.float64: popxl.float32}


class UnsupportedType(TypeError):
    """A tensor has an element type that programs of Pando do not have."""


def to_popxl(dtype):
    """The element type of a program's values for a torch.dtype. Raises UnsupportedType for bfloat16 and quantised types, and for complex ones, whose parts are values."""
    found = _SAME.get(dtype) or _NARROWED.get(dtype)
    if found is None:
        known = ", ".join(str(t) for t in (*_SAME, *_NARROWED))
        raise UnsupportedType(f"{dtype} has no counterpart in a program of Pando, which has {known}.")
    return found


def warn_of_float64(tensors):
    """Warns if one of the tensors is float64: the program computes with float32."""
    if any(getattr(t, "dtype", None) in (torch.float64, torch.complex128) for t in tensors):
        warnings.warn("float64 tensors are computed as float32.", stacklevel=2)


def to_array(tensor):
    """The NumPy array of a tensor's contents, on the host; it shares memory where the layout allows."""
    tensor = tensor.detach()
    if tensor.device.type != "cpu":
        tensor = tensor.cpu()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    return tensor.contiguous().numpy()


def to_tensor(array, dtype):
    """A torch tensor with the contents of an array, of the type `dtype`."""
    tensor = torch.from_numpy(array)
    if dtype.is_complex:
        tensor = torch.view_as_complex(tensor)
    return tensor if tensor.dtype is dtype else tensor.to(dtype)

"""Element types of PyTorch in programs of Pando.

int64 becomes int32: host data that do not fit are an error. float64 and bfloat16 become float32, with a warning, once for each program. Other types keep
their width.
Complex numbers have a last dimension of 2 outside of PyTorch.
"""
import warnings

import torch

import popxl

_SAME = {torch.float32: popxl.float32, torch.float16: popxl.float16, torch.bool: popxl.bool, torch.int8: popxl.int8, torch.int16: popxl.int16,
         torch.int32: popxl.int32, torch.uint8: popxl.uint8}
_OTHER = {torch.int64: popxl.int32, torch.float64: popxl.float32, torch.bfloat16: popxl.float32}
# Types whose numbers a program rounds otherwise than PyTorch.
_WARNED = {torch.float64: torch.float64, torch.complex128: torch.float64, torch.bfloat16: torch.bfloat16}


class UnsupportedType(TypeError):
    """A tensor has an element type that programs of Pando do not have."""


def to_popxl(dtype):
    """The element type of a program's values for a torch.dtype. Raises UnsupportedType for quantised types and those of 8 bits and fewer with a
    point, and for complex ones, whose parts are values."""
    found = _SAME.get(dtype) or _OTHER.get(dtype)
    if found is None:
        known = ", ".join(str(t) for t in (*_SAME, *_OTHER))
        raise UnsupportedType(f"{dtype} has no counterpart in a program of Pando, which has {known}.")
    return found


def warn_of_widths(tensors):
    """Warns of each of the types float64 and bfloat16 that tensors have: the program computes with float32."""
    for dtype in dict.fromkeys(_WARNED.get(getattr(t, "dtype", None)) for t in tensors):
        if dtype is not None:
            warnings.warn(f"{str(dtype).removeprefix('torch.')} tensors are computed as float32.", stacklevel=3)


def check_dense(tensor):
    """Raises NotImplementedError for a sparse tensor."""
    if tensor.layout is not torch.strided:
        raise NotImplementedError(f"A tensor of the shape {tuple(tensor.shape)} has the layout {tensor.layout}; programs of Pando take dense tensors. Give its "
                                  "to_dense(), or its indices and values: y.index_add(0, rows, values[:, None] * x[columns]) is the product with a sparse matrix.")


def to_array(tensor):
    """The NumPy array of a tensor's contents, on the host, of float32 for bfloat16, which NumPy does not have; it shares memory where the layout allows.

    Raises:
        NotImplementedError: a sparse tensor.
    """
    check_dense(tensor)
    tensor = tensor.detach()
    if tensor.dtype is torch.bfloat16:
        tensor = tensor.float()
    if tensor.device.type != "cpu":
        tensor = tensor.cpu()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    return tensor.contiguous().numpy()


def to_tensor(array, dtype):
    """A torch tensor with the contents of an array, of the type `dtype`."""
    tensor = torch.from_numpy(array)
    if dtype.is_complex:
        tensor = torch.view_as_complex(tensor.contiguous()) if tensor.numel() else tensor.new_empty(tensor.shape[:-1], dtype=dtype)
    return tensor if tensor.dtype is dtype else tensor.to(dtype)

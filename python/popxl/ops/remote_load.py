"""From Streaming Memory."""
from typing import Optional, Union

from popxl import dtypes
from popxl._build import one, own_index
from popxl.ops.utils import integer
from popxl.remote_buffer import RemoteBuffer
from popxl.tensor import Tensor, constant


def offset_of(name, offset):
    """An offset as a tensor. Raises TypeError for what is not an integer, ValueError for a number below 0."""
    if isinstance(offset, Tensor):
        return offset
    offset = integer(offset, f"{name}: a row of a remote buffer")
    if not 0 <= offset < 2**32:
        raise ValueError(f"{name}: row {offset} of a remote buffer; rows are counted from 0, in 32 bits.")
    return constant(offset, dtypes.uint32, "offset")


def buffer_index(name, remote_buffer):
    """The number of a remote buffer. Raises TypeError for what is none, ValueError for one of another Ir."""
    if not isinstance(remote_buffer, RemoteBuffer):
        raise TypeError(f"{name}: {remote_buffer!r} of type {type(remote_buffer).__name__} is not a RemoteBuffer.")
    return own_index(name, remote_buffer, remote_buffer._current_ir)


def remote_load(remote_buffer: RemoteBuffer, offset: Union[int, Tensor], name: Optional[str] = None) -> Tensor:
    """A row of a remote buffer. Loads and stores of one buffer are ordered by `in_sequence` alone.

    Args:
        remote_buffer: the buffer.
        offset: which row, from 0: a number, or an integer scalar that is known when the program runs.
        name: of the tensor.

    Returns:
        a tensor of the buffer's shape and element type.

    Raises:
        TypeError: no remote buffer.
        ValueError: a buffer of another Ir, an offset below 0.
    """
    return one("remote_load", [offset_of("remote_load", offset)], {"buffer": buffer_index("remote_load", remote_buffer)}, output_name=name)


def remote_load_(remote_buffer: RemoteBuffer, offset: Union[int, Tensor], t: Tensor) -> Tensor:
    """Writes a row of a remote buffer into `t`.

    Args:
        remote_buffer, offset: see `remote_load`.
        t: a tensor of the buffer's shape and element type.

    Raises:
        ValueError: another shape or element type, a buffer of another Ir, an offset below 0.
    """
    if isinstance(t, Tensor) and isinstance(remote_buffer, RemoteBuffer):
        remote_buffer._validate(t.shape, t.dtype, t.id)
    index = buffer_index("remote_load_", remote_buffer)
    return one("remote_load_into", [t, offset_of("remote_load_", offset)], {"buffer": index}, output_name="remote_load_out", called="remote_load_")


def multiply_tuple(tup):
    """The product of a tuple's numbers."""
    product = 1
    for n in tup:
        product *= n
    return product


__all__ = ["remote_load", "remote_load_"]

"""To Streaming Memory."""
from typing import Union

from popxl._build import op
from popxl.ops.remote_load import buffer_index, offset_of
from popxl.remote_buffer import RemoteBuffer
from popxl.tensor import Tensor


def remote_store(remote_buffer: RemoteBuffer, offset: Union[int, Tensor], t: Tensor) -> None:
    """Writes a tensor into a row of a remote buffer. Loads and stores of one buffer are ordered by `in_sequence` alone.

    Args:
        remote_buffer, offset: see `remote_load`.
        t: a tensor of the buffer's shape and element type.

    Raises:
        ValueError: another shape or element type, a buffer of another Ir, an offset below 0.
    """
    if isinstance(t, Tensor) and isinstance(remote_buffer, RemoteBuffer):
        remote_buffer._validate(t.shape, t.dtype, t.id)
    index = buffer_index("remote_store", remote_buffer)
    op("remote_store", [offset_of("remote_store", offset), t], {"buffer": index})


__all__ = ["remote_store"]

"""Buffers in Streaming Memory."""
from typing import Tuple

from popxl._checks import integer, shape_of
from popxl.context import _context
from popxl.dtypes import dtype as _dtype


class RemoteBuffer:
    """Rows of one shape and element type in the memory beside the IPUs. Each replica has its own.

    Args:
        tensor_shape, tensor_dtype: of a row.
        entries: rows. Raises ValueError for less than one.
    """

    def __init__(self, tensor_shape: Tuple[int, ...], tensor_dtype: _dtype, entries: int) -> None:
        self._current_ir = _context.ir
        self._meta_shape = ()
        self._rows = {}  # the names of the variables in them
        self._shard_over = None  # into how many shards replica_sharded_buffer divides tensors
        self._index = None
        self._number = self._current_ir._next_buffer_number()
        self.set_remote_buffer_info(tensor_dtype, tensor_shape, entries)
        self._index = self._current_ir._program.add_buffer(self._number, self._dtype._index, self._shape, self._entries)
        self._current_ir._buffers[self._index] = self

    @staticmethod
    def _check_entries(entries):
        entries = integer(entries, "remote_buffer: the number of entries")
        if entries < 1:
            raise ValueError(f"Entries must be a non-zero, positive integer, not {entries}.")
        return entries

    def _tell(self):
        if self._index is not None:
            self._current_ir._program.set_buffer(self._index, self._dtype._index, self._shape, self._entries, self._meta_shape)

    def set_remote_buffer_info(self, tensor_dtype: _dtype, tensor_shape: Tuple[int, ...], entries: int) -> None:
        """Changes the element type, shape and number of rows. Raises ValueError for less than one row."""
        entries, dtype, shape = self._check_entries(entries), _dtype.as_dtype(tensor_dtype), shape_of(tensor_shape, "remote_buffer")
        self._dtype, self._shape, self._entries = dtype, shape, entries
        self._tell()

    def validate_tensor_matches_buffer(self, t, num_shards=1):
        """Raises ValueError unless a tensor, or one of its `num_shards` shards, fits a row.

        Args:
            t: the tensor.
            num_shards: into how many shards it is divided.
        """
        shape = t.shape
        if num_shards > 1:
            n = 1
            for d in shape:
                n *= d
            shape = (-(-n // num_shards),)
        if shape != self._shape or t.dtype is not self._dtype:
            raise ValueError(f"Tensor {t.id} does not match buffer. It has the shape {shape} and the element type {t.dtype}; rows of the remote "
                             f"buffer {self._number} have {self._shape} and {self._dtype}.")

    def _validate(self, shape, dtype, what):
        if tuple(shape) != self._shape or dtype is not self._dtype:
            raise ValueError(f"Tensor {what} does not match buffer. It has the shape {tuple(shape)} and the element type {dtype}; rows of the remote "
                             f"buffer {self._number} have {self._shape} and {self._dtype}.")

    @property
    def remote_buffer_id(self) -> int:
        """Its number in its Ir, from 1."""
        return self._number

    @property
    def tensor_shape(self) -> Tuple[int, ...]:
        return self._shape

    @tensor_shape.setter
    def tensor_shape(self, value):
        raise AttributeError("can't set attribute 'tensor_shape'")

    @property
    def tensor_dtype(self) -> _dtype:
        return self._dtype

    @tensor_dtype.setter
    def tensor_dtype(self, value):
        raise AttributeError("can't set attribute 'tensor_dtype'")

    @property
    def entries(self) -> int:
        return self._entries

    @entries.setter
    def entries(self, entries):
        self._entries = self._check_entries(entries)
        self._tell()

    @property
    def meta_shape(self) -> Tuple[int, ...]:
        """The shape of whole tensors, where rows are shards of them; otherwise ()."""
        return self._meta_shape

    @meta_shape.setter
    def meta_shape(self, shape):
        self._meta_shape = tuple(shape)
        self._tell()

    def __hash__(self):
        return hash((id(self._current_ir), self._number))

    def __eq__(self, other):
        return isinstance(other, RemoteBuffer) and self._current_ir is other._current_ir and self._number == other._number

    def __repr__(self):
        return f"RemoteBuffer[{self._number} {self._dtype} {self._shape} x {self._entries}]"


def remote_buffer(tensor_shape: Tuple[int, ...], tensor_dtype: _dtype, entries: int = 1) -> RemoteBuffer:
    """`RemoteBuffer(tensor_shape, tensor_dtype, entries)` of the current Ir."""
    return RemoteBuffer(tensor_shape, tensor_dtype, entries)

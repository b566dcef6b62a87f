"""Streams between host and device."""
from typing import Iterable, Optional, Tuple

from popxl._checks import name_of, shape_of
from popxl.context import _context
from popxl.dtypes import dtype as _dtype
from popxl.tensor import TensorSpec


class Stream:
    """A way for slices of one shape and element type; made by `h2d_stream` and `d2h_stream`. A program has one object for each of its streams."""

    def __init__(self):
        raise NotImplementedError(f"{type(self).__name__} has no constructor: popxl.h2d_stream and popxl.d2h_stream make streams.")

    @classmethod
    def _make(cls, shape, dtype, name):
        self = object.__new__(cls)
        self._ir = _context.ir
        what = "h2d_stream" if cls is HostToDeviceStream else "d2h_stream"
        self._dtype = _dtype.as_dtype(dtype)
        self._shape = shape_of(shape, what)
        name = name_of(name, what) or what
        self._index, self._name = self._ir._program.add_stream(name, cls is HostToDeviceStream, self._dtype._index, self._shape)
        self._ir._streams[self._index] = self
        return self

    @classmethod
    def _of(cls, ir, index, name, dtype, shape):
        """A stream that the program has already."""
        self = object.__new__(cls)
        self._ir, self._index, self._name, self._dtype, self._shape = ir, index, name, dtype, tuple(shape)
        ir._streams[index] = self
        return self

    @property
    def dtype(self) -> _dtype:
        return self._dtype

    @property
    def shape(self) -> Tuple[int, ...]:
        """The shape of one slice: what a load or store of one replica moves."""
        return self._shape

    @property
    def spec(self) -> TensorSpec:
        return TensorSpec(self._shape, self._dtype)

    @property
    def tensor_id(self) -> str:
        """The name of the stream among the tensors of the main graph."""
        return self._name

    def __str__(self):
        return f"{type(self).__name__} {self._name}"

    def __repr__(self):
        return f"{type(self).__name__}[{self._name} {self._dtype} {self._shape}]"


class HostToDeviceStream(Stream):
    """What `ops.host_load` reads."""


class DeviceToHostStream(Stream):
    """What `ops.host_store` writes."""


def h2d_stream(shape: Iterable[int], dtype: _dtype, name: Optional[str] = None) -> HostToDeviceStream:
    """A stream to the device.

    Args:
        shape, dtype: of one slice.
        name: of the stream; numbered if it is taken.

    Raises:
        TypeError: a shape that is not a list of integers, a name that is not a text.
        ValueError: a dimension below 0.
    """
    return HostToDeviceStream._make(shape, dtype, name)


def d2h_stream(shape: Iterable[int], dtype: _dtype, name: Optional[str] = None) -> DeviceToHostStream:
    """A stream to the host. Arguments are those of `h2d_stream`."""
    return DeviceToHostStream._make(shape, dtype, name)

"""From the host."""
from typing import Optional

from popxl._build import one, own_index
from popxl.streams import HostToDeviceStream
from popxl.tensor import Tensor


def host_load(h2d_stream: HostToDeviceStream, name: Optional[str] = None) -> Tensor:
    """The next slice of a stream.

    Each run begins with the first slice; loads of one stream are ordered by `in_sequence` alone.

    Args:
        h2d_stream: the stream.
        name: of the tensor.

    Returns:
        a tensor of the stream's shape and element type.

    Raises:
        TypeError: no stream to the device.
        ValueError: a stream of another Ir.
    """
    if not isinstance(h2d_stream, HostToDeviceStream):
        raise TypeError(f"host_load takes a HostToDeviceStream, not {h2d_stream!r} of type {type(h2d_stream).__name__}.")
    return one("host_load", [], {"stream": own_index("host_load", h2d_stream, h2d_stream._ir)}, output_name=name or f"{h2d_stream._name}_load")


__all__ = ["host_load"]

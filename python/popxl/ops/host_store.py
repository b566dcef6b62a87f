"""To the host."""
from popxl._build import op, own_index
from popxl.streams import DeviceToHostStream
from popxl.tensor import Tensor


def host_store(d2h_stream: DeviceToHostStream, t: Tensor) -> None:
    """Writes the next slice of a stream.

    Args:
        d2h_stream: the stream.
        t: a tensor of its shape and element type.

    Raises:
        TypeError: no stream to the host.
        ValueError: another shape or element type; a stream of another Ir.
    """
    if not isinstance(d2h_stream, DeviceToHostStream):
        raise TypeError(f"host_store takes a DeviceToHostStream, not {d2h_stream!r} of type {type(d2h_stream).__name__}.")
    if isinstance(t, Tensor) and (t.dtype is not d2h_stream.dtype or t.shape != d2h_stream.shape):
        raise ValueError(f"host_store: {t!r} does not fit {d2h_stream!r}: the shape and the element type must be the same.")
    op("host_store", [t], {"stream": own_index("host_store", d2h_stream, d2h_stream._ir)})


__all__ = ["host_store"]

"""Between tiles that compute and tiles that exchange with the host."""
from popxl._build import describe, one
from popxl.tensor import Tensor


def io_tile_copy(t: Tensor) -> Tensor:
    """A copy on the other tiles: on IO tiles of what lies on compute tiles, on compute tiles of what lies on IO tiles."""
    if not isinstance(t, Tensor):
        raise TypeError(f"io_tile_copy: {describe(t)} is not a tensor.")
    return one("io_tile_copy", [t], {"tile_set": "compute" if t._place()[1] == "io" else "io"})


__all__ = ["io_tile_copy"]

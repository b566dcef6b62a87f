"""Between IPUs."""
from typing import Optional

from popxl._build import one
from popxl.errors import UndefinedValue
from popxl.tensor import Tensor


def ipu_copy(t: Tensor, destination: int, source: Optional[int] = None) -> Tensor:
    """A copy of a tensor on another IPU.

    Args:
        t: the tensor.
        destination: the number of the virtual IPU that gets it.
        source: that of the one on which it lies; None: what is known of the tensor.

    Raises:
        ValueError: nothing is known.
    """
    if source is None and isinstance(t, Tensor):
        try:
            source = t.ipu
        except UndefinedValue as error:
            raise ValueError(f"Could not infer the ipu on which {t!r} lies. Please specify `source`.") from error
    return one("ipu_copy", [t], {"destination": destination, "source": source})


__all__ = ["ipu_copy"]

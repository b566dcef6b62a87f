"""Neither infinite nor NaN."""
from popxl._build import one
from popxl.tensor import Tensor


def isfinite(t: Tensor) -> Tensor:
    """bool: whether each element is neither infinite nor NaN."""
    no_nan, no_inf = (one("logical_not", [one(name, [t], {}, called="isfinite")], {}) for name in ("isnan", "isinf"))
    return one("logical_and", [no_nan, no_inf], {})


__all__ = ["isfinite"]

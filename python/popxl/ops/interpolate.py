"""Other sizes."""
from typing import Literal, Optional, Tuple

from popxl._build import one
from popxl.tensor import Tensor

InterpolateType = Literal["nearest", "linear", "cubic"]
InterpolateNearestType = Literal["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
InterpolateCoordinateTransformationType = Literal["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"]
_CHOICES = {
    "mode": ("nearest", "linear", "cubic"),
    "nearest_mode": ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
    "coordinate_transformation_mode": ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"),
}


def interpolate(t: Tensor, scale_factor: Optional[Tuple[float]] = (1.0, 1.0, 1.0, 1.0), mode: Optional[InterpolateType] = "nearest",
                nearest_mode: Optional[InterpolateNearestType] = "round_prefer_floor",
                coordinate_transformation_mode: Optional[InterpolateCoordinateTransformationType] = "half_pixel") -> Tensor:
    """A tensor in another size: floor(dimension * scale) along each axis.

    Args:
        t: the tensor.
        scale_factor: one for each axis.
        mode: "nearest", "linear" or "cubic".
        nearest_mode: how positions are rounded: "round_prefer_floor", "round_prefer_ceil", "floor" or "ceil".
        coordinate_transformation_mode: which position of t one of the result corresponds to, as ONNX's Resize has it.

    Raises:
        ValueError: another mode.
    """
    given = {"mode": mode, "nearest_mode": nearest_mode, "coordinate_transformation_mode": coordinate_transformation_mode}
    for name, value in given.items():
        if value not in _CHOICES[name]:
            raise ValueError(f"interpolate: {name} is one of {', '.join(_CHOICES[name])}, not {value!r}.")
    return one("interpolate", [t], {"scale_factor": [float(s) for s in scale_factor], **given})


__all__ = ["interpolate"]

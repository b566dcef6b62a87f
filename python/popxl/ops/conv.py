"""Convolutions."""
from typing import List, Literal, Optional, Tuple

from popxl._build import describe, one
from popxl.ops.cast import _check_scale
from popxl.ops.utils import ints
from popxl.tensor import Tensor

PadType = Literal["not_set", "same_upper", "same_lower", "valid"]
_PADS = ("not_set", "same_upper", "same_lower", "valid")


def check_pad(pad_type, what):
    if pad_type not in _PADS:
        raise ValueError(f"{what}: the padding is one of {', '.join(_PADS)}, not {pad_type!r}.")


def multi_conv_options(sess_opts, attr_param, available_memory_proportions, partials_types, enable_conv_dithering):
    """The options of a convolution as a dict; `sess_opts` and `attr_param` are not used."""
    return {"available_memory_proportions": None if available_memory_proportions is None else [float(p) for p in available_memory_proportions],
            "partials_types": None if partials_types is None else [str(p) for p in partials_types], "enable_conv_dithering": ints(enable_conv_dithering)}


def _attributes(t, weight, stride, padding, dilation, groups, pad_type, options, what):
    for x in (t, weight):
        if not isinstance(x, Tensor):
            raise TypeError(f"{what}: {describe(x)} is not a tensor.")
    check_pad(pad_type, what)
    n = t.rank - 2
    # The defaults are those of two spatial dimensions.
    stride, padding, dilation = (ints(x, f"{what}: {name}") for x, name in ((stride, "stride"), (padding, "padding"), (dilation, "dilation")))
    stride, dilation = (tuple(x) if tuple(x) != (1, 1) else (1,) * n for x in (stride, dilation))
    padding = tuple(padding) if tuple(padding) != (0, 0, 0, 0) else (0,) * (2 * n)
    return {"stride": ints(stride), "padding": ints(padding), "dilation": ints(dilation), "groups": groups, "pad_type": pad_type,
            **{name: value for name, value in options.items() if value is not None}}


def _outputs(t, output_padding, output_shape):
    """Padding and shape of what a transposed convolution makes, of the dimensions of space. Batch and channels may stand before them."""
    shape = list(output_shape or ())
    return {"output_padding": ints(output_padding) if any(output_padding or ()) else None,
            "output_shape": ints(shape[2:] if len(shape) == t.rank else shape) or None}


def _check_float8(t, weight, log2_scale, what):
    for x in (t, weight):
        if isinstance(x, Tensor) and not x.dtype.name.startswith("float8"):
            raise TypeError(f"{what} takes float8 tensors, {x.name} is {x.dtype}.")
    _check_scale(log2_scale, what)


def conv(t: Tensor, weight: Tensor, stride: Optional[Tuple[int]] = (1, 1), padding: Optional[Tuple[int]] = (0, 0, 0, 0),
         dilation: Optional[Tuple[int]] = (1, 1), groups: Optional[int] = 1, pad_type: Optional[PadType] = "not_set",
         available_memory_proportions: Optional[List[float]] = None, partials_types: Optional[List[str]] = None,
         enable_conv_dithering: Optional[List[int]] = None) -> Tensor:
    """A convolution over one to three dimensions.

    Args:
        t: (batch, channels, *space).
        weight: (output channels, channels / groups, *kernel).
        stride, dilation: one for each dimension of space.
        padding: zeros before each dimension, then zeros after each; for `pad_type` "not_set".
        groups: channels are divided into as many, each with its own part of the weight.
        pad_type: "same_upper" and "same_lower" pad so that ceil(size / stride) remains, "valid" not at all.
        available_memory_proportions, partials_types, enable_conv_dithering: options of the convolution; one each.

    Raises:
        ValueError: another pad_type.
    """
    options = multi_conv_options(None, None, available_memory_proportions, partials_types, enable_conv_dithering)
    return one("conv", [t, weight], _attributes(t, weight, stride, padding, dilation, groups, pad_type, options, "conv"))


def conv_pow2scaled(t: Tensor, weight: Tensor, log2_scale: Tensor, stride: Optional[Tuple[int]] = (1, 1), padding: Optional[Tuple[int]] = (0, 0, 0, 0),
                    dilation: Optional[Tuple[int]] = (1, 1), groups: Optional[int] = 1, pad_type: Optional[PadType] = "not_set",
                    available_memory_proportions: Optional[List[float]] = None, enable_conv_dithering: Optional[List[int]] = None) -> Tensor:
    """A convolution of float8 tensors times 2**log2_scale, as float16. Arguments as in `conv`; `log2_scale` is an int32 scalar.

    Raises:
        TypeError: other element types.
        ValueError: another pad_type, or log2_scale is not a scalar.
    """
    _check_float8(t, weight, log2_scale, "conv_pow2scaled")
    options = multi_conv_options(None, None, available_memory_proportions, None, enable_conv_dithering)
    return one("conv_pow2scaled", [t, weight, log2_scale], _attributes(t, weight, stride, padding, dilation, groups, pad_type, options, "conv_pow2scaled"))


def conv_transpose(t: Tensor, weight: Tensor, stride: Optional[Tuple[int]] = (1, 1), padding: Optional[Tuple[int]] = (0, 0, 0, 0),
                   dilation: Optional[Tuple[int]] = (1, 1), groups: Optional[int] = 1, pad_type: Optional[PadType] = "not_set",
                   output_padding: Optional[Tuple[int]] = (), output_shape: Optional[Tuple[int]] = (),
                   available_memory_proportions: Optional[List[float]] = None, partials_types: Optional[List[str]] = None,
                   enable_conv_dithering: Optional[List[int]] = None) -> Tensor:
    """The transpose of a convolution: what `conv`'s gradient does to its result.

    Args:
        t: (batch, channels, *space).
        weight: (channels, output channels / groups, *kernel).
        output_padding: elements that are added after each dimension of the result.
        output_shape: dimensions of the result, all or those of space; the padding follows from it.
        The others: see `conv`.

    Raises:
        ValueError: another pad_type.
    """
    options = multi_conv_options(None, None, available_memory_proportions, partials_types, enable_conv_dithering)
    attributes = _attributes(t, weight, stride, padding, dilation, groups, pad_type, options, "conv_transpose")
    return one("conv_transpose", [t, weight], {**attributes, **_outputs(t, output_padding, output_shape)})


def conv_transpose_pow2scaled(t: Tensor, weight: Tensor, log2_scale: Tensor, stride: Optional[Tuple[int]] = (1, 1),
                              padding: Optional[Tuple[int]] = (0, 0, 0, 0), dilation: Optional[Tuple[int]] = (1, 1), groups: Optional[int] = 1,
                              pad_type: Optional[PadType] = "not_set", output_padding: Optional[Tuple[int]] = (),
                              output_shape: Optional[Tuple[int]] = (), available_memory_proportions: Optional[List[float]] = None,
                              enable_conv_dithering: Optional[List[int]] = None) -> Tensor:
    """`conv_transpose` of float8 tensors times 2**log2_scale, as float16. Errors as in `conv_pow2scaled`."""
    _check_float8(t, weight, log2_scale, "conv_transpose_pow2scaled")
    options = multi_conv_options(None, None, available_memory_proportions, None, enable_conv_dithering)
    attributes = _attributes(t, weight, stride, padding, dilation, groups, pad_type, options, "conv_transpose_pow2scaled")
    return one("conv_transpose_pow2scaled", [t, weight, log2_scale],
               {**attributes, **_outputs(t, output_padding, output_shape)})


__all__ = ["conv", "conv_pow2scaled", "conv_transpose", "conv_transpose_pow2scaled"]

"""Resizing and padding with the tensor's own elements: along each dimension a matrix, whose transpose is the gradient.

PyTorch itself gives the matrices: what it makes of the columns of the identity.
"""
import functools

import torch

from pando.torch import adapter
from pando.torch.rules.pool import along
from pando.torch.table import rule

aten = torch.ops.aten


@functools.lru_cache(256)
def _resized(mode, size, out, align_corners, scale):
    """(out, size): a dimension in another size. `scale` is PyTorch's scale factor of the dimension, or None."""
    corners = None if mode.startswith("nearest") else align_corners
    with adapter.real_tensors():
        if mode == "bicubic":
            # Only images have it: the other dimension stays what it is.
            columns = torch.eye(size)[None, None]
            kwargs = dict(scale_factor=(scale, 1.0), recompute_scale_factor=False) if scale else dict(size=(out, size))
            return torch.nn.functional.interpolate(columns, mode=mode, align_corners=corners, **kwargs)[0, 0].numpy()
        kwargs = dict(scale_factor=scale, recompute_scale_factor=False) if scale else dict(size=out)
        return torch.nn.functional.interpolate(torch.eye(size)[None], mode=mode, align_corners=corners, **kwargs)[0].T.numpy()


def _matrices(mode, sizes, outs, align_corners, scales):
    return [None if s == o and not scale else _resized(mode, s, o, align_corners, scale) for s, o, scale in zip(sizes, outs, scales)]


def _apply(g, x, matrices, transposed=False):
    first = len(x.shape) - len(matrices)
    for i, matrix in enumerate(matrices):
        if matrix is not None:
            x = along(g, x, first + i, matrix.T if transposed else matrix)
    return x


def _arguments(n, rest, has_corners):
    """(align_corners, [scale of each dimension])"""
    rest = list(rest)
    corners = bool(rest.pop(0)) if has_corners else False
    return corners, [*rest, *[None] * n][:n]


def _upsample(mode, n, forward, backward):
    has_corners = not mode.startswith("nearest")

    @rule(forward)
    def convert(g, x, output_size, *rest, **scales):
        corners, given = _arguments(n, [*rest, *scales.values()], has_corners)
        return _apply(g, x, _matrices(mode, x.shape[2:], g.shape[2:], corners, given))

    @rule(backward)
    def gradient(g, dy, output_size, input_size, *rest, **scales):
        corners, given = _arguments(n, [*rest, *scales.values()], has_corners)
        return _apply(g, dy, _matrices(mode, input_size[2:], dy.shape[2:], corners, given), True)


for _mode, _name, _n in [("nearest", "nearest1d", 1), ("nearest", "nearest2d", 2), ("nearest", "nearest3d", 3), ("nearest-exact", "_nearest_exact1d", 1),
                         ("nearest-exact", "_nearest_exact2d", 2), ("nearest-exact", "_nearest_exact3d", 3), ("linear", "linear1d", 1),
                         ("linear", "bilinear2d", 2), ("linear", "trilinear3d", 3), ("bicubic", "bicubic2d", 2)]:
    _full = ("_upsample" + _name) if _name.startswith("_") else ("upsample_" + _name)
    _upsample(_mode, _n, getattr(aten, _full).default, getattr(aten, _full + "_backward").default)


@functools.lru_cache(256)
def _padded(mode, size, before, behind):
    """(before + size + behind, size): a dimension continued on both sides."""
    with adapter.real_tensors():
        return torch.nn.functional.pad(torch.eye(size)[None], (before, behind), mode=mode)[0].T.numpy()


def _pad_matrices(mode, sizes, pad):
    # Pairs from the last dimension on.
    pairs = [(pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)][::-1]
    return [None if pair == (0, 0) else _padded(mode, size, *pair) for size, pair in zip(sizes, pairs)]


def _pad(mode, n, forward, backward):
    @rule(forward)
    def convert(g, x, padding):
        return _apply(g, x, _pad_matrices(mode, x.shape[-n:], padding))

    @rule(backward)
    def gradient(g, dy, x, padding):
        return _apply(g, dy, _pad_matrices(mode, x.shape[-n:], padding), True)


for _mode, _name in [("replicate", "replication_pad"), ("reflect", "reflection_pad")]:
    for _n in (1, 2, 3):
        _pad(_mode, _n, getattr(aten, f"{_name}{_n}d").default, getattr(aten, f"{_name}{_n}d_backward").default)

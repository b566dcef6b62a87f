"""What reads or writes by places: windows, masks, diagonals, strides."""
import functools
import math

import torch

aten = torch.ops.aten


def _masked_scatter_backward(gradient, mask, sizes):
    # What the n-th True took came from the n-th element.
    count = 1
    for size in sizes:
        count *= size
    flat = mask.expand(gradient.shape).reshape(-1)
    place = (flat.to(torch.int64).cumsum(0) - 1).clamp(min=0, max=count - 1)
    taken = torch.where(flat, gradient.reshape(-1), torch.zeros_like(gradient.reshape(-1)))
    return torch.zeros(count, dtype=gradient.dtype).index_add(0, place, taken).reshape(sizes)


def _unfold_backward(gradient, sizes, dim, size, step):
    if not sizes:
        return gradient.sum()
    axis = dim % len(sizes)
    windows = gradient.movedim(-1, axis + 1).flatten(axis, axis + 1)
    places = (torch.arange(gradient.shape[axis]).unsqueeze(1) * step + torch.arange(size)).reshape(-1)
    return torch.zeros(sizes, dtype=gradient.dtype).index_add(axis, places, windows)


def _windows(length, count):
    """Where each of `count` windows that cover a length lies: (count, size); a shorter one repeats its last element."""
    size = max(-(-(i + 1) * length // count) - i * length // count for i in range(count))
    i = torch.arange(count)
    starts = torch.div(i * length, count, rounding_mode="floor")
    ends = torch.div((i + 1) * length + (count - 1), count, rounding_mode="floor")
    return torch.minimum(starts.unsqueeze(1) + torch.arange(size), (ends - 1).unsqueeze(1))


def _adaptive_max_pool(x, output_size):
    n = len(output_size)
    lead, space = list(x.shape[:-n]), list(x.shape[-n:])
    places, flat = torch.zeros([], dtype=torch.int64), x.reshape([*lead, -1])
    for length, count in zip(space, output_size):
        window = _windows(length, count)
        # (..., outputs so far, elements of a window so far) to one dimension more of each.
        places = places.unsqueeze(-1).unsqueeze(-1) * length + window if places.dim() else window
    # Dimensions: output, element, output, element ...
    order = [*range(0, 2 * n, 2), *range(1, 2 * n, 2)]
    places = places.permute(order).reshape([*output_size, -1])
    values = flat.index_select(-1, places.reshape(-1)).reshape([*lead, *places.shape])
    best, which = values.max(-1)
    return best, places.expand([*lead, *places.shape]).gather(-1, which.unsqueeze(-1)).squeeze(-1)


def _scattered_back(gradient, x, places, n):
    lead = list(x.shape[:-n])
    zeros = torch.zeros([*lead, math.prod(x.shape[-n:])], dtype=gradient.dtype)
    return zeros.scatter_add(-1, places.reshape([*lead, -1]), gradient.reshape([*lead, -1])).reshape(x.shape)


def _diagonal_scatter(x, source, offset=0, dim1=0, dim2=1):
    moved = x.movedim((dim1, dim2), (0, 1))
    along = torch.arange(source.shape[-1])
    moved = aten.index_put.default(moved, [along + max(-offset, 0), along + max(offset, 0)], source.movedim(-1, 0))
    return moved.movedim((0, 1), (dim1, dim2))


def _as_strided_scatter(x, source, size, stride, storage_offset=None):
    # Of a contiguous tensor: its elements in row-major order.
    places = torch.full([], storage_offset or 0, dtype=torch.int64)
    for count, step in zip(size, stride):
        places = places.unsqueeze(-1) + torch.arange(count) * step
    return aten.index_put.default(x.reshape(-1), [places.reshape(-1)], source.reshape(-1)).reshape(x.shape)


def _nonzero_static(x, *, size, fill_value=-1):
    """The places of the first `size` elements that are not 0, of all dimensions, and fill_value where there are fewer."""
    count = x.numel()
    rest, coordinates = torch.where(x.reshape(-1) != 0, torch.arange(count), count).sort().values[:size], []
    rest = torch.cat([rest, torch.full([max(size - count, 0)], count)])
    missing = rest == count
    for length in reversed(x.shape):
        coordinates.insert(0, torch.where(missing, fill_value, rest % length))
        rest = rest // length
    return torch.stack(coordinates, 1) if coordinates else rest.new_empty([size, 0])


def _nanmedian_dim(x, dim, keepdim=False):
    # NaN counts as more than all: the median of the others is the middle of the first ones.
    if not x.dim():
        return x.clone(), torch.zeros([], dtype=torch.int64)
    values, places = torch.where(x.isnan(), float("inf"), x).sort(dim)
    count = (~x.isnan()).to(torch.int64).sum(dim, keepdim=True)
    middle = ((count - 1) // 2).clamp(min=0)
    found = torch.where(count == 0, float("nan"), values.gather(dim, middle)), places.gather(dim, middle)
    return tuple(t if keepdim else t.squeeze(dim) for t in found)


def _nanmedian(x):
    return _nanmedian_dim(x.reshape(-1), 0)[0]


def _narrow_copy(x, dim, start, length):
    return x.narrow(dim, start, length).clone()


def _zeros(size, dtype=None, layout=None, device=None, pin_memory=None):
    return torch.zeros(size, dtype=dtype)


def _put(x, index, source, accumulate=False):
    return aten.index_put.default(x.reshape(-1), [index.reshape(-1)], source.reshape(-1), accumulate).reshape(x.shape)


def _mode(x, dim=-1, keepdim=False):
    """The most frequent number along a dimension, the smallest of several; its last place."""
    if not x.dim():
        return x.clone(), torch.zeros([], dtype=torch.int64)
    moved = x.movedim(dim, -1)
    counts = (moved.unsqueeze(-1) == moved.unsqueeze(-2)).to(torch.int64).sum(-1)
    often = counts == counts.amax(-1, keepdim=True)
    value = moved.sort(-1).values[..., -1:].expand(moved.shape)
    value = torch.where(often, moved, value).amin(-1, keepdim=True)
    place = torch.where(moved == value, torch.arange(moved.shape[-1]), -1).amax(-1, keepdim=True)
    return tuple(t.movedim(-1, dim) if keepdim else t.squeeze(-1) for t in (value, place))


COMPOSED = {
    aten._efficientzerotensor.default: _zeros, aten.put.default: _put, aten.mode.default: _mode,
    aten.adaptive_max_pool2d.default: _adaptive_max_pool, aten.adaptive_max_pool3d.default: _adaptive_max_pool,
    aten.adaptive_max_pool2d_backward.default: functools.partial(_scattered_back, n=2),
    aten.adaptive_max_pool3d_backward.default: functools.partial(_scattered_back, n=3),
    aten.diagonal_scatter.default: _diagonal_scatter, aten.as_strided_scatter.default: _as_strided_scatter, aten.nonzero_static.default: _nonzero_static,
    aten.narrow_copy.default: _narrow_copy, aten.nanmedian.default: _nanmedian, aten.nanmedian.dim: _nanmedian_dim,
    aten.unfold_backward.default: _unfold_backward, aten.masked_scatter_backward.default: _masked_scatter_backward}

"""Images and volumes at places of a grid, forward and backward: sums over the neighbours of each place."""
import itertools

import torch

aten = torch.ops.aten

_BILINEAR, _NEAREST, _BICUBIC = range(3)
_ZEROS, _BORDER, _REFLECTION = range(3)
# Of cubic interpolation.
_SLOPE = -0.75


def _reflected(x, twice_low, twice_high):
    """(x, reflected at two borders as often as it takes; its derivative)"""
    if twice_low == twice_high:
        return torch.zeros_like(x), torch.zeros_like(x)
    low, span = twice_low / 2, (twice_high - twice_low) / 2
    from_low = x - low
    size, sign = from_low.abs(), torch.where(from_low < 0, -1.0, 1.0)
    rest, flips = torch.fmod(size, span), (size / span).floor()
    even = torch.fmod(flips, 2) == 0
    return torch.where(even, rest, span - rest) + low, torch.where(even, sign, -sign)


def _padded(x, size, padding, align_corners):
    """(coordinates as the padding moves them into an image, their derivative by x)"""
    one = torch.ones_like(x)
    if padding == _ZEROS:
        return x, one
    moved, slope = (x, one) if padding == _BORDER else _reflected(x, *((0, 2 * (size - 1)) if align_corners else (-1, 2 * size - 1)))
    inside = (moved > 0) & (moved < size - 1)
    return moved.clamp(0, size - 1), torch.where(inside, slope, 0)


def _cubic(t):
    """[(weight, its derivative by t)] of the neighbours -1, 0, 1, 2 of a place t behind neighbour 0."""

    def far(u):
        return ((_SLOPE * u - 5 * _SLOPE) * u + 8 * _SLOPE) * u - 4 * _SLOPE, (3 * _SLOPE * u - 10 * _SLOPE) * u + 8 * _SLOPE

    def near(u):
        return ((_SLOPE + 2) * u - (_SLOPE + 3)) * u * u + 1, (3 * (_SLOPE + 2) * u - 2 * (_SLOPE + 3)) * u

    def mirrored(pair):
        return pair[0], -pair[1]

    return [far(t + 1), near(t), mirrored(near(1 - t)), mirrored(far(2 - t))]


def _neighbours(grid, size, mode, padding, align_corners):
    """[(place along a dimension, weight, its derivative by the grid)] for the coordinates of one dimension, -1 to 1."""
    scale = (size - 1) / 2 if align_corners else size / 2
    x = (grid + 1) * scale - (0 if align_corners else 0.5)
    if mode == _BICUBIC:
        first = x.floor()
        places = [_padded(first + k, size, padding, align_corners)[0] for k in (-1, 0, 1, 2)]
        return [(place, weight, slope * scale) for place, (weight, slope) in zip(places, _cubic(x - first))]
    x, slope = _padded(x, size, padding, align_corners)
    if mode == _NEAREST:
        return [(x.round(), torch.ones_like(x), torch.zeros_like(x))]
    first = x.floor()
    return [(first, first + 1 - x, -slope * scale), (first + 1, x - first, slope * scale)]


def _taps(x, grid, mode, padding, align_corners):
    """For each neighbour of a place: (place in the flat image (N, P), whether it lies in it, [(weight, derivative) for each dimension])."""
    space = x.shape[2:]
    n = len(space)
    # The last coordinate of a grid is that of the first dimension.
    flat = grid.reshape(grid.shape[0], -1, n)
    along = [_neighbours(flat[..., n - 1 - i], space[i], mode, padding, align_corners) for i in range(n)]
    for chosen in itertools.product(*along):
        inside, place = None, None
        for (at, _, _), size in zip(chosen, space):
            here = (at >= 0) & (at < size)
            inside = here if inside is None else inside & here
            at = at.clamp(0, size - 1).to(torch.int64)
            place = at if place is None else place * size + at
        yield place, inside, [(weight, slope) for _, weight, slope in chosen]


def _product(factors):
    total = factors[0]
    for factor in factors[1:]:
        total = total * factor
    return total


def _sampled(x, grid, mode, padding, align_corners):
    rows, total = x.reshape(*x.shape[:2], -1), None
    for place, inside, factors in _taps(x, grid, mode, padding, align_corners):
        weight = torch.where(inside, _product([w for w, _ in factors]), 0)
        found = rows.gather(2, place.unsqueeze(1).expand(-1, x.shape[1], -1)) * weight.unsqueeze(1)
        total = found if total is None else total + found
    return total.reshape(*x.shape[:2], *grid.shape[1:-1])


def _backward(gradient, x, grid, mode, padding, align_corners, output_mask):
    rows, n = x.reshape(*x.shape[:2], -1), len(x.shape) - 2
    gradient = gradient.reshape(*x.shape[:2], -1)
    of_rows, of_grid = torch.zeros_like(rows), [torch.zeros_like(grid.reshape(grid.shape[0], -1, n)[..., 0])] * n
    for place, inside, factors in _taps(x, grid, mode, padding, align_corners):
        wide = place.unsqueeze(1).expand(-1, x.shape[1], -1)
        if output_mask[0]:
            of_rows = of_rows.scatter_add(2, wide, gradient * torch.where(inside, _product([w for w, _ in factors]), 0).unsqueeze(1))
        if output_mask[1] and mode != _NEAREST:
            share = torch.where(inside, (rows.gather(2, wide) * gradient).sum(1), 0)
            slopes = [_product([factor[i == j] for j, factor in enumerate(factors)]) for i in range(n)]
            of_grid = [g + share * slope for g, slope in zip(of_grid, slopes)]
    return of_rows.reshape(x.shape), torch.stack(of_grid[::-1], -1).reshape(grid.shape)


IN_FLOAT32 = True
COMPOSED = {aten.grid_sampler_3d.default: _sampled, aten.grid_sampler_2d_backward.default: _backward, aten.grid_sampler_3d_backward.default: _backward}

"""How many numbers lie in each of some intervals."""
import torch

aten = torch.ops.aten


def _limits(x, apart):
    """The smallest and the largest number as tensors; equal ones are moved by a number each."""
    low, high = x.amin(), x.amax()
    return torch.where(low == high, low - apart, low), torch.where(low == high, high + apart, high)


def _counted(x, place, inside, bins, weight=None):
    """The sum of weights, or the count, of each interval. place: in which a number lies; inside: whether in one."""
    share = torch.ones_like(x) if weight is None else weight.to(x.dtype)
    place = torch.where(inside, place, 0).to(torch.int64).clamp(0, bins - 1)
    return torch.zeros([bins], dtype=x.dtype).index_add(0, place.reshape([-1]), torch.where(inside, share, 0).reshape([-1]))


def _histc(x, bins=100, min=0, max=0):
    low, high = _limits(x, 1) if min == max else (min, max)
    place = ((x - low) * bins / (high - low)).floor()
    return _counted(x, place, (x >= low) & (x <= high), bins)


def _between(x, edges, weight, density):
    """The histogram of intervals that begin and end at edges, in order."""
    bins = edges.shape[0] - 1
    inside = (x >= edges[0]) & (x <= edges[-1])
    counts = _counted(x, torch.searchsorted(edges, x, right=True) - 1, inside, bins, weight)
    return counts / counts.sum() / (edges[1:] - edges[:-1]) if density else counts


def _histogram(x, bins=100, *, range=None, weight=None, density=False):
    low, high = range or _limits(x, 0.5)
    if range and low == high:
        low, high = low - 0.5, high + 0.5
    steps = torch.arange(bins + 1).to(x.dtype)
    step = (high - low) / bins
    # From both ends, as torch.linspace.
    edges = torch.where(steps < (bins + 1) // 2, low + steps * step, high - (bins - steps) * step)
    return _between(x, edges, weight, density), edges


def _histogram_of_edges(x, bins, *, weight=None, density=False):
    return _between(x, bins, weight, density), bins.clone()


def _bincount(x, weights=None, minlength=0):
    if minlength <= 0:
        raise NotImplementedError("aten.bincount.default has a shape that depends on data: give it a minlength, which is the number of places in a program.")
    share = torch.ones_like(x, dtype=torch.int64) if weights is None else weights.to(torch.float32 if weights.dtype is torch.float32 else torch.float64)
    return torch.zeros([minlength], dtype=share.dtype).index_add(0, x, share)


COMPOSED = {aten.bincount.default: _bincount, aten.histc.default: _histc, aten.histogram.bin_ct: _histogram, aten.histogram.bins_tensor: _histogram_of_edges}

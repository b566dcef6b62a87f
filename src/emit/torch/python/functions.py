"""What the model's ops mean where torch has no call of its own for it. A program has those that it uses."""

import math

import torch
import torch.nn.functional as F


# --- numbers

def float_to_integer(x, dtype):
    """Truncated; NaN is 0, what lies outside the type's range its least or largest value."""
    if dtype == torch.bool:
        return x != 0
    least, most = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    whole = torch.nan_to_num(x.to(torch.float64), nan=0.0, posinf=math.inf, neginf=-math.inf).trunc()
    inside = whole.clamp(-2.0**63, 2.0**63 - 1024).to(torch.int64).clamp(max(least, -2**63), min(most, 2**63 - 1))
    inside = torch.where(whole >= 2.0**63, min(most, 2**63 - 1), inside)
    return inside.to(dtype)


def integer_division(a, b):
    """Rounded towards zero; 0 where b is 0."""
    return torch.where(b == 0, 0, torch.div(a, torch.where(b == 0, 1, b), rounding_mode="trunc")).to(a.dtype)


def integer_remainder(a, b):
    """With the sign of a, as in C; 0 where b is 0."""
    return torch.where(b == 0, 0, torch.fmod(a, torch.where(b == 0, 1, b))).to(a.dtype)


def integer_power(t, e, dtype):
    """Computed as float32."""
    return float_to_integer(torch.pow(t.to(torch.float64), e.to(torch.float64)).to(torch.float32), dtype)


def integer_matmul(a, b, dtype):
    return torch.matmul(a.to(torch.float64), b.to(torch.float64)).to(dtype)


def increment_mod(t, increment, modulus, dtype):
    if t.dtype.is_floating_point:
        return torch.fmod(t + increment, modulus)
    total = (t + int(increment)).to(dtype).to(torch.int64)
    return torch.fmod(total, int(modulus)).to(t.dtype)


def mixed(dtype, f, *tensors):
    """f of tensors of several types; integers are computed as float32."""
    wide = torch.float64 if any(t.dtype == torch.float64 for t in tensors) else torch.float32
    if dtype.is_floating_point:
        return f(*(t.to(wide) for t in tensors)).to(dtype)
    if all(not t.dtype.is_floating_point for t in tensors):
        exact = f(*(t.to(torch.float64) for t in tensors))
        return float_to_integer(exact.to(torch.float32), dtype)
    return float_to_integer(f(*(t.to(torch.float64) for t in tensors)).to(torch.float32), dtype)


def _width(dtype):
    return torch.empty((), dtype=dtype).element_size() * 8


def shift_left(a, b, dtype):
    inside = (b >= 0) & (b < _width(dtype))
    return torch.where(inside, a << torch.where(inside, b, 0), 0).to(a.dtype)


def shift_right(a, b, dtype):
    """From above comes the sign's bit; where b is negative or beyond the width, that alone is left."""
    inside = (b >= 0) & (b < _width(dtype))
    return torch.where(inside, a >> torch.where(inside, b, 0), torch.where(a < 0, -1, 0)).to(a.dtype)


def from_float8(x, log2_scale, dtype):
    return (x.to(torch.float32) * torch.exp2(log2_scale.to(torch.float32))).to(dtype)


def to_float8(x, log2_scale, dtype):
    """Rounded to nearest even; what is too large is NaN."""
    scaled = x.to(torch.float32) * torch.exp2(log2_scale.to(torch.float32))
    most = torch.finfo(dtype).max
    rounded = scaled.to(dtype)
    lost = (scaled.abs() > most) & (rounded.to(torch.float32).abs() != most) | ~torch.isfinite(scaled)
    return torch.where(lost, math.nan, scaled).to(dtype)


# --- reductions

def position_of_extreme(x, dim, keepdim, largest):
    """The first of equal ones; numbers come before NaN."""
    if x.dtype.is_floating_point:
        x = torch.nan_to_num(x, nan=-math.inf if largest else math.inf, posinf=math.inf, neginf=-math.inf)
    return (torch.argmax if largest else torch.argmin)(x, dim=dim, keepdim=keepdim).to(torch.int32)


def histogram(x, levels, absolute):
    x = x.abs() if absolute else x
    edges = torch.tensor(levels, dtype=torch.float64, device=x.device)
    bins = torch.bucketize(x.flatten().to(torch.float64), edges, right=True)
    return torch.bincount(bins, minlength=len(levels) + 1).to(torch.uint32)


def _last(x, axes):
    """The axes flattened, behind the others."""
    rest = [d for d in range(x.dim()) if d not in axes]
    moved = x.permute(*rest, *axes)
    return moved.reshape(*(x.shape[d] for d in rest), -1)


def _kept(x, shape, axes, keepdims):
    return x.reshape([1 if d in axes else n for d, n in enumerate(shape)]) if keepdims else x


def median(x, axes, keepdims):
    """The lower of two middle elements, NaN the largest; where it lies, the first of equal ones."""
    flat = _last(x, axes)
    values = flat.sort(dim=-1, stable=True).values[..., (flat.shape[-1] - 1) // 2]
    same = flat == values.unsqueeze(-1)
    if flat.dtype.is_floating_point:
        same |= flat.isnan() & values.isnan().unsqueeze(-1)
    at = same.to(torch.uint8).argmax(dim=-1).to(torch.int32)
    return _kept(values, x.shape, axes, keepdims), _kept(at, x.shape, axes, keepdims)


def product(x, axes, keepdims):
    if not axes:
        return x
    return _kept(_last(x, axes).prod(dim=-1, dtype=x.dtype), x.shape, axes, keepdims)


def topk(x, k, axis, largest):
    """Of equal elements the first counts as the more extreme."""
    values, at = x.sort(dim=axis, descending=largest, stable=True)
    return values.narrow(axis, 0, k), at.narrow(axis, 0, k).to(torch.int32)


# --- shapes

def _ranges(x, ranges):
    out = []
    for d, (start, step, count) in enumerate(ranges):
        index = start + step * torch.arange(count, device=x.device)
        out.append(index.reshape([-1 if i == d else 1 for i in range(len(ranges))]))
    return tuple(out)


def take_ranges(x, ranges):
    """Elements start, start + step ... of each axis."""
    return x[_ranges(x, ranges)]


def put_ranges(x, piece, ranges):
    """x with those elements replaced."""
    if not ranges:
        return piece.clone()
    x = x.clone()
    x[_ranges(x, ranges)] = piece
    return x


def onehot(index, classes, values, axis):
    shape = [-1 if d == axis else 1 for d in range(index.dim() + 1)]
    hit = index.to(torch.int64).unsqueeze(axis) == torch.arange(classes, device=index.device).reshape(shape)
    return torch.where(hit, values[1], values[0])


# --- indices

def rows(table, index):
    """The rows that an index names: an embedding."""
    return F.embedding(index.to(torch.int64), table)


def gather(x, index, axis):
    """The slices along the axis that an index names, as numpy.take gives them."""
    taken = x.index_select(axis, index.flatten().to(torch.int64))
    return taken.reshape(*x.shape[:axis], *index.shape, *x.shape[axis + 1:])


def gather_or_zero(x, index, axis):
    """The same; a slice outside is zero."""
    index = index.to(torch.int64)
    inside = (index >= 0) & (index < x.shape[axis])
    mask = inside.reshape(*[1] * axis, *index.shape, *[1] * (x.dim() - axis - 1))
    return torch.where(mask, gather(x, torch.where(inside, index, 0), axis), 0)


def grouped_gather(x, index, axis, zero):
    """gather within each group of the first dimension."""
    one = gather_or_zero if zero else gather
    return torch.stack([one(x[g], index[g], axis - 1) for g in range(x.shape[0])])


def _whole_index(index, shape, axis):
    """Indices along the axis, and whether they lie inside."""
    index = index.to(torch.int64)
    inside = (index >= 0) & (index < shape[axis])
    return torch.where(inside, index, 0), inside


def gather_elements(x, index, axis):
    index, inside = _whole_index(index, x.shape, axis)
    return torch.where(inside, torch.gather(x, axis, index), 0)


def _positions(index, shape, axis):
    """Row-major positions in `shape` of elements that lie beside their indices."""
    at = torch.zeros(index.shape, dtype=torch.int64, device=index.device)
    for d, n in enumerate(shape):
        along = index if d == axis else torch.arange(index.shape[d], device=index.device).reshape([-1 if i == d else 1 for i in range(index.dim())])
        at = at * n + along
    return at


def scatter(x, index, values, axis):
    """Values replace elements; of several the last counts, what lies outside is left out."""
    index, inside = _whole_index(index, x.shape, axis)
    at = _positions(index, x.shape, axis)[inside]
    order = torch.arange(at.numel(), device=x.device)
    last = torch.full((x.numel(),), -1, device=x.device, dtype=torch.int64).scatter_reduce(0, at, order, "amax")
    new = values[inside]
    taken = new[last.clamp(min=0)] if new.numel() else x.flatten()
    return torch.where(last >= 0, taken, x.flatten()).reshape(x.shape)


def sum_slices(data, index, axis, size):
    """Slices added up where their indices name: the gradient of an embedding."""
    shape = list(data.shape)
    shape[axis] = size
    index = index.to(torch.int64)
    inside = (index >= 0) & (index < size)
    mask = inside.reshape([-1 if d == axis else 1 for d in range(data.dim())])
    out = torch.zeros(shape, dtype=data.dtype, device=data.device)
    return out.index_add_(axis, torch.where(inside, index, 0), torch.where(mask, data, 0))


def scatter_reduce(data, index, reduction, initial, axis, shape, dtype):
    """Data gathered into the places that their indices name: sum, min, max or the last one."""
    index, inside = _whole_index(index, shape, axis)
    index, inside = index.expand(data.shape), inside.expand(data.shape)
    at, new = _positions(index, shape, axis)[inside], data[inside]
    out = (torch.zeros(shape, dtype=data.dtype, device=data.device) if initial is None else initial.clone()).flatten()
    if reduction == "none":
        order = torch.arange(at.numel(), device=data.device)
        last = torch.full((out.numel(),), -1, device=data.device, dtype=torch.int64).scatter_reduce(0, at, order, "amax")
        taken = new[last.clamp(min=0)] if new.numel() else out
        out = torch.where(last >= 0, taken, out)
    else:
        torch_name = {"sum": "sum", "min": "amin", "max": "amax"}[reduction]
        out = out.scatter_reduce(0, at, new, torch_name, include_self=initial is not None or reduction == "sum")
    return out.reshape(shape)


def sparse_accumulate(t, x, index, axis, f, dtype):
    """t with f X[i] added at t[index[i]] along the axis."""
    shape = list(t.shape)
    shape[axis] = index.numel()
    x = (x.to(torch.float64) * f).reshape(shape)
    index = index.flatten().to(torch.int64)
    inside = (index >= 0) & (index < t.shape[axis])
    mask = inside.reshape([-1 if d == axis else 1 for d in range(t.dim())])
    total = t.to(torch.float64).index_add(axis, torch.where(inside, index, 0), torch.where(mask, x, 0))
    return total.to(dtype) if dtype.is_floating_point else float_to_integer(total.to(torch.float32), dtype)


def _dynamic_index(x, index, axes, sizes):
    index = index.flatten().to(torch.int64)
    out = []
    for d, n in enumerate(x.shape):
        at = torch.arange(n, device=x.device)
        if d in axes:
            i = axes.index(d)
            at = torch.remainder(torch.arange(sizes[i], device=x.device) + index[i], n)
        out.append(at.reshape([-1 if i == d else 1 for i in range(x.dim())]))
    return tuple(out)


def dynamic_slice(x, index, axes, sizes):
    """sizes[i] elements of axis axes[i] from index[i] on; positions wrap around."""
    return x[_dynamic_index(x, index, axes, sizes)] if axes else x


def dynamic_update(x, index, piece, axes, sizes):
    if not axes:
        return piece.clone()
    x = x.clone()
    x[_dynamic_index(x, index, axes, sizes)] = piece
    return x


# --- products and convolutions

def _padded(x, padding):
    before, after = padding
    pads = [p for b, a in zip(reversed(before), reversed(after)) for p in (b, a)]
    return F.pad(x, pads) if any(pads) else x


def conv(x, w, stride, padding, dilation, groups):
    function = (F.conv1d, F.conv2d, F.conv3d)[x.dim() - 3]
    return function(_padded(x, padding), w, stride=stride, dilation=dilation, groups=groups)


def conv_input_grad(dy, w, shape, stride, padding, dilation, groups):
    """The gradient of conv for its data, of shape `shape`."""
    before, after = padding
    wide = [*shape[:2], *(n + b + a for n, b, a in zip(shape[2:], before, after))]
    function = (torch.nn.grad.conv1d_input, torch.nn.grad.conv2d_input, torch.nn.grad.conv3d_input)[dy.dim() - 3]
    dx = function(wide, w, dy, stride=stride, dilation=dilation, groups=groups)
    return _padded(dx, ([-b for b in before], [-a for a in after]))


def conv_weight_grad(dy, x, shape, stride, padding, dilation, groups):
    """The gradient of conv for its weights, of shape `shape`."""
    function = (torch.nn.grad.conv1d_weight, torch.nn.grad.conv2d_weight, torch.nn.grad.conv3d_weight)[dy.dim() - 3]
    return function(_padded(x, padding), shape, dy, stride=stride, dilation=dilation, groups=groups)


def float8_matmul(a, b, log2_scale):
    product = torch.matmul(a.to(torch.float32), b.to(torch.float32))
    return (product * torch.exp2(log2_scale.to(torch.float32))).to(torch.float16)


def float8_conv(x, w, log2_scale, stride, padding, dilation, groups):
    y = conv(x.to(torch.float32), w.to(torch.float32), stride, padding, dilation, groups)
    return (y * torch.exp2(log2_scale.to(torch.float32))).to(torch.float16)


def float8_conv_input_grad(x, w, log2_scale, shape, stride, padding, dilation, groups):
    y = conv_input_grad(x.to(torch.float32), w.to(torch.float32), shape, stride, padding, dilation, groups)
    return (y * torch.exp2(log2_scale.to(torch.float32))).to(torch.float16)


# --- layers

def softmax_from(x, axis):
    """Normalised over all dimensions from `axis` on."""
    return torch.softmax(x.flatten(axis), dim=-1).reshape(x.shape)


def softmax_from_grad(y, dy, axis):
    total = (y * dy).flatten(axis).sum(dim=-1)
    return y * (dy - total.reshape(*total.shape, *[1] * (y.dim() - axis)))


def _statistics_type(x):
    return torch.float32 if x.dtype == torch.float16 else x.dtype


def group_norm(x, weight, bias, groups, eps):
    """The result, the mean and 1 / sqrt(variance + eps) of each sample and group."""
    wide = _statistics_type(x)
    n, c = x.shape[:2]
    if groups == 1 and x.dim() == 2:
        y, mean, inv_std = torch.native_layer_norm(x.to(wide), (c,), weight.to(wide), bias.to(wide), eps)
    else:
        rest = x[0, 0].numel()
        y, mean, inv_std = torch.native_group_norm(x.to(wide).contiguous(), weight.to(wide), bias.to(wide), n, c, rest, groups, eps)
    return y.to(x.dtype), mean.flatten(), inv_std.flatten()


def group_norm_grad(x, weight, mean, inv_std, dy, groups):
    """The gradients for x, weight and bias."""
    wide = _statistics_type(x)
    n, c = x.shape[:2]
    if groups == 1 and x.dim() == 2:
        dx, dw, db = torch.ops.aten.native_layer_norm_backward(
            dy.to(wide), x.to(wide), (c,), mean.reshape(n, 1), inv_std.reshape(n, 1), weight.to(wide), torch.zeros_like(weight, dtype=wide),
            [True, True, True])
    else:
        rest = x[0, 0].numel()
        dx, dw, db = torch.ops.aten.native_group_norm_backward(
            dy.to(wide).contiguous(), x.to(wide).contiguous(), mean.reshape(n, groups), inv_std.reshape(n, groups), weight.to(wide), n, c, rest,
            groups, [True, True, True])
    return dx.to(x.dtype), dw.to(weight.dtype), db.to(weight.dtype)


def _epsilon(dtype):
    """What keeps a logarithm finite."""
    return 6.103515625e-05 if dtype == torch.float16 else 1e-7


def _labelled(probs, labels, ignore_index):
    """The probabilities as rows, the labels, which rows count, and what a mean divides by."""
    flat, labels = probs.reshape(-1, probs.shape[-1]), labels.flatten().to(torch.int64)
    counts = (labels >= 0) & (labels < probs.shape[-1])
    divisor = labels.numel()
    if ignore_index is not None:
        counts &= labels != ignore_index
        divisor = (labels != ignore_index).sum()
    return flat, torch.where(counts, labels, 0).unsqueeze(1), counts, torch.clamp(torch.as_tensor(divisor, device=probs.device), min=1)


def nll_loss(probs, labels, ignore_index=None, reduction="mean", log_prob=False):
    """-log p of each row's label; rows of ignore_index, or of no class, are 0."""
    flat, at, counts, divisor = _labelled(probs, labels, ignore_index)
    p = flat.gather(1, at).squeeze(1)
    loss = torch.where(counts, -p if log_prob else -torch.log(p.clamp(min=_epsilon(probs.dtype))), 0)
    if reduction == "none":
        return loss.reshape(labels.shape)
    total = loss.sum()
    return total / divisor if reduction == "mean" else total


def nll_grad(probs, labels, dy, ignore_index=None, reduction="mean", log_prob=False):
    """The gradient of nll_loss for the probabilities."""
    flat, at, counts, divisor = _labelled(probs, labels, ignore_index)
    dy = dy.flatten() if reduction == "none" else dy.reshape(1)
    if reduction == "mean":
        dy = dy / divisor
    p = flat.gather(1, at).squeeze(1)
    grad = torch.where(counts, -dy if log_prob else -dy / p.clamp(min=_epsilon(probs.dtype)), 0).to(probs.dtype)
    return torch.zeros_like(flat).scatter_(1, at, grad.unsqueeze(1)).reshape(probs.shape)


def nll_loss_with_softmax_grad(probs, labels, loss_grad, ignore_index=None, reduction="mean"):
    """The loss -log(p + epsilon) of softmax's result, and the gradient of softmax's operand."""
    flat, at, counts, divisor = _labelled(probs, labels, ignore_index)
    p = flat.gather(1, at).squeeze(1)
    loss = torch.where(counts, -torch.log(p + _epsilon(probs.dtype)), 0)
    loss_grad = torch.as_tensor(loss_grad, device=probs.device)
    scale = loss_grad.flatten().to(torch.float32) / (divisor if reduction == "mean" else 1)
    hit = torch.zeros_like(flat).scatter_(1, at, 1.0)
    dx = torch.where(counts.unsqueeze(1), (flat - hit) * scale.reshape(-1, 1), 0).to(probs.dtype)
    if reduction == "none":
        loss = loss.reshape(labels.shape)
    else:
        loss = loss.sum() / (divisor if reduction == "mean" else 1)
    return loss.to(probs.dtype), dx.reshape(probs.shape)


def _windows(x, windows, padding):
    """The elements under each window, their places as further dimensions behind; `padding` where there is none."""
    n = len(windows)
    valid = torch.ones((), dtype=torch.bool, device=x.device)
    for d, (size, kernel, out, stride, dilation, in_dilation, before) in enumerate(windows):
        at = stride * torch.arange(out, device=x.device).unsqueeze(1) + dilation * torch.arange(kernel, device=x.device) - before
        inside = (at >= 0) & (torch.remainder(at, in_dilation) == 0) & (torch.div(at, in_dilation, rounding_mode="floor") < size)
        at = torch.where(inside, torch.div(at, in_dilation, rounding_mode="floor"), 0)
        axis = 2 + 2 * d
        x = x.index_select(axis, at.flatten()).unflatten(axis, (out, kernel))
        valid = valid & inside.reshape([out if i == 2 * d else kernel if i == 2 * d + 1 else 1 for i in range(2 * n)])
    return torch.where(valid, x, padding), [3 + 2 * d for d in range(n)], valid


def _grad(f, x, dy):
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        return torch.autograd.grad(f(x), x, dy)[0]


def max_pool(x, windows):
    y, kernel, _ = _windows(x, windows, -math.inf)
    return y.amax(dim=kernel)


def max_pool_grad(x, dy, windows):
    """All elements of a window that are its largest share its gradient equally."""
    return _grad(lambda t: max_pool(t, windows), x, dy)


def average_pool(x, windows):
    y, kernel, valid = _windows(x, windows, 0.0)
    count = valid.sum(dim=[k - 2 for k in kernel])
    return y.sum(dim=kernel) / count


def average_pool_grad(dy, windows, shape):
    return _grad(lambda t: average_pool(t, windows), torch.zeros(shape, dtype=dy.dtype, device=dy.device), dy)


# --- random numbers: element i has its own bits, which depend on the seed, a stream and i alone (Philox 4x32-10)

def _philox(c, k):
    mask = 0xFFFFFFFF
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [((b >> 32) & mask) ^ c[1] ^ k[0], b & mask, ((a >> 32) & mask) ^ c[3] ^ k[1], a & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return c


def _bits(seed, stream, count):
    """32 bits for each of `count` elements, as int64."""
    seed = seed.to(torch.int64)
    blocks = torch.arange((count + 3) // 4, device=seed.device)
    zero = torch.zeros_like(blocks)
    words = _philox([blocks & 0xFFFFFFFF, blocks >> 32, zero + stream, zero], [seed[0], seed[1]])
    return torch.stack(words, dim=1).flatten()[:count]


def random_uniform(seed, shape, low, high, dtype):
    u = (_bits(seed, 1, math.prod(shape)) >> 8).to(torch.float64) / 2**24
    return (low + (high - low) * u).reshape(shape).to(dtype)


def random_normal(seed, shape, mean, std, dtype):
    count = math.prod(shape)
    pairs = _bits(seed, 2, count + count % 2).reshape(-1, 2)
    radius = torch.sqrt(-2 * torch.log((pairs[:, 0].to(torch.float64) + 0.5) / 2**32))
    angle = 2 * math.pi * (pairs[:, 1] >> 8).to(torch.float64) / 2**24
    z = torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], dim=1).flatten()[:count]
    return (mean + std * z).reshape(shape).to(dtype)


def dropout(x, seed, ratio, shape=None):
    """Elements are kept with probability 1 - ratio, which the seed and their positions decide."""
    shape = tuple(x.shape) if shape is None else shape
    keep = 1 - ratio
    kept = (_bits(seed, 0, math.prod(shape)).to(torch.float64) < round(keep * 2**32)).reshape(shape)
    scale = 1 / keep
    return torch.where(kept, x * scale if x.dtype == torch.float64 else (x.to(torch.float32) * scale).to(x.dtype), 0)


def split_random_seed(seed, n):
    words = _bits(seed, 0x73656564, 4 * n).reshape(n, 4)[:, :2].to(torch.uint32)
    return tuple(words.unbind(0)) if n > 1 else words[0]


def create_random_seed(seed, modifier):
    higher = (seed.to(torch.int64)[1] + (modifier.to(torch.int64).reshape(()) + 1) * 0x9E3779B1) & 0xFFFFFFFF
    return split_random_seed(torch.stack([seed.to(torch.int64)[0], higher]), 1)


# --- optimizers

def _adam(first, second, weight, step, weight_decay, beta1, beta2, epsilon, dtype, root):
    wide = torch.float64 if first.dtype == torch.float64 else torch.float32
    m, v, new_step = first.to(wide), second.to(wide), None
    if step is not None:
        new_step = step + 1
        m = m / (1 - beta1 ** new_step.to(torch.float64)).to(wide)
        if beta2 is not None:
            v = v / (1 - beta2 ** new_step.to(torch.float64)).to(wide)
    update = m / ((torch.sqrt(v) if root else v) + epsilon)
    if weight is not None:
        update = update + weight_decay * weight.to(wide)
    return (update.to(dtype) if dtype.is_floating_point else float_to_integer(update, dtype)), new_step


def adam_updater(first, second, weight=None, time_step=None, weight_decay=0.0, beta1=None, beta2=None, epsilon=1e-7, dtype=torch.float32):
    """m / (sqrt(v) + epsilon) + weight_decay weight, corrected for the bias with a time step."""
    return _adam(first, second, weight, time_step, weight_decay, beta1, beta2, epsilon, dtype, True)


def adamax_updater(first, second, weight=None, time_step=None, weight_decay=0.0, beta1=None, epsilon=1e-7, dtype=torch.float32):
    return _adam(first, second, weight, time_step, weight_decay, beta1, None, epsilon, dtype, False)


def adam_var_update(t, x, r1, r2, learning_rate, max_weight_norm, dtype):
    """t - learning_rate ratio x, with the ratio of the weight's norm to the update's."""
    r1, r2 = r1.reshape(()).to(torch.float64), r2.reshape(()).to(torch.float64)
    ratio = torch.where((r1 == 0) | (r2 == 0), 1.0, torch.clamp(torch.sqrt(r1), max=max_weight_norm) / torch.sqrt(r2))
    new = t.to(torch.float64) - learning_rate * ratio * x.to(torch.float64)
    return new.to(dtype) if dtype.is_floating_point else float_to_integer(new.to(torch.float32), dtype)


def printed(title, x):
    print(f"{title}: {x}", flush=True)
    return x

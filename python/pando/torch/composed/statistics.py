"""Covariances, and reductions whose own gradients ask for the number of elements, which a program knows when it runs, of what a mask picks."""
import torch


def _cov(input, *, correction=1, fweights=None, aweights=None):
    """torch.cov. What it checks of weights, that none is below 0, is not looked at: they are known when the program runs."""
    if input.dim() > 2:
        raise RuntimeError(f"cov(): a tensor of two dimensions or fewer is expected, not one of {input.dim()}.")
    rows = input.reshape(1, -1) if input.dim() < 2 else input
    if not rows.is_floating_point() and not rows.is_complex():
        rows = rows.to(torch.get_default_dtype())
    count = rows.shape[1]
    weight = fweights if aweights is None else aweights if fweights is None else fweights * aweights
    total = count if weight is None else weight.sum()
    weighted = rows if weight is None else rows * weight
    apart = rows - (weighted.sum(1) / total).unsqueeze(1)
    lost = correction * (weight * aweights).sum() / total if aweights is not None and correction else correction
    factor = total - lost
    factor = factor.clamp(min=0) if isinstance(factor, torch.Tensor) else max(factor, 0)
    product = apart @ (apart if weight is None else apart * weight).t().conj()
    return (product / torch.as_tensor(factor, dtype=rows.real.dtype if rows.is_complex() else rows.dtype)).squeeze()


def _corrcoef(input):
    c = _cov(input)
    if not c.dim():
        return c / c
    lengths = c.diagonal()
    lengths = (lengths.real if c.is_complex() else lengths).sqrt()
    c = c / lengths.unsqueeze(1) / lengths.unsqueeze(0)
    return torch.complex(c.real.clamp(-1, 1), c.imag.clamp(-1, 1)) if c.is_complex() else c.clamp(-1, 1)


def is_picked(x):
    """Whether a tensor of a graph that is traced is what a mask picks: it has a length that depends on data."""
    return isinstance(x, torch.Tensor) and any(not isinstance(d, int) for d in x.shape)


def _dims(x, dim):
    dims = list(range(x.dim())) if dim is None or dim == () or dim == [] else [dim] if isinstance(dim, int) else list(dim)
    return [d % x.dim() for d in dims]


class _Product(torch.autograd.Function):
    """The product along a dimension; the gradient of each element is the product of the others, also where some are 0."""

    @staticmethod
    def forward(ctx, x, dim, keepdim):
        ctx.save_for_backward(x)
        ctx.dim, ctx.keepdim = dim, keepdim
        return torch.prod(x, dim, keepdim)

    @staticmethod
    def backward(ctx, gradient):
        x, = ctx.saved_tensors
        gradient = gradient if ctx.keepdim else gradient.unsqueeze(ctx.dim)
        zero = x == 0
        zeros = zero.to(x.dtype).sum(ctx.dim, keepdim=True)
        rest = torch.where(zero, 1, x)
        others = rest.prod(ctx.dim, keepdim=True) / rest
        return gradient * torch.where(zeros == 0, others, torch.where((zeros == 1) & zero, others, 0)), None, None


class _RunningSum(torch.autograd.Function):
    """The sum of all elements up to each one."""

    @staticmethod
    def forward(ctx, x, dim):
        ctx.dim = dim
        return torch.cumsum(x, dim)

    @staticmethod
    def backward(ctx, gradient):
        return gradient.sum(ctx.dim, keepdim=True) - gradient.cumsum(ctx.dim) + gradient, None


def _typed(x, dtype):
    dtype = dtype or (x.dtype if x.is_floating_point() else torch.int64)
    return x if x.dtype is dtype else x.to(dtype)


def _of_picked(function, of):
    """A function that is another one, `of`, for floating-point numbers that a mask picks. What PyTorch alone understands stays PyTorch's: `out`, say."""

    def call(*args, **kwargs):
        x = args[0] if args else kwargs.get("input")
        if not is_picked(x) or not x.is_floating_point() or kwargs.get("out") is not None:
            return function(*args, **kwargs)
        kwargs.pop("out", None)
        return of(*args, **kwargs)

    return call


def _prod(input, dim=None, keepdim=False, *, dtype=None):
    x = _typed(input, dtype)
    for d in sorted(_dims(x, dim), reverse=True):
        x = _Product.apply(x, d, keepdim)
    return x


def _cumsum(input, dim, *, dtype=None):
    return _RunningSum.apply(_typed(input, dtype), dim)


def _variance_and_mean(x, dim, correction, keepdim):
    dims = _dims(x, dim)
    count = torch.ones_like(x).sum(dims, keepdim=True)
    mean = x.sum(dims, keepdim=True) / count
    variance = (x - mean).square().sum(dims, keepdim=True) / (count - correction).clamp(min=0)
    return tuple(t if keepdim else t.squeeze(dims) for t in (variance, mean))


def _root(variance):
    """The square root, whose gradient is 0 at 0."""
    return torch.where(variance == 0, 0, torch.where(variance == 0, 1, variance).sqrt())


def _variance(function, of):
    """A function of variances. Of what a mask picks it is made of others that do not look at its length: `of` takes (variance, mean)."""

    def call(input, *args, **kwargs):
        # The first argument after the tensor may be that of whether the variance is unbiased.
        args = (None, *args) if args and isinstance(args[0], bool) else args
        given = {**dict(zip(("dim", "unbiased", "keepdim"), args)), **kwargs}
        correction = given.get("correction", given.get("unbiased"))
        return of(*_variance_and_mean(input, given.get("dim"), 1 if correction is None else correction, given.get("keepdim", False)))

    return _of_picked(function, call)


FUNCTIONS = {}
for _name, _function in {"prod": _of_picked(torch.prod, _prod), "cumsum": _of_picked(torch.cumsum, _cumsum), "cov": _cov, "corrcoef": _corrcoef,
                         "var": _variance(torch.var, lambda variance, mean: variance),
                         "std": _variance(torch.std, lambda variance, mean: _root(variance))}.items():
    FUNCTIONS[getattr(torch, _name)] = FUNCTIONS[getattr(torch.Tensor, _name)] = _function
FUNCTIONS[torch.var_mean] = _variance(torch.var_mean, lambda variance, mean: (variance, mean))
FUNCTIONS[torch.std_mean] = _variance(torch.std_mean, lambda variance, mean: (_root(variance), mean))
COMPOSED = {}

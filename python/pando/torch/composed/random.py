"""Random numbers."""
import torch

aten = torch.ops.aten


def _rrelu(x, noise, lower=1 / 8, upper=1 / 3, training=False, generator=None):
    if not training:
        return torch.where(x > 0, x, x * ((lower + upper) / 2)), noise
    slopes = torch.where(x > 0, torch.ones_like(x), aten.uniform.default(torch.empty_like(x), lower, upper))
    return x * slopes, slopes


def _rrelu_backward(gradient, x, noise, lower, upper, training, self_is_result):
    return gradient * (noise if training else torch.where(x > 0, torch.ones_like(x), torch.full_like(x, (lower + upper) / 2)))


def _random_range(dtype):
    """Above the largest number that random_() gives of a type: the largest integer whose neighbours a float tells apart, or that an integer holds."""
    if dtype.is_floating_point:
        return 2 ** {torch.float16: 11, torch.bfloat16: 8, torch.float32: 24}.get(dtype, 53) + 1
    return 2 if dtype == torch.bool else min(torch.iinfo(dtype).max, 2**31 - 1)


def _random_from(x, low, high=None, generator=None):
    return torch.randint(low, _random_range(x.dtype) if high is None else high, x.shape, dtype=x.dtype)


def _random_to(x, high, generator=None):
    return _random_from(x, 0, high)


def _random(x, generator=None):
    return _random_from(x, 0)


def _in_place(function):
    return lambda x, *args, **kwargs: x.copy_(function(x, *args, **kwargs))


# One overload has the name of a statement of Python, which graphs of torch.fx cannot write.
_RANDOM = {"from": _random_from, "to": _random_to, "default": _random}


COMPOSED = {
    **{getattr(aten.random, name): function for name, function in _RANDOM.items()},
    **{getattr(aten.random_, name): _in_place(function) for name, function in _RANDOM.items()},
    aten.rrelu_with_noise_functional.default: _rrelu, aten.rrelu_with_noise_backward.default: _rrelu_backward}

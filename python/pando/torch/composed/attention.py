"""Attention of the host's own kernels, as products. The sums of exponentials are a result of its own: the gradient takes them."""
import math

import torch

aten = torch.ops.aten


def _scores(query, key, is_causal, attn_mask, scale):
    """What softmax is taken of."""
    scores = query @ key.transpose(-1, -2) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        rows, columns = scores.shape[-2:]
        scores = scores.masked_fill(torch.arange(columns).unsqueeze(0) > torch.arange(rows).unsqueeze(1), float("-inf"))
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, float("-inf")) if attn_mask.dtype == torch.bool else scores + attn_mask
    return scores


def _as_heads(query, *tensors):
    """Keys and values with as many heads as queries: a group of queries shares one."""
    return [t.repeat_interleave(query.shape[1] // t.shape[1], 1) if t.shape[1] != query.shape[1] else t for t in tensors]


def _attention(query, key, value, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None):
    if dropout_p:
        raise NotImplementedError("aten._scaled_dot_product_flash_attention_for_cpu: PyTorch's own kernel has no dropout.")
    key, value = _as_heads(query, key, value)
    scores = _scores(query, key, is_causal, attn_mask, scale)
    sums = scores.logsumexp(-1)
    # A row without any key has no weights.
    weights = (scores - torch.where(sums == float("-inf"), 0, sums).unsqueeze(-1)).exp()
    # Heads lie beside each other in PyTorch's result, which models view as one dimension.
    result = (weights @ value).permute(0, 2, 1, 3).contiguous().permute(0, 2, 1, 3)
    return result, sums.to(torch.float32 if query.dtype == torch.float16 else query.dtype)


def _grouped(gradient, heads):
    """The sum over the queries that share a head."""
    batch, all_heads, length, size = gradient.shape
    return gradient if all_heads == heads else gradient.reshape(batch, heads, all_heads // heads, length, size).sum(2)


def _attention_backward(gradient, query, key, value, out, sums, dropout_p, is_causal, *, attn_mask=None, scale=None):
    heads, (keys, values) = key.shape[1], _as_heads(query, key, value)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    sums = torch.where(sums == float("-inf"), 0, sums).to(query.dtype).unsqueeze(-1)
    weights = (_scores(query, keys, is_causal, attn_mask, scale) - sums).exp()
    of_weights = gradient @ values.transpose(-1, -2)
    of_scores = weights * (of_weights - (gradient * out).sum(-1, keepdim=True)) * factor
    return of_scores @ keys, _grouped(of_scores.transpose(-1, -2) @ query, heads), _grouped(weights.transpose(-1, -2) @ gradient, heads)


COMPOSED = {aten._scaled_dot_product_flash_attention_for_cpu.default: _attention,
            aten._scaled_dot_product_flash_attention_for_cpu_backward.default: _attention_backward}

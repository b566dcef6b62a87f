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


def _masked_softmax(scores, mask, mask_type):
    """Softmax along the last dimension of scores of heads. mask: None or what is left out, in a form that mask_type tells: 0: of queries and keys, 1: of samples
    and keys, 2: of samples, heads, queries and keys."""
    if mask is not None:
        mask = mask.to(torch.bool)
        scores = scores.masked_fill(mask[:, None, None, :] if mask_type == 1 else mask, float("-inf"))
    return scores.softmax(-1)


def _heads_of(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, proj_weight, proj_bias, mask=None, need_weights=True, average_attn_weights=True,
              mask_type=None):
    """Attention of several heads with the projections around it: (result, weights or nothing)."""
    batch, length = query.shape[:2]

    def heads(x, number):
        part = slice(number * embed_dim, (number + 1) * embed_dim)
        return torch.nn.functional.linear(x, qkv_weight[part], qkv_bias[part]).view(batch, -1, num_head, embed_dim // num_head).transpose(1, 2)

    q, k, v = (heads(x, number) for number, x in enumerate((query, key, value)))
    weights = _masked_softmax(q @ k.transpose(-1, -2) / math.sqrt(embed_dim // num_head), mask, mask_type)
    result = torch.nn.functional.linear((weights @ v).transpose(1, 2).reshape(batch, length, embed_dim), proj_weight, proj_bias)
    if not need_weights:
        return result, query.new_empty([0])
    return result, weights.mean(1) if average_attn_weights else weights


def _encoder_layer(src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu, norm_first, eps, norm_weight_1, norm_bias_1, norm_weight_2,
                   norm_bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask=None, mask_type=None):
    """A layer of nn.TransformerEncoder without gradients, which PyTorch has as one op."""

    def attention(x):
        return _heads_of(x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, False, True, mask_type)[0]

    def feed_forward(x):
        x = torch.nn.functional.linear(x, ffn_weight_1, ffn_bias_1)
        return torch.nn.functional.linear(torch.nn.functional.gelu(x) if use_gelu else x.relu(), ffn_weight_2, ffn_bias_2)

    def first(x):
        return torch.nn.functional.layer_norm(x, (embed_dim,), norm_weight_1, norm_bias_1, eps)

    def second(x):
        return torch.nn.functional.layer_norm(x, (embed_dim,), norm_weight_2, norm_bias_2, eps)

    if norm_first:
        x = src + attention(first(src))
        return x + feed_forward(second(x))
    x = first(src + attention(src))
    return second(x + feed_forward(x))


COMPOSED = {aten._scaled_dot_product_flash_attention_for_cpu.default: _attention,
            aten._scaled_dot_product_flash_attention_for_cpu_backward.default: _attention_backward,
            aten._native_multi_head_attention.default: _heads_of, aten._transformer_encoder_layer_fwd.default: _encoder_layer}


def _scattered(shape, indices, values):
    """The gradient of what a function of scores reads in a tensor."""
    return torch.zeros(shape, dtype=values.dtype, device=values.device).index_put(indices, values, accumulate=True)


FOREIGN = {"flex_lib::zeros_and_scatter": _scattered}

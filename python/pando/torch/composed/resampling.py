"""Images of another size whose pixels are weighted means of all that they cover (antialias=True): products by matrices."""
import math

import torch

aten = torch.ops.aten


def _triangle(x):
    return max(0.0, 1.0 - abs(x))


def _cubic(x, a=-0.5):
    x = abs(x)
    if x < 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a if x < 2 else 0.0


def _weights(like, inside, outside, align_corners, factor, reach, kernel):
    """A matrix (outside, inside): what each pixel of a row of the result takes from the row of the image. reach: of the kernel, in pixels."""
    if align_corners:
        scale = (inside - 1) / (outside - 1) if outside > 1 else 0.0
    else:
        scale = 1 / factor if factor else inside / outside
    wide = max(scale, 1.0)
    rows = []
    for i in range(outside):
        center = scale * (i + 0.5)
        first, end = max(math.floor(center - reach * wide + 0.5), 0), min(math.floor(center + reach * wide + 0.5), inside)
        row = [kernel((k - center + 0.5) / wide) if first <= k < end else 0.0 for k in range(inside)]
        total = sum(row)
        rows.append([w / total if total else w for w in row])
    return torch.ops.pando.constant(like, [w for row in rows for w in row], [outside, inside])


def _both(like, inside, outside, align_corners, factors, reach, kernel):
    return [_weights(like, *sizes, align_corners, factor, reach, kernel) for *sizes, factor in zip(inside, outside, factors)]


def _resampler(reach, kernel):
    def resample(x, output_size, align_corners, scales_h=None, scales_w=None):
        rows, columns = _both(x, x.shape[-2:], output_size, align_corners, (scales_h, scales_w), reach, kernel)
        return rows @ (x @ columns.t())

    def backward(gradient, output_size, input_size, align_corners, scales_h=None, scales_w=None):
        rows, columns = _both(gradient, input_size[-2:], output_size, align_corners, (scales_h, scales_w), reach, kernel)
        return rows.t() @ (gradient @ columns)

    return resample, backward


_linear, _linear_backward = _resampler(1, _triangle)
_bicubic, _bicubic_backward = _resampler(2, _cubic)

IN_FLOAT32 = True
COMPOSED = {aten._upsample_bilinear2d_aa.default: _linear, aten._upsample_bilinear2d_aa_backward.default: _linear_backward,
            aten._upsample_bicubic2d_aa.default: _bicubic, aten._upsample_bicubic2d_aa_backward.default: _bicubic_backward}

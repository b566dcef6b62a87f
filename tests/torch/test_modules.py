"""Modules of torch.nn in a small model: ten steps of training equal to eager's."""
import copy

import pytest
import torch
from torch import nn

import pando.torch


class Block(nn.Module):
    """A transformer's layer with a causal mask."""

    def __init__(self, width=16, heads=4):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        h = self.first(x)
        x = x + self.attention(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.down(nn.functional.gelu(self.up(self.second(x))))


class First(nn.Module):
    """The first output of a recurrent module."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)[0]


IMAGE, ROWS, SEQUENCE, LINE, VOLUME = (4, 3, 8, 8), (4, 12), (4, 6, 16), (4, 3, 16), (2, 3, 4, 6, 6)
MODULES = {
    "linear": (ROWS, lambda: nn.Linear(12, 5)), "bilinear": (ROWS, lambda: Twice(nn.Bilinear(12, 12, 5))),
    "conv1d": (LINE, lambda: nn.Conv1d(3, 4, 3, stride=2, padding=1)), "conv2d": (IMAGE, lambda: nn.Conv2d(3, 6, 3, padding=1, groups=3)),
    "conv2d_dilated": (IMAGE, lambda: nn.Conv2d(3, 4, 3, dilation=2)), "conv3d": (VOLUME, lambda: nn.Conv3d(3, 2, 2)),
    "conv_transpose1d": (LINE, lambda: nn.ConvTranspose1d(3, 4, 3, stride=2)),
    "conv_transpose2d": (IMAGE, lambda: nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1)),
    "batch_norm1d": (ROWS, lambda: nn.BatchNorm1d(12)), "batch_norm2d": (IMAGE, lambda: nn.BatchNorm2d(3)),
    "batch_norm3d": (VOLUME, lambda: nn.BatchNorm3d(3)), "instance_norm": (IMAGE, lambda: nn.InstanceNorm2d(3, affine=True)),
    "group_norm": ((4, 6, 5, 5), lambda: nn.GroupNorm(3, 6)), "layer_norm": (SEQUENCE, lambda: nn.LayerNorm(16)), "rms_norm": (SEQUENCE, lambda: nn.RMSNorm(16)),
    "local_response_norm": (IMAGE, lambda: nn.LocalResponseNorm(2)),
    "max_pool1d": (LINE, lambda: nn.MaxPool1d(2)), "max_pool2d": (IMAGE, lambda: nn.MaxPool2d(3, stride=2, padding=1)),
    "max_pool2d_ceil": (IMAGE, lambda: nn.MaxPool2d(3, stride=2, ceil_mode=True)), "avg_pool1d": (LINE, lambda: nn.AvgPool1d(4)),
    "avg_pool2d": (IMAGE, lambda: nn.AvgPool2d(3, stride=2, padding=1)), "avg_pool2d_inner": (IMAGE, lambda: nn.AvgPool2d(3, 2, 1, count_include_pad=False)),
    "avg_pool3d": (VOLUME, lambda: nn.AvgPool3d(2)), "adaptive_avg_pool1d": (LINE, lambda: nn.AdaptiveAvgPool1d(5)),
    "adaptive_avg_pool2d": (IMAGE, lambda: nn.AdaptiveAvgPool2d((3, 5))), "adaptive_avg_pool2d_1": (IMAGE, lambda: nn.AdaptiveAvgPool2d(1)),
    "lp_pool2d": (IMAGE, lambda: nn.LPPool2d(2, 2)),
    **{name: (ROWS, make) for name, make in [
        ("relu", nn.ReLU), ("relu6", nn.ReLU6), ("elu", nn.ELU), ("selu", nn.SELU), ("celu", nn.CELU), ("gelu", nn.GELU), ("gelu_tanh", lambda: nn.GELU("tanh")),
        ("silu", nn.SiLU), ("mish", nn.Mish), ("sigmoid", nn.Sigmoid), ("tanh", nn.Tanh), ("leaky_relu", nn.LeakyReLU), ("prelu", nn.PReLU),
        ("softplus", nn.Softplus), ("softsign", nn.Softsign), ("tanhshrink", nn.Tanhshrink), ("hardtanh", nn.Hardtanh), ("hardswish", nn.Hardswish),
        ("hardsigmoid", nn.Hardsigmoid), ("hardshrink", nn.Hardshrink), ("softshrink", nn.Softshrink), ("log_sigmoid", nn.LogSigmoid),
        ("threshold", lambda: nn.Threshold(0.1, -1.0)), ("softmax", lambda: nn.Softmax(1)), ("softmin", lambda: nn.Softmin(1)),
        ("log_softmax", lambda: nn.LogSoftmax(1)), ("glu", lambda: nn.GLU(1)), ("identity", nn.Identity), ("flatten", nn.Flatten)]},
    "zero_pad": (IMAGE, lambda: nn.ZeroPad2d((1, 2, 0, 1))), "reflection_pad": (IMAGE, lambda: nn.ReflectionPad2d(2)),
    "replication_pad": (IMAGE, lambda: nn.ReplicationPad2d(1)), "circular_pad": (IMAGE, lambda: nn.CircularPad2d(1)),
    "pixel_shuffle": ((2, 8, 3, 3), lambda: nn.PixelShuffle(2)), "pixel_unshuffle": (IMAGE, lambda: nn.PixelUnshuffle(2)),
    "channel_shuffle": ((2, 8, 3, 3), lambda: nn.ChannelShuffle(2)), "unfold": (IMAGE, lambda: nn.Unfold(3)),
    "upsample_nearest": (IMAGE, lambda: nn.Upsample(scale_factor=2)), "upsample_bilinear": (IMAGE, lambda: nn.Upsample(scale_factor=2, mode="bilinear")),
    "upsample_bicubic": (IMAGE, lambda: nn.Upsample(size=(11, 5), mode="bicubic", align_corners=True)),
    "rnn": (SEQUENCE, lambda: First(nn.RNN(16, 8, batch_first=True))), "lstm": (SEQUENCE, lambda: First(nn.LSTM(16, 8, num_layers=2, batch_first=True))),
    "gru": (SEQUENCE, lambda: First(nn.GRU(16, 8, batch_first=True))), "transformer_block": (SEQUENCE, Block),
    "encoder_layer": (SEQUENCE, lambda: nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)),
    "cosine_similarity": (ROWS, lambda: Twice(nn.CosineSimilarity())), "pairwise_distance": (ROWS, lambda: Twice(nn.PairwiseDistance())),
}


class Twice(nn.Module):
    """A module of two inputs, given one and what it becomes."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x, torch.tanh(x.flip(-1)))


class Model(nn.Module):
    """A module between weights of its own: its gradient is seen whether or not it has some."""

    def __init__(self, shape, inner):
        super().__init__()
        self.scale = nn.Parameter(torch.linspace(0.5, 1.5, shape[-1]))
        self.inner = inner

    def forward(self, x):
        return self.inner(x * self.scale)


def loss(y):
    return (y * torch.cos(torch.arange(y.numel(), dtype=y.dtype)).reshape(y.shape)).mean() + y.square().mean()


def losses(make_step, batches):
    return torch.stack([make_step(x).detach() for x in batches])


@pytest.mark.parametrize("device", ["cpu", "ipu_model"])
@pytest.mark.parametrize("name", MODULES)
def test_ten_steps(name, device):
    shape, make = MODULES[name]
    torch.manual_seed(3)
    model = Model(shape, make())
    twin = copy.deepcopy(model)
    batches = [torch.randn(shape) for _ in range(10)]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def eager(x):
        value = loss(model(x))
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        return value

    step = pando.torch.compile_step(twin, loss, torch.optim.SGD(twin.parameters(), lr=0.05), device=device)
    torch.testing.assert_close(losses(step, batches), losses(eager, batches), rtol=2e-4, atol=1e-5)
    torch.testing.assert_close(twin.state_dict(), model.state_dict(), rtol=1e-3, atol=1e-4)


EMBEDDINGS = {
    "embedding": lambda: nn.Sequential(nn.Embedding(20, 8, padding_idx=3), nn.Linear(8, 4)),
}


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_embeddings(name):
    torch.manual_seed(3)
    model = EMBEDDINGS[name]()
    twin = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    step = pando.torch.compile_step(twin, loss, torch.optim.SGD(twin.parameters(), lr=0.05))
    for _ in range(10):
        x = torch.randint(0, 20, (4, 6))
        expected = loss(model(x))
        optimizer.zero_grad()
        expected.backward()
        optimizer.step()
        torch.testing.assert_close(step(x), expected.detach(), rtol=2e-4, atol=1e-5)


LOSSES = {
    "cross_entropy": (nn.CrossEntropyLoss(label_smoothing=0.1), (6, 5), lambda: torch.randint(0, 5, (6,))),
    "cross_entropy_images": (nn.CrossEntropyLoss(ignore_index=1), (3, 5, 4), lambda: torch.randint(0, 5, (3, 4))),
    "nll": (lambda y, t: nn.functional.nll_loss(nn.functional.log_softmax(y, 1), t), (6, 5), lambda: torch.randint(0, 5, (6,))),
    "mse": (nn.MSELoss(), (6, 5), lambda: torch.randn(6, 5)), "l1": (nn.L1Loss(), (6, 5), lambda: torch.randn(6, 5)),
    "smooth_l1": (nn.SmoothL1Loss(), (6, 5), lambda: torch.randn(6, 5)), "huber": (nn.HuberLoss(), (6, 5), lambda: torch.randn(6, 5)),
    "bce": (lambda y, t: nn.functional.binary_cross_entropy(torch.sigmoid(y), t), (6, 5), lambda: torch.rand(6, 5)),
    "bce_logits": (nn.BCEWithLogitsLoss(), (6, 5), lambda: torch.rand(6, 5)),
    "kl_div": (lambda y, t: nn.functional.kl_div(nn.functional.log_softmax(y, 1), t, reduction="batchmean"), (6, 5), lambda: torch.softmax(torch.randn(6, 5), 1)),
    "poisson": (nn.PoissonNLLLoss(), (6, 5), lambda: torch.rand(6, 5)), "soft_margin": (nn.SoftMarginLoss(), (6, 5), lambda: torch.randn(6, 5).sign()),
    "hinge_embedding": (nn.HingeEmbeddingLoss(), (6, 5), lambda: torch.randn(6, 5).sign()),
    "multi_label_soft_margin": (nn.MultiLabelSoftMarginLoss(), (6, 5), lambda: torch.randint(0, 2, (6, 5)).float()),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name):
    function, shape, targets = LOSSES[name]
    torch.manual_seed(3)
    model = Model(shape, nn.Identity())
    twin = copy.deepcopy(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    step = pando.torch.compile_step(twin, function, torch.optim.Adam(twin.parameters(), lr=0.05))
    for _ in range(10):
        x, t = torch.randn(shape), targets()
        expected = function(model(x), t)
        optimizer.zero_grad()
        expected.backward()
        optimizer.step()
        torch.testing.assert_close(step(x, t), expected.detach(), rtol=2e-4, atol=1e-5)


def test_gradients_of_pandos_autodiff_and_of_autograd_agree():
    """The same network, differentiated by PyTorch and imported, and imported forward and differentiated by Pando."""
    import popxl
    import popxl.ops as ops
    import popxl.transforms as transforms

    from pando.torch import adapter
    from pando.torch.decompositions import decompositions
    from pando.torch.importer import Importer

    torch.manual_seed(3)
    x, w, b = torch.randn(5, 8), torch.randn(8, 6), torch.randn(6)

    def forward(x, w, b):
        return [torch.nn.functional.gelu(x @ w + b).softmax(1).square().sum()]

    graph = adapter.trace(forward, [x, w, b], decompositions())
    ir = popxl.Ir()
    with ir.main_graph:
        inputs = [popxl.variable(t.numpy()) for t in (x, w, b)]
        inner = ir.create_graph(lambda x, w, b: Importer().run(graph, [x, w, b]), *inputs)
        gradient = transforms.autodiff(inner)
        call = ops.call_with_info(inner, *inputs)
        gradients = ops.call(gradient.graph, popxl.constant(1.0), inputs_dict=gradient.inputs_dict(call))
        streams = [popxl.d2h_stream(g.shape, g.dtype) for g in gradients]
        for stream, g in zip(streams, gradients):
            ops.host_store(stream, g)
    with popxl.Session(ir, "cpu") as session:
        results = session.run()
    leaves = [t.clone().requires_grad_() for t in (x, w, b)]
    forward(*leaves)[0].backward()
    for stream, leaf in zip(streams, leaves):
        torch.testing.assert_close(torch.from_numpy(results[stream]), leaf.grad, rtol=1e-4, atol=1e-5)

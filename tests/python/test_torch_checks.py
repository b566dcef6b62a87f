"""What a model asserts of its numbers, and masks of encoders in graphs of torch.compile.

PYTEST_DONT_REWRITE: a statement of a model stays as it is.
"""
import pytest

torch = pytest.importorskip("torch")

import pando.torch  # noqa: E402

F = torch.nn.functional


def asserted(x):
    torch._assert_async((x > 0).all(), "only positive numbers")
    return x * 2


def asserted_without_words(x):
    torch._assert_async((x > 0).all())
    return x * 2


def plainly(x):
    assert (x > 0).all(), "only positive numbers"
    return x * 2


# (function, what holds, what does not, the message's beginning)
CHECKS = {
    "assert_async": (asserted, torch.ones(3), torch.tensor([1.0, -1.0, 1.0]), "only positive numbers"),
    "without_words": (asserted_without_words, torch.ones(3), torch.tensor([1.0, -1.0, 1.0]), "An assertion of the model does not hold"),
    "assert": (plainly, torch.ones(3), -torch.ones(3), "only positive numbers"),
    "one_hot": (lambda x: x * F.one_hot((x * 2).long(), 3).sum(1), torch.ones(3), torch.tensor([1.0, 1.5, 1.0]), "one_hot: Class values"),
    "inv": (torch.linalg.inv, torch.eye(3), torch.ones(3, 3), "linalg.inv: a matrix cannot be factored"),
    "cholesky": (torch.linalg.cholesky, torch.eye(3), -torch.eye(3), "linalg.cholesky: a matrix cannot be factored"),
}


@pytest.mark.parametrize("gradient", [False, True], ids=["forward", "gradient"])
@pytest.mark.parametrize("name", CHECKS)
def test_what_a_graph_asserts_is_looked_at(name, gradient):
    torch._dynamo.reset()
    function, holds, fails, message = CHECKS[name]
    weight = torch.ones(3, requires_grad=gradient)
    compiled = torch.compile(lambda x: function(x * weight), backend="pando")
    torch.testing.assert_close(compiled(holds), function(holds * weight))
    with pytest.raises(torch.linalg.LinAlgError if "linalg" in message else RuntimeError, match=f"^{message}.*{__file__}") as raised:
        compiled(fails)
    assert "The check runs after the program." in str(raised.value)
    torch.testing.assert_close(compiled(holds), function(holds * weight))


@pytest.mark.parametrize("device", ["cpu", "ipu_model"])
def test_a_step_looks_at_each_micro_batch(device):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(3))

        def forward(self, x):
            y = asserted(x * self.weight)
            torch._assert_async(y.sum() < 100, "a small sum")
            return y.sum()

    model = Model()
    step = pando.torch.compile_step(model, None, torch.optim.SGD(model.parameters(), lr=0.01), steps_per_call=3, device=device)
    torch.testing.assert_close(step(torch.ones(3, 3)), torch.tensor([6.0, 5.88, 5.76]))
    with pytest.raises(RuntimeError, match="^only positive numbers"):
        step(torch.tensor([[1.0] * 3, [1.0, 0.0, 1.0], [1.0] * 3]))
    with pytest.raises(RuntimeError, match="^a small sum"):
        step(torch.tensor([[1.0] * 3, [1.0] * 3, [100.0] * 3]))


LAYERS = {
    "encoder": lambda: torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), 2),
    "decoder": lambda: torch.nn.TransformerDecoder(torch.nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0, batch_first=True), 2),
}


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("kind", ["causal", "bool", "padding", "both"])
@pytest.mark.parametrize("name", LAYERS)
def test_layers_with_masks_are_one_graph(name, kind, training):
    torch._dynamo.reset()
    torch.manual_seed(2)
    layers, x = LAYERS[name]().train(training), torch.randn(2, 5, 8)
    causal = torch.nn.Transformer.generate_square_subsequent_mask(5)
    masks = {"causal": causal, "bool": causal.isinf(), "both": causal.isinf()}
    given = {("mask" if name == "encoder" else "tgt_mask"): masks[kind]} if kind in masks else {}
    if kind in ("padding", "both"):
        given[("src" if name == "encoder" else "tgt") + "_key_padding_mask"] = torch.tensor([[0, 0, 0, 0, 1], [0] * 5]).bool()
    more = () if name == "encoder" else (x.flip(1),)
    # fullgraph: an error where a graph ends early.
    y = torch.compile(layers, backend="pando", fullgraph=True)(x, *more, **given)
    torch.testing.assert_close(y, layers(x, *more, **given), rtol=1e-4, atol=1e-5)

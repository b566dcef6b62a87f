"""What programs of PyTorch that people have do beside layers: masks of attention, indices out of range, sparse matrices, places in memory, checks."""
import copy

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

import pando.torch  # noqa: E402
import poptorch  # noqa: E402
from pando.torch import adapter  # noqa: E402
from pando.torch.decompositions import decompositions  # noqa: E402
from pando.torch.program import Program  # noqa: E402


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)
    torch._dynamo.reset()


# --- attention

CAUSAL = torch.nn.Transformer.generate_square_subsequent_mask(5)
PADDED = torch.tensor([[False] * 5, [False] * 3 + [True] * 2, [False] * 4 + [True]])
MASKS = {"none": {}, "causal": {"mask": CAUSAL}, "padding": {"src_key_padding_mask": PADDED},
         "both": {"mask": CAUSAL.isinf(), "src_key_padding_mask": PADDED}}


@pytest.mark.parametrize("training", [False, True], ids=["evaluation", "training"])
@pytest.mark.parametrize("masks", MASKS)
def test_an_encoder_takes_masks(masks, training):
    layer = torch.nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 2).train(training)
    x, kept = torch.randn(3, 5, 16), ~PADDED if "src_key_padding_mask" in MASKS[masks] else torch.ones(3, 5, dtype=torch.bool)
    expected = model(x, **MASKS[masks])[kept]
    with torch.no_grad():
        torch.testing.assert_close(poptorch.inferenceModel(copy.deepcopy(model))(x, **MASKS[masks])[kept], expected.detach())

    class Masked(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = copy.deepcopy(model)

        def forward(self, x):
            return self.encoder(x, **MASKS[masks])[kept].square().mean()

    twin = Masked().train(training)
    step = pando.torch.compile_step(twin, None, torch.optim.SGD(twin.parameters(), lr=0.1))
    torch.testing.assert_close(step(x), expected.square().mean().detach())


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("masks", ["none", "padding"])
def test_layers_that_pytorch_has_as_one_op(norm_first, activation, masks):
    layer = torch.nn.TransformerEncoderLayer(16, 4, 32, activation=activation, batch_first=True, norm_first=norm_first).eval()
    x = torch.randn(3, 5, 16)
    with torch.no_grad():
        kept = ~PADDED
        torch.testing.assert_close(torch.compile(layer, backend="pando")(x, **MASKS[masks])[kept], layer(x, **MASKS[masks])[kept])


@pytest.mark.parametrize("options", [{}, {"average_attn_weights": False}, {"need_weights": False}, {"key_padding_mask": PADDED}], ids=str)
def test_attention_that_pytorch_has_as_one_op(options):
    attention, x = torch.nn.MultiheadAttention(16, 4, batch_first=True).eval(), torch.randn(3, 5, 16)
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(attention, backend="pando")(x, x, x, **options), attention(x, x, x, **options))


# --- indices

class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.linear = torch.nn.Embedding(7, 4), torch.nn.Linear(4, 3)

    def forward(self, tokens, labels):
        scores = self.linear(self.embedding(tokens)).transpose(1, 2)
        return F.cross_entropy(scores, labels), scores


TOKENS, LABELS = torch.tensor([[1, 2], [0, 6]]), torch.tensor([[0, -100], [2, 1]])


def ways_in(model):
    """{name: a function of inputs that gives the loss}"""
    compiled = torch.compile(copy.deepcopy(model), backend="pando")
    twin = copy.deepcopy(model)
    step = pando.torch.compile_step(twin, None, torch.optim.SGD(twin.parameters(), lr=0.1))
    training = poptorch.trainingModel(copy.deepcopy(model))
    return {"compiled": lambda *inputs: compiled(*inputs)[0], "step": lambda *inputs: step(inputs), "poptorch": lambda *inputs: training(*inputs)[0]}


@pytest.mark.parametrize("way", ["compiled", "step", "poptorch"])
def test_indices_out_of_range_are_errors_with_the_line(way):
    model = Classifier()
    run = ways_in(model)[way]
    torch.testing.assert_close(run(TOKENS, LABELS).detach().reshape(()), model(TOKENS, LABELS)[0].detach())
    with pytest.raises(IndexError, match=r"has 7 at \(1, 1\), and aten.embedding.default takes from 0 to 6.*test_torch_programs.py:\d+: scores = "):
        run(TOKENS + torch.tensor([[0, 0], [0, 1]]), LABELS)
    with pytest.raises(IndexError, match=r"has -1 at \(0, 0\), and aten.gather.default takes from 0 to 2.*test_torch_programs.py:\d+: return F.cross_entropy"):
        run(TOKENS, LABELS - torch.tensor([[1, 0], [0, 0]]))


def test_indices_of_a_tensor_count_from_its_end_too():
    model = torch.compile(lambda x, i: x[i], backend="pando")
    x = torch.randn(4, 3)
    assert torch.equal(model(x, torch.tensor([-4, 3])), x[[0, 3]])
    with pytest.raises(IndexError, match=r"has -5 at \(0,\), and aten.index.Tensor takes from -4 to 3"):
        model(x, torch.tensor([-5, 3]))


def test_what_a_model_makes_of_indices_is_not_looked_at():
    model = torch.compile(lambda x, i: x[i.clamp(0, 3)], backend="pando")
    x = torch.randn(4, 3)
    assert torch.equal(model(x, torch.tensor([-9, 9])), x[[0, 3]])


def test_classes_as_bits():
    scores = torch.randn(5, 3)
    model = torch.compile(lambda x: F.one_hot(x.argmax(1), 3) * x, backend="pando")
    torch.testing.assert_close(model(scores), F.one_hot(scores.argmax(1), 3) * scores)


# --- layouts

@pytest.mark.parametrize("layout", ["to_sparse", "to_sparse_csr"])
def test_sparse_tensors_are_rejected_with_what_would_do(layout):
    matrix = getattr(torch.eye(5), layout)()

    class Propagation(torch.nn.Module):
        def __init__(self, as_buffer):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)
            if as_buffer:
                self.register_buffer("matrix", matrix)
            else:
                self.matrix = matrix

        def forward(self, x):
            return self.matrix @ self.linear(x)

    for as_buffer in (True, False):
        with pytest.raises(poptorch.Error, match=r"shape \(5, 5\) has the layout torch.sparse_.*to_dense\(\)"):
            poptorch.inferenceModel(Propagation(as_buffer))(torch.randn(5, 4))
        model = Propagation(as_buffer)
        with pytest.raises(NotImplementedError, match=r"index_add\(0, rows, values"):
            pando.torch.compile_step(model, lambda y: y.sum(), torch.optim.SGD(model.parameters(), lr=0.1))(torch.randn(5, 4))


STRIDED = {
    "a transposed tensor": lambda x: torch.as_strided(x.t(), (2, 2), (1, 2)),
    "behind the first row": lambda x: torch.as_strided(x[1:], (2, 2), (1, 2)),
    "beside a view": lambda x: torch.as_strided(x[1:], (2, 2), (1, 2), 0),
    "of a view with gaps": lambda x: torch.as_strided(x[:, ::2], (2, 2), (1, 2), 1),
    "of a result": lambda x: torch.as_strided((x * 2).t(), (3,), (4,)),
    "windows": lambda x: x.reshape(-1).as_strided((5, 4), (2, 1)),
}


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("name", STRIDED)
def test_places_in_memory(name, transposed):
    x = torch.randn(4, 3).t() if transposed else torch.randn(3, 4)
    function = lambda x: [STRIDED[name](x)]  # noqa: E731
    expected = function(x)
    torch.testing.assert_close(Program(adapter.trace(function, [x], decompositions()), "cpu")([x]), expected)
    torch.testing.assert_close(torch.compile(function, backend="pando")(x), expected)


def test_places_beside_an_input_are_rejected():
    x = torch.randn(3, 4)[1:]
    with pytest.raises(NotImplementedError, match=r"aten.as_strided.default reads elements beside its tensor of the shape \(2, 4\)"):
        adapter.trace(lambda x: [torch.as_strided(x, (2, 2), (1, 2), 0)], [x], decompositions())


# --- functions of functions, and what cannot be traced

def test_gradients_of_each_sample():
    activations = (torch.nn.ReLU(), torch.nn.GELU(), torch.nn.GELU("tanh"), torch.nn.SiLU(), torch.nn.Sigmoid(), torch.nn.Tanh())
    x = torch.randn(4, 6)
    for activation in activations:
        model = torch.nn.Sequential(torch.nn.Linear(6, 8), activation, torch.nn.Linear(8, 3))
        function = lambda x: torch.func.vmap(torch.func.jacrev(model))(x)  # noqa: E731, B023
        torch._dynamo.reset()
        torch.testing.assert_close(torch.compile(function, backend="pando")(x), function(x))


def test_arrays_of_numpy_are_rejected_with_the_line():

    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(6, 3)

        def forward(self, x):
            y = self.linear(x)
            return y * float(y.detach().numpy().sum())

    with pytest.raises(poptorch.Error, match=r"array of NumPy.*test_torch_programs.py:\d+: return y \* float"):
        poptorch.inferenceModel(Counting())(torch.randn(2, 6))


@pytest.mark.parametrize("name", ["SGD", "NAdam", "RAdam", "Adamax", "Adadelta", "ASGD", "Rprop"])
def test_an_update_is_traced_once(name, monkeypatch):
    model, optimizer = torch.nn.Linear(6, 3), getattr(torch.optim, name)
    twin, calls = copy.deepcopy(model), []
    optimizers = [optimizer(m.parameters(), lr=0.05) for m in (model, twin)]
    update = adapter.update
    monkeypatch.setattr(adapter, "update", lambda given: (calls.append(given), update(given)))
    step = pando.torch.compile_step(twin, F.mse_loss, optimizers[1])
    schedulers = [torch.optim.lr_scheduler.StepLR(o, 2, 0.5) for o in optimizers] if name == "SGD" else []
    for _ in range(4):
        x, y = torch.randn(4, 6), torch.randn(4, 3)
        optimizers[0].zero_grad()
        expected = F.mse_loss(model(x), y)
        expected.backward()
        optimizers[0].step()
        torch.testing.assert_close(step(x, y), expected.detach())
        for scheduler in schedulers:
            scheduler.step()
    torch.testing.assert_close(twin.state_dict(), model.state_dict())
    assert len(calls) == 1

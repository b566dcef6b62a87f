"""Tensors of all replicas in models of PyTorch (pando.torch.collectives), against the same model on the CPU with the replicas one after another."""
import pytest

torch = pytest.importorskip("torch")

import poptorch  # noqa: E402
from pando.torch import collectives  # noqa: E402

REPLICAS = 4


# name: (what the program calls, what replica r has of the tensors of all)
OPS = {
    "all_gather": (lambda x: collectives.all_gather(x, REPLICAS), lambda xs, r: torch.stack(xs)),
    "all_reduce": (lambda x: collectives.all_reduce(x), lambda xs, r: torch.stack(xs).sum(0)),
    "reduce_scatter": (lambda x: collectives.reduce_scatter(x, REPLICAS), lambda xs, r: torch.stack(xs).sum(0)[r]),
    "all_to_all": (lambda x: collectives.all_to_all(x, REPLICAS), lambda xs, r: torch.stack([x[r] for x in xs])),
    "own_part": (lambda x: collectives.own_part(x, REPLICAS), lambda xs, r: xs[r][r]),
}


class Model(torch.nn.Module):
    def __init__(self, exchange, train=False):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(0.5, 1.5, 3))
        self.exchange, self.train_it = exchange, train

    def forward(self, x, factor):
        y = self.exchange(x[0] * self.weight)
        y = y * factor.reshape([])  # the replicas' gradients differ
        return (y[None], poptorch.identity_loss((y * y).sum(), "sum")) if self.train_it else y[None]


def inputs():
    torch.manual_seed(3)
    return torch.randn(REPLICAS, REPLICAS, 3), torch.arange(1.0, REPLICAS + 1)


def on_cpu(expected, x, factor):
    weight = torch.linspace(0.5, 1.5, 3, requires_grad=True)
    parts = [x[r] * weight for r in range(REPLICAS)]
    made = [expected(parts, r) * factor[r] for r in range(REPLICAS)]
    sum((y * y).sum() for y in made).backward()
    return torch.stack(made).detach(), weight.grad


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("tiles", [False, True])
def test_each_replica_has_what_the_others_sent(name, tiles):
    called, expected = OPS[name]
    options = poptorch.Options().replicationFactor(REPLICAS).outputMode(poptorch.OutputMode.All).useIpuModel(tiles)
    x, factor = inputs()
    torch.testing.assert_close(poptorch.inferenceModel(Model(called), options)(x, factor), on_cpu(expected, x, factor)[0])


@pytest.mark.parametrize("name", [n for n in OPS if n != "own_part"])
def test_gradients_cross_the_replicas(name):
    called, expected = OPS[name]
    options = poptorch.Options().replicationFactor(REPLICAS).outputMode(poptorch.OutputMode.All)
    options.Training.accumulationAndReplicationReductionType(poptorch.ReductionType.Sum)
    x, factor = inputs()
    model = Model(called, train=True)
    training = poptorch.trainingModel(model, options, optimizer=torch.optim.SGD(model.parameters(), lr=0.01))
    made = training(x, factor)[0]
    wanted, gradient = on_cpu(expected, x, factor)
    torch.testing.assert_close(made, wanted)
    training.copyWeightsToHost()
    torch.testing.assert_close(model.weight.detach().as_subclass(torch.Tensor), torch.linspace(0.5, 1.5, 3) - 0.01 * gradient, rtol=1e-4, atol=1e-5)


def test_operations_of_popart_need_no_registration():
    def exchange(x):
        y, = poptorch.custom_op([x], "ReplicatedAllGather", "ai.graphcore", 1, example_outputs=[torch.zeros(REPLICAS, *x.shape)])
        return poptorch.custom_op([y], "ReplicatedAllReduce", "ai.graphcore", 1, example_outputs=[y])[0]

    options = poptorch.Options().replicationFactor(REPLICAS).outputMode(poptorch.OutputMode.All)
    x, factor = inputs()
    made = poptorch.inferenceModel(Model(exchange), options)(x, factor)
    torch.testing.assert_close(made, on_cpu(lambda xs, r: torch.stack(xs) * REPLICAS, x, factor)[0])


def test_what_does_not_go_is_said():
    x, factor = inputs()
    with pytest.raises(RuntimeError, match="collectives.all_reduce: replicas exchange tensors in a compiled program"):
        collectives.all_reduce(x)
    with pytest.raises(ValueError, match="a first dimension that 3 divides"):
        collectives.all_to_all(x, 3)
    with pytest.raises(ValueError, match="a first dimension of 5 is expected; the shape is \\(4, 4, 3\\)"):
        collectives.reduce_scatter(x, 5)
    with pytest.raises(ValueError, match="op is one of add, mean"):
        collectives.all_reduce(x, "xor")
    with pytest.raises(TypeError, match="not list"):
        collectives.all_gather([x], 2)
    with pytest.raises(ValueError, match="replicas is a number of at least 1, not 0"):
        collectives.all_gather(x, 0)
    options = poptorch.Options().replicationFactor(2)
    with pytest.raises(ValueError, match="replicas=4; the program has 2"):
        poptorch.inferenceModel(Model(OPS["all_gather"][0]), options)(x[:2], factor[:2])
    with pytest.raises(poptorch.Error, match="one input, one output and no attributes are expected"):
        poptorch.inferenceModel(Model(lambda t: poptorch.custom_op([t], "ReplicatedAllReduce", "ai.graphcore", 1, [t], {"op": "max"})[0]), options)(x[:2], factor[:2])
    model = Model(lambda t: collectives.all_reduce(t, "max"), train=True)
    with pytest.raises(poptorch.Error, match="op='max' has no gradient"):
        poptorch.trainingModel(model, options, optimizer=torch.optim.SGD(model.parameters(), lr=0.01))(x[:2], factor[:2])

"""What PopTorch programs say of devices: blocks, stages, phases, overlapped transfers, weights that differ between replicas."""
import copy
import pickle

import pytest

torch = pytest.importorskip("torch")

import poptorch  # noqa: E402


class Layers(torch.nn.Module):
    """Three layers; `scoped`: in scopes of blocks; `behind`: with an op after the last scope."""

    def __init__(self, scoped=False, behind=False):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(3))
        self._scoped, self._behind = scoped, behind

    def forward(self, x, target=None):
        for i, layer in enumerate(self.layers):
            if self._scoped:
                with poptorch.Block(f"B{i}", ipu_id=i):
                    x = torch.relu(layer(x))
                    loss = None if target is None or i < 2 else torch.nn.functional.mse_loss(x, target)
            else:
                x = torch.relu(layer(x))
                loss = None if target is None else torch.nn.functional.mse_loss(x, target)
        if self._behind:
            x = x + 1
        return x if target is None else (x, loss)


def strategies():
    stages = [poptorch.Stage("B0"), poptorch.Stage("B1"), poptorch.Stage("B2")]
    yield poptorch.PipelinedExecution(*stages)
    yield poptorch.PipelinedExecution(poptorch.AutoStage.AutoIncrement)
    yield poptorch.ShardedExecution("B0", ["B1", "B2"])
    yield poptorch.SerialPhasedExecution("B0", "B1", ["B2"])
    yield poptorch.ParallelPhasedExecution(poptorch.Phase("B0"), poptorch.Phase("B1").ipus(1), poptorch.Phase("B2"))


@pytest.mark.parametrize("strategy", strategies(), ids=lambda s: type(s).__name__)
def test_a_model_in_blocks_trains_as_eager(strategy):
    torch.manual_seed(0)
    model = Layers(scoped=True)
    eager = copy.deepcopy(model)
    options = poptorch.Options().setExecutionStrategy(strategy)
    options.Training.gradientAccumulation(6)
    off_chip = poptorch.TensorLocationSettings().useOnChipStorage(False).useReplicatedTensorSharding(True)
    options.TensorLocations.setOptimizerLocation(off_chip).setWeightLocation(off_chip).setActivationLocation(off_chip).setAccumulatorLocation(off_chip)
    training = poptorch.trainingModel(model, options, poptorch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
    optimizer = torch.optim.SGD(eager.parameters(), lr=0.1, momentum=0.9)
    x, target = torch.randn(12, 8), torch.randn(12, 8)
    for _ in range(3):
        training(x, target)
        optimizer.zero_grad()
        eager(x, target)[1].backward()
        optimizer.step()
    for a, b in zip(model.parameters(), eager.parameters()):
        torch.testing.assert_close(a.detach(), b.detach())


def test_blocks_that_do_not_fit_a_strategy_are_an_error():
    with pytest.raises(poptorch.Error, match="No active Block: add is called after"):
        poptorch.inferenceModel(Layers(scoped=True, behind=True), poptorch.Options().deviceIterations(3))(torch.randn(3, 8))
    options = poptorch.Options().setExecutionStrategy(poptorch.ShardedExecution("B0", "B1"))
    with pytest.raises(AssertionError, match="Unknown block 'B2'"):
        poptorch.inferenceModel(Layers(scoped=True), options)(torch.randn(3, 8))
    with pytest.raises(AssertionError, match="'a' is in two stages"):
        poptorch.SerialPhasedExecution("a", ["b", "a"])
    with pytest.raises(AssertionError, match="no automatic form"):
        poptorch.ParallelPhasedExecution(poptorch.AutoStage.SameAsIpu)
    with pytest.raises(AssertionError, match="there are 1"):
        poptorch.SerialPhasedExecution("a").phase(1)


def test_a_module_shows_its_blocks():
    model = Layers()
    assert poptorch.module_repr(model) == repr(model)
    poptorch.BeginBlock(model.layers[1], "second", ipu_id=1)
    for m in (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert "(1): BeginBlock(user_id=second, ipu_id=1) Linear(in_features=8" in poptorch.module_repr(m)
        assert repr(poptorch.inferenceModel(m)) == poptorch.module_repr(m)
    poptorch.removeBlocks(model)
    assert "BeginBlock" not in poptorch.module_repr(model)


class Overlapped(torch.nn.Module):
    """forward is a function of an input and of the two marks."""

    def __init__(self, function):
        super().__init__()
        self._function = function

    def forward(self, x):
        mode = poptorch.OverlapMode.OverlapAccumulationLoop
        return self._function(x, lambda t: poptorch.set_overlap_for_input(t, mode), lambda t: poptorch.set_overlap_for_output(t, mode))


def _twice(x, mark_in, mark_out):
    y = mark_out(x + 1)
    return y, y


@pytest.mark.parametrize("function, message", [
    (lambda x, i, o: (x + 1, i(x)), "must be the only op applied to an input. This is not the case for input 0"),
    (lambda x, i, o: i(x + 1), "set_overlap_for_input applied on a node which is not a tensor input"),
    (lambda x, i, o: o(x) + 1, "set_overlap_for_output applied on a node which is not a tensor output"),
    (_twice, "is returned twice")], ids=["used", "no input", "no output", "twice"])
def test_overlapped_transfers_are_of_inputs_and_outputs(function, message):
    options = poptorch.Options().setExecutionStrategy(poptorch.ShardedExecution())
    options.TensorLocations.numIOTiles(32)
    with pytest.raises(poptorch.Error, match=message):
        poptorch.inferenceModel(Overlapped(function), options)(torch.ones(2))


def test_overlapped_transfers_need_tiles_and_no_pipeline():
    model = Overlapped(lambda x, i, o: o(i(x) * 2))
    with pytest.raises(poptorch.Error, match="not supported with poptorch.PipelinedExecution"):
        poptorch.inferenceModel(model)(torch.ones(2))
    options = poptorch.Options().setExecutionStrategy(poptorch.ShardedExecution())
    with pytest.raises(poptorch.Error, match="No IO tiles allocated"):
        poptorch.inferenceModel(model, options)(torch.ones(2))
    options = options.clone()
    options.TensorLocations.numIOTiles(32)
    with pytest.raises(poptorch.Error, match="OutputMode.All or OutputMode.Sum, not Final"):
        poptorch.inferenceModel(model, options.clone().outputMode(poptorch.OutputMode.Final))(torch.ones(2))
    assert poptorch.inferenceModel(model, options)(torch.ones(2)).tolist() == [2, 2]


class Product(torch.nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = torch.nn.Parameter(weight)

    def forward(self, x):
        y = x @ self.weight
        return y, poptorch.identity_loss(y**2, "mean")


@pytest.mark.parametrize("kind", [torch.optim.SGD, poptorch.optim.AdamW])
def test_groups_of_replicas_have_weights_of_their_own(kind):
    """Four replicas: two columns of the weight by two halves of the data."""
    torch.manual_seed(0)
    x, weight = torch.randn(2, 3, 5), torch.randn(5, 4)
    model = Product(torch.stack(weight.split(2, 1)))
    optimizer = kind(model.parameters(), lr=0.1)
    options = poptorch.Options().replicationFactor(4).inputReplicaGrouping(2, poptorch.CommGroupType.Consecutive).outputMode(poptorch.OutputMode.All)
    training = poptorch.trainingModel(model, options, optimizer)
    training.weight.replicaGrouping(poptorch.CommGroupType.Orthogonal, 2, poptorch.VariableRetrievalMode.OnePerGroup)
    whole = torch.nn.Parameter(weight)
    eager = (torch.optim.SGD if kind is torch.optim.SGD else torch.optim.AdamW)([whole], lr=0.1)
    for _ in range(3):
        training(x)
        eager.zero_grad()
        ((x @ whole)**2).mean().backward()
        eager.step()
    torch.testing.assert_close(torch.cat(list(model.weight.detach()), 1), whole.detach(), atol=1e-4, rtol=1e-4)
    with pytest.raises(poptorch.Error, match="already compiled"):
        training.weight.replicaGrouping(poptorch.CommGroupType.All, 0, poptorch.VariableRetrievalMode.OnePerGroup)


def test_inference_has_groups_of_replicas_too():
    options = poptorch.Options().replicationFactor(2)
    model = Product(torch.stack([torch.eye(3), 2 * torch.eye(3)]))
    inference = poptorch.inferenceModel(model, options)
    with pytest.raises(poptorch.Error, match="groups of 3 replicas do not divide the 2"):
        inference.weight.replicaGrouping(poptorch.CommGroupType.Consecutive, 3, poptorch.VariableRetrievalMode.OnePerGroup)
    inference.weight.replicaGrouping(poptorch.CommGroupType.NoGrouping, 0, poptorch.VariableRetrievalMode.OnePerGroup)
    x = torch.arange(6.).reshape(2, 3)
    assert torch.equal(inference(x)[0], x * torch.tensor([[1.], [2.]]))


def test_samplers_may_hand_their_data_on():
    class Odd(torch.utils.data.Sampler):
        def __init__(self, count):
            super().__init__(None)
            self._count = count

        def __iter__(self):
            return iter([[i] for i in range(1, self._count, 2)])

        def __len__(self):
            return self._count // 2

    data = torch.utils.data.TensorDataset(torch.arange(8))
    loader = poptorch.DataLoader(poptorch.Options().deviceIterations(2), data, batch_sampler=Odd(8))
    assert [batch[0].tolist() for batch in loader] == [[1, 3], [5, 7]]


def test_a_model_may_ask_for_a_parameter_by_name():
    class Named(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_parameter("scale", torch.nn.Parameter(torch.tensor([3.0])))

        def forward(self, x):
            assert isinstance(self.scale, torch.nn.Parameter)
            y = x * self.get_parameter("scale")
            return y, poptorch.identity_loss(y, "sum")

    model = Named()
    poptorch.trainingModel(model)(torch.ones(1))
    torch.testing.assert_close(model.scale.detach(), torch.tensor([2.99]))
    assert poptorch.inferenceModel(Named())(torch.ones(1))[0].item() == 3

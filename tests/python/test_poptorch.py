"""poptorch where torch is installed. `./x conformance poptorch` runs PopTorch's own tests."""
import pytest

torch = pytest.importorskip("torch")

import poptorch  # noqa: E402


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(10, 4)

    def forward(self, x, target=None):
        y = self.linear(x)
        return y if target is None else (y, torch.nn.functional.mse_loss(y, target))


@pytest.fixture
def model():
    torch.manual_seed(1)
    return Model()


@pytest.mark.parametrize("mode, period, rows", [("All", None, range(12)), ("EveryN", 2, [2, 3, 6, 7, 10, 11]), ("Final", None, [10, 11])])
def test_output_modes(model, mode, period, rows):
    options = poptorch.Options().deviceIterations(6).outputMode(poptorch.OutputMode[mode], period)
    x = torch.randn(12, 10)
    torch.testing.assert_close(poptorch.inferenceModel(model, options)(x), model(x)[list(rows)].detach())


def test_the_output_mode_sum(model):
    options = poptorch.Options().deviceIterations(6).outputMode(poptorch.OutputMode.Sum)
    x = torch.randn(12, 10)
    torch.testing.assert_close(poptorch.inferenceModel(model, options)(x), model(x).detach().reshape(6, 2, 4).sum(0))


def test_replicas_and_their_input_groups(model):
    x = torch.randn(4, 10)
    options = poptorch.Options().replicationFactor(2)
    torch.testing.assert_close(poptorch.inferenceModel(model, options)(x), model(x).detach())
    options = poptorch.Options().replicationFactor(4).inputReplicaGrouping(2, poptorch.CommGroupType.Consecutive)
    torch.testing.assert_close(poptorch.inferenceModel(model, options)(x), model(x).detach()[[0, 1, 0, 1, 2, 3, 2, 3]])


def test_accumulation_and_replicas_take_the_mean_or_the_sum(model):
    import copy

    x, target = torch.randn(12, 10), torch.randn(12, 4)
    twin, third = copy.deepcopy(model), copy.deepcopy(model)
    whole = poptorch.trainingModel(model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1))
    options = poptorch.Options().replicationFactor(2)
    options.Training.gradientAccumulation(3)
    parts = poptorch.trainingModel(twin, options, torch.optim.SGD(twin.parameters(), lr=0.1))
    summed = poptorch.Options().replicationFactor(2)
    summed.Training.gradientAccumulation(3).accumulationAndReplicationReductionType(poptorch.ReductionType.Sum)
    sums = poptorch.trainingModel(third, summed, torch.optim.SGD(third.parameters(), lr=0.1 / 6))
    for m in (whole, parts, sums):
        m(x, target)
    for other in (twin, third):
        torch.testing.assert_close(other.linear.weight, model.linear.weight, check_dtype=False)
        torch.testing.assert_close(other.linear.bias, model.linear.bias)


def test_weights_are_read_once_after_a_run(model):
    training = poptorch.trainingModel(model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1))
    before = model.linear.weight.clone()
    copies, original = [], training.copyWeightsToHost
    training.copyWeightsToHost = lambda: (copies.append(1), original())
    training(torch.randn(4, 10), torch.randn(4, 4))
    assert not copies
    assert not torch.equal(model.linear.weight, before) and model.linear.bias.sum() is not None and len(copies) == 1
    training(torch.randn(4, 10), torch.randn(4, 4))
    assert all(type(t) is torch.Tensor for t in model.state_dict().values()) and len(copies) == 2


def test_inference_takes_what_training_has_learnt(model):
    inference = poptorch.inferenceModel(model)
    training = poptorch.trainingModel(model, optimizer=torch.optim.SGD(model.parameters(), lr=0.5))
    x = torch.randn(4, 10)
    before = inference(x)
    training(x, torch.randn(4, 4))
    after = inference(x)
    assert not torch.allclose(before, after)
    torch.testing.assert_close(after, model(x).detach())
    training.destroy()
    assert type(model.linear.weight) is torch.nn.Parameter


def test_an_optimizer_that_changes_counts_from_the_next_call(model):
    optimizer = poptorch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    training = poptorch.trainingModel(model, optimizer=optimizer)
    x, target = torch.randn(4, 10), torch.randn(4, 4)
    training(x, target)
    before = model.linear.weight.clone()
    optimizer.param_groups[0]["lr"] = 0.0
    training.setOptimizer(optimizer)
    training(x, target)
    assert torch.equal(model.linear.weight, before)


def test_buffers_and_inputs_change_in_place():
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x):
            self.count += 1
            x += 1
            return self.count + 0

    counter = poptorch.inferenceModel(Counter())
    x = torch.zeros(3)
    assert [counter(x).item() for _ in range(3)] == [1, 2, 3]
    assert x.tolist() == [3, 3, 3]


class Losses(torch.nn.Module):
    def __init__(self, losses):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(3))
        self.losses = losses

    def forward(self, x):
        return self.losses(x * self.scale)


@pytest.mark.parametrize("losses, message", [
    (lambda y: y, "Couldn't find a loss"),
    (lambda y: (torch.nn.functional.l1_loss(y, y + 1), torch.nn.functional.mse_loss(y, y + 1)), "Multiple independent losses"),
    (lambda y: poptorch.identity_loss(torch.nn.functional.l1_loss(y, y + 1) + torch.nn.functional.mse_loss(y, y + 1), "none"), None),
])
def test_a_model_has_one_final_loss(losses, message):
    module = Losses(losses)
    training = poptorch.trainingModel(module, optimizer=torch.optim.SGD(module.parameters(), lr=0.1))
    if message is None:
        training(torch.randn(3))
        return
    with pytest.raises(poptorch.Error, match=message):
        training(torch.randn(3))


def test_what_a_call_cannot_take_is_said(model):
    inference = poptorch.inferenceModel(model, poptorch.Options().deviceIterations(2))
    with pytest.raises(AssertionError, match="must be a multiple"):
        inference(torch.randn(3, 10))
    inference(torch.randn(4, 10))
    with pytest.raises(poptorch.Error, match="Shape mismatch"):
        inference(torch.randn(6, 10))
    with pytest.raises(poptorch.Error, match="float32 but got torch.float16"):
        inference(torch.randn(4, 10).half())
    with pytest.raises(poptorch.Error, match="Mandatory parameter x missing"):
        inference()
    options = poptorch.Options()
    poptorch.inferenceModel(model, options)
    with pytest.raises(AttributeError, match="Can't modify frozen Options"):
        options.deviceIterations(3)
    poptorch.trainingModel(model)
    with pytest.raises(RuntimeError, match="already been wrapped"):
        poptorch.trainingModel(model)


def test_a_pipeline_needs_enough_batches():
    class Blocks(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = poptorch.BeginBlock(torch.nn.Linear(4, 4), ipu_id=0)
            self.second = poptorch.BeginBlock(torch.nn.Linear(4, 4), ipu_id=1)

        def forward(self, x):
            return self.second(self.first(x))

    module, x = Blocks(), torch.randn(4, 4)
    with pytest.raises(poptorch.Error, match=r"pipeline stages \(2\)"):
        poptorch.inferenceModel(module)(x)
    torch.testing.assert_close(poptorch.inferenceModel(module, poptorch.Options().deviceIterations(2))(x), module(x).detach())


def test_the_data_loader_gives_what_a_call_takes():
    options = poptorch.Options().deviceIterations(3).replicationFactor(2)
    options.Training.gradientAccumulation(2)
    data = torch.utils.data.TensorDataset(torch.arange(50))
    loader = poptorch.DataLoader(options, data, batch_size=2)
    assert loader.combinedBatchSize == 24 and len(loader) == 2 and [x.shape[0] for x, in loader] == [24, 24]

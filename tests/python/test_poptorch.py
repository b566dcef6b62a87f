"""poptorch where torch is installed. `./x conformance poptorch` runs PopTorch's own tests."""
import collections
import copy
import dataclasses

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


def test_functions_on_the_host_run_in_the_middle_of_a_program():
    class Hosted(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)
            self.host = poptorch.CPU(lambda x, y: (x.sort(1).values, x + y), "sort")

        def forward(self, x):
            ordered, shifted = self.host(self.linear(x), self.linear.bias)
            return ordered * 2, self.host(shifted, ordered)[1]

    torch.manual_seed(1)
    model, x = Hosted(), torch.randn(4, 3)
    torch.testing.assert_close(poptorch.inferenceModel(model)(x), tuple(t.detach() for t in model(x)))
    torch.testing.assert_close(poptorch.inferenceModel(model, poptorch.Options().deviceIterations(2))(x), tuple(t.detach() for t in model(x)))
    training = poptorch.trainingModel(model)
    with pytest.raises(poptorch.Error, match="only supported in inference"):
        training(x)


@pytest.mark.parametrize("export", [True, False])
def test_a_model_goes_on_from_a_file(tmp_path, export):
    import copy

    torch.manual_seed(1)
    model = Model()
    x, target = torch.randn(4, 10), torch.randn(4, 4)
    training = poptorch.trainingModel(model, optimizer=poptorch.optim.AdamW(model.parameters(), lr=0.1))
    training(x, target)
    training.save(tmp_path / "folder" / "model.poptorch", export_model=export)
    weights = copy.deepcopy(model.state_dict())
    expected = training(x, target)
    if export:
        again = poptorch.load(tmp_path / "folder" / "model.poptorch")
        assert again.isCompiled()
        torch.testing.assert_close(again(x, target), expected)
        return
    with pytest.raises(AssertionError, match="loadExecutable"):
        poptorch.load(tmp_path / "folder" / "model.poptorch")
    other = Model()
    other.load_state_dict(weights)
    again = poptorch.trainingModel(other)
    again.loadExecutable(tmp_path / "folder" / "model.poptorch")
    torch.testing.assert_close(again(x, target)[0], expected[0])
    (tmp_path / "none").write_text("nothing")
    with pytest.raises(poptorch.Error, match="none"):
        poptorch.load(tmp_path / "none")


@pytest.mark.parametrize("compiled", [True, False])
def test_numbers_written_into_the_state_of_the_device_reach_it(compiled):
    weight = torch.nn.Parameter(torch.ones(3))

    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = weight

        def forward(self, x):
            return poptorch.identity_loss((self.weight * x).sum(), reduction="none")

    def trained():
        optimizer = poptorch.optim.SGD(model.parameters(), lr=0.5, momentum=0.5)
        return optimizer, poptorch.trainingModel(model, optimizer=optimizer)

    model = Scaled()
    optimizer, training = trained()
    x = torch.tensor([1.0, 2.0, 3.0])
    training(x)
    state = optimizer.state_dict()
    state["ipu_state"]["Accl2___weight"] = torch.tensor([10.0, 0.0, -4.0])
    if not compiled:
        training.destroy()
        optimizer = poptorch.optim.SGD(model.parameters(), lr=0.5, momentum=0.5)
        optimizer.load_state_dict(state)
        training = poptorch.trainingModel(model, optimizer=optimizer)
    else:
        optimizer.load_state_dict(state)
    before = model.weight.detach().clone()
    training(x)
    momentum = 0.5 * state["ipu_state"]["Accl2___weight"] + x
    torch.testing.assert_close(model.weight.detach().as_subclass(torch.Tensor), (before - 0.5 * momentum).as_subclass(torch.Tensor))
    torch.testing.assert_close(optimizer.state_dict()["ipu_state"]["Accl2___weight"], momentum)
    state["ipu_state"]["Accl2___weight"] = torch.zeros(2)
    with pytest.raises(RuntimeError, match="Accl2___weight.*shape"):
        optimizer.load_state_dict(state)


def test_tensors_are_anchored_by_name(model):
    options = poptorch.Options()
    options.anchorTensor("gradient", "Gradient___linear.bias")
    options.anchorTensor("weight", "UpdatedVar___linear.weight")
    options.anchorTensor("unknown", "Gradient___linear.wait")
    training = poptorch.trainingModel(model, options)
    with pytest.raises(AssertionError):
        training.getTensorNames()
    with pytest.raises(poptorch.Error, match="linear.wait"):
        training(torch.randn(4, 10), torch.randn(4, 4))
    names = training.getTensorNames()
    assert {"input", "loss", "linear.weight", "Gradient___linear.bias", "UpdatedVar___linear.weight"} <= set(names)
    torch.testing.assert_close(training.getAnchoredTensor("weight"), model.linear.weight.detach().as_subclass(torch.Tensor))
    assert training.getAnchoredTensor("gradient").shape == (4,)


def test_custom_operations_are_what_is_registered():
    class Cube(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor([2.0, 3.0]))

        def forward(self, x):
            y, = poptorch.custom_op([x * self.weight], "Cube", "com.example", 1, example_outputs=[x], attributes={"scale": 2.0})
            return y, poptorch.identity_loss(y, "sum")

    x = torch.tensor([1.0, -1.0])
    with pytest.raises(poptorch.Error, match="custom_ops.register"):
        poptorch.inferenceModel(Cube())(x)
    poptorch.custom_ops.register("Cube", "com.example", lambda inputs, attributes: inputs[0] ** 3 * attributes["scale"],
                                 backward=lambda inputs, outputs, gradients, attributes: [gradients[0] * 100])
    model = Cube()
    training = poptorch.trainingModel(model, optimizer=torch.optim.SGD(model.parameters(), lr=0.01))
    torch.testing.assert_close(training(x)[0], torch.tensor([16.0, -54.0]))
    torch.testing.assert_close(model.weight.detach().as_subclass(torch.Tensor), torch.tensor([1.0, 4.0]))
    assert len(poptorch.custom_op([x], "Cube", "com.example", 1, [x], {"inverse": True})) == 1
    with pytest.raises(ValueError, match="one kind"):
        poptorch.custom_op([x], "Cube", "com.example", 1, [x], {"scale": [1, "a"]})


def test_a_model_may_name_its_device():
    class Named(torch.nn.Module):
        def forward(self, x):
            ones = torch.ones(3, device="ipu") + torch.zeros(3, device=torch.device("ipu:0"))
            return (x.to("ipu") + ones.to("ipu", torch.float32)).to(device="ipu:0") + torch.tensor(1.0, device=x.device)

    torch.testing.assert_close(poptorch.inferenceModel(Named())(torch.tensor([1.0, 2.0, 3.0])), torch.tensor([3.0, 4.0, 5.0]))
    with pytest.raises((RuntimeError, poptorch.Error), match="(?i)ipu"):
        Named()(torch.ones(3))


def test_a_program_prints_tensors_and_their_gradients(capfd):
    class Printing(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor([2.0, 3.0]))

        def forward(self, x):
            return poptorch.identity_loss(poptorch.ipu_print_tensor(x * self.weight, "product"), "sum")

    poptorch.trainingModel(Printing())(torch.tensor([1.5, 2.0]))
    printed = capfd.readouterr().err
    assert "product: (3.000" in printed and "product_gradient: (1.000" in printed


def test_objects_of_registered_classes_are_inputs_and_outputs():
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    class Parser(poptorch.ICustomArgParser):
        def yieldTensors(self, struct):
            yield from (struct.a, struct.b)

        def reconstruct(self, original_structure, tensor_iterator):
            return Pair(next(tensor_iterator), next(tensor_iterator))

    class Swap(torch.nn.Module):
        def forward(self, pair, scale=2):
            return {"swapped": [Pair(pair.b * scale, pair.a)]}

    poptorch.registerCustomArgParser(Pair, Parser())
    swap = poptorch.inferenceModel(Swap())
    found = swap(Pair(torch.ones(2), torch.zeros(2)))["swapped"][0]
    assert torch.equal(found.a, torch.zeros(2)) and torch.equal(found.b, torch.ones(2))
    with pytest.raises(poptorch.Error, match="mismatch for scale: expected 2 but got 3"):
        swap(Pair(torch.ones(2), torch.zeros(2)), 3)
    poptorch.registerCustomArgParser(Pair, None)
    with pytest.raises(poptorch.Error, match="Type mismatch for pair"):
        swap(Pair(torch.ones(2), torch.zeros(2)))


class Record(collections.OrderedDict):
    """As models of public libraries give them: an ordered dict that takes items one by one."""

    def update(self, *args, **kwargs):
        raise RuntimeError("no update")

    def __init__(self, **items):
        for key, item in items.items():
            self[key] = item


@dataclasses.dataclass(frozen=True)
class Sizes:
    values: object
    scale: float = 1.0
    more: tuple = ()


def test_mappings_and_dataclasses_are_inputs_and_outputs():
    class Scales(torch.nn.Module):
        def forward(self, sizes, named):
            return Record(y=sizes.values * sizes.scale, sizes=Sizes(named["a"] + sizes.more[0], 2.0, (named["b"],)))

    scales, (a, b, c, d) = poptorch.inferenceModel(Scales()), torch.randn(4, 3)
    for _ in range(2):
        found = scales(Sizes(a, 3.0, (b,)), collections.UserDict(a=c, b=d))
        assert type(found) is Record and list(found) == ["y", "sizes"] and found["sizes"].scale == 2.0
        torch.testing.assert_close((found["y"], found["sizes"].values, found["sizes"].more[0]), (a * 3, c + b, d))
    with pytest.raises(poptorch.Error, match="mismatch for sizes"):
        scales(Sizes(a, 4.0, (b,)), collections.UserDict(a=c, b=d))


def test_the_gradient_of_a_step_is_clipped(model):
    import copy

    twin = copy.deepcopy(model)
    training = poptorch.trainingModel(model, optimizer=poptorch.optim.SGD(model.parameters(), lr=1.0, max_grad_norm=0.01))
    x, target = torch.randn(4, 10), torch.randn(4, 4)
    training(x, target)
    torch.nn.functional.mse_loss(twin(x), target).backward()
    torch.nn.utils.clip_grad_norm_(twin.parameters(), 0.01)
    for p in twin.parameters():
        p.data -= p.grad
    torch.testing.assert_close(model.state_dict(), twin.state_dict())


def test_data_are_loaded_ahead_and_rebatched():
    data = torch.utils.data.TensorDataset(torch.arange(25.0).reshape(25, 1))
    options = poptorch.Options().deviceIterations(2)
    loader = poptorch.DataLoader(options, data, batch_size=3, mode=poptorch.DataLoaderMode.AsyncRebatched, rebatched_worker_size=4, drop_last=False)
    for _ in range(2):
        found = [batch[0] for batch in loader]
        assert [len(b) for b in found] == [6, 6, 6, 6, 1] and len(loader) == 5
        assert torch.equal(torch.cat(found), torch.arange(25.0).reshape(25, 1))
    loader.terminate()

    class Broken(torch.utils.data.Dataset):
        def __len__(self):
            return 3

        def __getitem__(self, index):
            raise RuntimeError("broken")

    with pytest.raises(poptorch.Error, match="failed to start"):
        poptorch.DataLoader(options, Broken(), mode=poptorch.DataLoaderMode.Async)


def test_processes_share_the_data():
    data = torch.utils.data.TensorDataset(torch.arange(26.0))
    for shuffle in (False, True):
        seen = []
        for process in range(3):
            options = poptorch.Options()
            options.randomSeed(7)
            options.Distributed.configureProcessId(process, 3)
            seen += torch.cat([b for b, in poptorch.DataLoader(options, data, batch_size=4, shuffle=shuffle)]).tolist()
        assert len(seen) == 24 and len(set(seen)) == 24 and (seen == [float(i) for i in range(24)]) == (not shuffle)


def test_the_ctc_loss_and_its_decoder():
    class Recogniser(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scores = torch.nn.Parameter(torch.randn(6, 2, 4))

        def forward(self, targets, lengths):
            scores = self.scores.log_softmax(2)
            return scores, torch.nn.functional.ctc_loss(scores, targets, torch.full((2,), 6), lengths)

    import copy

    torch.manual_seed(2)
    model = Recogniser()
    twin = copy.deepcopy(model)
    targets, lengths = torch.tensor([[1, 1, 2], [3, 2, 0]]), torch.tensor([3, 2])
    training = poptorch.trainingModel(model, optimizer=torch.optim.SGD(model.parameters(), lr=1.0))
    first = training(targets, lengths)[1]
    expected = twin(targets, lengths)[1]
    expected.backward()
    torch.testing.assert_close(first, expected.detach())
    torch.testing.assert_close(model.scores.detach().as_subclass(torch.Tensor), (twin.scores - twin.scores.grad).detach())
    for _ in range(60):
        loss = training(targets, lengths)[1]
    assert loss < expected / 4

    class Decoder(torch.nn.Module):
        def forward(self, scores):
            return poptorch.ctc_beam_search_decoder(scores, torch.full((2,), 6), beam_width=8, top_paths=2)

    scores, lengths, labels = poptorch.inferenceModel(Decoder())(model.scores.detach().as_subclass(torch.Tensor).log_softmax(2))
    assert labels[0, 0].tolist() == [1, 1, 2, -1, -1, -1] and labels[1, 0].tolist() == [3, 2, -1, -1, -1, -1]
    assert lengths[:, 0].tolist() == [3, 2] and bool((scores[:, 0] > scores[:, 1]).all())


def test_integers_stay_what_torch_wants_and_are_checked():
    class OneHot(torch.nn.Module):
        def forward(self, x):
            return torch.nn.functional.one_hot(x, 4), x * 2

    model = poptorch.inferenceModel(OneHot())
    x = torch.tensor([3, 0, 1])
    found = model(x)
    assert found[0].dtype == torch.int32 and torch.equal(found[0].long(), torch.nn.functional.one_hot(x, 4)) and torch.equal(found[1].long(), x * 2)
    with pytest.raises(ValueError, match="4294967296"):
        model(torch.tensor([2**32, 0, 1]))


def test_another_optimizer_of_the_same_kind_goes_on_without_compiling(model):
    training = poptorch.trainingModel(model, optimizer=torch.optim.AdamW(model.parameters(), lr=0.1))
    x, target = torch.randn(4, 10), torch.randn(4, 4)
    training(x, target)
    program, first = training._program, training._optimizer
    second = torch.optim.AdamW(model.parameters(), lr=0.0)
    training.setOptimizer(second)
    before = model.linear.weight.clone()
    training(x, target)
    assert training._program is program and torch.equal(model.linear.weight, before)
    training.copyWeightsToHost()
    state = [optimizer.state[model.linear.weight]["step"].item() for optimizer in (first, second)]
    assert state == [1, 2]


def test_an_executor_keeps_the_mode_that_its_model_had(model):
    class Twofold(Model):
        def forward(self, x):
            return super().forward(x) * (2 if self.training else 1)

    twofold = Twofold().eval()
    still = poptorch.inferenceModel(twofold)
    twofold.train()
    x = torch.randn(2, 10)
    doubled = poptorch.inferenceModel(twofold)
    torch.testing.assert_close(2 * still(x), doubled(x))
    assert twofold.training and not still.training and doubled.eval() is doubled and not doubled.training


def test_a_scaled_loss_keeps_small_gradients_of_half_precision():
    class Tiny(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(1, dtype=torch.half))

        def forward(self, x):
            return poptorch.identity_loss((self.weight * x).sum().float() * 2e-9, "none")

    changed = []
    for scale in (1.0, 2.0**16):
        tiny = Tiny()
        poptorch.trainingModel(tiny, optimizer=poptorch.optim.SGD(tiny.parameters(), lr=1e3, loss_scaling=scale))(torch.tensor([6e4], dtype=torch.half))
        changed.append(bool((tiny.weight < 1).all()))
    assert changed == [False, True]


def test_a_loss_without_weights_trains_nothing(model):
    class Loose(Model):
        def forward(self, x):
            return poptorch.identity_loss(x * x, "sum")

    loose = Loose()
    before = loose.linear.weight.clone()
    assert poptorch.trainingModel(loose)(torch.ones(3, 10)).item() == 30 and torch.equal(loose.linear.weight, before)


def test_messages_of_torch_name_plain_tensors():
    wrong = torch.nn.Module()
    wrong.forward = lambda x: x.scatter(0, x.long(), x, None)
    with pytest.raises(TypeError) as error:
        poptorch.inferenceModel(wrong)(torch.zeros(2))
    assert "(int, Tensor, Tensor, NoneType)" in str(error.value)


def test_bincount_has_as_many_places_as_the_program_says():
    counts = torch.nn.Module()
    counts.forward = lambda x: torch.bincount(x, minlength=5)
    assert poptorch.inferenceModel(counts)(torch.tensor([0, 3, 3])).tolist() == [1, 0, 0, 2, 0]
    counts.forward = torch.bincount
    with pytest.raises(poptorch.Error, match="minlength"):
        poptorch.inferenceModel(counts)(torch.tensor([0, 3]))


def test_a_profile_is_written(tmp_path, model):
    options = poptorch.Options().enableProfiling(str(tmp_path)).modelName("mine")
    poptorch.inferenceModel(model, options)(torch.ones(2, 10))
    assert (tmp_path / "mine" / "profile.pando").exists() and (tmp_path / "mine" / "profile.pop").exists()


def test_options_are_said_and_checked(capfd):
    options = poptorch.Options().outputMode(poptorch.OutputMode.All)
    options._Popart.set("engineOptions", {"a.b": "true"}).set("dotChecks", ["FINAL"]).set("enableOutlining", True)
    poptorch.setLogLevel("DEBUG")
    try:
        poptorch.poptorch_core._validateOptions(options.toDict())
    finally:
        poptorch.setLogLevel("WARN")
    said = capfd.readouterr().err
    for line in ("set engineOptions[a.b] to true", "added FINAL to dotChecks", "set enableOutlining to value true", "set device_iterations to value 1"):
        assert f"poptorch.Options {line}" in said
    for name, value, message in (("wibble", 1, "Unknown PopART option wibble"), ("dotChecks", torch.ones(1), "Unknown value type")):
        other = options.clone()
        other._Popart.set(name, value)
        with pytest.raises(poptorch.Error, match=message):
            poptorch.poptorch_core._validateOptions(other.toDict())
    poptorch.DataLoader(options, [1, 2])
    with pytest.raises(AttributeError, match="frozen"):
        options._Popart.set("enableOutlining", False)


def test_what_a_model_has_learnt_outlives_its_executor_and_is_saved(tmp_path, model):
    x, target = torch.randn(4, 10), torch.randn(4, 4)
    before = model.linear.weight.clone()
    poptorch.trainingModel(model)(x, target)
    assert not torch.equal(model.linear.weight, before)
    model.destroy()
    training = poptorch.trainingModel(model)
    training(x, target)
    torch.save(model, tmp_path / "model")
    loaded = torch.load(tmp_path / "model", weights_only=False)
    assert type(loaded.linear.weight) is torch.nn.Parameter
    torch.testing.assert_close(loaded.linear.weight, model.linear.weight)
    poptorch.trainingModel(loaded)(x, target)


def test_a_loop_stays_a_loop():
    class Loops(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x, y):
            def body(a, b, i):
                b = poptorch.for_loop(3, lambda c: [c * 0.5 + y], [b])[0]
                i += 1
                return torch.tanh(self.linear(a)) + x, b, i

            start = torch.zeros(1, dtype=torch.int32)
            return *poptorch.for_loop(2000, body, [x, y, start]), *poptorch.for_loop(3, lambda p, q: (q, p), [x, y]), start

    torch.manual_seed(0)
    loops, x, y = Loops(), torch.randn(2, 4), torch.randn(2, 4)
    a, b = x, y
    for _ in range(2000):
        a = torch.tanh(loops.linear(a)) + x
    for _ in range(60):
        b = b * 0.5 + y
    for got, wanted in zip(poptorch.inferenceModel(loops)(x, y), (a, b, torch.tensor([2000]), y, x, torch.tensor([0]))):
        torch.testing.assert_close(got.float(), wanted.detach().float(), atol=1e-4, rtol=1e-4)


def test_the_iterations_of_a_loop_draw_their_own_numbers():
    class Draws(torch.nn.Module):
        def forward(self, x):
            return poptorch.for_loop(2, lambda a, b: (b, torch.rand(3)), [x, x])

    first, second = poptorch.inferenceModel(Draws())(torch.zeros(3))
    assert not torch.equal(first, second) and bool((first > 0).any())


@pytest.mark.parametrize("body, message", [(lambda z, a: [a + z.add_(1)], "changes a tensor from outside of it"),
                                           (lambda z, a: [a.sum()], "they have to be the same")], ids=["outside", "shape"])
def test_what_a_loop_cannot_do_is_said(body, message):
    class Loops(torch.nn.Module):
        def forward(self, x):
            z = x * 2
            return poptorch.for_loop(2, lambda a: body(z, a), [x])[0] + z

    with pytest.raises(poptorch.Error, match=message):
        poptorch.inferenceModel(Loops())(torch.ones(3))


@pytest.mark.parametrize("function", [lambda x: x if x.sum() > 0 else -x, lambda x: x[:x.sum().int()], torch.nonzero], ids=["if", "slice", "nonzero"])
def test_a_model_that_asks_for_values_gets_its_line(function):
    class Asks(torch.nn.Module):
        def forward(self, x):
            return function(x)

    with pytest.raises(poptorch.Error, match=r"test_poptorch.py:\d+: "):
        poptorch.inferenceModel(Asks())(torch.ones(3))


def test_a_number_of_a_tensor_is_taken_when_the_program_runs():
    class Scales(torch.nn.Module):
        def forward(self, x):
            return x * x.sum().item()

    scales = poptorch.inferenceModel(Scales())
    for x in (torch.ones(3), torch.arange(3.)):
        torch.testing.assert_close(scales(x), x * x.sum())


def test_indices_and_masks_go_by_name():
    class Writes(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("memory", torch.zeros(3, 2))

        def forward(self, x):
            before = self.memory.sum()
            self.memory.index_put_(indices=(torch.tensor([0, 2]),), values=torch.ones(2, 2))
            return before, x.masked_fill(mask=torch.tensor([1, 0, 1], dtype=torch.uint8), value=5.0)

    writes = poptorch.inferenceModel(Writes())
    assert writes(torch.zeros(3))[0] == 0
    before, filled = writes(torch.zeros(3))
    assert before == 4 and filled.tolist() == [5, 0, 5]


@pytest.mark.parametrize("kind, options", [(poptorch.optim.RMSprop, {"momentum": 0.9, "centered": True}), (poptorch.optim.RMSprop, {}),
                                           (torch.optim.RMSprop, {"momentum": 0.9}), (poptorch.optim.LAMB, {})])
def test_a_rate_that_changes_counts_for_each_optimizer(model, kind, options):
    eager = copy.deepcopy(model)
    optimizer, reference = kind(model.parameters(), lr=0.0, **options), None
    training = poptorch.trainingModel(model, None, optimizer)
    cls = torch.optim.RMSprop if "RMSprop" in kind.__name__ else kind
    reference = cls(eager.parameters(), lr=0.0, **options)
    x, target = torch.randn(2, 10), torch.randn(2, 4)
    for rate in (0.0, 0.1, 0.01):
        optimizer.param_groups[0]["lr"] = reference.param_groups[0]["lr"] = rate
        training.setOptimizer(optimizer)
        training(x, target)
        reference.zero_grad()
        eager(x, target)[1].backward()
        reference.step()
    for a, b in zip(model.parameters(), eager.parameters()):
        torch.testing.assert_close(a.detach(), b.detach(), atol=1e-4, rtol=1e-3)


def test_a_state_that_is_loaded_is_read_back_before_a_model_is_compiled(model):
    optimizer = poptorch.optim.Adam(model.parameters(), lr=0.1)
    training = poptorch.trainingModel(model, None, optimizer)
    training(torch.randn(2, 10), torch.randn(2, 4))
    state = optimizer.state_dict()
    other = poptorch.optim.Adam(model.parameters(), lr=0.3)
    other.load_state_dict(state)
    read = other.state_dict()
    assert read["ipu_param"].keys() == state["ipu_param"].keys() and other.param_groups[0]["lr"] == 0.1
    assert all(torch.equal(read["ipu_state"][name], value) for name, value in state["ipu_state"].items())

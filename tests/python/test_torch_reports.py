"""What looking closer gives a program of PyTorch: its own lines in reports, and its weights by their names."""
import json

import pytest

torch = pytest.importorskip("torch")

import pando.report  # noqa: E402
import pando.torch  # noqa: E402
import poptorch  # noqa: E402
from popart import poplar_application_runtime_error  # noqa: E402


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 8), torch.nn.Linear(8, 3)

    def forward(self, x, labels=None):
        h = torch.sin(x)  # line A
        h = self.first(h)
        y = self.second(torch.relu(h))  # line B
        return y if labels is None else (y, torch.nn.functional.cross_entropy(y, labels))  # line C


def line(mark):
    with open(__file__) as file:
        return next(i for i, text in enumerate(file, 1) if text.rstrip().endswith(f"# line {mark}"))


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """A report is asked for; gives the (lines of this file by step, rows of variables by name) of all that were written."""
    monkeypatch.setenv("POPLAR_ENGINE_OPTIONS", json.dumps({"autoReport.all": "true", "autoReport.directory": str(tmp_path)}))

    def read():
        steps, names = [], {}
        for path in tmp_path.rglob("profile.pando"):
            report = pando.report.open(path)
            steps += [(row["name"], row["source"]) for row in report.ask("program", top=1000)["rows"]]
            names.update({row["name"]: row["source"] for row in report.ask("variables", top=1000)["rows"]})
        return steps, names

    return read


def data():
    return torch.randn(16, 4), torch.randint(0, 3, (16,))


def source(mark):
    return f"{__file__}:{line(mark)}"


def test_compiled_models_have_the_lines_of_the_model(asked):
    net = Net()
    torch.compile(net, backend="pando", options={"device": "ipu_model"})(data()[0]).sum().backward()
    steps, _ = asked()
    lines = {where for name, where in steps if "matmul" in name}
    # Gradients, too: the products of the backward graph are of the lines that they are of.
    assert lines and all(where.startswith(__file__) for where in lines)
    assert source("B") in lines


def test_steps_have_the_lines_of_the_model(asked):
    net = Net()
    step = pando.torch.compile_step(net, torch.nn.functional.cross_entropy, torch.optim.SGD(net.parameters(), lr=0.1), device="ipu_model")
    step(*data())  # line D
    steps, variables = asked()
    products = [where for name, where in steps if name.startswith("matmul")]
    assert source("B") in products and all(where.startswith(__file__) for _, where in steps)
    # What PyTorch and Pando make by themselves is of the line that called them.
    assert {where for name, where in steps if name.startswith("copy_var_update")} == {source("D")}
    assert {"first.weight", "second.weight", "first.bias", "second.bias"} <= set(variables)


def test_poptorch_models_have_the_lines_of_the_model(asked):
    net = Net()
    poptorch.trainingModel(net, poptorch.Options(), poptorch.optim.SGD(net.parameters(), lr=0.1))(*data())  # line E
    steps, variables = asked()
    lines = {where for _, where in steps}
    assert {source("A"), source("B"), source("E")} <= lines and all(where.startswith(__file__) for where in lines)
    assert "first.weight" in variables


@pytest.mark.parametrize("device", ["cpu", "ipu_model"])
def test_a_watched_weight_stops_the_step(monkeypatch, device):
    monkeypatch.setenv("POPLAR_ENGINE_OPTIONS", json.dumps({"pando.watch": "first.weight", "pando.watchNaN": "true"}))
    net = Net()
    step = pando.torch.compile_step(net, torch.nn.functional.cross_entropy, torch.optim.SGD(net.parameters(), lr=0.1), device=device)
    x, labels = data()
    step(x, labels)
    x[3, 1] = float("nan")
    with pytest.raises(poplar_application_runtime_error, match="of 'first.weight' on tile .* changed from .* to .*nan: field .* of vertex .*watched-tensor"):
        step(x, labels)


def test_a_weight_that_is_not_there_gets_the_nearest(monkeypatch):
    monkeypatch.setenv("POPLAR_ENGINE_OPTIONS", json.dumps({"pando.watch": "first.wieght"}))
    net = Net()
    step = pando.torch.compile_step(net, torch.nn.functional.cross_entropy, torch.optim.SGD(net.parameters(), lr=0.1))
    with pytest.raises(Exception, match="did you mean 'first.weight'"):
        step(*data())

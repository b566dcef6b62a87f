"""A deep network costs no more to compile than a shallow one: its layer is one graph."""
import importlib.util
import pathlib

import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench" / "model" / "depth.py"


@pytest.mark.parametrize("device, width", [("cpu", 64), ("ipu_model", 128)])
def test_the_executable_hardly_grows_with_the_layers(device, width):
    spec = importlib.util.spec_from_file_location("depth", BENCH)
    depth = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(depth)
    few, many = (depth.measure(layers, width, 8, device)[-1] for layers in (12, 48))
    assert few < many < 1.2 * few, (few, many)

"""A deep network costs no more to compile than a shallow one: its layer is one graph."""
import importlib.util
import pathlib

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench" / "model" / "depth.py"


def test_the_executable_hardly_grows_with_the_layers():
    spec = importlib.util.spec_from_file_location("depth", BENCH)
    depth = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(depth)
    few, many = (depth.measure(layers, 64, "cpu")[-1] for layers in (12, 48))
    assert few < many < 1.2 * few, (few, many)

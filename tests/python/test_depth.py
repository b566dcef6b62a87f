"""A deep network costs no more to compile than a shallow one: its layer is one graph."""
import importlib.util
import pathlib

import numpy as np
import popxl
import pytest
from popxl import ops

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench" / "model" / "depth.py"


@pytest.mark.parametrize("device, width", [("cpu", 64), ("ipu_model", 128)])
def test_the_executable_hardly_grows_with_the_layers(device, width):
    spec = importlib.util.spec_from_file_location("depth", BENCH)
    depth = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(depth)
    few, many = (depth.measure(layers, width, 8, device)[-1] for layers in (12, 48))
    assert few < many < 1.2 * few, (few, many)


@pytest.mark.parametrize("device", ["cpu", "ipu_model"])
def test_a_chain_of_element_wise_ops_is_as_long_as_it_is(device):
    """However many are fused."""
    ir = popxl.Ir()
    data = np.array([0.25, 0.5], np.float32)
    with ir.main_graph:
        x = popxl.variable(data)
        streams, wanted = [], []
        for function, of in ((lambda t: t + 1.0, data + 1500), (ops.abs, data), (ops.gelu, None), (ops.sin, None), (lambda t: ops.clip(t * 1.5, -1.0, 0.25), None)):
            t = x
            for _ in range(1500):
                t = function(t)
            streams.append(popxl.d2h_stream(t.shape, t.dtype))
            ops.host_store(streams[-1], t)
            wanted.append(of)
    with popxl.Session(ir, device) as session:
        results = session.run()
    for stream, of in zip(streams, wanted):
        assert np.isfinite(results[stream]).all()
        if of is not None:
            np.testing.assert_array_equal(results[stream], of)

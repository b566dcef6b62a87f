"""What an installed wheel has to do: import, build, differentiate, compile and run, with nothing but Python and NumPy in reach."""
import os

os.environ["PATH"] = "/nowhere"

import numpy as np

import popxl
import popxl.ops as ops

ir = popxl.Ir()
with ir.main_graph:
    x = popxl.variable(np.ones((2, 2), np.float32))
    graph = ir.create_graph(lambda t: ops.tanh(t @ t), x)
    forward = ops.call_with_info(graph, x)
    gradient = popxl.transforms.autodiff(graph)
    (dx,) = ops.call(gradient.graph, np.ones((2, 2), np.float32), inputs_dict=gradient.inputs_dict(forward))
    out = popxl.d2h_stream(dx.shape, dx.dtype)
    ops.host_store(out, dx)
for device in ("cpu", "ipu_model"):
    with popxl.Session(ir, device) as session:
        np.testing.assert_allclose(session.run()[out], np.full((2, 2), 4 * (1 - np.tanh(2)**2)), rtol=1e-4)
print("fine:", popxl.__file__)

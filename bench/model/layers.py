"""A deep transformer's training step: encoder layers as one called graph for each IPU, forward, backward and Adam, the layers in equal parts on the IPUs.

    layers.py DEVICE LAYERS IPUS [STEPS]     prints one JSON object

The layers are those of networks.py's encoder. A graph of an IPU is called once for each of its layers with that layer's weights, its gradient likewise; activations and
gradients go from one IPU to the next.
"""
import json
import resource
import sys
import time

import numpy as np
import popxl
import popxl.ops as ops
import popxl.transforms as transforms

from data import BATCH, SHAPES, TOKENS, WIDTH
from networks import adam_step, encoder_layer


class Stage:
    """The graphs of one IPU, and its layers: weights, Adam's state, what the forward call left."""

    def __init__(self, ir, x):
        self.inputs = {}

        def network(x):
            self.inputs.update({n: popxl.graph_input(s, popxl.float32, n) for n, s in SHAPES.items()})
            return encoder_layer(x, self.inputs)

        self.graph = ir.create_graph(network, x)
        self.gradient = transforms.autodiff(self.graph, grads_required=[self.graph.inputs[0], *self.inputs.values()])
        self.layers = []

    def forward(self, x, random):
        weights = {n: popxl.variable((np.ones(s) if n in ("ln1", "ln2") else random.normal(0, 0.02, s)).astype(np.float32), name=n) for n, s in SHAPES.items()}
        state = [(popxl.variable(np.zeros(s, np.float32), name="m"), popxl.variable(np.zeros(s, np.float32), name="v"), popxl.variable(0.0, popxl.float32))
                 for s in SHAPES.values()]
        info = ops.call_with_info(self.graph, x, inputs_dict={self.inputs[n]: w for n, w in weights.items()})
        self.layers.append((weights, state, info))
        return info.outputs[0]

    def backward(self, dx):
        for weights, state, info in reversed(self.layers):
            dx, *gradients = ops.call(self.gradient.graph, dx, inputs_dict=self.gradient.inputs_dict(info))
            for w, g, (m, v, count) in zip(weights.values(), gradients, state):
                adam_step(w, g, m, v, count)
        return dx


def training_step(ir, layers, ipus):
    """The stages; one run of the main graph is one step."""
    random = np.random.default_rng(0)
    rows = (BATCH * TOKENS, WIDTH)
    stages = []
    with ir.main_graph, popxl.in_sequence():
        x = popxl.variable(random.normal(0, 1, rows).astype(np.float32), name="x")
        for i in range(ipus):
            with popxl.ipu(i):
                x = ops.ipu_copy(x, i) if i > 0 else x
                stages.append(Stage(ir, x))
                for _ in range(layers // ipus):
                    x = stages[-1].forward(x, random)
        with popxl.ipu(ipus - 1):
            dx = popxl.variable((random.normal(0, 1, rows) / (rows[0] * rows[1])).astype(np.float32), name="dy")
        for i in reversed(range(ipus)):
            with popxl.ipu(i):
                dx = ops.ipu_copy(dx, i) if i + 1 < ipus else dx
                dx = stages[i].backward(dx)
    return stages


def main():
    device, layers, ipus = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    steps = int(sys.argv[4]) if len(sys.argv) > 4 else 2
    began = time.perf_counter()
    ir = popxl.Ir()
    stages = training_step(ir, layers, ipus)
    built = time.perf_counter()
    session = popxl.Session(ir, device)
    compiled = time.perf_counter()
    times = []
    with session:
        for _ in range(steps):
            start = time.perf_counter()
            session.run()
            times.append(time.perf_counter() - start)
        # Of each layer, what Adam has made of its largest moments: no sign of a rounding error decides.
        moments = [session.get_tensor_data(state[0][0]).astype(np.float64) for stage in stages for _, state, _ in stage.layers]
    print(json.dumps({
        "build": built - began, "compile": compiled - built, "step": min(times), "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "executable_mb": session._engine.executable_bytes() / 1e6, "sum": float(sum(np.abs(m).sum() for m in moments)), "layers": [float(np.abs(m).sum()) for m in moments],
    }))


if __name__ == "__main__":
    main()

"""Programs whose reports the viewer's tests show: write_reports.py NAME [DEVICE], with POPLAR_ENGINE_OPTIONS that ask for a report.

    one_tile        a product on a single tile
    all_tiles       training steps of a network on 1,472 tiles
    four_ipus       the same network on four IPUs, pipelined
    out_of_memory   a product whose operands no IPU can hold
    empty           a program that is compiled and never run
"""
import sys

import numpy as np

import popxl
import popxl.ops as ops
import popxl.transforms as transforms
from popxl import distribution

BATCH, WIDTHS = 64, [256, 128, 128, 128, 16]


def product(rows, columns):
    ir = popxl.Ir()
    with ir.main_graph:
        x = popxl.variable(np.ones((rows, columns), np.float32), name="x")
        w = popxl.variable(np.ones((columns, rows), np.float32), name="w")
        stream = popxl.d2h_stream((rows, rows), popxl.float32, "product")
        ops.host_store(stream, ops.gelu(x @ w))
    return ir


class Network(popxl.Module):
    def build(self, x):
        for i, (n, m) in enumerate(zip(WIDTHS, WIDTHS[1:])):
            w = popxl.graph_input((n, m), popxl.float32, f"w{i}")
            setattr(self, f"w{i}", w)
            x = ops.relu(x @ w)
        return x


def training(steps):
    ir = popxl.Ir()
    ir.num_host_transfers = steps
    random = np.random.default_rng(1)
    with ir.main_graph, popxl.in_sequence():
        network = Network()
        forward = ir.create_graph(network, popxl.TensorSpec((BATCH, WIDTHS[0]), popxl.float32))
        names = [f"w{i}" for i in range(len(WIDTHS) - 1)]
        gradient = transforms.autodiff(forward, grads_required=[getattr(network, n) for n in names])
        weights = {n: popxl.variable(random.normal(0, 0.05, (a, b)).astype(np.float32), name=n) for n, a, b in zip(names, WIDTHS, WIDTHS[1:])}
        x = popxl.h2d_stream((BATCH, WIDTHS[0]), popxl.float32, "images")
        y = popxl.h2d_stream((BATCH,), popxl.int32, "labels")
        loss = popxl.d2h_stream((), popxl.float32, "loss")

        def step(x, y):
            info = ops.call_with_info(forward, x, inputs_dict={getattr(network, n): w for n, w in weights.items()})
            value, dx = ops.nll_loss_with_softmax_grad(ops.softmax(info.outputs[0], axis=-1), y)
            ops.host_store(loss, value)
            for n, g in zip(names, ops.call(gradient.graph, dx, inputs_dict=gradient.inputs_dict(info))):
                ops.scaled_add_(weights[n], g, b=-0.01)

        step(ops.host_load(x), ops.host_load(y))
    return ir, x, y


def train(session, ir, x, y):
    random = np.random.default_rng(2)
    shape = () if ir.num_host_transfers == 1 else (ir.num_host_transfers,)
    with session:
        for _ in range(2):
            session.run({x: random.normal(0, 1, (*shape, BATCH, WIDTHS[0])).astype(np.float32), y: random.integers(0, WIDTHS[-1], (*shape, BATCH)).astype(np.int32)})


def main(name):
    if name == "one_tile":
        with popxl.Session(product(32, 64), "cpu") as session:
            session.run()
    elif name == "all_tiles":
        ir, x, y = training(1)
        train(popxl.Session(ir, "ipu_model"), ir, x, y)
    elif name == "four_ipus":
        ir, x, y = training(1)
        train(distribution.Session(ir, "pipeline=4 microbatches=4", "ipu_model"), ir, x, y)
    elif name == "out_of_memory":
        try:
            popxl.Session(product(8400, 8400), "ipu_model")
        except RuntimeError as error:
            print(str(error).split("\n", 1)[0])
    elif name == "empty":
        with popxl.Session(product(4, 4), "ipu_model"):
            pass
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1])

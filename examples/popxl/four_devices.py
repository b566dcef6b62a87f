"""A network on four IPUs: the best strategy is searched for, run, and compared: `./x python examples/popxl/four_devices.py [--device cpu|ipu_model]`.

One step of training of Fashion-MNIST (784 - 256 - 10, Adam) is written as for one device. `popxl.distribution` makes the strategies, simulates them,
and runs the best; the sequential program runs beside it on the same images.
"""
import argparse
import time

import numpy as np

import popxl
import popxl.ops as ops
import popxl.transforms as transforms
from fashion_mnist import HIDDEN, Network, accuracy, adam, images, labels
from popxl import distribution

BATCH = 128
SHAPES = {"w1": (784, HIDDEN), "b1": (HIDDEN,), "w2": (HIDDEN, 10), "b2": (10,)}


class Step:
    """One step of training as a program: two streams in, the loss out, weights that are updated."""

    def __init__(self):
        self.ir = popxl.Ir()
        random = np.random.default_rng(1)
        with self.ir.main_graph, popxl.in_sequence():
            self.x = popxl.h2d_stream((BATCH, 784), popxl.float32, "images")
            self.y = popxl.h2d_stream((BATCH,), popxl.int32, "labels")
            self.loss = popxl.d2h_stream((), popxl.float32, "loss")
            network = Network()
            forward = self.ir.create_graph(network, popxl.TensorSpec((BATCH, 784), popxl.float32))
            gradient = transforms.autodiff(forward, grads_required=[getattr(network, n) for n in SHAPES])
            start = {n: random.normal(0, np.sqrt(2 / s[0]), s) if len(s) == 2 else np.zeros(s) for n, s in SHAPES.items()}
            self.weights = {n: popxl.variable(start[n].astype(np.float32), name=n) for n in SHAPES}
            x, y = ops.host_load(self.x), ops.host_load(self.y)
            info = ops.call_with_info(forward, x, inputs_dict={getattr(network, n): w for n, w in self.weights.items()})
            loss, dx = ops.nll_loss_with_softmax_grad(ops.softmax(info.outputs[0], axis=-1), y)
            ops.host_store(self.loss, loss)
            for n, g in zip(SHAPES, ops.call(gradient.graph, dx, inputs_dict=gradient.inputs_dict(info))):
                first, second = (popxl.variable(np.zeros(SHAPES[n], np.float32), name=f"{n}_moment{i}") for i in (1, 2))
                adam(self.weights[n], g, first, second, popxl.variable(0.0, popxl.float32, name=f"{n}_step"))

    def train(self, session, x, y, steps):
        """The losses of so many steps, and the weights after them."""
        order = np.random.default_rng(2)
        losses = []
        with session:
            for _ in range(steps):
                chosen = order.choice(len(x), BATCH, replace=False)
                losses.append(float(session.run({self.x: x[chosen], self.y: y[chosen]})[self.loss]))
        return losses, {n: session.get_tensor_data(w) for n, w in self.weights.items()}


def show(result):
    c = result.certificate
    print(f"search: {c.points} strategies for four IPUs = {c.evaluated} made and simulated + {c.against_a_rule} against a rule + "
          f"{c.slower_by_a_bound} slower by a bound")
    for f in result.found:
        print(f"  {1e6 * f.seconds:8.1f} us  {f.bytes / 1024:8.0f} KiB  {f.words}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="ipu_model", help="cpu, or ipu_model: four IPUs of 1,472 tiles")
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()
    x, y = images("train"), labels("train")
    step, alone = Step(), Step()
    began = time.time()
    result = distribution.search(step.ir, 4, machine="ipu2", top=3)
    best = result.best
    show(result)
    print(f"searched in {time.time() - began:.1f} s; the strategy: {best.words}")

    # The machine's cycles are asked for below, not this host's time.
    step.ir._pb_ir.getSessionOptions().engineOptions["pando.planObjective"] = "cycles"
    began = time.time()
    session = distribution.Session(step.ir, best.words, arguments.device)
    losses, weights = step.train(session, x, y, arguments.steps)
    print(f"four devices: {arguments.steps} steps, loss {losses[0]:.4f} to {np.mean(losses[-10:]):.4f}, {time.time() - began:.1f} s with compiling")
    expected, sequential = alone.train(popxl.Session(alone.ir, arguments.device), x, y, arguments.steps)
    apart = max(float(np.abs(weights[n] - sequential[n]).max() / np.abs(sequential[n]).max()) for n in SHAPES)
    print(f"one device: loss {expected[0]:.4f} to {np.mean(expected[-10:]):.4f}; weights after {arguments.steps} steps differ by {apart:.1e} of the largest")
    if not np.allclose(losses, expected, rtol=1e-3) or apart > 1e-2:
        raise SystemExit("the programs are not equal")
    print("equal: the same sums, rounded in another order")
    test = labels("t10k")
    print(f"{100 * accuracy(weights, images('t10k'), test):.2f} % of the {len(test)} test images are right")
    measured = session.measured_seconds()
    if measured is not None:
        compiled = session.predicted_seconds("ipu2", cost="compiled")
        print(f"a step: predicted {1e6 * compiled:.1f} us by compiled pieces, {1e6 * best.seconds:.1f} us by formula; "
              f"by the cycle model of the whole compiled program {1e6 * measured:.1f} us")


if __name__ == "__main__":
    main()

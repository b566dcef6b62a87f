"""Trains a network of two layers on Fashion-MNIST with popxl: `./x python examples/popxl/fashion_mnist.py [--device cpu|ipu_model] [--epochs N]`.

The whole epoch is one run: a repeated graph loads a batch from the host, takes a step of Adam, and stores its loss.
"""
import argparse
import gzip
import time

import numpy as np

import popxl
import popxl.ops as ops
import popxl.transforms as transforms

DATA = "/usr/share/datasets/fashion-mnist/"
BATCH, HIDDEN, RATE = 100, 256, 1e-3


def images(name):
    with gzip.open(f"{DATA}{name}-images-idx3-ubyte.gz") as f:
        return np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 784).astype(np.float32) / 255


def labels(name):
    with gzip.open(f"{DATA}{name}-labels-idx1-ubyte.gz") as f:
        return np.frombuffer(f.read(), np.uint8, offset=8).astype(np.int32)


class Network(popxl.Module):
    def build(self, x):
        self.w1 = popxl.graph_input((784, HIDDEN), popxl.float32, "w1")
        self.b1 = popxl.graph_input((HIDDEN,), popxl.float32, "b1")
        self.w2 = popxl.graph_input((HIDDEN, 10), popxl.float32, "w2")
        self.b2 = popxl.graph_input((10,), popxl.float32, "b2")
        return ops.relu(x @ self.w1 + self.b1) @ self.w2 + self.b2


def adam(weight, gradient, first, second, step):
    """One step of Adam; `first` and `second` are the moments, `step` counts."""
    ops.var_updates.accumulate_moving_average_(first, gradient, f=0.9)
    ops.var_updates.accumulate_moving_average_square_(second, gradient, f=0.999)
    update = ops.var_updates.adam_updater(first, second, time_step=step, beta1=0.9, beta2=0.999, epsilon=1e-8)
    ops.scaled_add_(weight, update, b=-RATE)


def build(batches):
    ir = popxl.Ir()
    ir.num_host_transfers = batches
    random = np.random.default_rng(1)
    with ir.main_graph, popxl.in_sequence():
        network = Network()
        forward = ir.create_graph(network, popxl.TensorSpec((BATCH, 784), popxl.float32))
        names = ["w1", "b1", "w2", "b2"]
        gradient = transforms.autodiff(forward, grads_required=[getattr(network, n) for n in names])

        shapes = {"w1": (784, HIDDEN), "b1": (HIDDEN,), "w2": (HIDDEN, 10), "b2": (10,)}
        start = {n: random.normal(0, np.sqrt(2 / s[0]), s) if len(s) == 2 else np.zeros(s) for n, s in shapes.items()}
        weights = {n: popxl.variable(start[n].astype(np.float32), name=n) for n in names}
        moments = {(n, i): popxl.variable(np.zeros(shapes[n], np.float32), name=f"{n}_moment{i}") for n in names for i in (1, 2)}
        steps = {n: popxl.variable(0.0, popxl.float32, name=f"{n}_step") for n in names}

        x_stream = popxl.h2d_stream((BATCH, 784), popxl.float32, "images")
        y_stream = popxl.h2d_stream((BATCH,), popxl.int32, "labels")
        loss_stream = popxl.d2h_stream((), popxl.float32, "loss")

        def step(*state: popxl.TensorByRef):
            state = dict(zip([*names, *moments, *(f"{n}_step" for n in names)], state))
            x, y = ops.host_load(x_stream), ops.host_load(y_stream)
            info = ops.call_with_info(forward, x, inputs_dict={getattr(network, n): state[n] for n in names})
            loss, dx = ops.nll_loss_with_softmax_grad(ops.softmax(info.outputs[0], axis=-1), y)
            ops.host_store(loss_stream, loss)
            gradients = ops.call(gradient.graph, dx, inputs_dict=gradient.inputs_dict(info))
            for n, g in zip(names, gradients):
                adam(state[n], g, state[n, 1], state[n, 2], state[f"{n}_step"])

        everything = [*weights.values(), *moments.values(), *steps.values()]
        body = ir.create_empty_graph("step")
        with body, popxl.in_sequence():
            step(*[popxl.graph_input(t.shape, t.dtype, t.name, by_ref=True) for t in everything])
        ops.repeat(body, batches, *everything)
    return ir, weights, (x_stream, y_stream, loss_stream)


def accuracy(weights, x, y):
    hidden = np.maximum(x @ weights["w1"] + weights["b1"], 0)
    return np.mean(np.argmax(hidden @ weights["w2"] + weights["b2"], axis=1) == y)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="ipu_model", help="cpu, or ipu_model: one IPU of 1,472 tiles")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--images", type=int, default=60000, help="how many of the 60,000 training images")
    arguments = parser.parse_args()
    x, y = images("train")[: arguments.images], labels("train")[: arguments.images]
    batches = len(x) // BATCH
    began = time.time()
    ir, weights, (x_stream, y_stream, loss_stream) = build(batches)
    session = popxl.Session(ir, arguments.device)
    print(f"built and compiled for {arguments.device} in {time.time() - began:.1f} s")
    order = np.random.default_rng(2)
    with session:
        for epoch in range(arguments.epochs):
            began = time.time()
            chosen = order.permutation(len(x))[: batches * BATCH]
            result = session.run({x_stream: x[chosen].reshape(batches, BATCH, 784), y_stream: y[chosen].reshape(batches, BATCH)})
            print(f"epoch {epoch + 1}: loss {result[loss_stream].mean():.4f}, {time.time() - began:.1f} s")
    trained = {n: session.get_tensor_data(w) for n, w in weights.items()}
    test = labels("t10k")
    print(f"{100 * accuracy(trained, images('t10k'), test):.2f} % of the {len(test)} test images are right")


if __name__ == "__main__":
    main()

"""How long a deep transformer takes to lower and compile, and how large its executable is, by its number of layers: the layer is one graph, called once for
each layer with the layer's own weights.

    build/venv/bin/python bench/model/depth.py [--device cpu|ipu_model] [--layers 12,48] [--width 64]
"""
import argparse
import time

import numpy as np
import popxl
import popxl.ops as ops


class Layer(popxl.Module):
    """Attention of `heads` heads and an MLP, each behind a normalisation and with a residual: (tokens, width) to the same."""

    def __init__(self, width, heads):
        self.width, self.heads = width, heads

    def shapes(self):
        w = self.width
        return {"q": (w, w), "k": (w, w), "v": (w, w), "out": (w, w), "up": (w, 4 * w), "down": (4 * w, w), "scale1": (w,), "shift1": (w,), "scale2": (w,), "shift2": (w,)}

    def build(self, x):
        self.inputs = {name: popxl.graph_input(shape, popxl.float32, name) for name, shape in self.shapes().items()}
        g = self.inputs
        tokens, heads, size = x.shape[0], self.heads, self.width // self.heads

        def split(t):
            return t.reshape((tokens, heads, size)).transpose((1, 0, 2))

        y = ops.layer_norm(x, g["scale1"], g["shift1"], 1e-5)
        q, k, v = split(y @ g["q"]), split(y @ g["k"]), split(y @ g["v"])
        attention = ops.softmax((q @ k.transpose((0, 2, 1))) * (size ** -0.5), axis=-1)
        x = x + (attention @ v).transpose((1, 0, 2)).reshape((tokens, self.width)) @ g["out"]
        y = ops.layer_norm(x, g["scale2"], g["shift2"], 1e-5)
        return x + ops.gelu(y @ g["up"]) @ g["down"]


def measure(layers, width, device):
    """Seconds of (building, transforming and lowering, compiling) and the executable's bytes."""
    random = np.random.default_rng(1)
    begin = time.perf_counter()
    ir = popxl.Ir()
    with ir.main_graph, popxl.in_sequence():
        stream = popxl.h2d_stream((32, width), popxl.float32)
        x = ops.host_load(stream)
        layer = Layer(width, 4)
        graph = ir.create_graph(layer, x)
        for _ in range(layers):
            weights = {layer.inputs[name]: popxl.variable((random.normal(size=shape) * width ** -0.5).astype(np.float32), name=name)
                       for name, shape in layer.shapes().items()}
            (x,) = ops.call(graph, x, inputs_dict=weights)
        d2h = popxl.d2h_stream(x.shape, x.dtype)
        ops.host_store(d2h, x)
    built = time.perf_counter() - begin
    session = popxl.Session(ir, device)
    times = session._engine.times()
    return built, times["transform"] + times["lower"], times["compile"], session._engine.executable_bytes()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="ipu_model")
    parser.add_argument("--layers", default="12,48")
    parser.add_argument("--width", type=int, default=64)
    a = parser.parse_args()
    for layers in a.layers.split(","):
        built, lowered, compiled, size = measure(int(layers), a.width, a.device)
        print(f"{layers:>4} layers: built in {built:.2f} s, lowered in {lowered:.2f} s, compiled in {compiled:.2f} s, executable {size / 1e6:.2f} MB", flush=True)


if __name__ == "__main__":
    main()

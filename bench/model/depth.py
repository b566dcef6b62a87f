"""How long a deep transformer takes to lower and compile, and how large its executable is, by its number of layers: the layer is one graph, called once for
each layer with the layer's own weights.

    build/venv/bin/python bench/model/depth.py [--device cpu|ipu_model] [--layers 12,48] [--width 256] [--batch 8] [--json]
"""
import argparse
import json
import time

import numpy as np
import popxl
import popxl.ops as ops


TOKENS, HEADS = 128, 4


class Layer(popxl.Module):
    """Attention of `heads` heads and an MLP, each behind a normalisation and with a residual: (batch * TOKENS, width) to the same."""

    def __init__(self, width, heads, batch):
        self.width, self.heads, self.batch = width, heads, batch

    def shapes(self):
        w = self.width
        return {"q": (w, w), "k": (w, w), "v": (w, w), "out": (w, w), "up": (w, 4 * w), "down": (4 * w, w), "scale1": (w,), "shift1": (w,), "scale2": (w,), "shift2": (w,)}

    def build(self, x):
        self.inputs = {name: popxl.graph_input(shape, popxl.float32, name) for name, shape in self.shapes().items()}
        g = self.inputs
        heads, size = self.heads, self.width // self.heads

        def split(t):
            return t.reshape((self.batch, TOKENS, heads, size)).transpose((0, 2, 1, 3))

        y = ops.layer_norm(x, g["scale1"], g["shift1"], 1e-5)
        q, k, v = split(y @ g["q"]), split(y @ g["k"]), split(y @ g["v"])
        attention = ops.softmax((q @ k.transpose((0, 1, 3, 2))) * (size ** -0.5), axis=-1)
        x = x + (attention @ v).transpose((0, 2, 1, 3)).reshape(x.shape) @ g["out"]
        y = ops.layer_norm(x, g["scale2"], g["shift2"], 1e-5)
        return x + ops.gelu(y @ g["up"]) @ g["down"]


def measure(layers, width, batch, device):
    """Seconds of (building, transforming and lowering, compiling) and the executable's bytes."""
    random = np.random.default_rng(1)
    begin = time.perf_counter()
    ir = popxl.Ir()
    with ir.main_graph, popxl.in_sequence():
        stream = popxl.h2d_stream((batch * TOKENS, width), popxl.float32)
        x = ops.host_load(stream)
        layer = Layer(width, HEADS, batch)
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
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--json", action="store_true", help="one object with the last count's figures")
    a = parser.parse_args()
    for layers in a.layers.split(","):
        built, lowered, compiled, size = measure(int(layers), a.width, a.batch, a.device)
        if a.json:
            print(json.dumps({"lower": lowered, "compile": compiled, "executable_mb": size / 1e6}), flush=True)
            continue
        print(f"{layers:>4} layers: built in {built:.2f} s, lowered in {lowered:.2f} s, compiled in {compiled:.2f} s, executable {size / 1e6:.2f} MB", flush=True)


if __name__ == "__main__":
    main()

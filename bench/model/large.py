"""Large networks, forward, with random weights: how long they take until they run, and how evenly they fill the tiles.

    large.py NAME [DEVICE] [SIZE]     prints one JSON object

NAME: resnet (ResNet-50, 224 x 224, batch SIZE or 1; what normalises is folded into weights and biases), encoder (SIZE or 24 encoder layers of networks.py, 128 tokens,
each written out, not one called graph), products (a chain of SIZE or 2,000 products by 32 x 32 weights), dense (a network of SIZE or 58 layers, each of which reads
the concatenation of all before it, as a block of DenseNet does).
"resident_*": bytes of a tile that are taken as long as the program is loaded.
"""
import json
import sys
import time

import numpy as np

import popxl
import popxl.ops as ops

from data import SHAPES, TOKENS, WIDTH
from networks import encoder_layer

# Of ResNet-50: channels inside a block, blocks, the first one's stride.
STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))
CLASSES, IMAGE, EXPANSION = 1000, 224, 4


def weight(random, shape, fan_in, name):
    return popxl.variable(random.normal(0, (2 / fan_in) ** 0.5, shape).astype(np.float32), name=name)


def resnet(random, batch=1, stages=STAGES, image=IMAGE, classes=CLASSES):
    def conv(x, out, size, stride, name):
        w = weight(random, (out, x.shape[1], size, size), x.shape[1] * size * size, name)
        b = popxl.variable(np.zeros((out, 1, 1), np.float32), name=name + "_b")
        return ops.conv(x, w, (stride, stride), (size // 2,) * 4) + b

    def block(x, inner, stride, name):
        shortcut = x if x.shape[1] == EXPANSION * inner and stride == 1 else conv(x, EXPANSION * inner, 1, stride, name + "_shortcut")
        y = ops.relu(conv(x, inner, 1, 1, name + "_1"))
        y = ops.relu(conv(y, inner, 3, stride, name + "_2"))
        return ops.relu(conv(y, EXPANSION * inner, 1, 1, name + "_3") + shortcut)

    x = ops.host_load(popxl.h2d_stream((batch, 3, image, image), popxl.float32, name="x"))
    x = ops.max_pool(ops.relu(conv(x, 64, 7, 2, "stem")), (3, 3), (2, 2), (1, 1, 1, 1))
    for s, (inner, blocks, stride) in enumerate(stages):
        for i in range(blocks):
            x = block(x, inner, stride if i == 0 else 1, f"stage{s}_{i}")
    x = ops.mean(x, (2, 3))
    return x @ weight(random, (x.shape[1], classes), x.shape[1], "classes") + popxl.variable(np.zeros(classes, np.float32), name="classes_b")


def encoder(random, layers=24, width=WIDTH, batch=1):
    x = ops.host_load(popxl.h2d_stream((batch * TOKENS, width), popxl.float32, name="x"))
    for _ in range(layers):
        x = encoder_layer(x, {n: weight(random, tuple(d // WIDTH * width for d in s), width, n) for n, s in SHAPES.items()})
    return x


def products(random, count=2000, rows=16, width=32):
    x = ops.host_load(popxl.h2d_stream((rows, width), popxl.float32, name="x"))
    for i in range(count):
        x = ops.tanh(x @ weight(random, (width, width), width, f"w{i}"))
    return x


def dense(random, layers=58, rows=64, growth=32):
    x = ops.host_load(popxl.h2d_stream((rows, growth), popxl.float32, name="x"))
    for i in range(layers):
        x = ops.concat([x, ops.relu(x @ weight(random, (x.shape[1], growth), x.shape[1], f"w{i}"))], axis=1)
    return x


NETWORKS = {"resnet": resnet, "encoder": encoder, "products": products, "dense": dense}


def program(name, *sizes):
    """The network as a program, and the stream of its result."""
    random = np.random.default_rng(0)
    ir = popxl.Ir()
    with ir.main_graph, popxl.in_sequence():
        y = NETWORKS[name](random, *sizes)
        out = popxl.d2h_stream(y.shape, y.dtype, name="y")
        ops.host_store(out, y)
    return ir, out


def main():
    name, device = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "ipu_model"
    began = time.perf_counter()
    ir, out = program(name, *map(int, sys.argv[3:4]))
    built = time.perf_counter()
    session = popxl.Session(ir, device)
    compiled = time.perf_counter()
    times = session._engine.times()
    resident = np.array(session._engine.resident_bytes(), np.float64)
    figures = {"build": built - began, "session": compiled - built, **times, "resident_mean": resident.mean(), "resident_most": resident.max(),
               "uneven": resident.max() / resident.mean()}
    inputs = {s: np.random.default_rng(1).normal(0, 1, s.shape).astype(np.float32) for s in session.expected_inputs()}
    with session:
        entered = time.perf_counter()
        result = session.run(inputs)[out]
        first = time.perf_counter()
        session._engine.reset_cycles()
        session.run(inputs)
        figures.update(attach=entered - compiled, first=first - entered, second=time.perf_counter() - first,
                       cycles=session._engine.cycles() if device != "cpu" else 0)
    figures["sum"] = float(np.abs(result.astype(np.float64)).sum())
    print(json.dumps({k: round(v, 4) for k, v in figures.items()}))


if __name__ == "__main__":
    main()

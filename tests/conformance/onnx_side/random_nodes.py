"""Random nodes on ONNX Runtime and on Pando: random_nodes.py FOLDER COUNT SEED DEVICE. Prints what differs, with the seed of the case, and counts.

A case is one node with random shapes and attributes. ONNX Runtime says what is right; what it does not take is no case.
"""
import collections
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

import popxl
from popxl import distribution

OPSET = 17
UNARY = ["Abs", "Acos", "Asin", "Asinh", "Atan", "Ceil", "Cos", "Cosh", "Elu", "Erf", "Exp", "Floor", "HardSigmoid", "HardSwish", "Identity", "LeakyRelu",
         "Neg", "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "ThresholdedRelu", "Celu"]
BINARY = ["Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "Greater", "Less", "Equal", "GreaterOrEqual", "LessOrEqual", "PRelu", "Mod"]
REDUCE = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceSumSquare"]


class Case:
    """A node: operands that come at run time, those that are data of the model, attributes, the number of results."""

    def __init__(self, op, inputs, data=(), outputs=1, **attributes):
        self.op, self.inputs, self.data, self.outputs, self.attributes = op, list(inputs), list(data), outputs, attributes


class Maker:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def integer(self, low, high):
        return int(self.random.integers(low, high + 1))

    def one_of(self, values):
        return values[self.integer(0, len(values) - 1)]

    def shape(self, low=0, high=4, least=1, most=5):
        return [self.integer(least, most) for _ in range(self.integer(low, high))]

    def floats(self, shape, low=-2, high=2):
        return self.random.uniform(low, high, shape).astype(np.float32)

    def numbers(self, shape):
        dtype = self.one_of([np.float32, np.float32, np.int32, np.int64])
        return self.floats(shape) if dtype == np.float32 else self.random.integers(-9, 10, shape).astype(dtype)

    def some_axes(self, rank):
        axes = [a for a in range(rank) if self.integer(0, 1)] or [self.integer(0, rank - 1)]
        return [a - rank if self.integer(0, 1) else a for a in axes]

    # --- one method for each family

    def unary(self):
        op = self.one_of(UNARY)
        low, high = (-0.99, 0.99) if op in ("Acos", "Asin") else (0.1, 3) if op in ("Sqrt", "Reciprocal") else (-1.4, 1.4) if op == "Tan" else (-3, 3)
        return Case(op, [self.floats(self.shape(), low, high)])

    def binary(self):
        op = self.one_of(BINARY)
        shape = self.shape(1)
        other = [1 if self.integer(0, 3) == 0 else n for n in shape][self.integer(0, len(shape) - 1) if op != "PRelu" else 0:]
        a, b = self.numbers(shape), None
        b = (self.floats(other) if a.dtype == np.float32 else self.random.integers(-9, 10, other)).astype(a.dtype)
        attributes = {}
        if op == "Pow":
            a, b = np.abs(a), np.abs(b) % 3
        if op in ("Div", "Mod"):
            b[b == 0] = 1
        if op == "Mod" and a.dtype == np.float32:
            attributes["fmod"] = 1
        if op == "PRelu":
            a, b = a.astype(np.float32), b.astype(np.float32)
        return Case(op, [a, b], **attributes)

    def reduction(self):
        op, x = self.one_of(REDUCE), self.floats(self.shape(1), 0.1, 2)
        axes, keep = self.some_axes(x.ndim), self.integer(0, 1)
        if op == "ReduceSum":
            return Case(op, [x], [np.array(axes)], keepdims=keep)
        return Case(op, [x], axes=axes, keepdims=keep)

    def softmax(self):
        x = self.floats(self.shape(1))
        return Case(self.one_of(["Softmax", "LogSoftmax", "Hardmax"]), [x], axis=self.integer(-x.ndim, x.ndim - 1))

    def position(self):
        x = self.floats(self.shape(1))
        return Case(self.one_of(["ArgMax", "ArgMin"]), [x], axis=self.integer(-x.ndim, x.ndim - 1), keepdims=self.integer(0, 1))

    def transpose(self):
        x = self.numbers(self.shape(1))
        return Case("Transpose", [x], perm=[int(a) for a in self.random.permutation(x.ndim)])

    def slice(self):
        x = self.numbers(self.shape(1, most=9))
        axes = sorted({a % x.ndim for a in self.some_axes(x.ndim)})
        steps = [self.one_of([-3, -2, -1, 1, 1, 2, 3]) for _ in axes]
        bounds = [[self.integer(-12, 12) for _ in axes] for _ in range(2)]
        return Case("Slice", [x], [np.array(v, np.int64) for v in (*bounds, axes, steps)])

    def pad(self):
        mode = self.one_of(["constant", "reflect", "edge"])
        x = self.floats(self.shape(1, least=2))
        most = [n - 1 if mode == "reflect" else 3 for n in x.shape]
        pads = [self.integer(0, n) for n in most + most]
        return Case("Pad", [x], [np.array(pads, np.int64)], mode=mode)

    def concat(self):
        shape = self.shape(1)
        axis = self.integer(0, len(shape) - 1)
        parts = []
        for _ in range(self.integer(1, 4)):
            shape[axis] = self.integer(1, 4)
            parts.append(self.floats(list(shape)))
        return Case("Concat", parts, axis=axis - len(shape) if self.integer(0, 1) else axis)

    def split(self):
        lengths = [self.integer(1, 3) for _ in range(self.integer(1, 4))]
        shape = self.shape(1)
        axis = self.integer(0, len(shape) - 1)
        shape[axis] = sum(lengths)
        return Case("Split", [self.floats(shape)], [np.array(lengths, np.int64)], outputs=len(lengths), axis=axis)

    def gather(self):
        x = self.numbers(self.shape(1))
        axis = self.integer(-x.ndim, x.ndim - 1)
        n = x.shape[axis]
        return Case("Gather", [x, self.random.integers(-n, n, self.shape(0, 2)).astype(self.one_of([np.int32, np.int64]))], axis=axis)

    def gather_elements(self):
        x = self.floats(self.shape(1))
        axis = self.integer(0, x.ndim - 1)
        shape = [self.integer(1, 4) if d == axis else n for d, n in enumerate(x.shape)]
        return Case("GatherElements", [x, self.random.integers(-x.shape[axis], x.shape[axis], shape)], axis=axis)

    def scatter_elements(self):
        x = self.floats(self.shape(1))
        axis = self.integer(0, x.ndim - 1)
        shape = list(x.shape)
        shape[axis] = self.integer(1, x.shape[axis])
        # No place twice, so that the order is of no account.
        at = np.argsort(self.random.uniform(size=x.shape), axis=axis).take(range(shape[axis]), axis)
        return Case("ScatterElements", [x, at.astype(np.int64), self.floats(shape)], axis=axis, reduction=self.one_of(["none", "add", "mul"]))

    def gather_nd(self):
        x = self.floats(self.shape(1))
        depth = self.integer(1, x.ndim)
        shape = self.shape(0, 2)
        at = np.stack([self.random.integers(-n, n, shape) for n in x.shape[:depth]], -1)
        return Case("GatherND", [x, at.astype(np.int64)])

    def matmul(self):
        m, k, n = (self.integer(1, 6) for _ in range(3))
        batch = self.shape(0, 2)
        other = [1 if self.integer(0, 2) == 0 else b for b in batch][self.integer(0, len(batch)):]
        return Case("MatMul", [self.floats([*batch, m, k]), self.floats([*other, k, n])])

    def gemm(self):
        m, k, n = (self.integer(1, 6) for _ in range(3))
        a, b = self.integer(0, 1), self.integer(0, 1)
        shape = self.one_of([[n], [m, n], [1, n], [m, 1], []])
        return Case("Gemm", [self.floats([k, m] if a else [m, k]), self.floats([n, k] if b else [k, n]), self.floats(shape)], transA=a, transB=b,
                    alpha=self.one_of([1.0, 0.5]), beta=self.one_of([1.0, 2.0]))

    def windows(self, n):
        kernel = [self.integer(1, 3) for _ in range(n)]
        return kernel, dict(strides=[self.integer(1, 2) for _ in range(n)], pads=[self.integer(0, k - 1) for k in kernel + kernel],
                            dilations=[self.integer(1, 2) for _ in range(n)])

    def convolution(self):
        n = self.integer(1, 2)
        kernel, attributes = self.windows(n)
        groups, inner, outer = self.integer(1, 2), self.integer(1, 3), self.integer(1, 3)
        x = self.floats([self.integer(1, 2), groups * inner, *[self.integer(5, 9) for _ in range(n)]])
        if self.integer(0, 3) == 0:
            attributes.pop("pads")
            attributes["dilations"] = [1] * n
            attributes["auto_pad"] = self.one_of(["SAME_UPPER", "SAME_LOWER", "VALID"])
        return Case("Conv", [x, self.floats([groups * outer, inner, *kernel]), self.floats([groups * outer])], group=groups, **attributes)

    def transposed_convolution(self):
        n = self.integer(1, 2)
        kernel, attributes = self.windows(n)
        groups, inner, outer = self.integer(1, 2), self.integer(1, 3), self.integer(1, 3)
        x = self.floats([1, groups * inner, *[self.integer(3, 6) for _ in range(n)]])
        more = [self.integer(0, s - 1) for s in attributes["strides"]]
        return Case("ConvTranspose", [x, self.floats([groups * inner, outer, *kernel])], group=groups, output_padding=more, **attributes)

    def pool(self):
        n = self.integer(1, 2)
        kernel, attributes = self.windows(n)
        op = self.one_of(["MaxPool", "AveragePool", "LpPool"])
        if op != "MaxPool":
            attributes.pop("dilations")
        if op == "AveragePool":
            attributes["count_include_pad"] = self.integer(0, 1)
        x = self.floats([1, 2, *[self.integer(5, 9) for _ in range(n)]])
        return Case(op, [x], kernel_shape=kernel, outputs=2 if op == "MaxPool" and self.integer(0, 1) else 1, **attributes)

    def resize(self):
        x = self.floats([1, 2, self.integer(2, 6), self.integer(2, 6)])
        mode = self.one_of(["nearest", "linear", "cubic"])
        sizes = np.array([1, 2, self.integer(2, 9), self.integer(2, 9)], np.int64)
        attributes = dict(mode=mode, coordinate_transformation_mode=self.one_of(["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"]))
        if mode == "nearest":
            attributes["nearest_mode"] = self.one_of(["round_prefer_floor", "floor", "ceil", "round_prefer_ceil"])
        return Case("Resize", [x], [None, None, sizes], **attributes)

    def norm(self):
        op = self.one_of(["LayerNormalization", "InstanceNormalization", "BatchNormalization", "LRN", "LpNormalization"])
        x = self.floats([2, self.integer(1, 4), self.integer(2, 4), 3])
        channels = [x.shape[1]]
        if op == "LayerNormalization":
            axis = self.integer(1, 3)
            return Case(op, [x, self.floats(x.shape[axis:]), self.floats(x.shape[axis:])], axis=axis)
        if op == "InstanceNormalization":
            return Case(op, [x, self.floats(channels), self.floats(channels)])
        if op == "BatchNormalization":
            return Case(op, [x, *[self.floats(channels) for _ in range(3)], self.floats(channels, 0.5, 2)])
        if op == "LRN":
            return Case(op, [x], size=self.one_of([1, 3, 5]), alpha=0.1)
        return Case(op, [x], axis=self.integer(0, 3), p=self.integer(1, 2))

    def where(self):
        shape = self.shape(1)
        return Case("Where", [self.floats(shape) > 0, self.floats(shape), self.floats(shape[-1:])])

    def topk(self):
        x = self.floats(self.shape(1, most=8))
        axis = self.integer(0, x.ndim - 1)
        return Case("TopK", [x], [np.array([self.integer(1, x.shape[axis])])], outputs=2, axis=axis, largest=self.integer(0, 1))

    def cumulative(self):
        x = self.numbers(self.shape(1, most=8))
        return Case("CumSum", [x], [np.array(self.integer(0, x.ndim - 1))], exclusive=self.integer(0, 1), reverse=self.integer(0, 1))

    def shapes(self):
        x = self.numbers(self.shape(1, 3))
        kind = self.integer(0, 3)
        if kind == 0:
            return Case("Tile", [x], [np.array([self.integer(1, 3) for _ in x.shape], np.int64)])
        if kind == 1:
            return Case("Expand", [x], [np.array([self.integer(1, 3), *x.shape], np.int64)])
        if kind == 2:
            return Case("Unsqueeze", [x], [np.array([self.integer(-x.ndim - 1, x.ndim)])])
        return Case("Flatten", [x], axis=self.integer(0, x.ndim))

    def recurrent(self):
        op, gates = self.one_of([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
        direction = self.one_of(["forward", "reverse", "bidirectional"])
        d, t, b, i, h = 2 if direction == "bidirectional" else 1, self.integer(1, 4), self.integer(1, 3), self.integer(1, 4), self.integer(1, 4)
        data = [self.floats([d, gates * h, i]), self.floats([d, gates * h, h]), self.floats([d, 2 * gates * h])]
        attributes = dict(linear_before_reset=self.integer(0, 1)) if op == "GRU" else {}
        lengths = self.random.integers(1, t + 1, b).astype(np.int32)
        lengths[0] = t
        return Case(op, [self.floats([t, b, i])], [*data, lengths], outputs=3 if op == "LSTM" else 2, direction=direction, hidden_size=h, **attributes)

    def einsum(self):
        sizes = {letter: self.integer(1, 4) for letter in "abcd"}
        equation = self.one_of(["ab,bc->ac", "abc,cd->abd", "ab,ab->a", "abc->cab", "ab->b", "ab,b->a", "abc,abd->acd", "a,b->ab"])
        terms = equation.split("->")[0].split(",")
        return Case("Einsum", [self.floats([sizes[x] for x in term]) for term in terms], equation=equation)

    def quantised(self):
        x = self.floats(self.shape(1), -40, 40)
        dtype = self.one_of([np.uint8, np.int8])
        if self.integer(0, 1):
            return Case("QuantizeLinear", [x], [np.float32(self.one_of([0.25, 0.5, 1])), dtype(self.integer(0, 9))])
        return Case("DequantizeLinear", [x.astype(np.int8).astype(dtype)], [np.float32(0.3), dtype(self.integer(0, 9))])

    def grid(self):
        x = self.floats([1, 2, self.integer(2, 5), self.integer(2, 5)])
        return Case("GridSample", [x, self.floats([1, 3, 2, 2], -1.2, 1.2)], mode=self.one_of(["bilinear", "bicubic"]),
                    padding_mode=self.one_of(["zeros", "border", "reflection"]), align_corners=self.integer(0, 1))

    FAMILIES = [unary, unary, binary, binary, reduction, softmax, position, transpose, slice, slice, pad, concat, split, gather, gather_elements,
                scatter_elements, gather_nd, matmul, gemm, convolution, convolution, transposed_convolution, pool, pool, resize, norm, where, topk,
                cumulative, shapes, recurrent, einsum, quantised, grid]

    def case(self):
        return self.one_of(self.FAMILIES)(self)


def model_of(case):
    inputs = {f"x{i}": np.asarray(a) for i, a in enumerate(case.inputs)}
    data = [("" if a is None else f"d{i}", a) for i, a in enumerate(case.data)]
    outputs = [f"y{i}" for i in range(case.outputs)]
    node = helper.make_node(case.op, [*inputs, *[name for name, _ in data]], outputs, **case.attributes)
    infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for name, a in inputs.items()]
    graph = helper.make_graph([node], "random", infos, [onnx.ValueInfoProto(name=name) for name in outputs],
                              [numpy_helper.from_array(np.asarray(a), name) for name, a in data if name])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8), inputs, outputs


def run_here(path, inputs, outputs, device):
    ir = distribution.load_onnx(str(path))
    to_device = {s.tensor_id: s for s in ir.get_all_h2d_streams()}
    to_host = {s.tensor_id: s for s in ir.get_all_d2h_streams()}
    with popxl.Session(ir, device) as session:
        found = session.run({to_device[name]: a for name, a in inputs.items()})
    return [np.asarray(found[to_host[name]]) for name in outputs]


def difference(found, expected):
    """None, or what differs."""
    for y, right in zip(found, expected):
        if y.dtype != right.dtype or y.shape != right.shape:
            return f"{y.dtype}{y.shape}; {right.dtype}{right.shape} is expected"
        wide = y.astype(np.float64), right.astype(np.float64)
        if not np.allclose(*wide, rtol=1e-3, atol=1e-4, equal_nan=True):
            return f"differs by {np.nanmax(np.abs(wide[0] - wide[1])):.2e}"
    return None


def main():
    folder, count, seed, device = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    onnxruntime.set_default_logger_severity(4)
    print(f"seeds {seed} to {seed + count - 1} on {device}")
    counts, rejected, wrong = collections.Counter(), collections.Counter(), 0
    for number in range(seed, seed + count):
        case = Maker(number).case()
        model, inputs, outputs = model_of(case)
        path = folder / "random.onnx"
        path.write_bytes(model.SerializeToString())
        try:
            expected = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, inputs)
        except Exception:
            counts["not taken by ONNX Runtime"] += 1
            continue
        try:
            differs = difference(run_here(path, inputs, outputs, device), expected)
        except ValueError as e:
            counts["rejected"] += 1
            rejected[f"{case.op}: {str(e).split(': ')[-1]}"] += 1
            continue
        except Exception as e:
            differs = f"{type(e).__name__}: {' '.join(str(e).split())[:300]}"
        counts["equal" if differs is None else "wrong"] += 1
        if differs is not None:
            wrong += 1
            print(f"seed {number}: {case.op} {case.attributes} {[list(a.shape) for a in inputs.values()]}: {differs}")
    print(", ".join(f"{n} {what}" for what, n in sorted(counts.items())), *[f"{n} x {why}" for why, n in rejected.most_common(20)], sep="\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

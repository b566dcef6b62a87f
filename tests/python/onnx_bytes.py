"""ONNX models written as bytes: no package for it is needed."""


def _varint(n):
    out = b""
    while n >= 0x80:
        out, n = out + bytes([n & 0x7F | 0x80]), n >> 7
    return out + bytes([n])


def _field(number, value):
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    value = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _tensor(name, array):
    return b"".join(_field(1, d) for d in array.shape) + _field(2, 1) + _field(8, name) + _field(9, array.astype("<f4").tobytes())


def _node(op, inputs, output):
    return b"".join(_field(1, i) for i in inputs) + _field(2, output) + _field(3, output) + _field(4, op)


def _value(name, dims):
    shape = b"".join(_field(1, _field(2, d) if isinstance(d, str) else _field(1, d)) for d in dims)
    return _field(1, name) + _field(2, _field(1, _field(1, 1) + _field(2, shape)))


def perceptron(weights, biases):
    """A model of so many layers: products, sums, relu between, softmax at the end; input x (batch, ...), output p."""
    graph, at = b"", "x"
    for i, (w, b) in enumerate(zip(weights, biases)):
        graph += _field(1, _node("MatMul", [at, f"w{i}"], f"m{i}")) + _field(1, _node("Add", [f"m{i}", f"b{i}"], f"a{i}"))
        at = f"a{i}"
        if i < len(weights) - 1:
            graph += _field(1, _node("Relu", [at], f"r{i}"))
            at = f"r{i}"
        graph += _field(5, _tensor(f"w{i}", w)) + _field(5, _tensor(f"b{i}", b))
    graph += _field(1, _node("Softmax", [at], "p"))
    graph += _field(11, _value("x", ["batch", weights[0].shape[0]])) + _field(12, _value("p", ["batch", weights[-1].shape[1]]))
    return _field(1, 8) + _field(8, _field(1, "") + _field(2, 13)) + _field(7, graph)

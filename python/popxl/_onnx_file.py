"""Weights of an ONNX file replaced: its protocol buffers are copied, field by field, but for the tensors that have new contents. Field numbers are those
of the format's schema."""
import numpy as np

from popxl import dtypes

_GRAPH = 7  # of a model
_NODE, _INITIALIZER = 1, 5  # of a graph
_OUTPUT, _OPERATOR, _ATTRIBUTE = 2, 4, 5  # of a node
_ATTRIBUTE_TENSOR = 5
_DIMS, _TYPE, _NAME, _RAW = 1, 2, 8, 9  # of a tensor
_LARGEST = 2**31 - 1  # bytes of a protocol buffer

_TYPES = {dtypes.float32: 1, dtypes.float16: 10, dtypes.float64: 11}


def _varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("it is not an ONNX file")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def _fields(data):
    """(number, contents or None where it is not a list of bytes, all of its bytes) of each field of a message."""
    at = 0
    while at < len(data):
        begin = at
        key, at = _varint(data, at)
        kind = key & 7
        contents = None
        if kind == 0:
            _, at = _varint(data, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        elif kind == 2:
            size, at = _varint(data, at)
            contents = data[at:at + size]
            at += size
        else:
            raise ValueError("it is not an ONNX file")
        if at > len(data):
            raise ValueError("it is not an ONNX file: it ends in the middle")
        yield key >> 3, contents, data[begin:at]


def _number(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _bytes(number, contents):
    return _number(number << 3 | 2) + _number(len(contents)) + bytes(contents)


def _text(message, number):
    return next((bytes(contents).decode() for n, contents, _ in _fields(message) if n == number and contents is not None), "")


def _tensor(name, array):
    array = np.ascontiguousarray(array)
    kind = _TYPES[dtypes.dtype.as_dtype(array.dtype)]
    dims = b"".join(_number(_DIMS << 3) + _number(d) for d in array.shape)
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return dims + _number(_TYPE << 3) + _number(kind) + _bytes(_NAME, name.encode()) + _bytes(_RAW, little.tobytes())


def _constant(node, weights, found):
    """A node; a Constant whose result is among the weights has new contents."""
    output = _text(node, _OUTPUT)
    if output not in weights or _text(node, _OPERATOR) != "Constant":
        return node
    out = b""
    for number, contents, whole in _fields(node):
        if number == _ATTRIBUTE and any(n == _ATTRIBUTE_TENSOR for n, _, _ in _fields(contents)):
            found.add(output)
            parts = [_bytes(n, _tensor(_text(c, _NAME), weights[output])) if n == _ATTRIBUTE_TENSOR else w for n, c, w in _fields(contents)]
            whole = _bytes(number, b"".join(map(bytes, parts)))
        out += bytes(whole)
    return out


def with_weights(model, weights):
    """The bytes of a model with other contents of some of its tensors.

    Args:
        model: the file's bytes.
        weights: {name of an initializer or of a Constant's result: array}.

    Returns:
        (bytes, names that are replaced).

    Raises:
        ValueError: no model, or one that would be larger than protocol buffers may be.
    """
    found, parts = set(), []
    for number, contents, whole in _fields(memoryview(model)):
        if number != _GRAPH or contents is None:
            parts.append(whole)
            continue
        graph = []
        for field, inner, all_of_it in _fields(contents):
            name = _text(inner, _NAME) if field == _INITIALIZER else ""
            if name in weights:
                found.add(name)
                all_of_it = _bytes(_INITIALIZER, _tensor(name, weights[name]))
            elif field == _NODE:
                changed = _constant(inner, weights, found)
                all_of_it = _bytes(_NODE, changed) if changed is not inner else all_of_it
            graph.append(bytes(all_of_it))
        parts.append(_bytes(_GRAPH, b"".join(graph)))
    written = b"".join(map(bytes, parts))
    if len(written) > _LARGEST:
        raise ValueError(f"the model would have {len(written)} bytes; an ONNX file holds at most {_LARGEST} beside external data")
    return written, found

"""Programs placed by hand: tensors that lie on several devices, ops between devices, and functions that run on each of several. This is Pando's own;
PopXL has nothing like it.

    from popxl import across

    xs = across.scatter(x, devices=[1, 2])
    ws = across.broadcast(w, devices=[1, 2])
    ys = across.pmap(lambda x, w: ops.relu(x @ w), xs, ws)   # one graph; its ops lie where its operands lie
    y = across.gather(across.all_reduce(ys), device=0)

A function with several steps on several devices is written with `popxl.ipu` blocks, or with `across.send`, after which ops lie where their operands lie.
`across.text(ir)` is the program as `pando run`, `pando pipeline`, `pando simulate` and `pando transform --unroll-pmap` read it.
"""
from typing import Callable, Iterable, Tuple, Union

from popxl import dtypes
from popxl._build import op
from popxl.context import _context, _IpuBlock
from popxl.ir import Ir
from popxl.tensor import Tensor, graph_output

__all__ = ["Parts", "all_gather", "all_reduce", "all_to_all", "broadcast", "gather", "parts", "pmap", "reduce", "reduce_scatter", "scatter", "send", "text"]


class Parts:
    """Tensors of one shape and element type, one on each of some devices. Ops of this module make them; `parts[i]` is the tensor on the device
    `parts.devices[i]`."""

    def __init__(self):
        raise TypeError("Parts has no constructor: scatter, broadcast, parts, pmap and collectives make them.")

    @classmethod
    def _make(cls, tensor, devices, shape, dtype):
        self = object.__new__(cls)
        self._tuple, self._devices, self._shape, self._dtype = tensor, tuple(devices), tuple(shape), dtype
        return self

    @property
    def devices(self) -> Tuple[int, ...]:
        """Their numbers."""
        return self._devices

    @property
    def shape(self) -> Tuple[int, ...]:
        """Of each tensor."""
        return self._shape

    @property
    def dtype(self) -> dtypes.dtype:
        return self._dtype

    def __len__(self) -> int:
        return len(self._devices)

    def __getitem__(self, index: int) -> Tensor:
        if not -len(self) <= index < len(self):
            raise IndexError(f"Part {index} of {len(self)}.")
        return op("get_element", [self._tuple], {"index": index % len(self)})[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Parts[{self._shape} {self._dtype} on {list(self._devices)}]"


def _numbers(devices):
    numbers = [int(d) for d in devices]
    if not numbers:
        raise ValueError("devices: at least one is expected.")
    return numbers


def _changed(shape, dim, of):
    """A shape with one dimension changed; a dimension that is not there is the op's to reject."""
    return tuple(of(n) if i == dim else n for i, n in enumerate(shape))


def _tuple_of(ts, name):
    if not isinstance(ts, Parts):
        raise TypeError(f"{name} takes Parts, not {ts!r} of type {type(ts).__name__}.")
    return [ts._tuple]


def send(t: Tensor, device: int) -> Tensor:
    """A tensor on another device."""
    return op("send", [t], {"device": device})[0]


def parts(*tensors: Tensor) -> Parts:
    """Tensors of one shape, each on a device of its own."""
    if not tensors:
        raise ValueError("parts: at least one tensor is expected.")
    made = op("make_tuple", tensors, {})[0]
    first = tensors[0]
    return Parts._make(made, [t.ipu for t in tensors], first.shape, first.dtype)


def scatter(t: Tensor, devices: Iterable[int], dim: int = 0) -> Parts:
    """A tensor in equal parts along a dimension, one on each device."""
    devices = _numbers(devices)
    made = op("scatter_across", [t], {"devices": devices, "dim": dim})[0]
    return Parts._make(made, devices, _changed(t.shape, dim, lambda n: n // len(devices)), t.dtype)


def broadcast(t: Tensor, devices: Iterable[int]) -> Parts:
    """A copy of a tensor on each device."""
    devices = _numbers(devices)
    return Parts._make(op("broadcast_across", [t], {"devices": devices})[0], devices, t.shape, t.dtype)


def gather(ts: Parts, device: int, dim: int = 0) -> Tensor:
    """The tensors one after the other along a dimension, on one device."""
    return op("gather_across", _tuple_of(ts, "gather"), {"device": device, "dim": dim})[0]


def reduce(ts: Parts, device: int, op_type: str = "add") -> Tensor:
    """The reduction of the tensors ("add", "mean", "mul", "min", "max"), on one device."""
    return op("reduce_across", _tuple_of(ts, "reduce"), {"device": device, "op": op_type})[0]


def all_reduce(ts: Parts, op_type: str = "add") -> Parts:
    """The reduction of the tensors, on each of their devices."""
    made = op("all_reduce_across", _tuple_of(ts, "all_reduce"), {"op": op_type})[0]
    return Parts._make(made, ts.devices, ts.shape, ts.dtype)


def all_gather(ts: Parts, dim: int = 0) -> Parts:
    """The tensors one after the other along a dimension, on each of their devices."""
    made = op("all_gather_across", _tuple_of(ts, "all_gather"), {"dim": dim})[0]
    return Parts._make(made, ts.devices, _changed(ts.shape, dim, lambda n: n * len(ts)), ts.dtype)


def reduce_scatter(ts: Parts, dim: int = 0, op_type: str = "add") -> Parts:
    """The reduction of the tensors in equal parts along a dimension, one on each of their devices."""
    made = op("reduce_scatter_across", _tuple_of(ts, "reduce_scatter"), {"dim": dim, "op": op_type})[0]
    return Parts._make(made, ts.devices, _changed(ts.shape, dim, lambda n: n // len(ts)), ts.dtype)


def all_to_all(ts: Parts, split_dim: int, concat_dim: int) -> Parts:
    """Each tensor is cut along `split_dim`; part j of each goes to device j, which joins what it gets along `concat_dim`."""
    made = op("all_to_all_across", _tuple_of(ts, "all_to_all"), {"split_dim": split_dim, "concat_dim": concat_dim})[0]
    shape = _changed(_changed(ts.shape, split_dim, lambda n: n // len(ts)), concat_dim, lambda n: n * len(ts))
    return Parts._make(made, ts.devices, shape, ts.dtype)


def text(ir: Ir) -> str:
    """The program with all its data, which commands read. (`str(ir)` leaves large data out.) In a program of several devices, a call of a graph that
    `create_graph` made lies where its operands lie."""
    return ir._program.text(elide_data=False, place_calls=True)


# How deep in pmaps the current graph is: each has a device variable of its own.
_depth = [0]


def pmap(function: Callable[..., Union[Tensor, Iterable[Tensor]]], *operands: Parts) -> Union[Parts, Tuple[Parts, ...]]:
    """Runs a function of tensors once for each of the devices on which its operands lie. It is traced once, whatever their number.

    Args:
        function: takes a tensor for each operand, gives a tensor or several.
        operands: on the same devices.

    Returns:
        what it gives, on those devices: one Parts, or a tuple of them.

    Raises:
        TypeError: operands that are not Parts, results that are not tensors.
        ValueError: no operand.
        popart.popart_exception: operands on different devices.
    """
    tuples = [t for ts in operands for t in _tuple_of(ts, "pmap")]
    if not tuples:
        raise ValueError("pmap: at least one operand is expected.")
    ir = _context.graph.ir
    graph = ir.create_empty_graph(getattr(function, "__name__", "pmap").strip("<>"))
    variable = _depth[0]
    on_variable = -2 - variable
    _depth[0] += 1
    try:
        with graph, _IpuBlock(on_variable):
            inputs = [Tensor._new(ir, ir._program.add_input(graph._index, ts.dtype._index, ts.shape, "", device=on_variable)) for ts in operands]
            results = function(*inputs)
            results = (results,) if isinstance(results, Tensor) else tuple(results)
            for t in results:
                graph_output(t)
    finally:
        _depth[0] -= 1
    made = op("pmap", tuples, {"device_var": variable}, [graph])
    found = tuple(Parts._make(t, operands[0].devices, r.shape, r.dtype) for t, r in zip(made, results))
    return found[0] if len(found) == 1 else found

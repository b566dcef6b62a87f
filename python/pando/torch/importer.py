"""Graphs of torch.fx as graphs of popxl.

The graphs are functional and static: what AOTAutograd and make_fx write, each value with a fake tensor that tells its shape and element type.
"""
import collections
import contextlib
import dataclasses
import operator
import os
import re
from typing import List

import numpy as np
import torch
import torch.fx

import pando
import popxl
from popxl import _build, _core
from popxl._core import popart_exception
from popxl.tensor import Tensor

from pando.torch import adapter
from pando.torch.complex import Complex, involved, is_complex, part_type, split
from pando.torch.rules.loop import BEGIN, END, Loop
from pando.torch.table import COMPLEX_RULES, RULES
from pando.torch.types import UnsupportedType, to_array, to_popxl


# Frames of these files are not the user's.
_PACKAGES = tuple(os.path.dirname(os.path.abspath(module.__file__)) + os.sep for module in (torch, pando, popxl))
_FRAME = re.compile(r'File "(.*)", line (\d+), in (.*)$')
for _folder in _PACKAGES:
    _core.add_package(_folder)


class UnsupportedOps(NotImplementedError):
    """A graph has ops that have no rule. `ops`: {name: how often}."""

    def __init__(self, message, ops):
        super().__init__(message)
        self.ops = ops


class WrongResult(RuntimeError):
    """A rule made a value of another shape or element type than PyTorch says: a fault of Pando's own that asks to be reported."""


def _trace_of(node):
    trace = node.meta.get("stack_trace") or getattr(node, "stack_trace", None) or ""
    return [line.strip() for line in trace.splitlines() if line.strip()]


def location_of(node):
    """(file, line, function) of the user's line that a node comes from: the innermost outside PyTorch and this package; None where there is none."""
    for text in reversed(_trace_of(node)):
        found = _FRAME.match(text)
        if found and not found[1].startswith(_PACKAGES):
            return found[1], int(found[2]), found[3]
    return None


_lines = []


@contextlib.contextmanager
def _made_by(location):
    """Inside, what is made comes from a user's line (location_of); None: from the line around."""
    _lines.append(location or (_lines[-1] if _lines else None))
    try:
        if _lines[-1] is not None:
            _core.set_location(*_lines[-1])
        yield
    finally:
        _lines.pop()
        if _lines and _lines[-1] is not None:
            _core.set_location(*_lines[-1])
        else:
            _core.clear_location()


def line_of(node):
    """The line of the model that a node comes from, as "file:line: code", or "" where the graph does not tell. Lines of PyTorch count where there is no other."""
    lines, found = _trace_of(node), ""
    for i in range(len(lines) - 1, -1, -1):
        if lines[i].startswith("File "):
            where = lines[i].split(", in ")[0].replace("File ", "").replace('"', "").replace(", line ", ":")
            line = where + (": " + lines[i + 1] if i + 1 < len(lines) else "")
            if not where.startswith(_PACKAGES):
                return line
            found = found or line
    return found


def _is_known(node):
    return node.op != "call_function" or node.target in (operator.getitem, BEGIN, END) or node.target in (COMPLEX_RULES if involved(node) else RULES)


def _name(node):
    return str(node.target) + (" of complex numbers" if involved(node) else "")


def check_ops(graph):
    """Raises UnsupportedOps that names all ops of a graph without a rule, with counts and the model's lines."""
    missing, lines = collections.Counter(), {}
    for node in graph.nodes:
        if not _is_known(node):
            missing[_name(node)] += 1
            lines.setdefault(_name(node), line_of(node))
    if missing:
        rows = [f"  {name} ({n} {'time' if n == 1 else 'times'})" + (f", {lines[name]}" if lines[name] else "") for name, n in missing.most_common()]
        raise UnsupportedOps("Pando has no rule for these ops of PyTorch:\n" + "\n".join(rows), dict(missing))


def _of_type(node, error):
    """The message for an op whose row does not take an element type."""
    message = str(error).splitlines()[0]
    given = sorted({str(n.meta["val"].dtype) for n in node.all_input_nodes if isinstance(n.meta.get("val"), torch.Tensor)})
    line = line_of(node)
    return f"{node.target} of {' and '.join(given)}: programs of Pando do not have it for that type: {message.split(' at ')[0]}." + (f" {line}" if line else "")


@dataclasses.dataclass(frozen=True)
class Check:
    """What a graph asserts: `holds`, an int32 of 1, or else an exception with a message."""

    holds: Tensor
    error: type
    message: str

    def failure(self):
        """The exception."""
        return self.error(f"{self.message} (The check runs after the program.)")


class Importer:
    """Writes the nodes of an fx graph into the current popxl graph.

    Args:
        seed: a uint32 tensor of the shape (2,), made when the first random op asks for it; None: random ops are an error.
    """

    def __init__(self, seed=None):
        self._seed = seed
        self._seeds = 0
        self._constants = {}
        self.node = self._wide = None
        # What the graph asserts, for the host to look at; what iterations of a loop assert is in no list.
        self.checks = []

    def run(self, graph_module, inputs):
        """The outputs of the graph, a list, for inputs in the order of its placeholders: popxl tensors, numbers, or None.

        A complex input is a tensor with a last dimension of 2, a complex result a complex.Complex.
        """
        check_ops(graph_module.graph)
        values, given = {}, iter(inputs)
        nodes = list(graph_module.graph.nodes)
        for node in nodes:
            if node.op == "placeholder":
                value = next(given)
                values[node] = split(value) if isinstance(value, Tensor) and is_complex(node.meta.get("val")) else value
            elif node.op == "get_attr":
                values[node] = self._attribute(graph_module, node)
        self._write(nodes, values)
        return torch.fx.node.map_arg(nodes[-1].args[0], lambda n: values[n])

    def _write(self, nodes, values):
        """Writes nodes, in order; values: {node: value}, of which some are known."""
        behind = None
        for node in nodes:
            if behind is not None:
                behind = behind if node is not behind else None
            elif node.target is BEGIN:
                loop = Loop(nodes, node)
                values[loop.end], behind = self._loop(loop, values), loop.end
            elif node.op == "call_function":
                values[node] = self._call(node, values)

    def _loop(self, loop, values):
        """The results of a loop: of a graph that is repeated, or, if it draws random numbers, of one iteration after the other."""
        state = [values[n] for n in loop.begin.args[0]]
        if loop.draws:
            for _ in range(loop.count):
                state = self._body(loop, values, state)
            return state
        captured = [n for n in loop.captured if isinstance(values[n], Tensor)]

        def body(given: List[Tensor]):
            inner, outside = {**values, **dict(zip(captured, given[len(state):]))}, list(self.checks)
            results = self._body(loop, inner, given[:len(state)])
            self.checks = outside
            return [self.one("identity", r) if any(r is t for t in given) else r for r in results]

        graph = popxl.gcg().ir.create_graph(body, [*state, *(values[n] for n in captured)])
        return popxl.ops.repeat(graph, loop.count, *state, *(values[n] for n in captured))

    def _body(self, loop, values, state):
        """The results of one iteration."""
        values = {**values, loop.begin: state}
        self._write(loop.body, values)
        return [values[n] for n in loop.end.args[0]]

    def _attribute(self, graph_module, node):
        value = graph_module
        for part in node.target.split("."):
            value = getattr(value, part)
        if not isinstance(value, torch.Tensor):
            return value
        # Graphs are compiled while others are traced: what is done to a tensor then would be part of one.
        with adapter.real_tensors():
            whole = popxl.constant(to_array(value), to_popxl(part_type(value.dtype)))
            return split(whole) if value.is_complex() else whole

    def _call(self, node, values):
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: values[n])
        if node.target is operator.getitem:
            return args[0][args[1]]
        self.node = node
        with _made_by(location_of(node)):
            return self._made(node, args, kwargs)

    def _made(self, node, args, kwargs):
        try:
            made = (COMPLEX_RULES if involved(node) else RULES)[node.target](self, *args, **kwargs)
        except Exception as error:
            if isinstance(error, popart_exception) and "has the element type" in str(error):
                raise UnsupportedType(_of_type(node, error)) from error
            line = line_of(node)
            if hasattr(error, "add_note"):
                error.add_note(f"in {node.target}" + (f", {line}" if line else ""))
            raise
        self._check(node, made)
        return made

    def _check(self, node, made):
        wanted, got = node.meta.get("val"), made
        if not isinstance(wanted, (tuple, list)):
            wanted, got = [wanted], [made]
        for w, g in zip(wanted, got):
            known = isinstance(w, torch.Tensor) and isinstance(g, Complex if is_complex(w) else Tensor)
            if known and (tuple(w.shape) != tuple(g.shape) or to_popxl(part_type(w.dtype)) is not g.dtype):
                raise WrongResult(f"{node.target} gives {tuple(w.shape)} of {w.dtype}, its rule {tuple(g.shape)} of {g.dtype}. {line_of(node)} "
                                   "This is a fault of Pando: please report it.")

    # --- what rules ask

    def inner(self, graph_module, inputs):
        """run() for a graph inside of the node that a rule is for. It draws no random numbers, and what it asserts is in no list."""
        node, seed, checks = self.node, self._seed, list(self.checks)
        self._seed = None
        try:
            return self.run(graph_module, inputs)
        finally:
            self.node, self._seed, self.checks = node, seed, checks

    def check(self, holds, message, error=RuntimeError):
        """Asserts that all elements of a tensor hold: the host looks at that after the program."""
        whole = self.cast(self.cast(holds, popxl.bool), popxl.int32)
        if whole.shape:
            whole = self.one("min", whole, axis=list(range(len(whole.shape))), keepdims=False)
        line = line_of(self.node)
        self.checks.append(Check(whole, error, message + (f" {line}" if line else "")))

    def value(self, i=None):
        """The fake tensor of the node's result, or of its result `i`."""
        value = self.node.meta["val"]
        return value if i is None else value[i]

    @property
    def dtype(self):
        """The element type of the (first) result; of complex numbers that of their parts; inside of `computed_as` the one that it says."""
        if self._wide is not None:
            return self._wide
        value = self.node.meta["val"]
        return to_popxl(part_type((value[0] if isinstance(value, (tuple, list)) else value).dtype))

    @contextlib.contextmanager
    def computed_as(self, dtype):
        """Inside, rules compute in another element type than that of the result."""
        self._wide = dtype
        try:
            yield
        finally:
            self._wide = None

    @property
    def shape(self):
        """The shape of the (first) result."""
        value = self.node.meta["val"]
        return tuple((value[0] if isinstance(value, (tuple, list)) else value).shape)

    def promoted(self, count=2):
        """The element type that the first `count` arguments have in common, by the promotion of PyTorch."""
        fakes = [a.meta["val"] if isinstance(a, torch.fx.Node) else a for a in self.node.args[:count]]
        found = fakes[0]
        for other in fakes[1:]:
            found = torch.empty(0, dtype=torch.result_type(found, other), device="meta")
        return to_popxl(found.dtype)

    def one(self, name, *operands, in_place=False, **attributes):
        """The result of an op of the table `name` (docs/level/ops.md)."""
        return _build.one(name, operands, {k: v for k, v in attributes.items() if v is not None}, in_place)

    def op(self, name, *operands, **attributes):
        """The results of an op of several results."""
        return _build.op(name, operands, {k: v for k, v in attributes.items() if v is not None})

    def constant(self, value, dtype, shape=()):
        """A constant: one number in each element of a shape."""
        kind = dtype.as_numpy().kind
        number = bool(value) if kind == "b" else int(value) if kind in "iu" else float(value)
        key = (repr(number), dtype.name, id(popxl.gcg()))
        if key not in self._constants:
            if kind in "iu":
                info = np.iinfo(dtype.as_numpy())
                number = min(max(number, info.min), info.max)
            self._constants[key] = popxl.constant(np.array(number, dtype.as_numpy()), dtype)
        return self.expand(self._constants[key], shape)

    def array(self, array, dtype):
        """A constant with the contents of an array."""
        return popxl.constant(np.ascontiguousarray(array).astype(dtype.as_numpy()), dtype)

    def tensor(self, x, dtype):
        """A tensor or number in an element type."""
        if not isinstance(x, Tensor):
            return self.constant(x, dtype)
        return x if x.dtype is dtype else self.one("cast", x, data_type=dtype._index)

    def cast(self, x, dtype):
        return self.tensor(x, dtype)

    def expand(self, t, shape):
        shape = tuple(int(d) for d in shape)
        return t if t.shape == shape else self.one("expand", t, shape=list(shape))

    def reshape(self, t, shape):
        shape = [int(d) for d in shape]
        return t if list(t.shape) == shape else self.one("reshape", t, shape=shape)

    def transpose(self, t, permutation):
        permutation = [int(p) for p in permutation]
        return t if permutation == sorted(permutation) else self.one("transpose", t, permutation=permutation)

    def slice(self, t, axis, start, stop):
        """t[start:stop] along an axis; 0 <= start <= stop <= the axis' length."""
        if start == 0 and stop == t.shape[axis]:
            return t
        return self.one("slice", t, start=[start], stop=[stop], step=[1], axis=[axis])

    def concat(self, ts, axis):
        ts = list(ts)
        return ts[0] if len(ts) == 1 else _build.one("concat", ts, {"axis": axis})

    def next_seed(self):
        """A seed for one random op. The program's seed comes from torch's generator at each call."""
        if self._seed is None:
            raise NotImplementedError(f"{self.node.target}: random numbers have no seed here.")
        seed = self._seed()
        self._seeds += 1
        return self.one("create_random_seed", seed, popxl.constant(self._seeds, popxl.uint32))

"""Programs of codelets of one's own: C++ for the vertices, Python for the graph.

    import numpy as np
    from pando import graph

    g = graph.Graph("ipu_model", tiles=4)
    g.add_codelets("scale.cpp", "-g")
    x = g.add_variable(np.float32, (4,), "x", tile=1)
    y = g.add_variable(np.float32, (4,), "y", tile=1)
    work = g.add_compute_set("work")
    g.add_vertex(work, "Scale", tile=1, x=x, y=y, factor=3.0)
    g.create_host_write("x", x)
    g.create_host_read("y", y)
    engine = graph.Engine(g, graph.Execute(work), {"pando.watch": "y"})
    engine.write_tensor("x", np.arange(4, dtype=np.float32))
    engine.run()
    print(engine.read_tensor("y"))

Names and meanings are those of the classes in C++ (poplar/Graph.hpp, poplar/Program.hpp, poplar/Engine.hpp), of which this is a part: what makes a graph
of vertices, runs it and looks into it. Options of the engine, with those of docs/debug-a-program.md, are a dict or the environment variable
POPLAR_ENGINE_OPTIONS. Messages and reports name lines of the Python program.

Element types are NumPy's: float32, float16, int32, uint32, int16, uint16, int8, uint8, int64, uint64, bool. A codelet's file is compiled by popc, which
comes with Pando's source distribution; a .gp file needs no compiler.

Errors: ValueError for what this module rejects; RuntimeError with the message of the C++ interface for what that rejects;
popart.poplar_application_runtime_error for a program that stops while it runs.
"""
import operator
import os

import numpy as np

from popxl import _core

_core.add_package(os.path.dirname(os.path.abspath(__file__)) + os.sep)

__all__ = ["ComputeSet", "Copy", "Engine", "Execute", "Graph", "If", "PrintTensor", "Program", "Repeat", "RepeatWhileFalse", "RepeatWhileTrue",
           "Sequence", "Stream", "Switch", "Tensor"]


class Tensor:
    """A view of variables' elements: `shape` and `dtype` as NumPy's. Slices, reshapes and transposes copy nothing.

    t[i], t[a:b], t[a:b, i]: elements and parts as of an array; ranges have no step.
    """

    def __init__(self, native, dtype):
        self._native, self.dtype = native, dtype

    @property
    def shape(self):
        return tuple(self._native.shape())

    def __repr__(self):
        return f"Tensor({self.dtype}, {self.shape})"

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) > len(self.shape):
            raise IndexError(f"{len(keys)} indices of a tensor of shape {self.shape}")
        out, shape = self._native, []
        for dim, (k, size) in enumerate(zip(keys, self.shape)):
            if not isinstance(k, slice):
                if not -size <= (i := operator.index(k)) < size:
                    raise IndexError(f"index {i} of dimension {dim}, which has {size} elements")
                out = out.slice(i % size, i % size + 1, dim)
                continue
            begin, end, step = k.indices(size)
            if step != 1:
                raise IndexError(f"{k} of dimension {dim}: expected a range without a step")
            out = out.slice(begin, max(begin, end), dim)
            shape.append(max(0, end - begin))
        out = out.reshape([*shape, *self.shape[len(keys):]])
        return Tensor(out, self.dtype)

    def reshape(self, *shape):
        """The same elements in another shape."""
        return Tensor(self._native.reshape(list(shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)), self.dtype)

    def transpose(self, *dimensions):
        """The dimensions in this order; without arguments the other way round."""
        return Tensor(self._native.shuffle(list(dimensions or range(len(self.shape))[::-1])), self.dtype)

    @property
    def T(self):
        return self.transpose()


class ComputeSet:
    """Vertices that run at the same time."""

    def __init__(self, native, name):
        self._native, self.name = native, name


class Stream:
    """Blocks of `elements` elements of type `dtype` between the host and the device, one at each Copy: to the device if `to_device`, else to the host."""

    def __init__(self, native, handle, dtype, elements, to_device):
        self._native, self.handle, self.dtype, self.elements, self.to_device = native, handle, dtype, elements, to_device

    def __repr__(self):
        return f"Stream({self.handle!r}, {self.elements} x {self.dtype} to the {'device' if self.to_device else 'host'})"


class Program:
    """What an engine runs: Execute, Copy, Sequence, Repeat, RepeatWhileTrue, RepeatWhileFalse, If, Switch or PrintTensor."""

    def __init__(self, native):
        self._native = native


class Execute(Program):
    """Runs the vertices of a compute set."""

    def __init__(self, compute_set):
        super().__init__(_core.tile_execute(compute_set._native))


class Copy(Program):
    """Copies the elements of `source` to `destination`, of the same type and as many elements. One of them can be a Stream."""

    def __init__(self, source, destination):
        for end, name, to_device in ((source, "source", True), (destination, "destination", False)):
            if not isinstance(end, (Stream, Tensor)):
                raise ValueError(f"the {name} of a copy is a {type(end).__name__}; expected a Tensor or a Stream")
            if isinstance(end, Stream) and end.to_device != to_device:
                raise ValueError(f"the {name} of a copy is {end!r}; expected a stream to the {'device' if to_device else 'host'}")
        if isinstance(source, Stream) and isinstance(destination, Stream):
            raise ValueError(f"a copy from {source!r} to {destination!r}: one of them has to be a Tensor")
        copy = _core.tile_copy_in if isinstance(source, Stream) else _core.tile_copy_out if isinstance(destination, Stream) else _core.tile_copy
        super().__init__(copy(source._native, destination._native))


class Sequence(Program):
    """One program after the other."""

    def __init__(self, *programs):
        super().__init__(_core.tile_sequence([p._native for p in programs]))


class Repeat(Program):
    """`body`, `count` times."""

    def __init__(self, count, body):
        super().__init__(_core.tile_repeat(count, body._native))


class RepeatWhileTrue(Program):
    """Runs `condition`; while `predicate` is not 0 then, runs `body` and `condition` again. The predicate has one element of bool or an integer type."""

    _while_true = True

    def __init__(self, condition, predicate, body):
        super().__init__(_core.tile_loop(condition._native, predicate._native, body._native, self._while_true))


class RepeatWhileFalse(RepeatWhileTrue):
    """The same while `predicate` is 0."""

    _while_true = False


class If(Program):
    """Runs one of two programs: `false_body`, or nothing, if `predicate` is 0. The predicate has one element of bool or an integer type."""

    def __init__(self, predicate, true_body, false_body=None):
        super().__init__(_core.tile_if(predicate._native, true_body._native, (false_body or Sequence())._native))


class Switch(Program):
    """Runs the program of `cases`, a dict by number, that `control` equals: one element of int32 or uint32. `default`, or nothing, if there is none."""

    def __init__(self, control, cases, default=None):
        bounds = np.iinfo(np.int32)
        for number in cases:
            if not bounds.min <= operator.index(number) <= bounds.max:
                raise ValueError(f"case {number} is out of the range of int32")
        super().__init__(_core.tile_switch(control._native, [(operator.index(n), p._native) for n, p in cases.items()], (default or Sequence())._native))


class PrintTensor(Program):
    """Prints the elements on standard error, behind a title."""

    def __init__(self, title, tensor):
        super().__init__(_core.tile_print(title, tensor._native))


class Graph:
    """Variables on tiles, and vertices that compute on them.

    Args:
        device: "ipu_model" (tiles of a machine, cycles are counted) or "cpu" (one tile).
        tiles: of each IPU; 0: as many as the machine has.
        ipus: how many.
        machine: "ipu1", "ipu2" or "ipu21".
    """

    def __init__(self, device="ipu_model", tiles=0, ipus=1, machine="ipu2"):
        if device not in ("ipu_model", "cpu"):
            raise ValueError(f"device is {device!r}; expected 'ipu_model' or 'cpu'")
        if tiles < 0 or ipus < 1:
            raise ValueError(f"found {tiles} tiles on {ipus} IPUs; expected at least 0 (as many as the machine has) and 1")
        self._native = _core.TileGraph(device, machine, ipus, tiles)
        self._handles, self._streams = {}, {}
        self._unfinished = ""  # the first vertex that an error left so

    @property
    def tiles(self):
        """How many there are."""
        return self._native.tiles()

    def add_codelets(self, file, flags=""):
        """Adds the codelets of a file: C++ or assembly, which popc compiles with these flags (as "-g -O3"), or a .gp file that it made."""
        self._native.add_codelets(os.fspath(file), flags)

    def add_variable(self, dtype, shape, name="", tile=None):
        """A Tensor of a new variable, on a tile; without one every element needs a tile from set_tile_mapping before an engine is made."""
        dtype = np.dtype(dtype)
        variable = Tensor(self._native.add_variable(dtype.name, list(shape), name), dtype)
        if tile is not None:
            self.set_tile_mapping(variable, tile)
        return variable

    def set_tile_mapping(self, tensor, tile):
        """The elements of a tensor are on this tile."""
        self._native.map(tensor._native, tile)

    def set_initial_value(self, tensor, values):
        """What the elements hold when the program is loaded: an array of the tensor's shape, or a number for all."""
        values = np.ascontiguousarray(np.broadcast_to(np.asarray(values, tensor.dtype), tensor.shape))
        self._native.set_initial_value(tensor._native, tensor.dtype.name, values)

    def add_compute_set(self, name=""):
        return ComputeSet(self._native.add_compute_set(name), name)

    def add_vertex(self, compute_set, codelet, tile, **fields):
        """A vertex on a tile. Fields by name: an edge gets a Tensor (a vector of vectors a list of them), a state or a constant input a number or an array,
        in NumPy's type; Python's int is int32, float is float32. A vertex that an error leaves unfinished stays in the graph: no engine can be made of it
        then."""
        values = {name: _field(name, value) for name, value in fields.items()}
        if not 0 <= tile < self.tiles:
            raise ValueError(f"a vertex on tile {tile}: the graph has {self.tiles} tiles")
        try:
            self._native.add_vertex(compute_set._native, codelet, tile, values)
        except RuntimeError as error:
            if "[unknown-vertex-type]" not in str(error):  # then there is no vertex
                self._unfinished = self._unfinished or f"{codelet} on tile {tile}: {error}"
            raise

    def add_host_to_device_fifo(self, handle, dtype, elements):
        """A Stream to the device. Each Copy from it brings a block of so many elements; Engine.connect_stream says from where."""
        return self._add_stream(handle, dtype, elements, True)

    def add_device_to_host_fifo(self, handle, dtype, elements):
        """A Stream to the host. Each Copy to it takes a block of so many elements there; Engine.connect_stream says whither."""
        return self._add_stream(handle, dtype, elements, False)

    def _add_stream(self, handle, dtype, elements, to_device):
        dtype = np.dtype(dtype)
        if operator.index(elements) < 1:
            raise ValueError(f"stream {handle!r} has blocks of {elements} elements; expected at least 1")
        stream = Stream(self._native.add_stream(handle, dtype.name, elements, to_device), handle, dtype, elements, to_device)
        self._streams[handle] = stream
        return stream

    def create_host_write(self, handle, tensor):
        """Engine.write_tensor(handle, ...) writes this tensor."""
        self._native.create_host_write(handle, tensor._native)
        self._handles[handle] = tensor

    def create_host_read(self, handle, tensor):
        """Engine.read_tensor(handle) reads this tensor."""
        self._native.create_host_read(handle, tensor._native)
        self._handles[handle] = tensor


class Engine:
    """Compiles programs of a graph and loads them; program i of a list is number i.

    Args:
        options: of the engine, by name ("pando.watch", "autoReport.all" ...); bools and numbers are written as their texts.
    """

    def __init__(self, graph, programs, options=None):
        if graph._unfinished:
            raise RuntimeError(f"the graph has a vertex that was not finished ({graph._unfinished}): make the graph again")
        programs = [programs] if isinstance(programs, Program) else list(programs)
        options = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in (options or {}).items()}
        self._handles, self._streams = dict(graph._handles), dict(graph._streams)
        self._native = _core.TileEngine(graph._native, [p._native for p in programs], options)

    def write_tensor(self, handle, values):
        """Writes an array, of the tensor's shape and type, or a number for all elements."""
        tensor = self._tensor(handle)
        self._native.write_tensor(handle, np.ascontiguousarray(np.broadcast_to(np.asarray(values, tensor.dtype), tensor.shape)))

    def read_tensor(self, handle):
        """An array with what the tensor holds."""
        tensor = self._tensor(handle)
        out = np.empty(tensor.shape, tensor.dtype)
        self._native.read_tensor(handle, out)
        return out

    def connect_stream(self, handle, end):
        """Says what a stream's blocks are at the host: an array, or a function.

        The blocks of an array, of the stream's type and of a whole number of blocks, are used in turn, and then from the first one on again; the next run
        goes on where the last one ended. What is written to it between runs is sent, and a stream to the host fills it.

        A function is called for each block: `function()` gives the next one to the device, an array of the stream's elements or a number for all;
        `function(array)` gets one that came to the host. What it raises ends the run.
        """
        if handle not in self._streams:
            raise ValueError(f"there is no stream {handle!r}; the graph has {', '.join(map(repr, self._streams)) or 'none'}")
        stream = self._streams[handle]
        if callable(end):
            return self._native.connect_function(handle, stream.elements * stream.dtype.itemsize, _block_function(stream, end))
        if not isinstance(end, np.ndarray):
            raise ValueError(f"stream {handle!r} gets a {type(end).__name__}; expected an array of NumPy or a function")
        if end.dtype != stream.dtype or end.size == 0 or end.size % stream.elements or not end.flags.c_contiguous:
            contiguous = "" if end.flags.c_contiguous else ", not contiguous"
            raise ValueError(f"stream {handle!r} gets an array of {end.size} x {end.dtype}{contiguous}; expected a contiguous one of {stream.dtype} with whole "
                             f"blocks of {stream.elements}")
        if not stream.to_device and not end.flags.writeable:
            raise ValueError(f"stream {handle!r} to the host gets an array that cannot be written")
        self._native.connect_buffer(handle, end, stream.to_device)

    def run(self, program=0, name=""):
        """Runs a program. `name` is the run's in the report. Raises popart.poplar_application_runtime_error if it stops itself, or is stopped."""
        self._native.run(program, name)

    def _tensor(self, handle):
        if handle not in self._handles:
            raise ValueError(f"there is no handle {handle!r}; the graph has {', '.join(map(repr, self._handles)) or 'none'}")
        return self._handles[handle]


def _block_function(stream, function):
    """The function for the bytes of a block."""

    def send(block):
        values = np.asarray(function())
        try:
            np.copyto(np.frombuffer(block, stream.dtype), values, casting="same_kind")
        except (TypeError, ValueError) as error:
            raise ValueError(f"the function of stream {stream.handle!r} gave an array of {values.dtype} {values.shape}; expected {stream.elements} x "
                             f"{stream.dtype}") from error

    return send if stream.to_device else lambda block: function(np.frombuffer(block, stream.dtype).copy())


def _narrow(name, array):
    """Of Python's own numbers: int32 or float32."""
    if array.dtype.kind == "f":
        return array.astype(np.float32)
    if array.dtype.kind in "iu":
        limits = np.iinfo(np.int32)
        if array.size and (array.min() < limits.min or array.max() > limits.max):
            worst = int(array.max() if array.max() > limits.max else array.min())
            raise ValueError(f"field {name!r}: {worst} is out of the range of int32; give it as np.uint32(...)")
        return array.astype(np.int32)
    return array


def _field(name, value):
    if isinstance(value, Tensor):
        return value._native
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, Tensor) for v in value):
        return [v._native for v in value]
    array = np.asarray(value)
    if not isinstance(value, (np.generic, np.ndarray)):
        array = _narrow(name, array)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"field {name!r}: found {type(value).__name__}; expected a Tensor, a list of them, a number or an array")
    return array.dtype.name, np.ascontiguousarray(array).tobytes(), array.ndim == 0

"""What is current: graph, names, IPU, tiles, order. One state for the process, as a stack of `with` blocks.

Blocks that an exception leaves restore what was before.
"""
import functools
import itertools
import threading
import typing
from typing import Any, Callable, Literal, Optional, Union

from popxl import _core
from popxl._checks import integer
from popxl.tensorlocation import ExecutionContext

if typing.TYPE_CHECKING:
    from popxl.graph import Graph
    from popxl.ir import Ir

_MODES = {True: 0, False: 1, "pass": 2}
_CONTEXTS = {ExecutionContext.Normal: 0, ExecutionContext.AccumulateOuterFragment: 1, ExecutionContext.WeightsFromHostFragment: 2,
             ExecutionContext.WeightsToHostFragment: 3}


class Context(threading.local):
    """The stacks. Each thread has its own; `get_current_context()` gives this thread's."""

    def __init__(self):
        self._graphs = []
        self._scopes = []
        # (number, mode): blocks are told apart by their numbers.
        self._sequences = []
        self._ipus = []
        self._io_tiles = 0
        self._execution = [ExecutionContext.Normal]
        # Changes with every change of what ops are made with.
        self._version = 0
        self._block_numbers = itertools.count()
        self._hooks = {}
        self._hook_numbers = itertools.count()
        # Ops that merge_exchange blocks collect: one list for each open block.
        self._collectors = []

    @property
    def ipu_id(self) -> Optional[int]:
        """The IPU that ops are placed on, None where none was said."""
        return self._ipus[-1] if self._ipus else None

    @property
    def io_tile_set(self) -> bool:
        return self._io_tiles > 0

    def push_name_scope(self, name):
        self._scopes.append(name)
        self._version += 1

    def pop_name_scope(self):
        self._version += 1
        return self._scopes.pop()

    @property
    def name_scopes(self):
        return list(self._scopes)

    def push_graph(self, g):
        """Makes a graph the current one. Raises RuntimeError for a graph of another Ir than the current graph's."""
        if self._graphs and self._graphs[-1].ir != g.ir:
            raise RuntimeError(f"{g!r} is of another Ir than the current graph {self._graphs[-1]!r}: graphs of one Ir can be nested.")
        self._graphs.append(g)
        self._version += 1

    def pop_graph(self):
        self._version += 1
        return self._graphs.pop()

    @property
    def graph(self):
        if not self._graphs:
            raise RuntimeError("There is no current graph. Enter one: `with ir.main_graph:`")
        return self._graphs[-1]

    @property
    def main_graph(self):
        return self.graph.ir.main_graph

    @property
    def ir(self):
        return self.graph.ir

    @property
    def in_sequence(self):
        """The mode of the innermost `in_sequence`, None outside."""
        return self._sequences[-1][1] if self._sequences else None

    def register_op_created_hook(self, fn: Callable[[Any], Any]) -> int:
        """Calls `fn` with each op that is made in any graph; a handle for `remove_op_created_hook`."""
        handle = next(self._hook_numbers)
        self._hooks[handle] = fn
        return handle

    def remove_op_created_hook(self, handle: int) -> None:
        """Raises ValueError for an unknown handle."""
        if self._hooks.pop(handle, None) is None:
            raise ValueError(f"There is no hook of the handle {handle}.")

    def _get_op_settings(self, name):
        """What an op would be made with now."""
        return _OpSettings(name)

    def _op_created(self, op):
        """Calls the hooks of the current graph with an op of theirs."""
        for hook in [*self._hooks.values(), *self.graph._hooks.values()]:
            hook(op)

    def _add_in_sequence_topocons(self, op):
        """Order is the builder's affair: there is nothing to do."""

    def _sync(self, ir):
        """Tells the builder of an Ir what the stacks say."""
        program = ir._program
        scopes, blocks = ir._synced_scopes, ir._synced_sequences
        while scopes and scopes != self._scopes[:len(scopes)]:
            program.pop_scope()
            scopes.pop()
        for name in self._scopes[len(scopes):]:
            program.push_scope(name)
            scopes.append(name)
        while blocks and blocks != self._sequences[:len(blocks)]:
            program.pop_sequence()
            blocks.pop()
        for block in self._sequences[len(blocks):]:
            program.push_sequence(_MODES[block[1]])
            blocks.append(block)
        device = self.ipu_id
        if device is None and self._ipus:
            # `ipu(None)`: explicitly nowhere.
            device = -1
        program.set_place(device, self._io_tiles > 0, _CONTEXTS.get(self._execution[-1], 0))
        ir._synced_version = (id(self), self._version)


_context = Context()


def get_current_context() -> Context:
    """The state that the functions of this module read and change."""
    return _context


def get_current_graph() -> "Graph":
    """The graph whose block is the innermost. Raises RuntimeError outside of any."""
    return _context.graph


def get_main_graph() -> "Graph":
    """The main graph of the current graph's Ir. Raises RuntimeError without a current graph."""
    return _context.main_graph


def get_ir() -> "Ir":
    """The current graph's Ir. Raises RuntimeError without a current graph."""
    return _context.ir


gcg = get_current_graph
gmg = get_main_graph
gir = get_ir


class _Block:
    """A `with` block that is a decorator, too. Subclasses say what happens at both ends."""

    def __call__(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self._again():
                return function(*args, **kwargs)

        return wrapped

    def _again(self):
        return self


class _IpuBlock(_Block):
    def __init__(self, ipu):
        self._ipu = ipu

    def __enter__(self):
        _context._ipus.append(self._ipu)
        _context._version += 1

    def __exit__(self, *exc):
        _context._ipus.pop()
        _context._version += 1


def ipu(ipu: int) -> _Block:
    """Ops made inside are placed on the virtual IPU of this number. Raises TypeError for what is not an integer, ValueError for one below 0."""
    if ipu is None:
        return _IpuBlock(None)
    number = integer(ipu, "ipu: the number of an IPU")
    if not 0 <= number < 2**31:
        raise ValueError(f"ipu: there is no IPU {number}; they are numbered from 0.")
    return _IpuBlock(number)


class _IoTilesBlock(_Block):
    def __enter__(self):
        _context._io_tiles += 1
        _context._version += 1

    def __exit__(self, *exc):
        _context._io_tiles -= 1
        _context._version += 1


def io_tiles() -> _Block:
    """Ops made inside are placed on the tiles that exchange with the host."""
    return _IoTilesBlock()


class _SequenceBlock(_Block):
    def __init__(self, mode):
        self._mode = mode

    def __enter__(self):
        _context._sequences.append((next(_context._block_numbers), self._mode))
        _context._version += 1

    def __exit__(self, *exc):
        _context._sequences.pop()
        _context._version += 1


def in_sequence(mode: Union[bool, Literal["pass"]] = True) -> _Block:
    """The order of the ops made inside, beside what data demand.

    Args:
        mode: True: each op runs after the one made before it. False: ops are free against each other, and together count as one op
            for the block around. "pass": ops have nothing to do with the block around.

    Raises:
        TypeError: for None.
    """
    if mode is None:
        raise TypeError("`None` cannot be passed to `in_sequence`: True, False or 'pass'.")
    if mode not in _MODES:
        raise ValueError(f"in_sequence takes True, False or 'pass', not {mode!r}.")
    return _SequenceBlock(mode)


class _ScopeBlock(_Block):
    def __init__(self, name):
        self._name = name

    def __enter__(self):
        _context.push_name_scope(self._name)

    def __exit__(self, *exc):
        _context.pop_name_scope()


def name_scope(name: str) -> _Block:
    """Names of tensors made inside begin with `name/`."""
    return _ScopeBlock(name)


class _ExecutionBlock(_Block):
    def __init__(self, context):
        self._execution = context if isinstance(context, ExecutionContext) else ExecutionContext[context.name]

    def __enter__(self):
        _context._execution.append(self._execution)
        _context._version += 1

    def __exit__(self, *exc):
        _context._execution.pop()
        _context._version += 1


def _execution_context(context):
    """Ops made inside belong to another program, such as the one that runs when variables come to the device."""
    return _ExecutionBlock(context)


class _Nothing(_Block):
    def __enter__(self):
        pass

    def __exit__(self, *exc):
        pass


def debug_context_frame_offset(i):
    """Kept for functions that are written for it: lines of users are found without it."""
    return _Nothing()


def op_debug_context(name):
    """A decorator of functions that make ops, with the name of the ops or without. Lines of users are found without it."""
    if callable(name):
        return name
    return lambda function: function


def get_source_location(offset: int = 0):
    """(file, line, function) of the innermost caller outside this package."""
    return _core.find_location()


class _OpSettings:
    """What an op would be made with."""

    def __init__(self, name):
        self.name = "/".join([*_context._scopes, name])
        self.ipu = _context.ipu_id
        self.io_tiles = _context.io_tile_set
        self.execution_context = _context._execution[-1]

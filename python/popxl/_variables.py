"""Functions that make variables, constants, and inputs and outputs of graphs."""
import sys
import typing
from typing import Iterable, Literal, Optional, Tuple

from popxl import dtypes
from popxl._checks import describe, integer, name_of, shape_of
from popxl._lazy import np
from popxl.context import _context
from popxl.tensor import Constant, HostScalarTensor, Tensor, Variable
from popxl.utils import _DOWNCAST, check_real, is_torch, to_numpy

if typing.TYPE_CHECKING:
    from popxl.remote_buffer import RemoteBuffer
    from popxl.replica_grouping import ReplicaGrouping

RetrievalMode = Literal["one_per_group", "all_replicas"]
_RETRIEVAL_MODES = ("one_per_group", "all_replicas")


class _Info:
    """What is known of a variable beside what the builder knows."""

    __slots__ = ("grouping", "retrieval_mode", "shape_on_replica", "buffer", "sharded", "state", "memmap", "data_shape")


def _host_data(data, dtype, downcast, log2_scale, nan_on_overflow, grouping):
    """(array, memory-mapped array or None)"""
    if not _is_memmap(data):
        array = to_numpy(data, dtype, downcast, True, log2_scale, nan_on_overflow)
        check_real(array, "Host data")
        return array, None
    if not data.flags["C_CONTIGUOUS"]:
        raise ValueError("When passing a memory-mapped NumPy array, it must already be in C-ordered contiguous memory: nothing is copied.")
    check_real(data, "Host data")
    own = dtypes.dtype.as_dtype(data.dtype)
    wanted = own if dtype is None else dtype
    if data.dtype.name in _DOWNCAST and (wanted is not own or downcast):
        raise ValueError(f"When passing a memory-mapped NumPy array, the dtype {dtype} is not supported, as it requires downcasting from {own}.")
    if wanted is not own:
        raise ValueError(f"When passing a memory-mapped NumPy array, the `dtype` parameter must be None or that of the array, {own}, not {dtype}.")
    if grouping is not None and not grouping.is_const:
        print("popxl: warning: you have passed np.memmap data and a non-const replica grouping: the data are copied, and the file will not be written to.",
              file=sys.stderr)
        return np.array(data), None
    return data, data


def _is_memmap(data):
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(data, numpy.memmap)


def _grouping_of(ir, replica_grouping):
    return ir.replica_grouping() if replica_grouping is None else replica_grouping


def _shape_on_replica(array, grouping, what):
    """The shape without the groups in front. Raises ValueError if they are not there."""
    if grouping.num_groups == 1:
        return tuple(array.shape)
    if array.ndim == 0 or array.shape[0] != grouping.num_groups:
        raise ValueError(f"{what}: data of the shape {array.shape} do not begin with a dimension of {grouping.num_groups} groups, "
                         f"as {grouping!r} demands.")
    return tuple(array.shape[1:])


def _add_variable(data, dtype, name, downcast, grouping, retrieval_mode, log2_scale, nan_on_overflow, what, buffer=None, row=0, shard_over=None,
                  check=None):
    graph = _context.graph
    ir = graph.ir
    if graph != ir.main_graph:
        raise ValueError(f"{what}: variables live in the main graph, the current graph is {graph.name!r}.")
    if retrieval_mode is None:
        retrieval_mode = "one_per_group"
    if retrieval_mode not in _RETRIEVAL_MODES:
        raise ValueError(f"{what}: retrieval_mode is 'one_per_group' or 'all_replicas', not {retrieval_mode!r}.")
    name = name_of(name, what)
    dtype = None if dtype is None else dtypes.dtype.as_dtype(dtype)
    grouping = _grouping_of(ir, grouping)
    array, memmap = _host_data(data, dtype, downcast, log2_scale, nan_on_overflow, grouping)
    info = _Info()
    info.grouping, info.retrieval_mode, info.buffer, info.memmap = grouping, retrieval_mode, buffer, memmap
    info.shape_on_replica, info.data_shape = _shape_on_replica(array, grouping, what), tuple(array.shape)
    info.sharded = shard_over is not None
    of = dtypes.dtype.as_dtype(array.dtype)
    shape, meta_shape = info.shape_on_replica, ()
    if info.sharded:
        meta_shape = shape
        shape = (-(-_elements(shape) // shard_over),)
    if check is not None:
        check(shape, of, meta_shape)
    _context._sync(ir)
    program = ir._program
    index = program.add_variable(array, of._index, array.shape, shape, meta_shape, name, grouping.assignment, retrieval_mode == "all_replicas",
                                 None if buffer is None else buffer._index, row, info.sharded)
    info.state = program.tensor_state(index)
    if buffer is not None:
        buffer._rows[row] = program.tensor_name(index)
    ir._variables[index] = info
    if memmap is not None and not memmap.flags["WRITEABLE"]:
        ir._weights_are_read_only = True
    return Tensor._make(Variable, ir, index)


def _row_of(remote_buffer, offset, what):
    """The row that a variable is to lie in. Raises TypeError for no buffer or no integer, ValueError for a row that is not there or taken."""
    from popxl.remote_buffer import RemoteBuffer

    if not isinstance(remote_buffer, RemoteBuffer):
        raise TypeError(f"{what}: {describe(remote_buffer)} is not a RemoteBuffer.")
    if remote_buffer._current_ir is not _context.ir:
        raise ValueError(f"{what}: {remote_buffer!r} is of another Ir.")
    row = integer(offset, f"{what}: the offset")
    if row in remote_buffer._rows:
        raise ValueError(f"{what}: row {row} of {remote_buffer!r} holds the variable {remote_buffer._rows[row]!r} already.")
    if not 0 <= row < remote_buffer.entries:
        raise ValueError(f"{what}: the remote buffer has {remote_buffer.entries} rows, there is none of the number {row}.")
    return row


def _elements(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def variable(data: HostScalarTensor, dtype: Optional[dtypes.dtype] = None, name: Optional[str] = None, downcast: bool = True,
             replica_grouping: Optional["ReplicaGrouping"] = None, retrieval_mode: Optional[RetrievalMode] = None, log2_scale: Optional[int] = None,
             nan_on_overflow: Optional[bool] = None) -> Variable:
    """A tensor that keeps its contents from run to run.

    Args:
        data: number, sequence, array or torch tensor that it begins with. With several groups of replicas, one slice for each along the first
            dimension. A memory-mapped array (numpy.memmap) is used where it lies, and written to when variables come back to the host.
        dtype: element type; None: that of the data.
        name: of the tensor; numbered if it is taken.
        downcast: whether data of 64 bits become 32 bits wide where no dtype is given.
        replica_grouping: replicas of one group begin with the same contents; None: all of them.
        retrieval_mode: what the host reads: the first replica of each group ("one_per_group"), or all ("all_replicas").
        log2_scale, nan_on_overflow: of data that become float8, see `popxl.utils.to_numpy`.

    Raises:
        ValueError: outside of the main graph, or data that do not fit the groups.
        RuntimeError: log2_scale or nan_on_overflow for a type other than float8.
    """
    return _add_variable(data, dtype, name, downcast, replica_grouping, retrieval_mode, log2_scale, nan_on_overflow, "variable")


def constant(data: HostScalarTensor, dtype: Optional[dtypes.dtype] = None, name: Optional[str] = None, downcast: bool = True,
             log2_scale: Optional[int] = None, nan_on_overflow: Optional[bool] = None) -> Constant:
    """A tensor of the current graph whose contents never change. Arguments are those of `variable`.

    Raises:
        TypeError: float8 data without a dtype.
    """
    graph = _context.graph
    name = name_of(name, "constant")
    dtype = None if dtype is None else dtypes.dtype.as_dtype(dtype)
    if dtype is None and getattr(getattr(data, "dtype", None), "names", None):
        raise TypeError("float8 data need a dtype: popxl.float8_143 or popxl.float8_152.")
    array = to_numpy(data, dtype, downcast, True, log2_scale, nan_on_overflow)
    return _add_constant(graph, array, name)


def _add_constant(graph, array, name):
    check_real(array, "Host data")
    ir = graph.ir
    if ir._synced_version != (id(_context), _context._version):
        _context._sync(ir)
    of = dtypes.dtype.as_dtype(array.dtype)
    return Tensor._make(Constant, ir, ir._program.add_constant(graph._index, array, of._index, array.shape, name or ""))


def _constant_like(tensor, value, dtype):
    """A constant for an operator's other operand."""
    if not isinstance(value, (int, float, bool, np.ndarray, np.generic, list, tuple)) and not is_torch(value):
        if isinstance(value, str) or not hasattr(value, "__array__") and not hasattr(value, "__iter__"):
            raise TypeError(f"{value!r} of type {type(value).__name__} cannot become a tensor of {dtype} beside {tensor!r}.")
    array = to_numpy(value, dtype)
    if array.size == 0:
        raise ValueError(f"Data without elements cannot become a tensor: {value!r}.")
    return _add_constant(_context.graph, array, None)


def remote_variable(data: HostScalarTensor, remote_buffer: "RemoteBuffer", offset: int = 0, dtype: Optional[dtypes.dtype] = None,
                    name: Optional[str] = None, downcast: bool = True, replica_grouping: Optional["ReplicaGrouping"] = None,
                    retrieval_mode: Optional[RetrievalMode] = "one_per_group", log2_scale: Optional[int] = None,
                    nan_on_overflow: Optional[bool] = None) -> Variable:
    """A variable that lies in row `offset` of a remote buffer: ops reach it with `ops.remote_load` and `ops.remote_store`.

    Other arguments are those of `variable`.

    Raises:
        ValueError: the shape or element type is not the buffer's, or there is no such row.
    """
    offset = _row_of(remote_buffer, offset, "remote_variable")

    def check(shape, of, meta_shape):
        remote_buffer._validate(shape, of, f"{name!r}" if name else "without a name")

    shape = np.shape(data)
    if replica_grouping is not None and replica_grouping.num_groups == 1 and shape == (1, *remote_buffer.tensor_shape):
        # A dimension of one group.
        data = data[0]
    return _add_variable(data, dtype, name, downcast, replica_grouping, retrieval_mode, log2_scale, nan_on_overflow, "remote_variable", remote_buffer,
                         offset, check=check)


def remote_replica_sharded_variable(data: HostScalarTensor, remote_buffer: "RemoteBuffer", offset: int = 0, dtype: Optional[dtypes.dtype] = None,
                                    name: Optional[str] = None, downcast: bool = True, replica_grouping: Optional["ReplicaGrouping"] = None,
                                    retrieval_mode: Optional[RetrievalMode] = "one_per_group", log2_scale: Optional[int] = None,
                                    nan_on_overflow: Optional[bool] = None) -> Variable:
    """A variable in a remote buffer of which each replica holds a shard. Arguments are those of `remote_variable`; `data` are the whole tensor.

    Raises:
        ValueError: there is one replica, or the buffer is for another shape or element type.
    """
    ir = _context.ir
    offset = _row_of(remote_buffer, offset, "remote_replica_sharded_variable")
    if ir.replication_factor <= 1:
        raise ValueError(f"remote_replica_sharded_variable: there are no replicas to share it, the replication factor is {ir.replication_factor}.")
    grouping = _grouping_of(ir, replica_grouping)
    _leave_out_groups(remote_buffer, data, grouping)
    shards = _shards_of(remote_buffer, data, grouping)

    def check(shape, of, meta_shape):
        if remote_buffer.meta_shape == ():
            remote_buffer.meta_shape = meta_shape
        elif remote_buffer.meta_shape != meta_shape:
            raise ValueError(f"remote_replica_sharded_variable: the remote buffer is for shards of a tensor of the shape {remote_buffer.meta_shape}, "
                             f"not {meta_shape}.")
        remote_buffer._validate(shape, of, f"{name!r}" if name else "without a name")

    return _add_variable(data, dtype, name, downcast, grouping, retrieval_mode, log2_scale, nan_on_overflow, "remote_replica_sharded_variable",
                         remote_buffer, offset, shards, check)


def _leave_out_groups(remote_buffer, data, grouping):
    """A buffer that was made for the host's data, with its dimension of groups, becomes one for tensors of replicas, as long as no row is in use."""
    shape = np.shape(data)
    if grouping.num_groups == 1 or remote_buffer._shard_over is None or remote_buffer._rows or remote_buffer.meta_shape != shape \
            or shape[:1] != (grouping.num_groups,):
        return
    remote_buffer.set_remote_buffer_info(remote_buffer.tensor_dtype, (-(-_elements(shape[1:]) // remote_buffer._shard_over),), remote_buffer.entries)
    remote_buffer.meta_shape = shape[1:]


def _shards_of(remote_buffer, data, grouping):
    """Into how many shards a buffer's rows divide data; the group's size where they do not."""
    shape = np.shape(data)[1:] if grouping.num_groups > 1 else np.shape(data)
    for shards in range(grouping.group_size, 0, -1):
        if grouping.group_size % shards == 0 and remote_buffer.tensor_shape == (-(-_elements(shape) // shards),):
            return shards
    return grouping.group_size


def replica_sharded_buffer(shape: Tuple[int, ...], dtype: dtypes.dtype, replica_grouping: Optional["ReplicaGrouping"] = None,
                           shard_over: Optional[int] = None, entries: int = 1) -> "RemoteBuffer":
    """A remote buffer for shards of tensors.

    Args:
        shape, dtype: of the whole tensors. With several groups it may be that of the host's data, with a dimension for the groups in front: the
            first variable in the buffer says so.
        replica_grouping: shards lie on the members of each group; None: all replicas are one group.
        shard_over: into how many shards; None: the group's size.
        entries: rows.

    Raises:
        ValueError: shard_over is larger than a group, or does not divide it.
    """
    from popxl.remote_buffer import RemoteBuffer

    grouping = _grouping_of(_context.ir, replica_grouping)
    shards = _checked_shards(grouping, shard_over)
    shape = tuple(shape)
    buffer = RemoteBuffer((-(-_elements(shape) // shards),), dtype, entries)
    buffer.meta_shape = shape
    buffer._shard_over = shards
    return buffer


def _checked_shards(grouping, shard_over):
    shards = grouping.group_size if shard_over is None else shard_over
    if not 1 <= shards <= grouping.group_size or grouping.group_size % shards != 0:
        raise ValueError(f"shard_over={shard_over} must divide the size of the groups, {grouping.group_size}.")
    return shards


def replica_sharded_variable(data: HostScalarTensor, dtype: Optional[dtypes.dtype] = None, name: Optional[str] = None, downcast: bool = True,
                             replica_grouping: Optional["ReplicaGrouping"] = None, shard_over: Optional[int] = None,
                             retrieval_mode: Optional[RetrievalMode] = "one_per_group", log2_scale: Optional[int] = None,
                             nan_on_overflow: Optional[bool] = None) -> Tuple[Variable, Tensor]:
    """A variable of which each replica holds a shard in its own memory. Arguments as in `variable` and `replica_sharded_buffer`.

    Returns:
        (variable, shard): the host reads and writes the first, ops use the second, of one dimension: ceil(elements / shards).

    Raises:
        ValueError: there is one replica, or shard_over does not divide the groups.
    """
    ir = _context.ir
    if ir.replication_factor <= 1:
        raise ValueError(f"replica_sharded_variable: there are no replicas to share it, the replication factor is {ir.replication_factor}.")
    grouping = _grouping_of(ir, replica_grouping)
    whole = _add_variable(data, dtype, name, downcast, grouping, retrieval_mode, log2_scale, nan_on_overflow, "replica_sharded_variable",
                          shard_over=_checked_shards(grouping, shard_over))
    return whole, Tensor._make(Tensor, ir, whole._index)


def graph_input(shape: Iterable[int], dtype: dtypes.dtype, name: Optional[str] = None, by_ref: bool = False,
                meta_shape: Optional[Iterable[int]] = None) -> Tensor:
    """A further input of the current graph.

    Args:
        shape, dtype: of the tensors that callers give.
        name: of the tensor.
        by_ref: whether changes in the graph are changes of what callers give.
        meta_shape: the shape of the whole tensor, where callers give shards.
    """
    graph = _context.graph
    shape, meta_shape, name = shape_of(shape, "graph_input"), shape_of(meta_shape or (), "graph_input"), name_of(name, "graph_input")
    _context._sync(graph.ir)
    index = graph.ir._program.add_input(graph._index, dtypes.dtype.as_dtype(dtype)._index, shape, name, by_ref, meta_shape)
    return Tensor._make(Tensor, graph.ir, index)


def graph_output(t: Tensor) -> None:
    """Makes a tensor a further output of the current graph. Raises ValueError if it is another graph's."""
    graph = _context.graph
    if not isinstance(t, Tensor):
        raise TypeError(f"graph_output takes a tensor, not {t!r}.")
    if t not in graph:
        raise ValueError(f"{t!r} is not in the current graph {graph.name!r}.")
    graph.ir._program.add_output(graph._index, t._index)

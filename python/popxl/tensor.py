"""Tensors: what ops take and give. Values of a program that is being written, not of Python."""
import typing
from collections.abc import Mapping
from typing import Any, Iterable, Literal, Optional, Tuple, Union

from popxl import dtypes
from popxl._lazy import np
from popxl._views import view
from popxl.errors import UndefinedValue
from popxl.typing_ import NewAliasAnnotation

ScalarType = Union[int, float, bool]
if typing.TYPE_CHECKING:
    import numpy

    HostTensor = Union[numpy.ndarray, Iterable]
else:
    HostTensor = Iterable
HostScalarTensor = Union[ScalarType, HostTensor]
TensorLike = Union["Tensor", HostScalarTensor]


def __getattr__(name):
    if name == "host_tensor_types":
        try:
            import torch

            return (np.ndarray, torch.Tensor, list, tuple)
        except ModuleNotFoundError:
            return (np.ndarray, list, tuple)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class TensorSpec(Mapping):
    """A shape and an element type: what an input of a graph is made from. `**spec` gives the arguments of `popxl.graph_input`."""

    def __init__(self, shape: Iterable[int], dtype: dtypes.dtype, meta_shape: Iterable[int] = ()) -> None:
        self.shape = tuple(shape)
        self.dtype = dtype
        self.meta_shape = tuple(meta_shape or ())

    def to_dict(self):
        return {"shape": self.shape, "dtype": self.dtype, "meta_shape": self.meta_shape}

    def to_tuple(self):
        return self.shape, self.dtype, self.meta_shape

    def __iter__(self):
        return iter(self.to_dict())

    def __len__(self) -> int:
        return 3

    def __getitem__(self, key):
        return self.to_dict()[key]

    def __hash__(self) -> int:
        return hash(self.to_tuple())

    def __eq__(self, other):
        return isinstance(other, TensorSpec) and self.to_tuple() == other.to_tuple()

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype}, meta_shape={self.meta_shape})"


class Tensor:
    """A tensor of a graph. Ops make them; there is no constructor.

    `==` asks whether two objects are the same tensor; operators and indexing add ops to the current graph, and turn numbers and arrays into
    constants of the tensor's element type.
    """

    __slots__ = ("_ir", "_index", "_type_cache", "__weakref__")
    # These protocols would take a tensor apart, or hand it to NumPy element by element.
    __iter__ = None
    __contains__ = None
    __array_ufunc__ = None

    def __init__(self):
        raise RuntimeError(f"{type(self).__name__} has no constructor: ops, popxl.variable, popxl.constant and popxl.graph_input make tensors.")

    def __init_subclass__(cls, tensor_type=None, **kwargs):
        super().__init_subclass__(**kwargs)

    @staticmethod
    def _make(cls, ir, index):
        self = object.__new__(cls)
        self._ir = ir
        self._index = index
        self._type_cache = None
        return self

    @staticmethod
    def _new(ir, index):
        """The result of an op."""
        self = object.__new__(Tensor)
        self._ir = ir
        self._index = index
        self._type_cache = None
        return self

    @staticmethod
    def _of(ir, index):
        """Any tensor of an Ir: a Variable, Constant or Tensor."""
        return Tensor._make((Tensor, Variable, Constant)[ir._program.tensor_kind(index)], ir, index)

    @classmethod
    def _from_pb_tensor(cls, view):
        return view._tensor()

    @property
    def _pb_tensor(self):
        return view("tensor", self)

    def _type(self):
        if self._type_cache is None:
            self._type_cache = self._ir._program.tensor_type(self._index)
        return self._type_cache

    # --- what it is

    @property
    def id(self) -> str:
        """Its name with its graph's name in front, unless that is the main graph. Unique in the Ir."""
        return self._ir._program.tensor_id(self._index)

    @property
    def name(self) -> str:
        """Its name in its graph, with the name scopes that it was made in."""
        return self._ir._program.tensor_name(self._index)

    @property
    def scope(self) -> str:
        """What precedes the name in the id: the graph's name, nothing for the main graph."""
        graph = self._graph()
        return "" if graph._index == 0 else graph.name

    @property
    def dtype(self) -> dtypes.dtype:
        return dtypes._by_index[self._type()[0]]

    @property
    def shape(self) -> Tuple[int, ...]:
        return self._type()[1]

    @property
    def meta_shape(self) -> Tuple[int, ...]:
        """The shape of the whole tensor of which each replica holds a shard; () for a tensor that is not sharded."""
        return self._type()[2]

    @property
    def spec(self) -> TensorSpec:
        return TensorSpec(self.shape, self.dtype, self.meta_shape)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def nelms(self) -> int:
        n = 1
        for d in self.shape:
            n *= d
        return n

    def strides(self, shape: Optional[Iterable[int]] = None) -> Tuple[int, ...]:
        """For each dimension, how many bytes of the row-major order lie between neighbours.

        Args:
            shape: of another tensor of the same element type; None: this tensor's.
        """
        out, stride = [], self.dtype.as_numpy().itemsize
        for d in reversed(self.shape if shape is None else tuple(shape)):
            out.append(stride)
            stride *= d
        return tuple(reversed(out))

    @property
    def location_info(self):
        from popxl.tensorlocation import TensorLocation

        return TensorLocation()

    @property
    def ir(self):
        return self._ir

    def _graph(self):
        return self._ir._graph(self._ir._program.tensor_graph(self._index))

    def _place(self):
        """(IPU or None, tile set or None), of its own type or of its first user's."""
        _, _, _, device, tiles = self._type()
        if device is None:
            device, tiles = self._ir._program.place_of_users(self._index)
        return device, tiles

    @property
    def ipu(self) -> int:
        """The IPU that it lies on. Raises popxl.errors.UndefinedValue where nothing says it yet."""
        device = self._place()[0]
        if device is None:
            raise UndefinedValue(f"No IPU is known of {self!r}: no op uses it.")
        return device

    @property
    def tile_set(self) -> Literal["compute", "io"]:
        """"compute" or "io". Raises popxl.errors.UndefinedValue where nothing says it yet."""
        tiles = self._place()[1]
        if tiles is None:
            raise UndefinedValue(f"No tile set is known of {self!r}: no op uses it.")
        return tiles

    @property
    def in_sync_with_ipu(self) -> bool:
        """Whether the host's copy of a variable is what the device holds."""
        session = self._ir._session and self._ir._session()
        return session is None or session._in_sync()

    # --- views and copies

    @property
    def T(self) -> "Tensor":
        """A copy with reversed axes."""
        return self.transpose()

    @property
    def T_(self) -> "Tensor":
        """A view with reversed axes."""
        return self.transpose_()

    def transpose(self, permutation: Optional[Iterable[int]] = None) -> "Tensor":
        """`ops.transpose`."""
        return _ops().transpose(self, permutation)

    def transpose_(self, permutation: Optional[Iterable[int]] = None) -> "Tensor":
        """`ops.transpose_`: a view."""
        return _ops().transpose_(self, permutation)

    def reshape(self, shape: Iterable[int]) -> "Tensor":
        """`ops.reshape`. One dimension may be -1."""
        return _ops().reshape(self, shape)

    def reshape_(self, shape: Iterable[int]) -> "Tensor":
        """`ops.reshape_`: a view."""
        return _ops().reshape_(self, shape)

    def flatten(self) -> "Tensor":
        return _ops().flatten(self)

    def flatten_(self) -> "Tensor":
        return _ops().flatten_(self)

    def detach(self) -> "Tensor":
        """A copy that gradients do not pass."""
        return _ops().detach(self)

    def detach_(self) -> "Tensor":
        return _ops().detach_(self)

    def diag(self) -> "Tensor":
        """The diagonal of a matrix, (min(rows, columns)). Raises ValueError for other ranks."""
        if self.rank != 2:
            raise ValueError(f"diag takes a matrix, not a tensor of the shape {self.shape}.")
        n = min(self.shape)
        index = _constants().constant(np.arange(n) * (self.shape[1] + 1), dtypes.int32)
        return _ops().gather(self.flatten(), index)

    def copy_to_ipu(self, destination: int, source: Optional[int] = None) -> "Tensor":
        """A copy on another IPU. `source`: where it lies, if that is not known."""
        return _ops().ipu_copy(self, destination, source)

    # --- as an object of Python

    def __repr__(self) -> str:
        return f"{type(self).__name__}[{self.id} {self.dtype} {self.shape}]"

    def __hash__(self) -> int:
        return hash((id(self._ir), self._index))

    def __eq__(self, other: Any) -> bool:
        # The type tells the variable of a whole sharded tensor from its shard.
        return isinstance(other, Tensor) and self._index == other._index and self._ir is other._ir and type(self) is type(other)

    def __len__(self) -> int:
        """The first dimension. Raises ValueError for a scalar."""
        if not self.shape:
            raise ValueError("A tensor of rank 0 has no length.")
        return self.shape[0]

    # --- operators

    def _ensure_tensor(self, value, dtype=None, raise_on_empty=True):
        """`value`, or a constant of it, with this tensor's element type unless another is given."""
        if isinstance(value, Tensor):
            return value
        return _constants()._constant_like(self, value, dtype or self.dtype)

    def __add__(self, other: TensorLike) -> "Tensor":
        return _ops().add(self, self._ensure_tensor(other))

    def __radd__(self, other: TensorLike) -> "Tensor":
        return _ops().add(self._ensure_tensor(other), self)

    def __iadd__(self, other: TensorLike) -> "Tensor":
        _ops().add_(self, self._ensure_tensor(other))
        return self

    def __sub__(self, other: TensorLike) -> "Tensor":
        return _ops().sub(self, self._ensure_tensor(other))

    def __rsub__(self, other: TensorLike) -> "Tensor":
        return _ops().sub(self._ensure_tensor(other), self)

    def __mul__(self, other: TensorLike) -> "Tensor":
        return _ops().mul(self, self._ensure_tensor(other))

    def __rmul__(self, other: TensorLike) -> "Tensor":
        return _ops().mul(self._ensure_tensor(other), self)

    def __truediv__(self, other: TensorLike) -> "Tensor":
        return _ops().div(self, self._ensure_tensor(other))

    def __rtruediv__(self, other: TensorLike) -> "Tensor":
        return _ops().div(self._ensure_tensor(other), self)

    def __pow__(self, other: TensorLike) -> "Tensor":
        return _ops().pow(self, other)

    def __rpow__(self, other: TensorLike) -> "Tensor":
        return _ops().pow(self._ensure_tensor(other), self)

    def __mod__(self, other: TensorLike) -> "Tensor":
        """C's remainder: it has the sign of the dividend."""
        return _ops().fmod(self, self._ensure_tensor(other))

    def __rmod__(self, other: TensorLike) -> "Tensor":
        return _ops().fmod(self._ensure_tensor(other), self)

    def __matmul__(self, other: TensorLike) -> "Tensor":
        return _ops().matmul(self, self._ensure_tensor(other))

    def __rmatmul__(self, other: TensorLike) -> "Tensor":
        return _ops().matmul(self._ensure_tensor(other), self)

    def __and__(self, other: TensorLike) -> "Tensor":
        return _ops().logical_and(self, self._ensure_tensor(other, dtypes.bool))

    def __rand__(self, other: TensorLike) -> "Tensor":
        return _ops().logical_and(self._ensure_tensor(other, dtypes.bool), self)

    def __or__(self, other: TensorLike) -> "Tensor":
        return _ops().logical_or(self, self._ensure_tensor(other, dtypes.bool))

    def __ror__(self, other: TensorLike) -> "Tensor":
        return _ops().logical_or(self._ensure_tensor(other, dtypes.bool), self)

    def __neg__(self) -> "Tensor":
        return _ops().negate(self)

    def __invert__(self) -> "Tensor":
        return _ops().logical_not(self)

    def __getitem__(self, key: Union[int, slice, Tuple[Union[int, slice], ...], "Tensor", HostTensor]) -> "Tensor":
        """Numbers, slices and tuples of them take parts; integers in a tensor, array or list gather rows; a mask of bools keeps the shape,
        with zeros where it is False. Raises TypeError for other keys."""
        from popxl import _indexing

        return _indexing.get(self, key)


class Variable(Tensor, tensor_type="Variable"):
    """A tensor of the main graph that keeps its contents from run to run, and that the host reads and writes."""

    __slots__ = ()

    def __init__(self):
        raise RuntimeError("Variable has no constructor: popxl.variable makes one.")

    def copy_to_ipu(self, dst: int, src: int) -> "Tensor":
        """A copy on the IPU `dst`, of a variable that lies on the IPU `src`."""
        return _ops().ipu_copy(self, dst, src)

    def _info(self):
        return self._ir._variables[self._index]

    @property
    def shape(self) -> Tuple[int, ...]:
        """The shape on one replica; of a sharded variable, that of the whole tensor."""
        return self._info().shape_on_replica

    @property
    def meta_shape(self) -> Tuple[int, ...]:
        return ()

    @property
    def _memmap_arr(self):
        """The memory-mapped array that holds its host data, or None."""
        return self._info().memmap

    @property
    def replica_grouping(self):
        """Which replicas begin with the same contents."""
        return self._info().grouping

    @property
    def retrieval_mode(self) -> str:
        """"one_per_group" or "all_replicas": what the host reads."""
        return self._info().retrieval_mode

    @property
    def shape_on_replica(self) -> Tuple[int, ...]:
        """The shape on one replica."""
        return self._info().shape_on_replica

    @property
    def shape_on_host(self) -> Tuple[int, ...]:
        """The shape of its host data: with a dimension of groups in front where there are several."""
        groups = self._info().grouping.num_groups
        return ((groups,) if groups > 1 else ()) + tuple(self.shape_on_replica)

    @property
    def location_info(self):
        from popxl.tensorlocation import ReplicatedTensorSharding, TensorLocation, TensorStorage

        info = self._info()
        return TensorLocation(TensorStorage.OffChip if info.buffer else TensorStorage.OnChip,
                              ReplicatedTensorSharding.On if info.sharded else ReplicatedTensorSharding.Off)


class Constant(Tensor, tensor_type="Const"):
    """A tensor whose contents the program begins with and never changes."""

    __slots__ = ()

    def _data(self):
        """Its contents, as an array."""
        data = np.empty(self.shape, self.dtype.as_numpy())
        self._ir._program.constant_data(self._index, data)
        return data

    def copy_to_ipu(self, dst: int, src: int) -> "Tensor":
        """A copy on the IPU `dst`, of a constant that lies on the IPU `src`."""
        return _ops().ipu_copy(self, dst, src)


# In annotations of the functions of `Ir.create_graph`: an input whose changes in the graph are changes of what the caller gives.
TensorByRef = NewAliasAnnotation("TensorByRef", Tensor)


def _ops():
    global _ops
    from popxl import ops

    _ops = lambda: ops  # noqa: E731
    return ops


def _constants():
    from popxl import _variables

    return _variables


from popxl._variables import (  # noqa: E402  (they need Tensor)
    constant, graph_input, graph_output, remote_replica_sharded_variable, remote_variable, replica_sharded_buffer, replica_sharded_variable, variable)

__all__ = ["Tensor", "Variable", "Constant", "TensorSpec", "TensorByRef", "HostTensor", "ScalarType", "HostScalarTensor", "TensorLike", "variable",
           "constant", "remote_variable", "remote_replica_sharded_variable", "replica_sharded_buffer", "replica_sharded_variable", "graph_input",
           "graph_output"]

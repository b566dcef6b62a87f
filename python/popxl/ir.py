"""A program that is being written."""
import itertools
import os as _os
import typing
import weakref
from typing import Any, Callable, Iterable, List, Literal, Optional, Set, Union

from popxl import _core, _instances
from popxl._checks import integer, name_of
from popxl._views import view
from popxl.context import _context, get_source_location  # noqa: F401
from popxl.graph import Graph
from popxl.module import Module
from popxl.replica_grouping import ReplicaGrouping
from popxl.tensor import Tensor

if typing.TYPE_CHECKING:
    from popxl.streams import DeviceToHostStream, HostToDeviceStream

_numbers = itertools.count()


class Ir:
    """Everything of one program: graphs, variables, streams, remote buffers. A `popxl.Session` runs it.

    Args:
        replication: how many replicas run it side by side, or "popdist": as many as `poprun` was told, of which this process (of several, each
            an instance) runs its own. Groups of replicas count all of them; variables have the same data on all instances; streams have those of
            this instance's replicas.
    """

    # By number: the Irs that are alive.
    _ir_cache = weakref.WeakValueDictionary()

    def __init__(self, replication: Union[int, Literal["popdist"]] = 1) -> None:
        local = None
        if replication == "popdist":
            replication, local = _instances.total_replicas(), _instances.local_replicas()
        self._id = next(_numbers)
        self._program = _core.Program(integer(replication, "Ir: the number of replicas"))
        # Replicas of this process, where others run the rest; None: all.
        self._local_replicas = None if local == replication else local
        # What variables hold comes from this process' first replica, although others run some.
        self._reads_own_replica = False
        self._graphs = {}
        self._variables = {}
        self._streams = {}
        self._buffers = {}
        self._buffer_numbers = itertools.count(1)
        self._graph_numbers = itertools.count()
        self._hook_numbers = itertools.count()
        self._watched = 0
        self._synced_version = None
        self._synced_scopes = []
        self._synced_sequences = []
        self._num_host_transfers = 1
        self._session = None
        self._prepared = False
        self._weights_are_read_only = False
        # It was read, not built: no tensors of Python are its own.
        self._parsed = False
        # Ops whose exchanges happen at one time: tuples of numbers.
        self._merged_exchanges = []
        self._options_view = None
        Ir._ir_cache[self._id] = self

    @classmethod
    def _from_pb(cls, view):
        return view._ir

    @property
    def _pb_ir(self):
        return view("ir", self)

    def _graph(self, index):
        found = self._graphs.get(index)
        if found is None:
            found = self._graphs[index] = Graph._make(self, index)
        return found

    def _next_buffer_number(self):
        return next(self._buffer_numbers)

    def _next_hook_number(self):
        return next(self._hook_numbers)

    @property
    def main_graph(self) -> Graph:
        """The graph that a session runs."""
        return self._graph(0)

    def create_graph(self, fn: Union[Callable[..., Union[None, Tensor, Iterable[Tensor]]], Module], *args: Any, **kwargs: Any) -> Graph:
        """A graph of the ops that a function makes. It is not called: `ops.call` does that.

        Args:
            fn: a function or Module. Each tensor or TensorSpec among its arguments becomes an input of the graph of the same shape and
                element type; lists and tuples of them become lists of inputs named after the parameter. Other arguments are passed
                on. Parameters annotated TensorByRef (or lists of it) become inputs by reference.
            args, kwargs: its arguments.

        Returns:
            the graph. What the function returns (nothing, a tensor, or several) are its outputs.

        Raises:
            TypeError: fn cannot be called, or a list mixes tensors with something else.
            ValueError: arguments that do not fit the signature, or results that are not tensors.
        """
        from popxl import _create_graph

        return _create_graph.create(self, fn, args, kwargs)

    def create_empty_graph(self, name: Optional[str] = None) -> Graph:
        """A graph to be entered and filled: `with graph:`.

        Args:
            name: its name gets a number at its end: `<name>_subgraph(<n>)`.
        """
        name = "" if name is None else name_of(name, "create_empty_graph") + "_"
        return self._graph(self._program.create_graph(f"{name}subgraph({next(self._graph_numbers)})"))

    def dot_checkpoint(self, check, save_dir=None):
        """Writes the graphs as `<save_dir>/<check>.dot`, a picture for Graphviz, if the environment variable POPART_DOT_CHECKS or the session
        option dotChecks names the checkpoint (in any case), or ALL. Where neither is set, all checkpoints are written. A session writes a last
        one, FINAL.

        Args:
            check: the checkpoint's name.
            save_dir: a folder; None: that of the session option logDir.
        """
        options = self._pb_ir.getSessionOptions()
        if save_dir is not None:
            options.logDir = str(save_dir)
        if "POPART_DOT_CHECKS" not in _os.environ and not options.dotChecks:
            options.dotChecks = {"ALL"}
        self._write_dot(check)

    def _write_dot(self, check):
        named = _os.environ.get("POPART_DOT_CHECKS", "").replace(",", ":").split(":")
        options = self._options_view
        wanted = {name.upper() for name in [*named, *(options.dotChecks if options is not None else ())]}
        if check.upper() not in wanted and "ALL" not in wanted:
            return
        from popxl import _dot

        folder = options.logDir if options is not None else "."
        _os.makedirs(folder, exist_ok=True)
        with open(_os.path.join(folder, f"{check}.dot"), "w") as file:
            file.write(_dot.text_of(self))

    def _partials_type(self):
        """The element type of partial sums that options of the session ask for, where an op does not say it."""
        named = self._options_view.partialsTypeMatMuls if self._options_view is not None else ""
        if named not in ("", "half", "float"):
            raise ValueError(f"The session option partialsTypeMatMuls is 'half' or 'float', not {named!r}.")
        from popxl import dtypes

        return {"": None, "half": dtypes.float16, "float": dtypes.float32}[named]

    def _streams_of(self, kind):
        program = self._program
        used = set()
        for graph in range(program.graph_count()):
            for op in program.graph_ops(graph):
                if program.op_kind(op) == kind:
                    used.add(self._streams[program.op_attributes(op)["stream"]])
        return used

    def get_all_d2h_streams(self) -> Set["DeviceToHostStream"]:
        """The streams that some `ops.host_store` writes, in any graph."""
        return self._streams_of("host_store")

    def get_all_h2d_streams(self) -> Set["HostToDeviceStream"]:
        """The streams that some `ops.host_load` reads, in any graph."""
        return self._streams_of("host_load")

    def _implied_tensors(self, graph):
        from popxl import _implied

        return _implied.tensors(self, graph)

    @property
    def num_host_transfers(self) -> int:
        """How often each stream is loaded from or stored to in one run: the leading dimension of host data."""
        return self._num_host_transfers

    @num_host_transfers.setter
    def num_host_transfers(self, value: int) -> None:
        transfers = integer(value, "num_host_transfers")
        if transfers < 1:
            raise ValueError(f"num_host_transfers is 1 or more, not {transfers}.")
        self._num_host_transfers = transfers

    @property
    def replication_factor(self) -> int:
        """How many replicas run the program, on all instances. Cannot be set once a session has been made: RuntimeError."""
        return self._program.replicas

    @replication_factor.setter
    def replication_factor(self, value: int) -> None:
        if self._prepared:
            raise RuntimeError("The replication factor cannot be changed after a session of this Ir has been made.")
        self._program.replicas = integer(value, "replication_factor")
        self._local_replicas = None

    def _share(self, total):
        """This process runs the replicas that it has now, of so many that all processes have."""
        if self._prepared:
            raise RuntimeError("The replication factor cannot be changed after a session of this Ir has been made.")
        local, total = self.instance_replication_factor, integer(total, "globalReplicationFactor")
        if total < local or total % local:
            raise ValueError(f"{total} replicas of all instances, of which each runs {local}: they cannot be dealt out evenly.")
        self._program.replicas = total
        self._local_replicas = None if local == total else local

    @property
    def instance_replication_factor(self) -> int:
        """How many replicas this process runs."""
        return self.replication_factor if self._local_replicas is None else self._local_replicas

    def replica_grouping(self, stride: int = 1, group_size: Optional[int] = None) -> ReplicaGrouping:
        """A division of the replicas into groups.

        Args:
            stride: of the replicas of a group.
            group_size: replicas of a group; None: as many as there are for the stride.

        Raises:
            ValueError: a stride or size that is out of range, or does not divide.
        """
        replicas = self.replication_factor
        if group_size is None:
            group_size = replicas // stride if stride > 0 else 0
        return ReplicaGrouping._make(self, _core.Grouping(replicas, stride, group_size))

    def replica_grouping_from_assignments(self, assignment: List[int]) -> ReplicaGrouping:
        """A division by the number of each replica's group. Groups are of one size and numbered in order of their first replicas.

        Raises:
            ValueError: they are not.
        """
        if len(assignment) != self.replication_factor:
            raise ValueError(f"{len(assignment)} assignments for {self.replication_factor} replicas.")
        return ReplicaGrouping._make(self, _core.Grouping.of_assignment(list(assignment)))

    @property
    def id(self):
        """A number that no other Ir of this process has."""
        return self._id

    def __hash__(self):
        return hash(self._id)

    def __eq__(self, value):
        if not isinstance(value, Ir):
            raise TypeError(f"An Ir is compared with another one, not with {value!r} of type {type(value).__name__}.")
        return self is value

    def __repr__(self):
        return f"Ir[id={self._id}]"

    def __str__(self):
        """The text of the program."""
        return self._program.text()


__all__ = ["Ir", "Graph", "Module", "Tensor"]

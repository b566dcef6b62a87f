"""Programs that run."""
import os
import typing
import weakref
from typing import Dict, Iterable, List, Mapping, Optional, Union

from popxl._checks import describe
from popxl._lazy import np
from popxl._views import view
from popxl.streams import DeviceToHostStream, HostToDeviceStream
from popxl.tensor import Constant, HostTensor, Tensor, Variable
from popxl.utils import check_real, is_torch, to_numpy, with_integers

if typing.TYPE_CHECKING:
    from popxl.ir import Ir

StreamBufferMaps = Mapping[Union[HostToDeviceStream, DeviceToHostStream], HostTensor]
h2dStreamBufferMaps = Mapping[HostToDeviceStream, HostTensor]
d2hStreamBufferMaps = Mapping[DeviceToHostStream, HostTensor]


class _StreamForm(typing.NamedTuple):
    """What host data of one run look like for a stream."""

    index: int
    dtype: "np.dtype"
    shape: tuple  # (slices, replicas, stream's), without those of 1 before the stream's
    explicit_shape: tuple  # the same with all


class Session:
    """A compiled program and its device. `with session:` attaches to the device and brings variables there; the end brings them back.

    Args:
        ir: the program. It cannot change any more.
        device_desc: "cpu" (every IPU is one tile, the fastest), "ipu_model" or "ipu_hw" (IPUs of 1,472 tiles, all emulated), the name of a
            system, a `popart.DeviceInfo`, or "interpreter" (the reference: slow, for tests).
        weights_to_host_on_exit: whether the end of the outermost `with` block brings variables to the host.
        profile: a folder: a report of compiling and of the first run is written there (`pando report FOLDER/profile.pando` shows it). On a machine
                with tiles it has the predicted times of a step, too.

    Raises:
        RuntimeError: a program without ops; one of whose replicas other instances run, which have not come or have built another program.
        TypeError: no Ir, or no device.
        ValueError: an unknown device.
        popart.popart_exception: what cannot be compiled; in-place ops whose order nobody demanded.
    """

    def __init__(self, ir: "Ir", device_desc="cpu", weights_to_host_on_exit: bool = True, *, profile=None) -> None:
        if not hasattr(ir, "_program"):
            raise TypeError(f"Session takes an Ir, not {ir!r} of type {type(ir).__name__}.")
        self._ir = ir
        self._weights_to_host_on_exit = weights_to_host_on_exit
        self._device_desc = device_desc
        self._profile = None if profile is None else os.fspath(profile)
        self._predicted = False
        self._entries: List[bool] = []
        self._engine = None
        ir._prepared = True
        self._prepare()
        ir._session = weakref.ref(self)

    def _prepare(self):
        from popxl import _engine

        if not self._ir._program.graph_ops(0):
            raise RuntimeError("The main graph has no ops: there is nothing to run on any IPU.")
        self._ir._write_dot("FINAL")
        self._engine = _engine.make(self._ir, self._device_desc, self._ir._options_view, self._profile)
        self._find_streams()

    def _find_streams(self):
        streams = self._ir._streams
        # In order, and what is given can be compared with their keys.
        self._inputs = {streams[i]: None for i in self._engine.inputs()}
        self._outputs = {streams[i]: None for i in self._engine.outputs()}
        self._forms, self._output_forms, self._transfers = {}, [], None

    def _set_device(self, device):
        """Another device: compiles again, unless it is like the one before."""
        was = self._device_desc
        self._device_desc = device
        if was is not device:
            self._prepare()

    @property
    def _pb_session(self):
        return view("session", self)

    @property
    def ir(self):
        return self._ir

    @property
    def is_attached(self):
        """Whether the session has its device: inside of its `with` block."""
        return self._engine.is_attached()

    # --- runs

    def _lead(self):
        """(slices, replicas), without those of 1."""
        return tuple(n for n in (self._ir.num_host_transfers, self._ir.instance_replication_factor) if n != 1)

    def _forms_of_run(self):
        """{stream: _StreamForm}, made once for a number of slices, with a list of those of the outputs: short programs run in less time than it
        takes to make them."""
        transfers = self._ir.num_host_transfers
        if self._transfers != transfers:
            lead, explicit = self._lead(), (transfers, self._ir.instance_replication_factor)
            self._forms = {s: _StreamForm(s._index, s.dtype.as_numpy(), lead + s.shape, explicit + s.shape) for s in (*self._inputs, *self._outputs)}
            self._output_forms = [(s, self._forms[s]) for s in self._outputs]
            self._transfers = transfers
        return self._forms

    def _full_input_shape(self, shape):
        """The shape of a run's data for a stream of a shape: that of all slices and replicas."""
        return self._lead() + tuple(shape)

    def expected_inputs(self):
        """The streams that a run needs data of."""
        return set(self._inputs)

    def create_host_outputs(self):
        """Zeros for each stream that the program stores to, of the shape (num_host_transfers, replicas, *stream.shape) without leading ones."""
        self._forms_of_run()
        zeros = np.zeros
        return {s: zeros(form.shape, form.dtype) for s, form in self._output_forms}

    def _validate_run_inputs(self, inputs):
        """Raises ValueError for inputs that `run` would reject."""
        self._as_inputs(inputs)

    def _validate_run_outputs(self, outputs):
        """Raises ValueError for outputs that `run_with_outputs` would reject."""
        self._check_streams(outputs, self._outputs, "The outputs")
        for stream, array in outputs.items():
            self._slices(stream, tuple(np.shape(array)))

    def _check_streams(self, given, expected, what):
        if not hasattr(given, "keys"):
            raise TypeError(f"{what} are a dictionary from streams to arrays, not {describe(given)}.")
        if given.keys() == expected.keys():
            return
        missing = [str(s) for s in expected if s not in given]
        unexpected = [str(s) for s in given if s not in expected]
        raise ValueError(f"{what} do not match the program's streams. Missing: {', '.join(missing) or 'none'}. Not used by the program: "
                         f"{', '.join(unexpected) or 'none'}.")

    def _slices(self, stream, shape):
        """How many slices an array of a shape has. Raises ValueError for a shape that does not fit."""
        form, transfers = self._forms_of_run()[stream], self._transfers
        full = form.shape
        if shape in (full, form.explicit_shape) or all(d == 1 for d in shape + full):
            return transfers
        if transfers > 1 and len(shape) == len(full) and shape[1:] == full[1:] and shape[0] > transfers:
            return shape[0]
        raise ValueError(f"Data of the shape {shape} for {stream!r}; it is {full}: slices in a run, replicas, the stream's shape, without leading ones.")

    def _as_input(self, form, stream, value):
        wanted = form.dtype
        if type(value) is np.ndarray and value.dtype == wanted and value.shape == form.shape and value.flags.c_contiguous:
            return form.index, value, self._transfers
        # What is wider goes into the stream's type at once: 32 bits between would lose some of it.
        array = to_numpy(value, None, False, copy=False, what=f"Data for {stream!r}")
        check_real(array, f"Data for {stream!r}")
        slices = self._slices(stream, tuple(array.shape))
        if array.dtype != wanted:
            if array.dtype.names or wanted.names:
                if array.dtype.itemsize != wanted.itemsize:
                    raise ValueError(f"Data of the type {array.dtype} for {stream!r}.")
                array = np.ascontiguousarray(array).view(wanted)
            elif wanted.kind in "biu":
                array = with_integers(array, wanted, f"Data for {stream!r}")
            else:
                array = array.astype(wanted)
        return stream._index, np.ascontiguousarray(array), slices

    def run(self, inputs: Optional[h2dStreamBufferMaps] = None, downcast_inputs: bool = True) -> Dict[DeviceToHostStream, "np.ndarray"]:
        """Runs the main graph once.

        Args:
            inputs: for each stream of `expected_inputs`, data of the shape (num_host_transfers, replicas, *stream.shape) without leading ones.
                The first dimension may be larger.
            downcast_inputs: either way data of 64 bits become what the stream holds.

        Returns:
            {stream: array} of what was stored, in shapes as those of `create_host_outputs`.

        Raises:
            TypeError: data that are not numbers.
            ValueError: outside of `with session:`, streams that are missing or not used, other shapes, values that a stream of integers does not have.
        """
        self._check_attached("run")
        given, outputs, results, zeros = self._as_inputs(inputs), {}, [], np.zeros
        for stream, form in self._output_forms:
            array = outputs[stream] = zeros(form.shape, form.dtype)
            results.append((form.index, array, self._transfers))
        self._run(given, results)
        return outputs

    def _run(self, given, results):
        self._engine.run(given, results)
        if not self._predicted:
            self._predicted = True
            if hasattr(self._engine, "add_prediction"):
                self._engine.add_prediction()

    def run_with_outputs(self, inputs: Optional[h2dStreamBufferMaps] = None, outputs: Optional[d2hStreamBufferMaps] = None,
                         downcast_inputs: bool = True) -> None:
        """The same as `run`, into arrays of the caller.

        Args:
            inputs, downcast_inputs: see `run`.
            outputs: for each stream that is stored to, an array as `create_host_outputs` makes it, or of another type of the same kind.

        Raises:
            TypeError: no array, or one whose type would not hold what is stored.
            ValueError: a stream without an array, an array of another shape or one that can only be read.
        """
        outputs = outputs or {}
        self._check_attached("run")
        given = self._as_inputs(inputs)
        self._check_streams(outputs, self._outputs, "The outputs")
        results, copies = [], []
        for stream, array in outputs.items():
            slices = self._slices(stream, tuple(np.shape(array)))
            target = array
            wanted = self._forms[stream].dtype
            if not isinstance(array, np.ndarray) and not is_torch(array):
                raise TypeError(f"run_with_outputs: an array is expected for {stream!r}, not {array!r} of type {type(array).__name__}.")
            if isinstance(array, np.ndarray) and not array.flags.writeable:
                raise ValueError(f"run_with_outputs: the array for {stream!r} can only be read.")
            if isinstance(array, np.ndarray) and not np.can_cast(wanted, array.dtype, "same_kind"):
                raise TypeError(f"An array of {array.dtype} for {stream!r}.")
            if not isinstance(array, np.ndarray) or array.dtype != wanted or not array.flags["C_CONTIGUOUS"]:
                target = np.zeros(np.shape(array), wanted)
                copies.append((array, target))
            results.append((stream._index, target, slices))
        self._run(given, results)
        for array, target in copies:
            array[...] = target

    def _as_inputs(self, inputs):
        inputs = inputs or {}
        self._check_streams(inputs, self._inputs, "The inputs")
        forms = self._forms_of_run()
        return [self._as_input(forms[s], s, value) for s, value in inputs.items()]

    def _check_attached(self, what):
        if not self.is_attached:
            raise ValueError(f"{what}: the session is not attached to its device. Enter it: `with session:`")

    # --- variables

    def weights_to_host(self) -> None:
        """Brings all variables to the host.

        Raises:
            ValueError: outside of `with session:`.
            RuntimeError: the data of a variable are a file that is mapped for reading only.
        """
        self._check_attached("weights_to_host")
        if self._ir._weights_are_read_only:
            raise RuntimeError("weights_to_host: a variable's data are a file that is mapped for reading only; no variable can come to the host.")
        self._engine.weights_to_host()
        for info in self._ir._variables.values():
            if info.memmap is not None and info.memmap.flags["WRITEABLE"]:
                info.memmap.flush()

    def weights_from_host(self) -> None:
        """Brings all variables to the device. Raises ValueError outside of `with session:`."""
        self._check_attached("weights_from_host")
        self._engine.weights_from_host()

    def _is_behind(self):
        """Whether the device holds what the host could have."""
        return self.is_attached and not self._engine.in_sync() and not self._ir._weights_are_read_only

    def _in_sync(self):
        return self._engine.in_sync()

    def get_tensor_data(self, tensor: Union[Variable, Constant]) -> "np.ndarray":
        """What a variable or constant holds. Variables come from the device first, if it has changed them.

        Args:
            tensor: the variable or constant.

        Returns:
            an array of the shape `shape_on_host`; for the retrieval mode "all_replicas" (replicas, *shape_on_replica), unless there is but one
            replica or the variable is sharded.

        Raises:
            TypeError: another tensor.
            ValueError: a variable of another Ir.
        """
        return self.get_tensors_data([tensor])[tensor]

    def get_tensors_data(self, tensors: Iterable[Union[Variable, Constant]]) -> Dict[Tensor, "np.ndarray"]:
        """`get_tensor_data` of several: {tensor: array}."""
        tensors = list(tensors)
        for t in tensors:
            if not isinstance(t, (Variable, Constant)):
                raise TypeError(f"Tensor {getattr(t, 'id', t)} is not of type Constant or Variable. It is {t!r} of type {type(t).__name__}.")
            self._check_own(t)
        if any(isinstance(t, Variable) for t in tensors) and self._is_behind():
            self.weights_to_host()
        return {t: t._data() if isinstance(t, Constant) else self._variable_data(t) for t in tensors}

    def _variable_data(self, t):
        info = t._info()
        if info.memmap is not None:
            return info.memmap
        shape = t.shape_on_host
        if info.retrieval_mode == "all_replicas" and not info.sharded and self._ir.replication_factor > 1:
            shape = (self._ir.replication_factor, *info.shape_on_replica)
        out = np.empty(shape, t.dtype.as_numpy())
        self._engine.data(info.state, out)
        if info.retrieval_mode == "all_replicas" and info.sharded and self._ir.replication_factor > 1:
            # The members of a group hold one tensor together: each of them is said to hold it.
            groups = out if t.replica_grouping.num_groups > 1 else out[np.newaxis]
            return groups[t.replica_grouping.assignment]
        return out

    def write_variable_data(self, tensor: Variable, data: HostTensor) -> None:
        """New contents of a variable, on the host and, inside of `with session:`, on the device.

        Args:
            tensor: the variable.
            data: of its element type, and of the shape `shape_on_host`.

        Raises:
            TypeError: no variable, or another element type.
            ValueError: another shape, or a variable of another Ir.
            NotImplementedError: a variable of which all replicas are read, in groups of more than one.
        """
        self.write_variables_data({tensor: data})

    def write_variables_data(self, tensors: Mapping[Variable, HostTensor]) -> None:
        """`write_variable_data` of several: {variable: data}."""
        new = self._checked_data(tensors)
        if self._is_behind():
            self.weights_to_host()
        self._write(new)

    def _write_variables(self, tensors):
        """`write_variables_data` that leaves the other variables where they are: those that the device has changed do not come to the host."""
        self._write(self._checked_data(tensors))

    def _checked_data(self, tensors):
        return [(t._info(), self._new_data(t, data)) for t, data in tensors.items() if self._check_variable(t)]

    def _write(self, new):
        written = []
        for info, array in new:
            mapped = info.memmap is not None
            if mapped:
                info.memmap[...] = array
            written.append((info.state, info.memmap if mapped else array, mapped))
        self._engine.write(written)

    def _check_own(self, t):
        if t._ir is not self._ir:
            raise ValueError(f"{t!r} is of another Ir than the session.")

    def _check_variable(self, t):
        if not isinstance(t, Variable):
            raise TypeError(f"Tensor {getattr(t, 'id', t)} is not of type Variable: its contents cannot be written. It is of type {type(t).__name__}.")
        self._check_own(t)
        if t.retrieval_mode == "all_replicas" and t.replica_grouping.group_size > 1:
            raise NotImplementedError(f"{t!r} is read from all replicas, in groups of {t.replica_grouping.group_size}: its contents cannot be written.")
        return True

    def _new_data(self, t, data):
        wanted = t.dtype.as_numpy()
        if isinstance(data, (bool, int, float)):
            if wanted.names:
                raise TypeError(f"{t!r} takes an array of {t.dtype}, not a number.")
            data = np.array(data, wanted)
        array = to_numpy(data)
        check_real(array, "Host data")
        if array.dtype != wanted:
            raise TypeError(f"Data of the type {array.dtype} for {t!r}.")
        shape = t.shape_on_host
        if array.shape != shape:
            raise ValueError(f"Data of the shape {array.shape} for {t!r}; it is {shape} on the host.")
        return array

    # --- as a context

    def __enter__(self):
        attaches = not self.is_attached
        if attaches:
            self._engine.attach()
            self._entries.append(True)
            try:
                self._engine.weights_from_host()
            except BaseException:
                self._entries.pop()
                self._engine.detach()
                raise
        else:
            self._entries.append(False)
        return self

    def __exit__(self, exc_type, exc_value, exc_tb):
        if not self._entries:
            raise ValueError("The session was not entered: `with session:` begins and ends what it is attached for.")
        if not self._entries.pop():
            return
        try:
            if exc_type is None and self._weights_to_host_on_exit and not self._ir._weights_are_read_only:
                self.weights_to_host()
        finally:
            self._engine.detach()

"""One program over many devices: which strategy is best, and the session that runs it. This is Pando's own; PopXL has nothing like it.

    from popxl import distribution

    found = distribution.search(ir, devices=4, machine="ipu2")
    print(found.table)
    with distribution.Session(ir, found.best.words, "cpu") as session:
        session.run({x: images, y: labels})

The program's main graph is one step of training or inference: what is loaded from the host counts samples in its first dimension unless
`samples` says otherwise. Loops (`ops.repeat`) in the main graph are written out: each trip is a layer.
"""
import warnings
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Union

import popxl
from popxl import _core
from popxl import session as _session
from popxl._checks import describe, integer
from popxl._engine import Interpreting, settings_of
from popxl._lazy import np

__all__ = ["Certificate", "Found", "Result", "Session", "load_onnx", "onnx_weights", "save_onnx", "search"]


class Found(NamedTuple):
    """A strategy and what is predicted of it: seconds of a step, of the device that computes longest, of the longest transfers; bytes of the
    fullest device."""

    words: str
    seconds: float
    computing: float
    transferring: float
    bytes: int


class Certificate(NamedTuple):
    """What happened to each point of the space: points = evaluated + against_a_rule + too_large_by_a_bound + slower_by_a_bound; too_large are
    among the evaluated. No point that fits and was left out takes less than `bound` seconds."""

    points: int
    evaluated: int
    too_large: int
    against_a_rule: int
    too_large_by_a_bound: int
    slower_by_a_bound: int
    best: float
    bound: float


class Result(NamedTuple):
    """What a search found: the best first; what no other beats in both time and memory; why other strategies are not the answer; for how many
    devices it is, of those that were asked for."""

    found: List[Found]
    frontier: List[Found]
    certificate: Certificate
    table: str
    why_not: Dict[str, str]
    devices: int

    @property
    def best(self) -> Found:
        """The best strategy. Raises ValueError if nothing fits."""
        if not self.found:
            raise ValueError("No strategy fits into the memory of the devices.")
        return self.found[0]


def _note(what, ir, samples, sequence, experts, loss):
    """What is said of a program. Raises TypeError for what says nothing. `what`: the function."""
    if not isinstance(ir, popxl.Ir):
        raise TypeError(f"{what} takes an Ir, not {describe(ir)}.")

    def named(dimensions, name):
        if dimensions is not None and not hasattr(dimensions, "items"):
            raise TypeError(f"{what}: {name} is a dict of dimensions, not {describe(dimensions)}.")
        return {getattr(key, "tensor_id", None) or getattr(key, "name", key): integer(d, f"{what}: {name}: a dimension")
                for key, d in (dimensions or {}).items()}

    return _core.Note(named(samples, "samples"), named(sequence, "sequence"), named(experts, "experts"), loss)


def search(ir: popxl.Ir, devices: Union[int, Sequence[int]], *, machine: str = "ipu2", memory: Optional[float] = None, samples: Optional[Mapping] = None,
           sequence: Optional[Mapping] = None, experts: Optional[Mapping] = None, loss: Optional[str] = None, require: str = "", wide: bool = False,
           microbatches: int = 32, top: int = 5, frontier: bool = False, why_not: Sequence[str] = (), schedules: Sequence[str] = (),
           cuts: int = 0, recompute_sets: int = 0, by: str = "time", emit: Optional[str] = None) -> Result:
    """The best strategy for a program, with a certificate. Each point of the space is made and simulated, or excluded by a bound or a rule: so
    every strategy that is found can run.

    Args:
        ir: the program. Its main graph is one step.
        devices: how many the program is distributed over; of several numbers the result is that of the best.
        machine: "ipu2" (IPUs of 1,472 tiles), "ipu2:64" (of 64), a machine that `pando search --help` lists, or a JSON file of one (`pando
            calibrate` writes that of the host).
        memory: bytes of a device; None: the machine's.
        samples: {stream or variable, or its name: dimension} of what counts samples; None: dimension 0 of all that is loaded from the host.
        sequence, experts: likewise of positions and experts.
        loss: the name of the tensor that ends the forward pass; None: what is stored to the host first.
        require: words that all strategies must have, as "tensor=2 recompute=full".
        wide: all schedules, and offload to off-chip memory.
        microbatches: at most so many.
        top: how many are found.
        frontier: also what no other strategy beats in both time and memory.
        why_not: strategies; the result says of each why it is not the best.
        schedules: pipeline schedules that are tried, by name, "all", or "synthesised" (built for the costs of the stages, under several
            limits of memory); files of tables (.csv) are tried where they fit. None: 1F1B.
        cuts: also split up to so many weights at once over the tensor axis, along each of their dimensions, or leave them whole.
        recompute_sets: also recompute the activations of some layers only: at most so many sets of layers for each kind of
            recomputation ("recompute=full recompute-layers=0/1").
        by: "time", or "price": which number of devices is the best. Devices of a machine cost the same, so the price is that of seconds times
            devices.
        emit: "torch:FOLDER": the best is also written as PyTorch for torchrun, with a check.py (see `pando.emit`).

    Raises:
        ValueError: names or dimensions that are not there; another `emit`; ops that are not written in PyTorch.
        popart.popart_exception, RuntimeError: an unknown machine or word, too many ways to cut weights.
    """
    if by not in ("time", "price"):
        raise ValueError(f"by={by!r}: 'time' or 'price' is expected.")

    target, _, folder = (emit or "").partition(":")
    if emit is not None and not (folder and _core.emits_programs(target)):
        raise ValueError(f"emit={emit!r}: 'torch:FOLDER' is expected.")
    note = _note("search", ir, samples, sequence, experts, loss)

    def of(n):
        n = integer(n, "search: a number of devices")
        if not 0 < n <= 1 << 20:
            raise ValueError(f"search: {n} devices; 1 to {1 << 20} are possible.")
        found, front, certificate, table, answers = _core.search(
            ir._program, note, devices=n, first_device=0, memory=memory or 0, wide=wide, require=require,
            microbatches=microbatches, machine=machine, top=top, frontier=frontier, why_not=list(why_not),
            schedules=list(schedules), cuts=int(cuts), recompute_sets=int(recompute_sets))
        return Result([Found(*f) for f in found], [Found(*f) for f in front], Certificate(**certificate), table, dict(zip(why_not, answers)), n)

    def price(result):
        return result.found[0].seconds * (result.devices if by == "price" else 1) if result.found else float("inf")

    numbers = list(devices) if hasattr(devices, "__iter__") else [devices]
    if not numbers:
        raise ValueError("devices: at least one number is expected.")
    best = min(map(of, numbers), key=price)
    if emit and best.found:
        said = _core.Distribution(ir._program, note, best.best.words, 0).emit(target, folder)
        if said:
            warnings.warn(said, stacklevel=2)
    return best


# The numbers of each optimizer, as torch.optim names them and with its defaults.
_OPTIMIZERS = {"sgd": {"lr": 0.01, "momentum": 0.0, "weight_decay": 0.0},
               "adam": {"lr": 0.001, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.0},
               "adamw": {"lr": 0.001, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.01}}


def _optimizer_words(optimizer):
    """(name, {number: value}) of what load_onnx is given."""
    given = {"name": optimizer} if isinstance(optimizer, str) else dict(optimizer)
    name = given.pop("name", None)
    if name not in _OPTIMIZERS:
        raise ValueError(f"load_onnx: there is no optimizer {name!r}; {', '.join(_OPTIMIZERS)} are possible.")
    unknown = sorted(set(given) - set(_OPTIMIZERS[name]))
    if unknown:
        raise ValueError(f"load_onnx: {name} has no {unknown[0]!r}; it has {', '.join(_OPTIMIZERS[name])}.")
    numbers = {**_OPTIMIZERS[name], **given}
    if "betas" in numbers:
        numbers["beta1"], numbers["beta2"] = numbers.pop("betas")
    for key, value in numbers.items():
        if not isinstance(value, (int, float)) or not 0 <= value < (1 if key.startswith(("beta", "momentum")) else float("inf")):
            raise ValueError(f"load_onnx: {key} of {name} is {value!r}; a number from 0 on is expected, below 1 for momentum and betas.")
    return name, {key: float(value) for key, value in numbers.items()}


def _training_words(loss, optimizer, frozen):
    if isinstance(loss, str):
        kind, of = "", loss
    elif isinstance(loss, Mapping) and len(loss) == 1 and next(iter(loss)) in ("cross_entropy", "mse"):
        (kind, of), = loss.items()
    else:
        raise ValueError(f"load_onnx: the loss is {loss!r}; the name of an output, {{'cross_entropy': output}} or {{'mse': output}} is expected.")
    return kind, of, *_optimizer_words("sgd" if optimizer is None else optimizer), {frozen} if isinstance(frozen, str) else set(frozen)


def load_onnx(path: str, dimensions: Optional[Mapping[str, int]] = None, values: Optional[Mapping] = None, *, loss: Union[str, Mapping, None] = None,
              optimizer: Union[str, Mapping, None] = None, frozen: Sequence[str] = ()) -> popxl.Ir:
    """The program of an ONNX model, with its weights: one step of inference, or with `loss` one of training. Its inputs and outputs are streams of
    their names: `{s.tensor_id: s for s in ir.get_all_h2d_streams()}`. It runs in `popxl.Session` and, over devices, in `Session` here; nothing can
    be added.

    Args:
        path: the file; external data lie beside it.
        dimensions: sizes of named dimensions, and of those without a name by input and place: `{"batch": 8, "x.0": 1}`.
        values: arrays for inputs whose values are part of the program, such as shapes, axes and repeats: `{"axes": [1]}`. They are no streams.
        loss: makes the program a step of training: forward, backward, update. The name of an output that is the loss, `{"cross_entropy": scores}` or
            `{"mse": predictions}` of an output. The latter two have a further input "target" (int32 labels, or float32 values) and a further output
            "loss", the mean over the batch.
        optimizer: "sgd" (without: this), "adam" or "adamw", or `{"name": "adam", "lr": 0.001, ...}` with the numbers of torch.optim: lr, momentum,
            betas, eps, weight_decay.
        frozen: names of weights that stay as they are. Running means and variances of BatchNormalization do so anyway.

    Raises:
        ValueError: all ops that are not known, in one error; dimensions without a size; what an op does not take, with the node's name; a loss that
            is not an output or follows from no weight; other optimizers and numbers.
        NotImplementedError: training of a model with graphs inside of nodes (If, and loops that are not written out).
        popart.popart_exception: training through an op that has no gradient.
    """
    if loss is None and (optimizer is not None or frozen):
        raise ValueError("load_onnx: an optimizer and frozen weights go with a loss.")
    training = None if loss is None else _training_words(loss, optimizer, frozen)
    ir = popxl.Ir()
    given = {}
    for name, value in (values or {}).items():
        array = np.asarray(value, order="C")
        given[name] = (popxl.dtypes.dtype.as_dtype(array.dtype)._index, list(array.shape), array)
    ir._program = _core.load_onnx(str(path), dict(dimensions or {}), given, training)
    ir._parsed = True
    for index, name, to_device, dtype, shape in _core.stream_list(ir._program):
        kind = popxl.HostToDeviceStream if to_device else popxl.DeviceToHostStream
        kind._of(ir, index, name, popxl.dtypes._by_index[dtype], shape)
    return ir


def onnx_weights(session: popxl.Session) -> Dict[str, "np.ndarray"]:
    """What the variables of a program of `load_onnx` hold, by their names: the model's weights, and the state of the optimizer."""
    out = {}
    for index, name, dtype, shape in _core.state_list(session.ir._program):
        array = out[name] = np.empty(shape, popxl.dtypes._by_index[dtype].as_numpy())
        session._engine.data(index, array)
    return out


def save_onnx(session: popxl.Session, model: str, path: str) -> None:
    """Writes an ONNX model with the weights that a session's program holds now. All else is as it was; data that lay beside the file are in it.

    Args:
        session: of the program that `load_onnx` made of the model.
        model: the model's file.
        path: the file to write.

    Raises:
        ValueError: a model without one of the program's weights, or whose file would be larger than 2 GiB.
    """
    from popxl import _onnx_file

    held = onnx_weights(session)
    with open(model, "rb") as file:
        try:
            written, found = _onnx_file.with_weights(file.read(), held)
        except ValueError as error:
            raise ValueError(f"save_onnx: {model}: {error}.") from None
    optimizer = {f"{name}.{part}" for name in found for part in ("m", "v", "momentum")} | {"step"}
    missing = sorted(set(held) - found - optimizer)
    if missing:
        raise ValueError(f"save_onnx: {model} has no weight {missing[0]!r}: it is not a model that the program was made of.")
    with open(path, "wb") as file:
        file.write(written)


class Session(_session.Session):
    """A session that runs a program over many devices. It takes and gives what a session of the program itself would: streams and variables are those
    of `ir`; parts go to the devices that need them.

    Args:
        ir: the program. It cannot change any more.
        words: the strategy: "data=2 tensor=2 microbatches=4", as `search` gives it.
        device_desc, weights_to_host_on_exit: see `popxl.Session`.
        samples, sequence, experts, loss: see `search`.

    Raises:
        ValueError: degrees that do not divide, a value of the whole batch inside microbatches.
    """

    def __init__(self, ir: popxl.Ir, words: str, device_desc: str = "cpu", weights_to_host_on_exit: bool = True, *, samples: Optional[Mapping] = None,
                 sequence: Optional[Mapping] = None, experts: Optional[Mapping] = None, loss: Optional[str] = None) -> None:
        if not isinstance(words, str):
            raise TypeError(f"Session: the strategy is a text, not {describe(words)}.")
        self._words = words
        note = _note("Session", ir, samples, sequence, experts, loss)
        self._distribution = _core.Distribution(ir._program, note, words, 0)
        self._distributed = self._distribution.program()
        super().__init__(ir, device_desc, weights_to_host_on_exit)

    @property
    def words(self) -> str:
        """The strategy."""
        return self._words

    def text(self) -> str:
        """The program over devices, as `pando` reads it."""
        return self._distributed.text(elide_data=False)

    def predicted_seconds(self, machine: str = "ipu2", cost: str = "machine") -> float:
        """Of one run on a machine, by the simulator; see `search`.

        Args:
            machine: a machine by name, or a JSON file of one.
            cost: "machine": operations and bytes of each op. "compiled", for IPUs ("ipu2", "ipu2:64") and for this host (the JSON file of
                `pando calibrate`): each distinct piece of the program is compiled and run once, which takes seconds the first time.

        Raises:
            ValueError: another cost.
            RuntimeError: a machine that nothing can be compiled for.
        """
        if cost not in ("machine", "compiled"):
            raise ValueError(f"predicted_seconds: cost is {cost!r}; \"machine\" and \"compiled\" are possible.")
        return self._distribution.seconds(machine, self._words, 0, cost == "compiled")

    def measured_seconds(self) -> Optional[float]:
        """Of the last run, by the clock of the cycle model; None on devices that have none ("cpu", the interpreter), and before a run."""
        return self._engine.seconds

    def _prepare(self):
        self._engine = _Engine(self._ir, self._distribution, self._distributed, self._device_desc)
        self._find_streams()


def _box(start, shape):
    return tuple(slice(s, s + n) for s, n in zip(start, shape))


class _Engine:
    """What popxl.Session calls: the program's streams and states here, those of the devices below."""

    def __init__(self, ir, distribution, program, device):
        self._ir = ir
        self._program = program
        self._loads = {}
        for whole, part, start, shape, load in distribution.streams():
            self._loads.setdefault(whole, {}).setdefault(part, []).append((load, _box(start, shape), tuple(shape)))
        self._stores = dict(distribution.stores())
        self._states = {}
        for whole, part, start, shape, _ in distribution.states():
            self._states.setdefault(whole, []).append((part, _box(start, shape), tuple(shape)))
        self._infos = {info.state: (info, popxl.dtypes._by_index[ir._program.state_dtype(info.state)].as_numpy()) for info in ir._variables.values()}
        self.seconds = None
        self._has_clock = device not in ("interpreter", "cpu")
        own, engine = settings_of(ir._options_view)
        self._below = _Interpreter(program) if device == "interpreter" else _core.Session(program, device=device, parsed=True, options=own, engine=engine)

    def inputs(self):
        return sorted(self._loads)

    def outputs(self):
        return sorted(self._stores)

    def __getattr__(self, name):
        # Attaching, weights: nothing differs.
        return getattr(self._below, name)

    def run(self, inputs, outputs):
        given = []
        for stream, data, slices in inputs:
            whole = data.reshape(slices, *self._ir._streams[stream].shape)
            for part, pieces in self._loads[stream].items():
                loads = 1 + max(load for load, _, _ in pieces)
                array = np.empty((slices, loads, *pieces[0][2]), whole.dtype)
                for load, box, _ in pieces:
                    array[:, load] = whole[(slice(None), *box)]
                given.append((part, array, slices * loads))
        if self._has_clock:
            self._below.reset_cycles()
        self._below.run(given, [(self._stores[stream], array, slices) for stream, array, slices in outputs])
        if self._has_clock:
            self.seconds = self._below.cycles() / self._below.clock_hz()

    def data(self, state, into):
        info, dtype = self._infos[state]
        for part, box, shape in self._states[state]:
            piece = np.empty(shape, dtype)
            self._below.data(part, piece)
            into[box] = piece

    def write(self, variables):
        self._below.write([(part, np.ascontiguousarray(np.asarray(data)[box]), False) for state, data, _ in variables for part, box, _ in self._states[state]])


class _Interpreter(Interpreting):
    """The reference interpreter in a session's place."""

    def in_sync(self):
        return True

    def weights_from_host(self):
        pass

    def weights_to_host(self):
        pass

    def run(self, inputs, outputs):
        for stream, data, slices in inputs:
            # (slices, replicas, shape)
            self._interpreter.set_input(stream, data, (slices, 1, *data.shape[2:]))
        self._interpreter.run(0)
        for stream, data, slices in outputs:
            self._interpreter.output(stream, data, slices)

    def data(self, state, into):
        self._interpreter.state(state, 0, into)

    def write(self, variables):
        for state, data, _ in variables:
            self._interpreter.set_state(state, 0, data)

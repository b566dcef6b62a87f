"""What a session runs on: the machine's session, or the reference interpreter. Both have the methods of InterpreterEngine below."""
from popxl import _core, _instances, dtypes
from popxl._lazy import np

# What devices of popart call an IPU, and the machines that are simulated.
_MACHINES = {"ipu1": "ipu1", "ipu2": "ipu2", "ipu21": "ipu21", "bow": "ipu21"}


def make(ir, device, options, profile=None):
    """The engine of a device: a name, or what `popart.DeviceInfo` says. Raises ValueError for an unknown one.

    `profile`: the folder of a report of compiling and of the first run."""
    if device == "interpreter" or not hasattr(_core, "Session"):
        if ir._local_replicas is not None:
            raise ValueError("The interpreter runs all replicas of a program; this one shares them with other instances.")
        return InterpreterEngine(ir)
    settings = {"options": {"num_host_transfers": ir.num_host_transfers}, "parsed": ir._parsed, "instances": _instances_of(ir),
                "reads_own_replica": ir._reads_own_replica}
    if isinstance(device, str):
        if device not in ("cpu", "ipu_model", "ipu_hw"):
            from popxl.utils import _offline_device_from_str

            device = _offline_device_from_str(device)
    if isinstance(device, str):
        settings["device"] = device
    elif not hasattr(device, "tiles_per_ipu"):
        raise TypeError(f"A device is a name or a popart.DeviceInfo, not {device!r} of type {type(device).__name__}.")
    else:
        settings.update(device=device.kind, tiles_per_ipu=device.tiles_per_ipu or 0, machine=_MACHINES.get(device.ipu_version, "ipu2"))
    own, settings["engine"] = settings_of(options)
    settings["options"].update(own)
    if profile is not None:
        settings["engine"] = {**settings["engine"], "autoReport.all": "true", "autoReport.directory": profile}
    settings["mapped"] = [info.state for info in ir._variables.values() if info.memmap is not None and info.memmap.flags["WRITEABLE"]]
    return _core.Session(ir._program, **settings)


def settings_of(options):
    """What `popart.SessionOptions`, or None, say: (options of the session by name, options of the engine)."""
    if options is None:
        return {}, {}
    own = {name: type(otherwise)(getattr(options, member)) for name, member, _, otherwise in _core.session_options() if member}
    return own, {str(k): str(v) for k, v in options.engineOptions.items()}


def _instances_of(ir):
    """The processes that share an Ir's replicas; None: there is this one alone.

    Raises:
        RuntimeError: there are others, or too few.
    """
    if ir._local_replicas is None:
        return None
    wanted = ir.replication_factor // ir._local_replicas
    if _instances.count() != wanted:
        raise RuntimeError(f"The program has {ir.replication_factor} replicas, of which this process runs {ir._local_replicas}; that takes {wanted} "
                           f"instances, and there are {_instances.count()}: poprun --num-instances {wanted} starts them.")
    return _instances.connection()


class Interpreting:
    """The reference interpreter of a program, and whether a session has attached it."""

    def __init__(self, program):
        program.check()
        self._interpreter = _core.Interpreter(program)
        self._attached = False

    def attach(self):
        self._attached = True

    def detach(self):
        self._attached = False

    def is_attached(self):
        return self._attached


class InterpreterEngine(Interpreting):
    """The naive interpreter: every op at once, in the order in which ops were made. For tests; programs of any size run, slowly."""

    def __init__(self, ir):
        super().__init__(ir._program)
        self._ir = ir
        self._program = ir._program
        self._in_sync = True
        self._infos = list(ir._variables.values())
        self._dtypes = {info.state: dtypes._by_index[self._program.state_dtype(info.state)] for info in self._infos}
        self._host = {info.state: np.array(self._program.state_data(info.state, self._empty(info))) for info in self._infos}

    def _empty(self, info):
        return np.empty(info.data_shape, self._dtypes[info.state].as_numpy())

    def inputs(self):
        return [s._index for s in self._ir.get_all_h2d_streams()]

    def outputs(self):
        return [s._index for s in self._ir.get_all_d2h_streams()]

    def in_sync(self):
        return self._in_sync

    def run(self, inputs, outputs):
        self._in_sync = False
        for stream, data, slices in inputs:
            shape = (slices, self._program.replicas, *self._ir._streams[stream].shape)
            self._interpreter.set_input(stream, data, shape)
        self._interpreter.run(0)
        for stream, data, slices in outputs:
            self._interpreter.output(stream, data, slices)

    def _parts(self, info):
        """For each replica: (index into the host's data, slice of its flattened elements or None)."""
        groups = info.grouping
        for replica, group in enumerate(groups.assignment):
            at = (group,) if groups.num_groups > 1 else ()
            if not info.sharded:
                yield replica, at, None
                continue
            members = [r for r, g in enumerate(groups.assignment) if g == group]
            size = self._program.state_elements(info.state)
            total = 1
            for d in info.shape_on_replica:
                total *= d
            shard = members.index(replica) % -(-total // size)
            yield replica, at, slice(shard * size, (shard + 1) * size)

    def weights_from_host(self):
        for info in self._infos:
            for replica, at, part in self._parts(info):
                data = self._host[info.state][at]
                if part is not None:
                    shard = np.zeros(part.stop - part.start, data.dtype)
                    flat = data.reshape(-1)[part]
                    shard[:flat.size] = flat
                    data = shard
                self._interpreter.set_state(info.state, replica, np.ascontiguousarray(data))
        self._interpreter.run(2)
        self._in_sync = True

    def weights_to_host(self):
        self._interpreter.run(3)
        for info in self._infos:
            # One slice for each group, whatever is read: that is what goes to the device again.
            self._host[info.state] = self._read(info, "one_per_group")
            if info.memmap is not None and info.memmap.flags["WRITEABLE"]:
                info.memmap[...] = self._host[info.state]
        self._in_sync = True

    def _read(self, info, mode):
        dtype = self._dtypes[info.state].as_numpy()
        replicas = {}
        for replica, at, part in self._parts(info):
            shape = info.shape_on_replica if part is None else (part.stop - part.start,)
            out = np.empty(shape, dtype)
            self._interpreter.state(info.state, replica, out)
            replicas[replica] = out
        if info.sharded:
            replicas = self._gathered(info, replicas)
        if mode == "all_replicas":
            return np.stack([replicas[r] for r in sorted(replicas)])
        groups = info.grouping.assignment
        first = [replicas[groups.index(g)] for g in range(info.grouping.num_groups)]
        return np.stack(first) if len(first) > 1 else first[0]

    def _gathered(self, info, shards):
        total = 1
        for d in info.shape_on_replica:
            total *= d
        whole = {}
        for group in range(info.grouping.num_groups):
            members = [r for r, g in enumerate(info.grouping.assignment) if g == group]
            count = -(-total // shards[members[0]].size)
            for i, r in enumerate(members):
                begin = i - i % count
                flat = np.concatenate([shards[m] for m in members[begin:begin + count]])[:total]
                whole[r] = flat.reshape(info.shape_on_replica)
        return whole

    def data(self, state, into):
        if self._attached and not self._in_sync:
            self.weights_to_host()
        info = next((i for i in self._infos if i.state == state), None)
        if info is None:  # of a program that was read
            self._interpreter.state(state, 0, into)
            return
        into[...] = self._host[state] if self._host[state].shape == into.shape else self._read(info, info.retrieval_mode).reshape(into.shape)

    def write(self, variables):
        if self._attached and not self._in_sync:
            self.weights_to_host()
        self._host.update((state, np.array(data)) for state, data, _ in variables)
        if self._attached:
            self.weights_from_host()

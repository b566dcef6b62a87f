"""Running a PopXL program the way PopART's own programs are run: by the ids of its streams."""
import popxl

from .reports import Reports


class AnchorReturnType:
    """Which batches of a step come back. Programs of PopXL store what they want: all of it comes back."""

    def __init__(self, name):
        if name != "All":
            raise ValueError(f"the batches {name!r} cannot be asked for; 'All' that a program stores come back")
        self.name = name


class DataFlow:
    """batchesPerStep: how often streams are read and written in a run. anchorTensors: {id of a device-to-host stream: AnchorReturnType}."""

    def __init__(self, batchesPerStep=1, anchorTensors=None):
        if batchesPerStep < 1:
            raise ValueError(f"a step has at least 1 batch, not {batchesPerStep}")
        self.batchesPerStep = batchesPerStep
        self.anchorTensors = dict(anchorTensors or {})


class PyStepIO:
    """Arrays for a run, by the ids of streams."""

    def __init__(self, inputs, outputs):
        self.inputs, self.outputs = dict(inputs), dict(outputs)


def _by_id(streams, wanted):
    """{stream: array} of {id: array}."""
    known = {stream.tensor_id: stream for stream in streams}
    unknown = sorted(set(wanted) - set(known))
    if unknown:
        raise ValueError(f"the program does not use streams of the ids {unknown}; it uses {sorted(known)}")
    return {known[name]: data for name, data in wanted.items()}


class InferenceSession(Reports):
    """Made by `InferenceSession.fromIr`."""

    def __init__(self, ir, device):
        self._ir, self._device = ir, device
        self._session = None

    @classmethod
    def fromIr(cls, ir, deviceInfo):
        """ir: a view (`popxl.Ir._pb_ir`) whose data flow has been set."""
        program = popxl.Ir._from_pb(ir)
        flow = ir.getDataFlow()
        program.num_host_transfers = flow.batchesPerStep
        _by_id(program.get_all_d2h_streams(), flow.anchorTensors)
        return cls(program, deviceInfo)

    def _prepared(self):
        return self._session

    def prepareDevice(self):
        self._session = popxl.Session(self._ir, self._device)

    def initAnchorArrays(self):
        """{id: array of zeros} for every stream to the host."""
        return {stream.tensor_id: data for stream, data in self._session.create_host_outputs().items()}

    def weightsFromHost(self):
        """Nothing: each run begins with the variables of the host, and leaves there what they have become."""

    def run(self, stepio):
        with self._session:
            self._session.run_with_outputs(_by_id(self._ir.get_all_h2d_streams(), stepio.inputs), _by_id(self._ir.get_all_d2h_streams(), stepio.outputs))

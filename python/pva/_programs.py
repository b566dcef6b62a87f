"""Programs of a report, and their visitor."""
import enum

from pva._data import NO_STEPS, Part


class Bounds:
    """The least and the greatest over tiles."""

    def __init__(self, value):
        self.min = self.max = value


class LivenessVariable(Part):
    """What has one name, category and line of the program, where it is live: `name`, and `size` in bytes. Those of one variable are equal."""

    def __init__(self, data, variable, size):
        super().__init__(data)
        self._id, self.size = variable, size

    @property
    def name(self):
        return self._data.column("variables", "name")[self._id]

    @property
    def _key(self):
        return LivenessVariable, self._id

    def __repr__(self):
        return f"LivenessVariable({self.name!r}, {self.size})"


class ProgramVisitor:
    """A base class: `accept` of a program calls the function for its type."""


class Var(LivenessVariable):
    """The same, of a program: `bytes` is its size, `alwaysLive` whether it is live at every step, `_id` the variable's number."""

    def __init__(self, data, variable, size, always_live):
        super().__init__(data, variable, size)
        self.bytes, self.alwaysLive = size, always_live

    @property
    def _key(self):
        return Var, self._id, self.alwaysLive


class Program(Part):
    """A step of the compiled program, what stands around steps, or a call."""

    class Type(enum.Enum):
        Unknown = 0
        StreamCopyBegin = 1
        StreamCopyMid = 2
        StreamCopyEnd = 3
        Sequence = 4
        Repeat = 5
        OnTileExecute = 6
        DoExchange = 7
        Call = 8
        If = 9
        Switch = 10
        GlobalExchange = 11
        Sync = 12

    _type = Type.Unknown

    def __init__(self, data, row):
        super().__init__(data)
        self._row = row

    @property
    def _key(self):
        return Program, self._id

    def __repr__(self):
        return f"<{self.type.name} {self.name!r}>"

    @property
    def _id(self):
        """Of two programs of a report, the same if they are."""
        return 2 * self._row + self._is_body

    @property
    def _is_body(self):
        return self._type is Program.Type.Sequence and self._data.column("program", "kind")[self._row] == "loop"

    @property
    def name(self):
        return self._data.column("program", "name")[self._row]

    @property
    def type(self):
        """A copy between host and device is StreamCopyMid; loops of all kinds are Repeat. An exchange of which anything crosses IPUs or replicas is
        a GlobalExchange, other ones are DoExchange."""
        return self._type

    @property
    def children(self):
        """A Repeat has one, the Sequence of what it repeats; a Call the Sequence of its function; an If and a Switch one for each way that does
        something; a Sequence what it consists of. Other programs have none."""
        return []

    @property
    def vars(self):
        """What is live at this step, as `Var`: first what is always live, each largest first. Empty for other programs."""
        if self._row < 0 or self._data.column("program", "kind")[self._row] in NO_STEPS:
            return []
        out = []
        for order in (None, self._data.column("program", "order")[self._row]):
            found = sorted(self._data.live(None, order).items(), key=lambda item: (-item[1], item[0]))
            out += [Var(self._data, v, n, order is None) for v, n in found if n > 0]
        return out

    def accept(self, visitor):
        """Calls the visitor's function for programs of this type, if it has one."""
        visit = getattr(visitor, f"visit{self._type.name}", None)
        if visit is not None and self._type is not Program.Type.Unknown:
            visit(self)


class ControlProgram(Program):
    """What a step executes that has no memory of its own: a Sync, or of unknown type."""

    def __init__(self, data, step):
        super().__init__(data, -1)
        self._step = step
        if data.column("steps", "kind")[step] == "sync":
            self._type = Program.Type.Sync

    @property
    def _id(self):
        return 2 * len(self._data.column("program", "name")) + len(self._data.column("blocks", "begin")) + self._step

    @property
    def name(self):
        return self._data.column("steps", "name")[self._step]


class BlockProgram(Program):
    """What was measured as a whole."""

    def __init__(self, data, block):
        super().__init__(data, -1)
        self._block = block
        if data.column("blocks", "stream_copy")[block]:
            self._type = Program.Type.StreamCopyMid

    @property
    def _id(self):
        return 2 * len(self._data.column("program", "name")) + self._block

    @property
    def name(self):
        return self._data.column("blocks", "name")[self._block]


class StreamCopyMidProgram(Program):
    _type = Program.Type.StreamCopyMid


class DoExchangeProgram(Program):
    _type = Program.Type.DoExchange

    @property
    def estimatedCyclesByTile(self):
        """Of one execution. Raises ValueError if the report has none."""
        return self._data.estimated_cycles_by_tile(self._data.executed.get(self._row), self.name)


class GlobalExchangeProgram(DoExchangeProgram):
    _type = Program.Type.GlobalExchange


class SyncProgram(Program):
    _type = Program.Type.Sync


class OnTileExecuteProgram(Program):
    _type = Program.Type.OnTileExecute

    @property
    def computeset(self):
        """Its compute set."""
        from pva._compilation import ComputeSet

        return ComputeSet(self._data, self._data.column("program", "compute_set")[self._row])


class SequenceProgram(Program):
    _type = Program.Type.Sequence

    @property
    def children(self):
        return [self._data.program(row) for row in self._data.parts.get(self._row, [])]


class RepeatProgram(Program):
    _type = Program.Type.Repeat

    @property
    def children(self):
        return [SequenceProgram(self._data, self._row)]


class CallProgram(Program):
    _type = Program.Type.Call

    @property
    def children(self):
        calls = self._data.column("program", "calls")  # reports of earlier versions do not have it
        return [self._data.program(calls[self._row])] if calls and calls[self._row] >= 0 else []


class IfProgram(SequenceProgram):
    _type = Program.Type.If


class SwitchProgram(SequenceProgram):
    _type = Program.Type.Switch


_CLASSES = {"loop": RepeatProgram, "case": SequenceProgram, "function": SequenceProgram, "call": CallProgram, "if": IfProgram, "switch": SwitchProgram,
            "compute": OnTileExecuteProgram, "exchange": DoExchangeProgram, "replicas": GlobalExchangeProgram, "sync": SyncProgram,
            "host": StreamCopyMidProgram, "remote": StreamCopyMidProgram}


def program_class(kind):
    """The class for a kind of the table `program`."""
    return _CLASSES.get(kind, Program)

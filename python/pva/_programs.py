"""Programs of a report, and their visitor."""
import enum


class Bounds:
    """The least and the greatest over tiles."""

    def __init__(self, value):
        self.min = self.max = value


class LivenessVariable:
    """What has one name, category and line of the program, where it is live: `name`, and `size` in bytes."""

    def __init__(self, name, size):
        self.name, self.size = name, size

    def __repr__(self):
        return f"LivenessVariable({self.name!r}, {self.size})"


class ProgramVisitor:
    """A base class: `accept` of a program calls the function for its type."""


class Program:
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

    _type = Type.Unknown

    def __init__(self, data, row):
        self._data, self._row = data, row

    def __eq__(self, other):
        return isinstance(other, Program) and self._data is other._data and self._id == other._id

    def __hash__(self):
        return hash((id(self._data), self._id))

    def __repr__(self):
        return f"<{self.type.name} {self.name!r}>"

    @property
    def _id(self):
        """Of two programs of a report, the same if they are."""
        return 2 * self._row + (self._is_body if self._row >= 0 else 0)

    @property
    def _is_body(self):
        return self._type is Program.Type.Sequence and self._data.column("program", "kind")[self._row] == "loop"

    @property
    def name(self):
        return self._data.column("program", "name")[self._row] if self._row >= 0 else ""

    @property
    def type(self):
        """A copy between host and device is StreamCopyMid; loops of all kinds are Repeat."""
        return self._type

    @property
    def children(self):
        """A Repeat has one, the Sequence of what it repeats; a Call the Sequence of its function; an If and a Switch one for each way that does
        something; a Sequence what it consists of. Other programs have none."""
        return []

    def accept(self, visitor):
        """Calls the visitor's function for programs of this type, if it has one."""
        visit = getattr(visitor, f"visit{self._type.name}", None)
        if visit is not None and self._type is not Program.Type.Unknown:
            visit(self)


class StreamCopyMidProgram(Program):
    _type = Program.Type.StreamCopyMid


class DoExchangeProgram(Program):
    _type = Program.Type.DoExchange


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
            "compute": OnTileExecuteProgram, "exchange": DoExchangeProgram, "host": StreamCopyMidProgram, "remote": StreamCopyMidProgram}


def program_class(kind):
    """The class for a kind of the table `program`."""
    return _CLASSES.get(kind, Program)


NO_STEPS = frozenset({"loop", "if", "switch", "case", "function", "call"})
"""Kinds of the table `program` that are around steps, or call them."""

"""A report by operation of the user's program."""
from pva._execution import ExecutionStep
from pva._data import NO_STEPS


class Location:
    """A line of the user's program: `fileName`, `lineNumber`; "" and 0 where the report does not know it."""

    def __init__(self, file="", line=0):
        self.fileName, self.lineNumber = file, line

    def __repr__(self):
        return f"Location({self.fileName!r}, {self.lineNumber})"


class DebugContext:
    """Where an operation comes from: `name`, the debug path that all its steps have in common, and `location`."""

    def __init__(self, name, location):
        self.name, self.location = name, location


class Operation:
    """What one line of the user's program made under one debug path: `name`, `debugContext`, and the steps of it.

    A report has no contexts that were replaced (`replacedDebugContext` is empty). Copies of several lines that became one exchange belong to the
    first line.
    """

    def __init__(self, data, names, source, programs, steps):
        self._data, self._programs, self._steps = data, programs, steps
        file, line = (data.column("sources", c) for c in ("file", "line"))
        self.name = _common(names)
        self.debugContext = DebugContext(self.name, Location(file[source], line[source]) if source >= 0 else Location())
        self.replacedDebugContext = []

    def __repr__(self):
        location = self.debugContext.location
        return f"<Operation {self.name!r} of {location.fileName}:{location.lineNumber}>"

    @property
    def programs(self):
        """Its steps of the compiled program, in order."""
        return [self._data.program(row) for row in self._programs]

    @property
    def steps(self):
        """Its steps that were executed, as `Execution.steps` has them."""
        return [ExecutionStep(self._data, row) for row in self._steps]

    @property
    def cycles(self):
        """Of all executions, over its streams; waiting left out."""
        return sum(s.cycles - s._of("wait") for s in self.steps)

    @property
    def flops(self):
        """Floating-point operations of all executions, of the vertices whose estimates say them."""
        return sum(s._of("flops") for s in self.steps)


class OperationAnalysis:
    """The steps of a report by operation, in the order of the program.

    Args:
        report: what `openReport` gives.
        depth: how many names of a debug path tell operations of one line apart; `pando report --ask operations=DEPTH` has the same names.

    Raises:
        ValueError: a depth below 1.
    """

    def __init__(self, report, depth=1):
        if depth < 1:
            raise ValueError(f"a depth is at least 1, not {depth}")
        self.report = report
        data = report._data
        found = {}
        names, source = data.column("program", "name"), data.column("program", "source")
        for row, kind in enumerate(data.column("program", "kind")):
            if kind not in NO_STEPS:
                programs, _, its_names = found.setdefault(_key(names[row], source[row], depth), ([], [], []))
                programs.append(row)
                its_names.append(names[row])
        # A step of control has no row in `program`, and no line.
        step_names, rows = data.column("steps", "name"), data.column("steps", "program")
        for step, name in enumerate(step_names):
            key = _key(names[rows[step]], source[rows[step]], depth) if rows[step] >= 0 else _key(name, -1, depth)
            entry = found.setdefault(key, ([], [], []))
            entry[1].append(step)
            if rows[step] < 0:
                entry[2].append(name)
        self.operations = [Operation(data, its_names, key[1], programs, steps) for key, (programs, steps, its_names) in found.items()]


def _key(path, source, depth):
    return "/".join(path.split("/")[:depth]), source


def _common(paths):
    """The names that all debug paths begin with."""
    parts = [p.split("/") for p in paths]
    same = 0
    while all(len(p) > same and p[same] == parts[0][same] for p in parts):
        same += 1
    return "/".join(parts[0][:same])

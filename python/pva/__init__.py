"""libpva's Python interface: a report file as objects with the public names. `pando.report` gives the same as tables.

    report = pva.openReport("report/profile.pop")
    max(step.notAlwaysLiveMemory.bytes for step in report.compilation.livenessProgramSteps)

Memory is in bytes, time in cycles of a tile. What a report does not have is no attribute here; the interface in C++ has the same parts
(pva/pva.hpp).
"""
import functools
import os
import re

import pando.report

from pva import pva_core
from pva.pva_core import Program, ProgramVisitor

__all__ = ["openReport", "Report", "Program", "ProgramVisitor", "pva_core"]

_NO_STEPS = {"loop", "if", "switch", "case", "function", "call"}


class _Of:
    """A part of a report, one row of a table: equal to another object for the same row."""

    def __init__(self, data, index=0):
        self._data, self._index = data, index

    def __eq__(self, other):
        return type(self) is type(other) and self._data is other._data and self._index == other._index

    def __hash__(self):
        return hash((type(self), id(self._data), self._index))


class _Data:
    """The tables of a report file as lists, each read once."""

    def __init__(self, report):
        self.report = report
        self.categories = [c["category"] for c in report.document("categories")]

    @functools.cache
    def column(self, table, column):
        values = self.report._column(table, column, self.report._index["tables"][table]) if self.has(table, column) else []
        return values if isinstance(values, list) else values.tolist()

    def has(self, table, column):
        return table in self.report.tables and column in self.report._index["tables"][table]["columns"]

    def rows_of(self, table, column, row):
        ends = self.column(table, column)
        return range(ends[row - 1] if row > 0 else 0, ends[row])

    @functools.cached_property
    def live_sets(self):
        begin, end = self.column("live_intervals", "begin"), self.column("live_intervals", "end")
        return [[(begin[k], end[k]) for k in self.rows_of("live_sets", "intervals", i)] for i in range(len(self.column("live_sets", "intervals")))]

    def live(self, tile, order):
        """Variables with their bytes, largest first: what is live at an order and not always, or always (None); on a tile or on all (None)."""
        size, variable, live = (self.column("allocations", c) for c in ("size", "variable", "live"))
        rows = range(len(size)) if tile is None else self.rows_of("tiles", "allocations", self.tile(tile))
        found = {}
        for i in rows:
            if live[i] < 0 if order is None else live[i] >= 0 and any(a <= order < b for a, b in self.live_sets[live[i]]):
                found[variable[i]] = found.get(variable[i], 0) + size[i]
        names = self.column("variables", "name")
        return [pva_core.LivenessVariable(names[v], n) for v, n in sorted(found.items(), key=lambda item: (-item[1], item[0])) if n > 0]

    def tile(self, tile):
        tiles = len(self.column("tiles", "used"))
        if not 0 <= tile < tiles:
            raise IndexError(f"there is no tile {tile}; the report has {tiles}")
        return tile

    @functools.cached_property
    def live_bytes(self):
        """By order: the bytes that are live then and not always, over all streams."""
        out = {}
        for order, n in zip(self.column("liveness", "order"), self.column("liveness", "live_bytes")):
            out[order] = out.get(order, 0) + n
        return out

    @functools.cached_property
    def parts(self):
        """By row of `program`: the rows directly inside."""
        out = {}
        for row, inside in enumerate(self.column("program", "inside")):
            out.setdefault(inside, []).append(row)
        return out

    def program(self, row):
        """The object for a row of `program`; of -1 one of an unknown type."""
        kind = self.column("program", "kind")[row] if row >= 0 else ""
        return pva_core.program_class(kind)(self, row)


class Report(_Of):
    """What the compiler made and what the runs cost."""

    @property
    def compilation(self):
        return Compilation(self._data)

    @property
    def execution(self):
        """Raises ValueError if the report has no execution: no program ran, or cycles were not counted."""
        if not self._data.report["executed"]:
            raise ValueError(f"{self._data.report.path} has no execution: no program was run, or cycles were not counted")
        return Execution(self._data)

    @property
    def hasExecution(self):
        return bool(self._data.report["executed"])

    @property
    def poplarVersion(self):
        """Of the program that wrote the report."""
        return Version(self._data)


class Version(_Of):
    @property
    def string(self):
        return self._data.report.writer

    def _number(self, i):
        numbers = re.findall(r"\d+", self.string)
        return int(numbers[i]) if i < len(numbers) else 0

    major, minor, point = (property(lambda self, i=i: self._number(i)) for i in range(3))


class Graph(_Of):
    """Counts of the user's graph."""

    numVars, numVertices, numComputeSets, numEdges = (property(lambda self, part=part: self._data.report["graph"][part])
                                                      for part in ("variables", "vertices", "compute_sets", "edges"))


class Target(_Of):
    """The machine."""

    architecture, numIPUs, tilesPerIpu, numTiles, numReplicas, bytesPerTile, clockFrequency = (
        property(lambda self, part=part: self._data.report["target"][part])
        for part in ("name", "ipus", "tiles_per_ipu", "tiles", "replicas", "bytes_per_tile", "clock_hz"))

    @property
    def bytesPerIPU(self):
        return self.bytesPerTile * self.tilesPerIpu

    @property
    def totalMemory(self):
        return self.bytesPerTile * self.numTiles


class Compilation(_Of):
    @property
    def graph(self):
        return Graph(self._data)

    @property
    def target(self):
        return Target(self._data)

    @property
    def tiles(self):
        return [Tile(self._data, i) for i in range(len(self._data.column("tiles", "used")))]

    @property
    def computeSets(self):
        """Those that a program executes."""
        return [ComputeSet(self._data, i) for i in range(len(self._data.column("compute_sets", "name")))]

    @property
    def programs(self):
        """Steps, loops, branches, functions and calls in the order of the program; what stands around others comes before them."""
        out = []
        for row, kind in enumerate(self._data.column("program", "kind")):
            out.append(self._data.program(row))
            if kind == "loop":
                out.append(pva_core.SequenceProgram(self._data, row))
        return out

    @property
    def livenessProgramSteps(self):
        """The steps that have memory, with what is live at each."""
        return [LivenessProgramStep(self._data, row) for row, kind in enumerate(self._data.column("program", "kind")) if kind not in _NO_STEPS]

    @property
    def alwaysLiveVariables(self):
        """What is live at every step, over all tiles, largest first."""
        return self._data.live(None, None)

    def alwaysLiveVariablesForTile(self, tile):
        """The same on one tile. Raises IndexError for a tile that is not there."""
        return self._data.live(self._data.tile(tile), None)

    @property
    def outOfMemory(self):
        """Why the program does not fit; empty if it does."""
        return self._data.report["out_of_memory"]


class Tile(_Of):
    @property
    def id(self):
        return self._index

    @property
    def memory(self):
        return TileMemory(self._data, self._index)


class MemoryTotal(int):
    """A tile's memory in use at its fullest step, without gaps; as a number the same."""

    def __new__(cls, used, with_gaps):
        total = super().__new__(cls, used)
        total.excludingGaps, total.includingGaps = used, with_gaps
        return total


class TileMemory(_Of):
    @property
    def total(self):
        return MemoryTotal(self._data.column("tiles", "used")[self._index], self._data.column("tiles", "with_gaps")[self._index])

    @property
    def alwaysLiveBytes(self):
        """Bytes that are live at every step."""
        return self._data.column("tiles", "always_live")[self._index]

    @property
    def notAlwaysLiveBytes(self):
        """The most of others that are live at one step."""
        return self.total.excludingGaps - self.alwaysLiveBytes

    @property
    def category(self):
        return MemoryCategories(self._data, self._index)

    @property
    def vertices(self):
        """The vertices on the tile, by the codelets' names."""
        counts = {}
        begin, end, count, codelet = (self._data.column("vertex_groups", c) for c in ("begin", "end", "count", "codelet"))
        for i in range(len(count)):
            if begin[i] <= self._index < end[i]:
                counts[codelet[i]] = counts.get(codelet[i], 0) + count[i]
        return [VertexInstances(self._data, c, n) for c, n in sorted(counts.items(), key=lambda item: self._data.column("codelets", "name")[item[0]])]


class MemoryRegion(_Of):
    """Bytes at the tile's fullest step. None share their place with others here: `overlapped` is 0."""

    overlapped = 0

    @property
    def nonOverlapped(self):
        return self._index


class MemoryCategory(_Of):
    """One category of a tile's memory. Regions of memory are not told apart: all of it counts as not interleaved."""

    @property
    def total(self):
        return self._index

    @property
    def nonInterleaved(self):
        return MemoryRegion(self._data, self._index)

    @property
    def interleaved(self):
        return MemoryRegion(self._data, 0)

    overflowed = interleaved


class MemoryCategories(_Of):
    """The categories under their public names. What is described in the state of vertices here has no bytes of its own."""

    def _of(self, name):
        categories = self._data.categories
        bytes_of = self._data.column("tile_categories", "bytes")
        return MemoryCategory(self._data, bytes_of[self._index * len(categories) + categories.index(name)] if name in categories else 0)

    (variable, constant, stack, vertexCode, vertexInstanceState, controlCode, internalExchangeCode, message, copyDescriptor, vectorListDescriptor,
     vertexFieldData) = (property(lambda self, name=name: self._of(name))
                         for name in ("variable", "constant", "stack", "vertex code", "vertex state", "control code", "exchange code", "exchange buffer",
                                      "", "", ""))


class VertexType(_Of):
    @property
    def name(self):
        """Of the codelet."""
        return self._data.column("codelets", "name")[self._index]


class VertexInstances(_Of):
    """The vertices of one codelet in a compute set, or on a tile."""

    def __init__(self, data, codelet, count):
        super().__init__(data, codelet)
        self.count = count

    @property
    def type(self):
        return VertexType(self._data, self._index)


class ComputeSet(_Of):
    @property
    def name(self):
        return self._data.column("compute_sets", "name")[self._index]

    @property
    def vertices(self):
        """By codelet."""
        counts = {}
        begin, end, count, codelet = (self._data.column("vertex_groups", c) for c in ("begin", "end", "count", "codelet"))
        for i in self._data.rows_of("compute_sets", "groups", self._index):
            counts[codelet[i]] = counts.get(codelet[i], 0) + (end[i] - begin[i]) * count[i]
        return [VertexInstances(self._data, c, n) for c, n in counts.items()]


class LivenessProgramStep(_Of):
    """A step that has memory, in the order of the program."""

    @property
    def program(self):
        return self._data.program(self._index)

    @property
    def notAlwaysLiveMemory(self):
        """Over all tiles."""
        return LivenessMemory(self._data, self._index, None)

    def notAlwaysLiveMemoryForTile(self, tile):
        """On one tile. Raises IndexError for a tile that is not there."""
        return LivenessMemory(self._data, self._index, self._data.tile(tile))


class LivenessMemory(_Of):
    """What is live at a step, and not at every step."""

    def __init__(self, data, row, tile):
        super().__init__(data, row)
        self._tile = tile

    @property
    def bytes(self):
        if self._tile is None:  # the report has the sum of each step
            return self._data.live_bytes.get(self._data.column("program", "order")[self._index], 0)
        return sum(v.size for v in self.variables)

    @property
    def variables(self):
        """Largest first."""
        return self._data.live(self._tile, self._data.column("program", "order")[self._index])


class Execution(_Of):
    @property
    def steps(self):
        """The steps that were executed, each once for a stream, summed over its executions, in the order of the first one."""
        return [Step(self._data, i) for i in range(len(self._data.column("steps", "name")))]

    @property
    def runs(self):
        return [Run(self._data, i) for i in range(len(self._data.column("runs", "begin")))]

    @property
    def totalCycles(self):
        """The latest stream's clock."""
        return self._data.report["total_cycles"]


class Interval:
    """From `start` to `end`; each has the bounds `min` and `max` over the tiles, which are the same here."""

    def __init__(self, start, end):
        self.start, self.end = start, end
        self.cyclesFrom, self.cyclesTo = pva_core.Bounds(start), pva_core.Bounds(end)


class StepOnIpu:
    """What a step costs on one IPU: `cycles`, and of an executed step when it is active (`activeCycles`)."""

    def __init__(self, cycles, interval=None):
        self.cycles = cycles
        if interval is not None:
            self.activeCycles = interval


class Step(_Of):
    """One step of the program on one stream, summed over its executions."""

    def _of(self, column):
        return self._data.column("steps", column)[self._index]

    name, kind, executions = (property(lambda self, column=column: self._of(column)) for column in ("name", "kind", "executions"))

    @property
    def stream(self):
        return self._data.column("streams", "name")[self._of("stream")]

    @property
    def cycles(self):
        return sum(self._of(term) for term in ("compute", "exchange", "local_copy", "sync", "global_exchange", "host", "wait"))

    @property
    def ipus(self):
        """By IPU; 0 cycles on those whose tiles are not the stream's."""
        own = self._data.column("streams", "ipu")[self._of("stream")]
        return [self._on(ipu == own) for ipu in range(self._data.report["target"]["ipus"])]

    def _on(self, is_own):
        return StepOnIpu(self.cycles if is_own else 0)

    @property
    def cyclesByTile(self):
        """Of each tile, waiting left out."""
        out = [0] * self._data.report["target"]["tiles"]
        profile = self._of("profile")
        begin, end, cycles = (self._data.column("tile_cycles", c) for c in ("begin", "end", "cycles"))
        if profile >= 0:
            for k in self._data.rows_of("tile_profiles", "ranges", profile):
                out[begin[k]:end[k]] = [cycles[k] * self.executions] * (end[k] - begin[k])
            return out
        first, last = self._data.column("stream_tiles", "begin"), self._data.column("stream_tiles", "end")
        for k in self._data.rows_of("streams", "tiles", self._of("stream")):
            out[first[k]:last[k]] = [self.cycles - self._of("wait")] * (last[k] - first[k])
        return out

    @property
    def program(self):
        """Of unknown type: a step of control, which has no memory of its own."""
        return self._data.program(self._of("program"))

    @property
    def computeSets(self):
        """One if vertices run, else none: its `name`, `cyclesByTile` and `estimatedCyclesByTile`."""
        return [ExecutedComputeSet(self._data, self._index)] if self.kind == "compute" else []


class ExecutedComputeSet(Step):
    """A compute set as a step executes it. Cycles are always estimates here."""

    @property
    def estimatedCyclesByTile(self):
        return self.cyclesByTile


class ExecutedStep(Step):
    """One execution of a step."""

    def __init__(self, data, row, start, end):
        super().__init__(data, row)
        self._start, self._end = start, end

    executions = 1

    @property
    def cycles(self):
        return self._end - self._start

    def _on(self, is_own):
        return StepOnIpu(self.cycles, Interval(self._start, self._end)) if is_own else StepOnIpu(0, Interval(self._start, self._start))

    @property
    def cyclesByTile(self):
        """Of each tile, the mean of its executions."""
        times = max(1, self._of("executions"))
        return [n // times for n in Step(self._data, self._index).cyclesByTile]


class Run(_Of):
    """A run of the engine."""

    @property
    def program(self):
        """Which of the engine's programs ran."""
        return self._data.column("runs", "program")[self._index]

    @property
    def cycles(self):
        return Interval(self._data.column("runs", "begin")[self._index], self._data.column("runs", "end")[self._index])

    @property
    def hostNanoseconds(self):
        """Time that the host needed."""
        return self._data.column("runs", "host_ns")[self._index]

    @property
    def steps(self):
        """Each execution of a step, by its begin. Raises ValueError where there are more than 1,000,000: `Execution.steps` has their sums."""
        return executed_steps(self._data, self.cycles.start, self.cycles.end)


_MOST_STEPS = 1_000_000


def executed_steps(data, start, end):
    """The executions that begin in [start, end), of all streams."""
    step, gap, cycles, times, rows = (data.column("trace", c) for c in ("step", "gap", "cycles", "times", "rows"))
    found = []

    def read(first, last, clock):
        row = first
        while row < last and clock < end:
            if rows[row] > 0:
                after = row + 1 + rows[row]
                skipped = max(0, min(times[row], (start - clock) // cycles[row])) if cycles[row] > 0 else 0
                for n in range(skipped, times[row]):
                    if clock + n * cycles[row] >= end:
                        break
                    read(row + 1, after, clock + n * cycles[row])
                clock, row = clock + times[row] * cycles[row], after
                continue
            for _ in range(times[row]):
                clock += gap[row]
                if start <= clock < end:
                    found.append((clock, len(found), ExecutedStep(data, step[row], clock, clock + cycles[row])))
                    if len(found) > _MOST_STEPS:
                        raise ValueError(f"more than {_MOST_STEPS:,} steps were executed: Execution.steps has their sums, "
                                         "`pando report --trace --from --to` writes a part of them")
                clock += cycles[row]
            row += 1

    for stream in range(len(data.column("streams", "name"))):
        rows_of_stream = data.rows_of("streams", "trace", stream)
        read(rows_of_stream.start, rows_of_stream.stop, 0)
    return [s for _, _, s in sorted(found, key=lambda f: f[:2])]


def openReport(path, debug=None):
    """Opens a report that an engine wrote (option autoReport.directory). Where "x.pop" is not there, "x.pando" is read. `debug`, the file of
    debug information, is not needed: the report has the lines of the program. Raises OSError, and ValueError for what is no report."""
    path = os.fspath(path)
    other = path[:-len(".pop")] + ".pando" if path.endswith(".pop") else path
    return Report(_Data(pando.report.open(path if os.path.exists(path) else other)))

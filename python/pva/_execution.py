"""What the runs cost: steps, runs, cycles."""
from pva._data import Of
from pva._programs import Bounds


class CycleTotal(int):
    """Cycles of a whole execution; `total` is the same number."""

    @property
    def total(self):
        return int(self)


class Execution(Of):
    @property
    def steps(self):
        """The steps that were executed, each once for a stream, summed over its executions, in the order of the first one."""
        return [ExecutionStep(self._data, i) for i in range(len(self._data.column("steps", "name")))]

    @property
    def runs(self):
        return [Run(self._data, i) for i in range(len(self._data.column("runs", "begin")))]

    @property
    def totalCycles(self):
        """The latest stream's clock."""
        return CycleTotal(self._data.report["total_cycles"])


class Interval:
    """From `start` to `end`; each has the bounds `min` and `max` over the tiles, which are the same here."""

    def __init__(self, start, end):
        self.start, self.end = start, end
        self.cyclesFrom, self.cyclesTo = Bounds(start), Bounds(end)


class StepOnIpu:
    """What a step costs on one IPU: `cycles`, and of an executed step when it is active (`activeCycles`)."""

    def __init__(self, cycles, interval=None):
        self.cycles = cycles
        if interval is not None:
            self.activeCycles = interval


class ExecutionStep(Of):
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


class ExecutedComputeSet(ExecutionStep):
    """A compute set as a step executes it. Cycles are always estimates here."""

    @property
    def estimatedCyclesByTile(self):
        return self.cyclesByTile


class ExecutedStep(ExecutionStep):
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
        return [n // times for n in ExecutionStep(self._data, self._index).cyclesByTile]


class Run(Of):
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

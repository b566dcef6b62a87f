"""What the runs cost: steps, runs, cycles."""
import functools

from pva._data import TERMS, Of
from pva._programs import BlockProgram, Bounds, ControlProgram


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

    def blocks(self, tile):
        """The blocks of what the tile takes part in, in the order in which they began; those of the other tiles of its IPU if it has nothing to do.
        Options of the engine ask for them: profiler.blocks.filter, profiler.programs.filter, debug.instrumentExternalExchange. Raises IndexError for
        a tile that is not there."""
        stream = self._data.stream_of(self._data.tile(tile))
        return [Block(self._data, row, tile) for row, own in enumerate(self._data.column("blocks", "stream")) if own == stream]

    @property
    def totalCycles(self):
        """The latest stream's clock."""
        return CycleTotal(self._data.report["total_cycles"])


class Block(Of):
    """One execution of a program that was measured as a whole, or of a copy between host and device. The cycle model keeps all on the host: none is
    flushed, or lost to a full buffer on a tile."""

    isBlockFlush = isOverflow = False

    def __init__(self, data, row, tile):
        super().__init__(data, row)
        self.tile = tile

    cyclesFrom, cyclesTo = (property(lambda self, column=column: self._data.column("blocks", column)[self._index]) for column in ("begin", "end"))

    @property
    def isStreamCopy(self):
        return bool(self._data.column("blocks", "stream_copy")[self._index])

    @property
    def isCommon(self):
        return not self.isStreamCopy

    @property
    def program(self):
        return BlockProgram(self._data, self._index)


class Interval:
    """From `start` to `end`; each has the bounds `min` and `max` over the tiles, which are the same here."""

    def __init__(self, start, end):
        self.start, self.end = start, end
        self.cyclesFrom, self.cyclesTo = Bounds(start), Bounds(end)


class StepOnIpu:
    """What a step costs on one IPU: `cycles`, and when it is active (`activeCycles`; of a sum over executions from 0 on)."""

    def __init__(self, step, ipu, start, end):
        self._step, self.id = step, ipu
        self.cycles, self.activeCycles = end - start, Interval(start, end)

    @functools.cached_property
    def _cycles_by_tile(self):
        """Of the IPU's tiles at one execution: what several properties look at."""
        data = self._step._data
        return data.cycles_by_tile(self._step._index, 1, data.tiles_of_ipu(self.id))

    @property
    def activeTiles(self):
        """Tiles that need cycles for the step, waiting left out."""
        return sum(n > 0 for n in self._cycles_by_tile)

    @property
    def tileBalance(self):
        """The mean cycles of the IPU's tiles divided by those of the slowest, from 0 to 1; 0 if none is active."""
        cycles = self._cycles_by_tile
        return sum(cycles) / len(cycles) / max(cycles) if any(cycles) else 0.0

    @property
    def activeTileBalance(self):
        """The same of those that are active."""
        cycles = [n for n in self._cycles_by_tile if n > 0]
        return sum(cycles) / len(cycles) / max(cycles) if cycles else 0.0

    def _bytes(self, end):
        data, row = self._step._data, self._step._of("program")
        exchange = data.column("program", "exchange")[row] if row >= 0 else -1
        return sum(t[2] for t in data.traffic(exchange) if t[end] == self.id) * self._step.executions if exchange >= 0 else 0

    @property
    def dataIn(self):
        """Of an exchange: bytes that the IPU's tiles receive from tiles, in all executions of the step. 0 for other steps."""
        return self._bytes(1)

    @property
    def dataOut(self):
        """Of an exchange: bytes that the IPU's tiles send to tiles."""
        return self._bytes(0)


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
        return sum(self._of(term) for term in (*TERMS, "wait"))

    @property
    def ipus(self):
        """By IPU; 0 cycles on those whose tiles are not the stream's."""
        own = self._data.column("streams", "ipu")[self._of("stream")]
        return [self._on(ipu, ipu == own) for ipu in range(self._data.report["target"]["ipus"])]

    def _on(self, ipu, is_own):
        return StepOnIpu(self, ipu, 0, self.cycles if is_own else 0)

    @property
    def cyclesByTile(self):
        """Of each tile, waiting left out."""
        return self._data.cycles_by_tile(self._index, self.executions)

    @property
    def program(self):
        """The step in `Compilation.programs`; a step that has no memory of its own (of control) is a Sync or of unknown type, and not there."""
        row = self._of("program")
        return self._data.program(row) if row >= 0 else ControlProgram(self._data, self._index)

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
    def _key(self):
        return ExecutedStep, self._index, self._start

    @property
    def cycles(self):
        return self._end - self._start

    def _on(self, ipu, is_own):
        return StepOnIpu(self, ipu, self._start, self._end if is_own else self._start)

    @property
    def cyclesByTile(self):
        """Of each tile, the mean of its executions."""
        times = max(1, self._of("executions"))
        return [n // times for n in self._data.cycles_by_tile(self._index, times)]


class Run(Of):
    """A run of the engine."""

    @property
    def name(self):
        """That the program gave it, as `poplar::Engine::run` takes one; empty if it gave none."""
        names = self._data.column("runs", "name")  # reports of earlier versions do not have it
        return names[self._index] if names else ""

    @property
    def program(self):
        """Which of the engine's programs ran."""
        return self._data.column("runs", "program")[self._index]

    @property
    def cycles(self):
        return Interval(self._data.column("runs", "begin")[self._index], self._data.column("runs", "end")[self._index])

    @property
    def microseconds(self):
        """Of the host's clock: how long the host needed for it, after what it needed for the runs before."""
        host = self._data.column("runs", "host_ns")
        before = sum(host[:self._index])
        return Interval(before / 1000, (before + host[self._index]) / 1000)

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

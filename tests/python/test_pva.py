"""`pva`, libpva's Python interface, on reports of PopXL sessions."""
import numpy as np
import pytest

import pando.report
import popxl
import pva
from popxl import ops


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The report of two runs, with a function, a loop and a branch."""
    folder = tmp_path_factory.mktemp("pva")
    ir = popxl.Ir()
    with ir.main_graph:
        x = popxl.h2d_stream((8, 32), popxl.float32, name="x")
        out = popxl.d2h_stream((8, 32), popxl.float32, name="out")
        weights = popxl.variable(np.ones((32, 32), np.float32), name="weights")
        square = ir.create_graph(lambda a: ops.mul(a, a), popxl.TensorSpec((8, 32), popxl.float32))
        round_of = ir.create_graph(lambda a: ops.gelu(a), popxl.TensorSpec((8, 32), popxl.float32))
        a, = ops.call(square, ops.matmul(ops.host_load(x), weights))
        a, = ops.repeat(round_of, 3, a)
        a, = ops.call(square, a)
        ops.host_store(out, a)
    with popxl.Session(ir, "ipu_model", profile=folder) as session:
        session.run({x: np.ones((8, 32), np.float32)})
    return folder / "profile.pando"


def test_memory_by_tile_and_step(path):
    report = pva.openReport(str(path))
    compilation, tables = report.compilation, pando.report.open(path)
    assert compilation.target.numTiles == 1472 and compilation.target.bytesPerIPU == 1472 * compilation.target.bytesPerTile
    assert compilation.graph.numComputeSets == tables["graph"]["compute_sets"]
    assert [t.memory.total.excludingGaps for t in compilation.tiles] == list(tables.tiles["used"])
    steps = compilation.livenessProgramSteps
    assert steps
    # A tile's always live variables and the most that is live beside them are what it uses.
    for tile in (0, 1, 700, 1471):
        memory = compilation.tiles[tile].memory
        assert sum(v.size for v in compilation.alwaysLiveVariablesForTile(tile)) == memory.alwaysLiveBytes
        assert max(s.notAlwaysLiveMemoryForTile(tile).bytes for s in steps) == memory.notAlwaysLiveBytes
        assert memory.total == memory.alwaysLiveBytes + memory.notAlwaysLiveBytes
        assert sum(getattr(memory.category, name).total for name in ("variable", "stack", "vertexCode", "vertexInstanceState")) <= memory.total
    for step in steps:
        assert sum(v.size for v in step.notAlwaysLiveMemory.variables) == step.notAlwaysLiveMemory.bytes
    assert "weights" in " ".join(v.name for v in compilation.alwaysLiveVariables)
    with pytest.raises(IndexError, match="there is no tile 1472; the report has 1472"):
        steps[0].notAlwaysLiveMemoryForTile(1472)


def test_programs_and_their_visitor(path):
    compilation = pva.openReport(path).compilation

    class Seen(pva.ProgramVisitor):
        def __init__(self):
            self.calls, self.loops, self.computes = [], [], []

        def visitCall(self, program):
            self.calls.append(program)

        def visitRepeat(self, program):
            self.loops.append(program)

        def visitOnTileExecute(self, program):
            self.computes.append(program)

    seen = Seen()
    for program in compilation.programs:
        program.accept(seen)
    assert len(seen.loops) == 1 and seen.loops[0].children[0].type is pva.Program.Type.Sequence
    assert all(p.computeset.vertices[0].count > 0 and p.computeset.name == p.name for p in seen.computes)
    assert len(seen.calls) >= 2 and seen.calls[0].children == seen.calls[-1].children
    function = seen.calls[0].children[0]
    assert function.type is pva.Program.Type.Sequence and function.children
    assert set(function.children) <= set(compilation.programs)


def test_execution(path):
    execution = pva.openReport(path).execution
    assert sum(s.ipus[0].cycles for s in execution.steps) == execution.totalCycles
    runs = execution.runs
    executed = [s for run in runs for s in run.steps]
    assert sum(s.cycles for s in executed) <= execution.totalCycles
    folded = {(s.stream, s.name, s.kind): s for s in execution.steps}
    times = {}
    for s in executed:
        key = (s.stream, s.name, s.kind)
        times[key] = times.get(key, 0) + 1
        assert s.ipus[0].activeCycles.cyclesTo.max - s.ipus[0].activeCycles.cyclesFrom.max == s.cycles
    assert {key: folded[key].executions for key in times} == times or len(folded) < len(execution.steps)
    begins = [s.ipus[0].activeCycles.cyclesFrom.max for s in executed]
    assert begins == sorted(begins)
    for s in execution.steps:
        assert len(s.cyclesByTile) == 1472
        if s.kind == "compute":
            assert max(s.cyclesByTile) > 0 and s.computeSets[0].estimatedCyclesByTile == s.cyclesByTile


def test_files(path, tmp_path):
    # As programs name the files of Poplar.
    assert pva.openReport(path.with_suffix(".pop"), "debug.cbor").poplarVersion.major == 3
    with pytest.raises(OSError):
        pva.openReport(tmp_path / "none.pop")
    (tmp_path / "bad.pop").write_bytes(b"PANDORPT")
    with pytest.raises(ValueError, match="cut off"):
        pva.openReport(tmp_path / "bad.pop")

"""`pva`, libpva's Python interface, on reports of PopXL sessions."""
import numpy as np
import pytest

import pando.report
import popart
import popxl
import pva
from pando import graph
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
        with popxl.name_scope("end"):
            a = ops.softmax(ops.gelu(a), 1)
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


def test_memory_by_ipu(path):
    compilation = pva.openReport(path).compilation
    assert compilation.target.architecture == pva.IPU.Architecture.Ipu2 == "ipu2" and f"{compilation.target.architecture}" == "ipu2"
    assert len(compilation.ipus) == 1 and compilation.ipus[0].tiles == compilation.tiles
    for step in compilation.livenessProgramSteps:
        assert step.notAlwaysLiveMemoryForIpu(0).bytes == step.notAlwaysLiveMemory.bytes
        assert [v.size for v in step.notAlwaysLiveMemoryForIpu(0).variables] == [v.size for v in step.notAlwaysLiveMemory.variables]
    with pytest.raises(IndexError, match="there is no IPU 1; the report has 1"):
        compilation.livenessProgramSteps[0].notAlwaysLiveMemoryForIpu(1)


def test_vertices_of_tiles_add_up_to_those_of_compute_sets(path):
    compilation = pva.openReport(path).compilation
    sums = {}
    for part in compilation.computeSets:
        for v in part.vertices:
            sums[v.type.name] = sums.get(v.type.name, 0) + v.count
    for tile in compilation.tiles:
        for v in tile.memory.vertices:
            sums[v.type.name] -= v.count
            assert v.codeBytes > 0
        assert sum(v.codeBytes for v in tile.memory.vertices) == tile.memory.category.vertexCode.total
    assert sums and set(sums.values()) == {0}
    with pytest.raises(ValueError, match="on many tiles"):
        compilation.computeSets[0].vertices[0].codeBytes


def test_operations(path):
    report = pva.openReport(path)
    operations = pva.OperationAnalysis(report).operations
    asked = {row["operation"]: row for row in pando.report.open(path).ask("operations", top=1000)["rows"]}
    cycles, steps = {}, 0
    for operation in operations:
        first = operation.name.split("/")[0]
        cycles[first] = cycles.get(first, 0) + operation.cycles
        steps += len(operation.steps)
        assert {p.name.split("/")[0] for p in operation.programs} <= {first}
    assert {name: n for name, n in cycles.items() if n > 0} == {name: row["cycles"] for name, row in asked.items() if row["cycles"] > 0}
    assert steps == len(report.execution.steps)
    product = next(o for o in operations if "matmul" in o.name)
    location = product.debugContext.location
    with open(__file__) as file:
        assert location.fileName.endswith("test_pva.py") and "ops.matmul(" in file.readlines()[location.lineNumber - 1]
    assert product.replacedDebugContext == [] and product.flops > 0
    # The same function is called by two lines of the program; what it computes is of its own line.
    assert len({o.debugContext.location.lineNumber for o in operations}) > 3
    # One line made two under one scope.
    assert [o.name for o in operations if o.name.startswith("end")] == ["end"]
    deeper = [o.name for o in pva.OperationAnalysis(report, depth=2).operations if o.name.startswith("end")]
    assert len(deeper) == 2 and any("gelu" in name for name in deeper) and any("softmax" in name for name in deeper)
    with pytest.raises(ValueError, match="at least 1, not 0"):
        pva.OperationAnalysis(report, depth=0)


def test_names_of_the_core_module(path):
    assert isinstance(pva.openReport(path).execution.steps[0], pva.pva_core.ExecutionStep)
    assert pva.openReport(path).execution.totalCycles.total == pando.report.open(path)["total_cycles"]


def program():
    """An Ir with one stream, and the stream."""
    ir = popxl.Ir()
    with ir.main_graph:
        x = popxl.h2d_stream((4,), popxl.float32, name="x")
        ops.host_store(popxl.d2h_stream((4,), popxl.float32, name="out"), ops.gelu(ops.host_load(x)))
    return ir, x


def test_a_session_gives_its_report(tmp_path):
    ir, x = program()
    with popxl.Session(ir, "ipu_model", profile=tmp_path) as session:
        view = session._pb_session
        assert not view.getReport().hasExecution  # it is written when the program is compiled
        session.run({x: np.ones(4, np.float32)})
        assert view.getReport().execution.totalCycles.total > 0
        assert "Memory Usage" in view.getSummaryReport() and b"gelu" in view.getSerializedGraph()


@pytest.mark.parametrize("option, has_execution", [("outputGraphProfile", False), ("outputExecutionProfile", True)])
def test_a_session_gives_the_report_that_options_ask_for(tmp_path, option, has_execution):
    ir, x = program()
    ir._pb_ir.getSessionOptions().engineOptions.update({f"autoReport.{option}": "true", "autoReport.directory": str(tmp_path)})
    with popxl.Session(ir, "ipu_model") as session:
        if has_execution:
            with pytest.raises(popart.popart_exception, match="has not written .*profile.pando yet"):
                session._pb_session.getReport()
        session.run({x: np.ones(4, np.float32)})
        assert session._pb_session.getReport().hasExecution == has_execution


def test_what_a_session_cannot_report(tmp_path):
    with pytest.raises(popart.popart_exception, match="The session writes no report. Ask for one before it compiles"):
        popxl.Session(program()[0], "cpu")._pb_session.getReport()
    with pytest.raises(popart.popart_exception, match="reference interpreter compiles nothing"):
        popxl.Session(program()[0], "interpreter")._pb_session.getSummaryReport()
    ir = program()[0]._pb_ir
    ir.setDataFlow(popart.DataFlow(1, {}))
    session = popart.InferenceSession.fromIr(ir=ir, deviceInfo="cpu")
    with pytest.raises(popart.popart_exception, match="must have been prepared before a report can be fetched"):
        session.getSummaryReport()
    session.prepareDevice()
    assert "Graph" in session.getSummaryReport(resetProfile=False)


def test_files(path, tmp_path):
    # As programs name the files of Poplar.
    assert pva.openReport(path.with_suffix(".pop"), "debug.cbor").poplarVersion.major == 3
    with pytest.raises(OSError):
        pva.openReport(tmp_path / "none.pop")
    (tmp_path / "bad.pop").write_bytes(b"PANDORPT")
    with pytest.raises(ValueError, match="cut off"):
        pva.openReport(tmp_path / "bad.pop")


@pytest.fixture(scope="module")
def two_ipus(tmp_path_factory):
    """The report of two runs on two IPUs of four tiles, the second with a name: vertices on tiles 0 and 1, a copy to tile 2, and one to tile 5."""
    folder = tmp_path_factory.mktemp("two_ipus")
    (folder / "twice.cpp").write_text("""#include <poplar/Vertex.hpp>
class Twice : public poplar::Vertex { public: poplar::InOut<poplar::Vector<float>> x;
  void compute() { for (unsigned i = 0; i < x.size(); ++i) x[i] *= 2; } };""")
    g = graph.Graph(tiles=4, ipus=2)
    g.add_codelets(folder / "twice.cpp")
    a, near, far = (g.add_variable(np.float32, (64,), name, tile=tile) for name, tile in (("a", 0), ("near", 2), ("far", 5)))
    b = g.add_variable(np.float32, (640,), "b", tile=1)
    work = g.add_compute_set("twice")
    g.add_vertex(work, "Twice", tile=0, x=a)
    g.add_vertex(work, "Twice", tile=1, x=b)
    g.create_host_write("a", a)
    g.create_host_read("far", far)
    program = graph.Sequence(graph.Execute(work), graph.Copy(a, near), graph.Copy(near, far))
    engine = graph.Engine(g, program, {"autoReport.all": True, "autoReport.directory": folder, "autoReport.executionProfileProgramRunCount": 2,
                                       "debug.instrumentExternalExchange": True})
    engine.run()
    engine.run(name="warm")
    return folder / "profile.pando"


def test_runs_have_names_and_times(two_ipus):
    first, second = pva.openReport(two_ipus).execution.runs
    assert (first.name, second.name) == ("", "warm")
    assert first.microseconds.end == second.microseconds.start <= second.microseconds.end and first.cycles.end == second.cycles.start
    assert first.steps and first.steps[0] != first.steps[-1] and first.steps[0] == first.steps[0]


def test_exchanges_between_ipus_are_told_apart(two_ipus):
    report = pva.openReport(two_ipus)

    class Seen(pva.ProgramVisitor):
        far = near = 0

        def visitGlobalExchange(self, program):
            self.far += 1

        def visitDoExchange(self, program):
            self.near += 1

    seen = Seen()
    for program in report.compilation.programs:
        program.accept(seen)
    assert (seen.far, seen.near) == (1, 1)
    for step in report.execution.steps:
        kind, (first, second) = step.program.type, step.ipus
        if kind is pva.Program.Type.GlobalExchange:
            assert (first.dataOut, first.dataIn, second.dataIn, second.dataOut) == (512, 0, 512, 0)
            by_tile = step.program.estimatedCyclesByTile  # of both IPUs
            assert max(by_tile[:4]) > 0 and max(by_tile[4:]) > 0
        elif kind is pva.Program.Type.DoExchange:
            assert (first.dataOut, first.dataIn, second.dataIn) == (512, 512, 0)
        elif kind is pva.Program.Type.OnTileExecute:
            assert first.activeTiles == 2 and second.activeTiles == 0
            assert 0.5 < first.activeTileBalance < 0.7 and first.tileBalance == pytest.approx(first.activeTileBalance / 2) and second.tileBalance == 0
            assert [2 * n for n in step.program.computeset.estimatedCyclesByTile] == step.cyclesByTile
            assert step.program.computeset.vertices[0].countByTile == [1, 1, 0, 0, 0, 0, 0, 0]
        else:
            assert kind in (pva.Program.Type.Sync, pva.Program.Type.Unknown) and step.program not in report.compilation.programs
    ids = [p._id for p in report.compilation.programs] + [s.program._id for s in report.execution.steps if s.program.type is pva.Program.Type.Sync]
    assert len(set(ids)) >= len(report.compilation.programs)


def test_lowered_variables_are_what_tiles_hold(two_ipus):
    compilation = pva.openReport(two_ipus).compilation
    steps, lowered = compilation.livenessProgramSteps, compilation.loweredVariables
    for tile in compilation.tiles:
        live = [0] * len(steps)
        for v in lowered.forTile(tile.id):
            for interval in v.equivalenceClass.steps if not v.alwaysLive else ():
                for k in range(interval.start, interval.end):
                    live[k] += v.bytes
        assert live == [s.notAlwaysLiveMemoryForTile(tile.id).bytes for s in steps]
        assert tile.memory.alwaysLiveBytes == sum(v.bytes for v in lowered.forTile(tile.id) if v.equivalenceClass.id == 0)
        assert tile.memory.overflowed == tile.memory.overflowed.includingGaps == 0
    assert [v.id for v in lowered.allBriefVars] == [v._id for t in range(8) for v in lowered.forTile(t)]
    a = next(v for v in lowered.forTile(0) if v.name == "a")
    assert a.hasUnloweredVar and a.unloweredVar.size == 256 and a.unloweredVar in set(compilation.alwaysLiveVariablesForTile(0))
    code = next(v for v in lowered.forTile(0) if v.category == "vertex code")
    with pytest.raises(ValueError, match="is no part of a variable of the graph: its category is 'vertex code'"):
        code.unloweredVar
    with pytest.raises(IndexError, match="there is no tile 8; the report has 8"):
        lowered.forTile(8)


def test_variables_of_programs(two_ipus):
    for step in pva.openReport(two_ipus).compilation.livenessProgramSteps:
        found = step.program.vars
        assert sum(v.bytes for v in found if not v.alwaysLive) == step.notAlwaysLiveMemory.bytes
        assert {v.name for v in found} >= {"a", "far"}


def test_blocks(two_ipus):
    execution = pva.openReport(two_ipus).execution
    for tile in range(8):
        for block in execution.blocks(tile):
            assert block.tile == tile and block.isStreamCopy and block.program.type is pva.Program.Type.StreamCopyMid
            assert block.cyclesFrom <= block.cyclesTo
    with pytest.raises(IndexError, match="there is no tile 8"):
        execution.blocks(8)


def test_target_and_format(two_ipus):
    report = pva.openReport(two_ipus)
    target = report.compilation.target
    assert target.type is pva.Target.Type.IpuModel and (target.ipusPerReplica, target.tilesPerReplica) == (2, 8)
    assert target.memoryPerReplica == target.totalMemory
    assert (report.version.major, report.version.isUnstableFormat) == (4, False)

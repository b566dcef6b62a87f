"""pando.graph: codelets of one's own from Python, and the options of the engine that look closer."""
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import pando.report
import pva
from pando import graph
from popart import poplar_application_runtime_error

SCALE = """\
#include <poplar/Vertex.hpp>
#include <print.h>

class Scale : public poplar::Vertex {
 public:
  poplar::Input<poplar::Vector<float>> x;
  poplar::Output<poplar::Vector<float>> y;
  float factor;
  void compute() {
    for (unsigned i = 0; i < y.size(); ++i) y[i] = x[i] * factor;
    if (factor < 0) printf("a negative factor\\n");
  }
};

class Next : public poplar::Vertex {
 public:
  poplar::InOut<int> number;
  poplar::Input<int> end;
  poplar::Output<bool> more;
  void compute() {
    *number = *number + 1;
    *more = *number < *end;
  }
};

class Sum : public poplar::Vertex {
 public:
  poplar::Vector<poplar::Input<poplar::Vector<float>>> rows;
  poplar::Input<poplar::Vector<int>> weights;
  poplar::Output<float> sum;
  void compute() {
    float all = 0;
    for (unsigned r = 0; r < rows.size(); ++r)
      for (unsigned i = 0; i < rows[r].size(); ++i) all += rows[r][i] * weights[r];
    *sum = all;
  }
};
"""


@pytest.fixture(scope="module")
def codelets(tmp_path_factory):
    path = tmp_path_factory.mktemp("codelets") / "scale.cpp"
    path.write_text(SCALE)
    return path


class Program:
    """y = factor x on tile 1, z a copy of y on tile 2."""

    def __init__(self, codelets, device="ipu_model", factor=3.0):
        self.graph = g = graph.Graph(device, tiles=4)
        g.add_codelets(codelets, "-g")
        last = g.tiles - 1
        self.x, self.y, self.z = (g.add_variable(np.float32, (4,), f"layer/{name}", tile=min(tile, last)) for name, tile in zip("xyz", (1, 1, 2)))
        self.set = g.add_compute_set("work")
        g.add_vertex(self.set, "Scale", tile=min(1, last), x=self.x, y=self.y, factor=factor)
        g.create_host_write("x", self.x)
        g.create_host_read("z", self.z)
        self.program = graph.Sequence(graph.Execute(self.set), graph.Copy(self.y, self.z))

    def engine(self, **options):
        return graph.Engine(self.graph, self.program, {f"pando.{name}": value for name, value in options.items()})


@pytest.mark.parametrize("device", ["ipu_model", "cpu"])
def test_codelets_of_ones_own_run(codelets, device):
    engine = Program(codelets, device).engine()
    engine.write_tensor("x", [1, 2, 3, 4])
    engine.run()
    np.testing.assert_array_equal(engine.read_tensor("z"), [3, 6, 9, 12])


def test_parts_of_tensors_constants_and_loops(codelets):
    g = graph.Graph(tiles=2)
    g.add_codelets(codelets)
    a = g.add_variable(np.float32, (3, 4), "a", tile=0)
    sums = g.add_variable(np.float32, (2,), "sums", tile=1)
    g.set_initial_value(a, np.arange(12).reshape(3, 4))
    work = g.add_compute_set()
    g.add_vertex(work, "Sum", tile=0, rows=[a[0, 1:3], a[2]], weights=np.array([1, 10], np.int32), sum=sums[0])
    g.add_vertex(work, "Sum", tile=1, rows=[a.T[3], a.reshape(12)[:2]], weights=[1, 1], sum=sums[-1])
    g.create_host_read("sums", sums)
    engine = graph.Engine(g, [graph.Repeat(3, graph.Execute(work)), graph.PrintTensor("sums", sums)])
    engine.run()
    np.testing.assert_array_equal(engine.read_tensor("sums"), [1 + 2 + 10 * (8 + 9 + 10 + 11), 3 + 7 + 11 + 0 + 1])
    engine.run(1)


class Streamed:
    """out = 3 in, in blocks of four, `count` times."""

    def __init__(self, codelets, count=3, device="ipu_model"):
        p = Program(codelets, device)
        self.graph = p.graph
        self.source = p.graph.add_host_to_device_fifo("in", np.float32, 4)
        self.sink = p.graph.add_device_to_host_fifo("out", np.float32, 4)
        block = graph.Sequence(graph.Copy(self.source, p.x), p.program, graph.Copy(p.z, self.sink))
        self.engine = graph.Engine(p.graph, graph.Repeat(count, block))


@pytest.mark.parametrize("device", ["ipu_model", "cpu"])
def test_streams_take_the_blocks_of_arrays_in_turn(codelets, device):
    engine = Streamed(codelets, 3, device).engine
    data, results = np.arange(8, dtype=np.float32), np.zeros(12, np.float32)
    engine.connect_stream("in", data)
    engine.connect_stream("out", results)
    engine.run()
    np.testing.assert_array_equal(results, 3 * np.concatenate([data, data[:4]]))
    data[:] = 1  # the next run sends what it holds now
    engine.run()
    np.testing.assert_array_equal(results, np.full(12, 3))


def test_streams_call_functions_for_each_block(codelets):
    engine = Streamed(codelets).engine
    blocks, seen = iter([np.arange(4), 5, [1.0, 2, 3, 4]]), []
    engine.connect_stream("in", lambda: next(blocks))
    engine.connect_stream("out", seen.append)
    engine.run()
    np.testing.assert_array_equal(seen, [[0, 3, 6, 9], [15] * 4, [3, 6, 9, 12]])
    # What they raise ends the run, and reaches the caller.
    with pytest.raises(StopIteration):
        engine.run()

    def bad(block):
        raise KeyError("from the function")

    engine.connect_stream("in", lambda: 1)
    engine.connect_stream("out", bad)
    with pytest.raises(KeyError, match="from the function"):
        engine.run()
    engine.connect_stream("out", seen.append)
    engine.run()
    np.testing.assert_array_equal(seen[-1], [3] * 4)
    for wrong, said in (([1, 2, 3], r"gave an array of int64 \(3,\); expected 4 x float32"), (1j, r"gave an array of complex128 \(\)")):
        engine.connect_stream("in", lambda wrong=wrong: wrong)
        with pytest.raises(ValueError, match=f"the function of stream 'in' {said}"):
            engine.run()


def test_streams_without_data_or_with_other_data_are_rejected(codelets):
    streamed = Streamed(codelets)
    g, engine = streamed.graph, streamed.engine
    with pytest.raises(RuntimeError, match="'in'.*connect|connect.*'in'"):
        engine.run()
    good = np.zeros(8, np.float32)
    for handle, end, said in [
        ("ni", good, "there is no stream 'ni'; the graph has 'in', 'out'"),
        ("in", [1.0] * 4, "stream 'in' gets a list; expected an array of NumPy or a function"),
        ("in", good.astype(np.float64), "gets an array of 8 x float64; expected a contiguous one of float32 with whole blocks of 4"),
        ("in", good[:6], "gets an array of 6 x float32; expected"),
        ("in", good[:0], "gets an array of 0 x float32; expected"),
        ("in", np.zeros(16, np.float32)[::2], "8 x float32, not contiguous; expected"),
        ("out", np.broadcast_to(np.float32(1), (1,)), "stream 'out' to the host gets an array that cannot be written|whole blocks of 4"),
    ]:
        with pytest.raises(ValueError, match=said):
            engine.connect_stream(handle, end)
    good.flags.writeable = False
    engine.connect_stream("in", good)
    with pytest.raises(ValueError, match="stream 'out' to the host gets an array that cannot be written"):
        engine.connect_stream("out", good)
    x = g.add_variable(np.float32, (4,), "other", tile=0)
    for source, destination, said in [
        (streamed.sink, x, r"the source of a copy is Stream\('out', 4 x float32 to the host\); expected a stream to the device"),
        (x, streamed.source, r"the destination of a copy is Stream\('in'"),
        (streamed.source, streamed.sink, "one of them has to be a Tensor"),
        (np.zeros(4), x, "the source of a copy is a ndarray; expected a Tensor or a Stream"),
    ]:
        with pytest.raises(ValueError, match=said):
            graph.Copy(source, destination)
    with pytest.raises(ValueError, match="stream 'none' has blocks of 0 elements; expected at least 1"):
        g.add_host_to_device_fifo("none", np.float32, 0)
    with pytest.raises(ValueError, match="'complex64'; expected one of"):
        g.add_device_to_host_fifo("complex", np.complex64, 1)
    with pytest.raises(RuntimeError, match="in"):  # a handle of two streams
        g.add_host_to_device_fifo("in", np.float32, 4)
    with pytest.raises(RuntimeError, match="type|FLOAT|float|int"):
        graph.Engine(g, graph.Copy(streamed.source, g.add_variable(np.int32, (4,), "numbers", tile=0)))
    with pytest.raises(RuntimeError, match="4"):
        graph.Engine(g, graph.Copy(streamed.source, g.add_variable(np.float32, (5,), "five", tile=0)))


class Branches:
    """`number` counts up on tile 1 until it is `end`."""

    def __init__(self, codelets):
        self.graph = g = graph.Graph(tiles=2)
        g.add_codelets(codelets)
        self.number, self.end = (g.add_variable(np.int32, (1,), name, tile=1) for name in ("number", "end"))
        self.more = g.add_variable(bool, (1,), "more", tile=1)
        self.copy = g.add_variable(np.int32, (1,), "copy", tile=0)
        g.set_initial_value(self.copy, -1)
        work = g.add_compute_set("next")
        g.add_vertex(work, "Next", tile=1, number=self.number[0], end=self.end[0], more=self.more[0])
        self.step = graph.Execute(work)
        for name in ("number", "end", "more"):
            g.create_host_write(name, getattr(self, name))
        for name in ("number", "copy"):
            g.create_host_read("read_" + name, getattr(self, name))

    def run(self, program, **values):
        engine = graph.Engine(self.graph, program)
        for name, value in values.items():
            engine.write_tensor(name, value)
        engine.run()
        return int(engine.read_tensor("read_number")[0]), int(engine.read_tensor("read_copy")[0])


def test_loops_end_when_their_predicate_says(codelets):
    b = Branches(codelets)
    body = graph.Copy(b.number, b.copy)
    # The body runs after each condition that is true: the last number is not copied.
    assert b.run(graph.RepeatWhileTrue(b.step, b.more[0], body), number=0, end=5) == (5, 4)
    assert b.run(graph.RepeatWhileTrue(b.step, b.more, body), number=9, end=5) == (10, -1)
    far = b.graph.add_variable(np.int32, (1,), "far", tile=0)
    b.graph.set_initial_value(far, 100)
    assert b.run(graph.RepeatWhileFalse(b.step, b.more, graph.Sequence(body, graph.Copy(far, b.end))), number=9, end=5) == (11, 10)


@pytest.mark.parametrize("more, otherwise, result", [(True, True, (8, -1)), (False, True, (7, 7)), (False, False, (7, -1)), (True, False, (8, -1))])
def test_branches_take_one_way(codelets, more, otherwise, result):
    b = Branches(codelets)
    program = graph.If(b.more, b.step, graph.Copy(b.number, b.copy)) if otherwise else graph.If(b.more[0], b.step)
    assert b.run(program, number=7, more=more, end=0) == result


@pytest.mark.parametrize("number, default, result", [(3, True, (4, -1)), (-2, True, (-2, -2)), (5, True, (7, -1)), (5, False, (5, -1))])
def test_switches_take_the_case_of_their_number(codelets, number, default, result):
    b = Branches(codelets)
    program = graph.Switch(b.number, {3: b.step, -2: graph.Copy(b.number, b.copy)}, *([graph.Repeat(2, b.step)] if default else []))
    assert b.run(program, number=number, end=0) == result


def test_predicates_that_are_none_are_rejected(codelets):
    b = Branches(codelets)
    f = b.graph.add_variable(np.float32, (1,), "f", tile=0)
    two = b.graph.add_variable(np.int32, (2,), "two", tile=0)
    for make in (lambda t: graph.If(t, b.step), lambda t: graph.RepeatWhileTrue(b.step, t, b.step), lambda t: graph.Switch(t, {0: b.step})):
        for tensor in (f, two):
            with pytest.raises(RuntimeError):
                graph.Engine(b.graph, make(tensor))
    with pytest.raises(ValueError, match=f"case {2**31} is out of the range of int32"):
        graph.Switch(b.number, {2**31: b.step})


def test_two_vertices_at_one_element_are_named_with_their_lines(codelets):
    p = Program(codelets)
    p.graph.add_vertex(p.set, "Scale", tile=2, x=p.y[1:3], y=p.z[:2], factor=1.0)
    with pytest.raises(RuntimeError) as error:
        p.engine()
    lines = pathlib.Path(__file__).read_text().splitlines()
    first = 1 + next(i for i, text in enumerate(lines) if 'add_vertex(self.set, "Scale"' in text)
    second = 1 + next(i for i, text in enumerate(lines) if "x=p.y[1:3], y=p.z[:2]" in text)
    said = str(error.value)
    assert f"field 'Scale.x' of vertex 1 (connected at {__file__}:{second})" in said
    assert f"field 'Scale.y' of vertex 0 (connected at {__file__}:{first})" in said
    assert "elements [1, 3) of variable 'layer/y' are read here" in said and "in the same compute set 'work' [compute-set-race]" in said


def test_a_watched_tensor_stops_the_run(codelets):
    engine = Program(codelets).engine(watch="y")
    engine.write_tensor("x", [0, 1, 2, 3])
    with pytest.raises(poplar_application_runtime_error) as error:
        engine.run()
    assert "element 1 of 'layer/y' on tile 1 changed from 0 to 3: field 'y' of vertex 0 (Scale) in compute set 'work' (step c0) wrote it" in str(error.value)
    engine = Program(codelets, factor=float("nan")).engine(watch="z", watchNaN=True)
    engine.write_tensor("x", 1)
    with pytest.raises(poplar_application_runtime_error, match="of 'layer/z' on tile 2 changed from 0 to .*nan: exchange .* copied it from tile 1"):
        engine.run()


def test_prints_have_tags(codelets, capfd):
    engine = Program(codelets, factor=-1.0).engine(tagPrints=True)
    engine.run()
    assert "[tile 1, worker 0, vertex 0 (Scale), compute set 'work' (step c0)] a negative factor\n" in capfd.readouterr().out


def test_options_come_from_the_environment_too(codelets, monkeypatch):
    monkeypatch.setenv("POPLAR_ENGINE_OPTIONS", json.dumps({"pando.watch": "layer/yy"}))
    with pytest.raises(RuntimeError, match="names 'layer/yy'.*did you mean 'layer/"):
        Program(codelets).engine()


@pytest.mark.parametrize("option, value, said", [
    ("break", "tile=9", "option 'pando.break' has the value 'tile=9': the program has 4 tiles"),
    ("break", "worker=1", "'worker' is unknown"),
    ("watchSkip", -1, "option 'pando.watchSkip' has the value '-1'; expected a whole number from 0 to 4294967295"),
    ("threads", 1.5, "option 'pando.threads' has the value '1.5'; expected a whole number"),
])
def test_options_that_mean_nothing_are_rejected(codelets, option, value, said):
    with pytest.raises(RuntimeError) as error:
        Program(codelets).engine(**{option: value})
    assert said in str(error.value)


def test_a_debugger_stops_before_a_vertex(codelets, tmp_path):
    gdb = shutil.which("gdb")
    if gdb is None:
        pytest.skip("there is no gdb")
    script = tmp_path / "program.py"
    script.write_text(f"""
import numpy as np
from pando import graph
g = graph.Graph(tiles=4)
g.add_codelets({str(codelets)!r}, "-g")
x = g.add_variable(np.float32, (4,), "x", tile=1)
y = g.add_variable(np.float32, (4,), "y", tile=1)
g.set_initial_value(x, 1)
work = g.add_compute_set("work")
g.add_vertex(work, "Scale", tile=1, x=x, y=y, factor=3.0)
graph.Engine(g, graph.Execute(work), {{"pando.break": "tile=1"}}).run()
""")
    words = [gdb, "-q", "-nx", "-batch"]
    for command in ("set pagination off", "set breakpoint pending on", "break pando_break", "run", r'printf "tile %d, vertex %d\n", $edi, $esi',
                    "break Scale::compute", "continue", "print i"):
        words += ["-ex", command]
    said = subprocess.run([*words, "--args", sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300).stdout
    if "Operation not permitted" in said or "Could not trace" in said:
        pytest.skip("processes must not be traced here")
    for wanted in ("in pando_break (", "tile 1, vertex 0\n", "Scale::compute (this=", "scale.cpp:10\n", "$1 = 0\n"):
        assert wanted in said, said


def test_the_report_knows_the_lines_and_the_names_of_runs(codelets, tmp_path):
    p = Program(codelets)
    engine = graph.Engine(p.graph, p.program, {"autoReport.all": True, "autoReport.directory": tmp_path, "autoReport.executionProfileProgramRunCount": 2})
    engine.run()
    engine.run(name="second")
    report = pva.openReport(tmp_path / "profile.pando")
    assert [r.name for r in report.execution.runs] == ["", "second"]
    rows = pando.report.open(tmp_path).ask("codelets")["rows"]
    assert rows[0]["codelet"] == "Scale"
    executed = next(o for o in pva.OperationAnalysis(report).operations if o.name == "work")
    assert executed.debugContext.location.fileName == __file__


def test_what_cannot_be_is_said(codelets, tmp_path):
    with pytest.raises(ValueError, match="device is 'gpu'; expected 'ipu_model' or 'cpu'"):
        graph.Graph("gpu")
    p = Program(codelets)
    with pytest.raises(ValueError, match="found -1 tiles on 1 IPUs"):
        graph.Graph(tiles=-1)
    with pytest.raises(ValueError, match="a vertex on tile 4: the graph has 4 tiles"):
        p.graph.add_vertex(p.set, "Scale", tile=4, x=p.x, y=p.y, factor=1.0)
    with pytest.raises(ValueError, match=f"field 'factor': {2**40} is out of the range of int32"):
        p.graph.add_vertex(p.set, "Scale", tile=1, factor=2**40)
    with pytest.raises(ValueError, match="field 'x': found str; expected a Tensor"):
        p.graph.add_vertex(p.set, "Scale", tile=1, x="y")
    with pytest.raises(ValueError, match="'complex64'; expected one of"):
        p.graph.add_variable(np.complex64, (1,))
    with pytest.raises(IndexError, match="index 4 of dimension 0, which has 4 elements"):
        p.x[4]
    with pytest.raises(IndexError, match="without a step"):
        p.x[::2]
    with pytest.raises(IndexError, match="2 indices of a tensor of shape"):
        p.x[0, 0]
    (tmp_path / "bad.cpp").write_text("class {")
    with pytest.raises(RuntimeError, match="bad.cpp"):
        p.graph.add_codelets(tmp_path / "bad.cpp")
    with pytest.raises(RuntimeError, match="Scael.*Scale"):
        p.graph.add_vertex(p.set, "Scael", tile=1)
    p.engine()  # none of these left anything in the graph
    with pytest.raises(RuntimeError, match="'Scale' has no field 'z'"):
        p.graph.add_vertex(p.set, "Scale", tile=1, z=p.x)
    with pytest.raises(RuntimeError, match="a vertex that was not finished .Scale on tile 1: .*make the graph again"):
        p.engine()
    engine = Program(codelets).engine()
    with pytest.raises(ValueError, match="there is no handle 'w'; the graph has 'x', 'z'"):
        engine.read_tensor("w")
    with pytest.raises(ValueError, match="could not be broadcast|cannot be broadcast|operands could not"):
        engine.write_tensor("x", [1, 2, 3])
    with pytest.raises(RuntimeError, match="there is no program 7; the engine has 1"):
        engine.run(7)

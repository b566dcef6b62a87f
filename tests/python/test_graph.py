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

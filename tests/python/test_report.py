"""Reports from PopXL sessions, and `pando.report`, their reader."""
import json
import random
import struct
import sys
import zlib

import numpy as np
import pytest

import pando.report
import popxl
from popxl import ops


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The report of a small training step on a simulated IPU."""
    folder = tmp_path_factory.mktemp("report")
    ir = popxl.Ir()
    with ir.main_graph:
        weights = popxl.variable(np.ones((32, 16), np.float32), name="weights")
        x = popxl.h2d_stream((8, 32), popxl.float32, name="x")
        out = popxl.d2h_stream((8, 16), popxl.float32, name="out")
        ops.host_store(out, ops.gelu(ops.matmul(ops.host_load(x), weights)))
    with popxl.Session(ir, "ipu_model", profile=folder) as session:
        session.run({x: np.ones((8, 32), np.float32)})
    return folder / "profile.pando"


def test_tables(path):
    report = pando.report.open(path)
    assert report["target"]["tiles"] == 1472
    assert report["executed"] and report["runs"] >= 1
    assert sum(report.tiles["used"]) == sum(report.tile_categories["bytes"]) == sum(c["bytes"] for c in report.document("categories"))
    names = [name for name in report.variables["name"] if "weights" in name]
    assert names
    assert max(report.steps["compute"]) > 0
    fullest = int(np.argmax(report.tiles["with_gaps"]))
    begin, end = report.rows_of("tiles", "allocations", fullest)
    assert set(report.allocations["tile"][begin:end]) == {fullest}
    assert max(report.allocations["offset"][begin:end] + report.allocations["size"][begin:end]) == report.tiles["with_gaps"][fullest]
    # A stream's terms add up to its clock.
    streams = report.streams
    terms = ("compute", "exchange", "local_copy", "sync", "global_exchange", "host", "wait")
    assert [sum(streams[t][i] for t in terms) for i in range(len(streams["finish"]))] == list(streams["finish"])
    with pytest.raises(AttributeError, match="no table 'nothing'"):
        report.nothing
    assert "1,472 tiles" in repr(report) and "<table>" in report._repr_html_()
    assert pando.report.open(path.parent).writer == report.writer


def test_sources_are_lines_of_the_user_program(path):
    report = pando.report.open(path)
    lines = open(__file__, encoding="utf-8").read().split("\n")
    # Codelets stand where they are defined; everything else comes from this file.
    defined = set(report.codelets["defined"])
    places = [place for row, place in enumerate(zip(report.sources["file"], report.sources["line"])) if row not in defined]
    assert places and {file for file, _ in places} == {__file__}, places
    shown = {lines[line - 1].strip() for _, line in places}
    assert any(line.startswith("weights = popxl.variable") for line in shown) and any("ops.gelu(ops.matmul" in line for line in shown), shown

    # Transfers and computing, each with the line of its op.
    program = report.program
    for kind in ("host", "compute"):
        rows = [source for k, source in zip(program["kind"], program["source"]) if k == kind]
        assert rows and all(row >= 0 and "ops.host_store(out, ops.gelu(" in lines[report.sources["line"][row] - 1] for row in rows), (kind, rows)


def test_a_step_is_predicted_beside_the_clocks(path):
    report = pando.report.open(path)
    predicted = report.document("predicted")
    assert predicted["title"] == "predicted for ipu2" and predicted["devices"], predicted["text"]
    assert "matmul" in predicted["names"] and len(predicted["events"]["seconds"]) >= 2
    clocks = {row["clock"]: row["us"] for row in report.ask("clocks")["rows"]}
    assert list(clocks) == ["predicted", "modelled", "host"] and clocks["predicted"] == pytest.approx(1e6 * predicted["seconds"])
    # The formulas are within a factor of a few of what the cycle model counts, for a step so small.
    assert 0.05 < clocks["predicted"] / clocks["modelled"] < 20, clocks


def test_codelets_know_where_they_are_defined(path):
    report = pando.report.open(path)
    files = {name: report.sources["file"][row] for name, row in zip(report.codelets["name"], report.codelets["defined"]) if row >= 0}
    assert files and all(file.startswith("src/") and file.endswith((".cpp", ".h", ".hpp")) for file in files.values()), files
    assert all(row["defined"].startswith("src/") for row in report.ask("codelets", top=100)["rows"] if row["codelet"] in files)


def test_the_trace_lasts_as_long_as_the_stream(path):
    report = pando.report.open(path)
    trace = report.trace
    rows = list(zip(trace["gap"], trace["cycles"], trace["times"], trace["rows"]))
    begin = 0
    for finish, end in zip(report.streams["finish"], report.streams["trace"]):
        last, i = 0, begin
        while i < end:
            gap, cycles, times, inside = rows[i]
            last += (gap + cycles) * times
            i += inside + 1
        assert last <= finish
        begin = end


def test_questions(path):
    report = pando.report.open(path)
    slowest = report.ask("slowest_steps", top=2)
    assert len(slowest["rows"]) == 2 and slowest["rows"][0]["cycles"] >= slowest["rows"][1]["cycles"]
    assert report.ask("tile=0")["tile"] == 0
    with pytest.raises(pando.report.ReportError, match="does not answer 'nothing'"):
        report.ask("nothing")


def test_without_pandas(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    steps = pando.report.open(path).steps
    assert isinstance(steps, pando.report.Columns)
    assert len(steps) == len(steps["name"]) and steps.row(0)["kind"] == steps["kind"][0]


def test_damaged(path, tmp_path):
    good = path.read_bytes()
    seed = 7
    print("seed", seed)
    choose = random.Random(seed)
    for case in range(60):
        at = choose.randrange(len(good))
        bad = good[:at] if case % 3 == 0 else good[:at] + bytes([good[at] ^ 1 << choose.randrange(8)]) + good[at + 1:]
        (tmp_path / "bad.pando").write_bytes(bad)
        with pytest.raises(pando.report.ReportError):
            report = pando.report.open(tmp_path / "bad.pando")
            for table in report.tables:
                report.table(table)
            for document in report._index["documents"]:
                report.document(document)
    (tmp_path / "old.json").write_text(json.dumps({"format": "pando-report", "version": 3}))
    with pytest.raises(pando.report.ReportError, match="version 3"):
        pando.report.open(tmp_path / "old.json")
    (tmp_path / "empty.pando").write_bytes(b"")
    with pytest.raises(pando.report.ReportError, match="the file is empty"):
        pando.report.open(tmp_path / "empty.pando")


def changed(whole, change):
    """A report whose index is another one, with a checksum that fits; change: a function of the index."""
    offset, stored, _, _ = struct.unpack_from("<QIII", whole, len(whole) - 28)
    index = json.loads(zlib.decompress(whole[offset:offset + stored]))
    made = change(index)
    text = json.dumps(index if made is None else made).encode()
    piece = zlib.compress(text)
    return whole[:offset] + piece + struct.pack("<QIII", offset, len(piece), len(text), zlib.crc32(piece)) + b"PANDOEND"


WRONG = {
    "a list": lambda index: [],
    "tables are a list": lambda index: index.update(tables=[]),
    "a table is a number": lambda index: index["tables"].update(steps=3),
    "columns are a text": lambda index: index["tables"]["steps"].update(columns="name"),
    "a column is a list": lambda index: index["tables"]["steps"]["columns"].update(name=[]),
    "chunks are a number": lambda index: index["tables"]["steps"]["columns"]["order"].update(chunks=1),
    "a chunk is short": lambda index: index["tables"]["steps"]["columns"]["order"].update(chunks=[[1, 2]]),
    "a width that there is not": lambda index: index["tables"]["steps"]["columns"]["order"]["chunks"][0].__setitem__(4, 3),
    "a real column that has whole numbers": lambda index: index["tables"]["steps"]["columns"]["name"].update(holds="real"),
    "a base that is a text": lambda index: index["tables"]["steps"]["columns"]["order"]["chunks"][0].__setitem__(5, "x"),
    "rows are a text": lambda index: index["tables"]["steps"].update(rows="many"),
    "documents are a list": lambda index: index.update(documents=[]),
    "a document is a text": lambda index: index["documents"].update(report="x"),
    "the report is another document": lambda index: index["documents"].update(report=index["documents"]["strings"]),
    "texts are another document": lambda index: index["documents"].update(strings=index["documents"]["report"]),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_types(path, tmp_path, what):
    (tmp_path / "bad.pando").write_bytes(changed(path.read_bytes(), WRONG[what]))
    with pytest.raises(pando.report.ReportError, match="bad.pando: the report is damaged"):
        report = pando.report.open(tmp_path / "bad.pando")
        for table in report.tables:
            report.table(table)
        repr(report)

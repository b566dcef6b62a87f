"""pando view itself, without a browser: test_view.py BUILD. The report is that of a small program, compiled against the build's libpoplar."""
import base64
import hashlib
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zlib

build = pathlib.Path(sys.argv[1]).resolve()
PROGRAM = """
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
using namespace poplar;
int main() {
  Graph graph(IPUModel("ipu2").createDevice().getTarget());
  Tensor x = graph.addVariable(FLOAT, {64}, "x"), y = graph.addVariable(FLOAT, {64}, "y");
  graph.setTileMapping(x, 1);
  graph.setTileMapping(y, 2);
  Engine engine(graph, program::Sequence({program::Copy(x, y)}));
  engine.load(IPUModel("ipu2").createDevice());
  engine.run(0);
}
"""
failures = 0


def check(what, good, found=""):
    global failures
    if not good:
        failures += 1
        print(f"FAILED {what}: {found}")


def pando(*arguments, **environment):
    plain = {k: v for k, v in os.environ.items() if k not in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")}
    return subprocess.run([build / "bin/pando", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**plain, **environment}, check=False)


def report_in(folder):
    source, program = folder / "copy.cpp", folder / "copy"
    source.write_text(PROGRAM)
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++17", source, "-I", pathlib.Path(__file__).resolve().parents[2] / "include", "-L", build / "lib", "-lpoplar", f"-Wl,-rpath,{build / 'lib'}", "-o", program], check=True)
    options = {"autoReport.all": "true", "autoReport.directory": str(folder)}
    subprocess.run([program], env={**os.environ, "POPLAR_ENGINE_OPTIONS": json.dumps(options)}, check=True)
    found = [folder / name for name in ("profile.pando", "profile.json") if (folder / name).exists()]  # version 4 or 3
    return found[0]


def reports_of(page):
    found = re.findall(r'<div class="pando-report" hidden data-name="([^"]*)" data-fabrics="([^"]*)" data-bytes="(\d+)">((?:<!--[^-]*-->)*)</div>', page)
    reports = [(name, fabric, b"".join(base64.b64decode(piece, validate=True) for piece in re.findall("<!--([^-]*)-->", pieces))) for name, fabric, _, pieces in found]
    assert [len(data) for _, _, data in reports] == [int(length) for _, _, length, _ in found]
    return reports


def index_of(report):
    """The index of a report file: docs/level/report.md."""
    offset, stored, _, _ = struct.unpack_from("<QIII", report, len(report) - 28)
    return json.loads(zlib.decompress(report[offset:offset + stored]))


def check_demo(folder):
    """The demo is a page, and its report has all that a report of today has."""
    page = folder / "demo.html"
    result = pando("view", "--demo", "--no-open", "-o", page)
    check("the demo is a page", result.returncode == 0 and result.stdout.decode() == f"{page}\n", result)
    (name, _, report), = reports_of(page.read_text(encoding="utf-8"))
    check("the demo's name", name == "demo.pando", name)
    schema, table, has = pando("report", "--schema").stdout.decode(), None, index_of(report)["tables"]
    for line in schema.split("\n"):
        if heading := re.fullmatch(r"### `(\w+)`", line):
            table = heading[1]
        elif (column := re.match(r"\| `(\w+)` \|", line)) and table in has:
            check("viewer/demo.pando is of an earlier Pando; `./x python tests/viewer/test_browser.py build --demo viewer/demo.pando` writes it again",
                  column[1] in has[table]["columns"], f"{table}.{column[1]}")
    absent = {name for name in re.findall(r"### `(\w+)`", schema) if name not in has}
    check("tables of the demo", absent <= {"blocks", "codelet_lines", "other_sources"}, absent)
    (folder / "demo.pando").write_bytes(report)
    said = pando("report", folder / "demo.pando", "--ask", "placement").stdout.decode()
    check("the demo runs on four IPUs", "ipu3" in said.lower() or "IPU 3" in said, said[:300])
    places = pando("report", folder / "demo.pando", "--export", "csv", "--table", "sources").stdout.decode().split("\n")[1:]
    check("the demo says nothing of the computer that wrote it", len(places) > 5 and not any(p.startswith("/") for p in places), places)
    for arguments in [["--demo", folder / "demo.pando"], []]:
        result = pando("view", *arguments)
        check("one of a report and the demo", result.returncode == 2 and b"[view-report]" in result.stderr, result)


def check_traces(report, folder):
    """pando report --trace is --export perfetto, of all cycles or some."""
    whole, part = folder / "whole.json", folder / "part.json"
    result = pando("report", report, "--trace", whole)
    check("pando report --trace", result.returncode == 0 and not result.stdout and not result.stderr, result)
    check("it is the export", whole.read_bytes() == pando("report", report, "--export", "perfetto").stdout)
    events = [e for e in json.loads(whole.read_text())["traceEvents"] if e["ph"] == "X"]
    last = max(e["ts"] + e["dur"] for e in events)
    check("a trace of the program", events and last > 0, events)
    pando("report", report, "--trace", part, "--from", str(last))
    check("behind the end there is nothing", not [e for e in json.loads(part.read_text())["traceEvents"] if e["ph"] == "X"], part.read_text())
    result = pando("report", report, "--trace", folder / "no/such/trace.json")
    check("a trace that cannot be written", result.returncode == 2 and b"no/such" in result.stderr, result)
    result = pando("report", report, "--export", "dot", "--from", "3")
    check("a format without time", result.returncode == 2 and b"[report-export]" in result.stderr, result)


def main():
    if (build / "share/pando/viewer.html").stat().st_size == 0:
        print("this build has no page, as it found no Node")
        return 77
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        report = report_in(folder)
        data = report.read_bytes()

        result = pando("view", report)
        page = folder / f"{report.name}.html"
        check("without a display it says where the page is", result.returncode == 0 and result.stdout.decode() == f"{page}: open it in a browser\n", result)
        text = page.read_text(encoding="utf-8")
        check("the page holds the report", [(n, d) for n, _, d in reports_of(text)] == [(report.name, data)] and "ipu2=16x23x4" in reports_of(text)[0][1], [(n, f, len(d)) for n, f, d in reports_of(text)])
        check("the page without data is small", len(text) - len(base64.b64encode(data)) < 400_000, len(text))
        first = hashlib.sha256(page.read_bytes()).hexdigest()
        pando("view", report, "--no-open")
        check("the same page again", hashlib.sha256(page.read_bytes()).hexdigest() == first)

        check_demo(folder)
        check_traces(report, folder)
        result = pando("view", report, report, "--no-open", "-o", "-")
        check("two reports, on standard output", len(reports_of(result.stdout.decode())) == 2 and result.returncode == 0, result.stderr)
        names = [name for name, _, _ in reports_of(result.stdout.decode())]
        check("two reports of one name are told apart by their folders", names == [f"{folder.name}/{report.name}"] * 2, names)
        result = pando("view", report, report, report)
        check("three reports", result.returncode == 2, result)

        # A browser that writes down what it is asked for.
        asked = folder / "asked"
        stand_in = folder / "browser"
        stand_in.write_text(f'#!/bin/sh\nprintf %s "$1" >"{asked}.part" && mv "{asked}.part" "{asked}"\n')
        stand_in.chmod(0o755)
        odd = folder / "a b%.html"
        result = pando("view", report, "-o", odd, "--place", "memory&tile=3", BROWSER=str(stand_in))
        for _ in range(200):
            if asked.exists():
                break
            subprocess.run(["sleep", "0.05"], check=True)
        check("a browser is opened", result.stdout.decode() == f"{odd}\n" and asked.read_text() == f"file://{folder}/a%20b%25.html#memory&tile=3", (result, asked.exists() and asked.read_text()))

        head = b"PANDORPT\x04\0\0\0"
        for what, bad, said in [("empty", b"", "empty.pando: this is not a report of Pando: the file is empty"), ("foreign", b"hello", "foreign.pando"), ("cut", head + 60 * b"x", "cut off"), ("version", b"PANDORPT\x63\0\0\0" + 60 * b"x", "version 99"),
                                ("index", head + 60 * b"x" + b"PANDOEND", "damaged"), ("json", b'{"format": "pando-report", "version": 3}', "is missing"), ("old", b'{"format": "pando-report", "version": 2}', "version 2"),
                                ("half", b'{"format": "pando-report", ', "JSON")]:
            file = folder / f"{what}.pando"
            file.write_bytes(bad)
            result = pando("view", file, "--no-open")
            check(f"a report that is {what}", result.returncode == 2 and said in result.stderr.decode() and f"{what}.pando" in result.stderr.decode() and not (folder / f"{what}.pando.html").exists(), result)
        result = pando("view", folder / "absent.pando")
        check("no such file", result.returncode == 2 and b"absent.pando" in result.stderr, result)
        result = pando("view", report, "-o", folder / "no/such/folder.html")
        check("a page that cannot be written", result.returncode == 2 and b"no/such" in result.stderr, result)
    print(f"pando view: {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

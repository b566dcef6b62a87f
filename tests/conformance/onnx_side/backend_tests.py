"""Runs backend tests of the onnx package: backend_tests.py FOLDER JOBS SECONDS DEVICES PATTERN. Results go to FOLDER/records, one JSON object a line:
case, device, message (None: passed) and kind (passed, rejected, wrong, crashed).

The package's cases are made once; forks of this process run them, each many, and what ends a fork is charged to the test that it was running.
"""
import contextlib
import fnmatch
import io
import json
import os
import pathlib
import re
import selectors
import signal
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

import popxl
from popxl import distribution

KINDS = ["node", "simple", "pytorch-converted", "pytorch-operator"]
# Of one fork: few enough that a fork's memory stays small.
CHUNK = 60


def all_cases():
    """{name: test of the package}"""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        np.seterr(all="ignore")
        return {f"{kind}/{test.name}": test for kind in KINDS for test in load_model_tests(kind=kind)}


def array(proto, type_proto):
    """What a file of test data holds, or None where it is not a tensor."""
    if not type_proto.HasField("tensor_type"):
        return None
    tensor = onnx.TensorProto()
    tensor.ParseFromString(proto)
    return numpy_helper.to_array(tensor)


def read_files(folder, names, prefix):
    return [array((folder / f"{prefix}_{i}.pb").read_bytes(), value.type) for i, value in enumerate(names)]


def as_array(value):
    """Some cases bring tensors in the format's own form."""
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def data_sets(test, model):
    """[(inputs, outputs)]: lists in the model's order"""
    if test.data_sets is not None:
        return [tuple(list(map(as_array, values)) for values in data_set) for data_set in test.data_sets]
    initial = {t.name for t in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in initial]
    folders = sorted(pathlib.Path(test.model_dir).glob("test_data_set_*"))
    return [(read_files(f, inputs, "input"), read_files(f, model.graph.output, "output")) for f in folders]


def load(path, feed):
    """The program. Inputs that have to be known when the model is read get their values, which are part of the program from then on."""
    values = {}
    while True:
        try:
            return distribution.load_onnx(path, values=values), values
        except ValueError as e:
            said = re.search(r"load_onnx\(\.\.\., values=\{([^}]*)\}\)", str(e))
            missing = {name: feed[name] for name in re.findall("'([^']*)'", said[1]) if name in feed} if said else {}
            if not missing.keys() - values.keys():
                raise
            values.update(missing)


class Wrong(Exception):
    """An output that is not as expected."""


def compare(name, found, expected, test):
    expected = np.asarray(expected)
    if found.dtype != expected.dtype or found.shape != expected.shape:
        raise Wrong(f"output '{name}' is {found.dtype}{found.shape}; {expected.dtype}{expected.shape} is expected")
    if found.dtype.kind in "fcV":
        found, expected = (a.astype(np.float64) for a in (found, expected))
    try:
        np.testing.assert_allclose(found, expected, rtol=test.rtol, atol=test.atol)
    except AssertionError as e:
        raise Wrong(f"output '{name}': " + " ".join(str(e).split())) from None


def run(test, device, scratch):
    model = test.model
    path = scratch / "model.onnx"
    if model is None:
        path = pathlib.Path(test.model_dir) / "model.onnx"
        model = onnx.load(path)
    else:
        onnx.save(model, str(path))
    initial = {t.name for t in model.graph.initializer}
    names = [value.name for value in model.graph.input if value.name not in initial]
    for inputs, outputs in data_sets(test, model):
        if not all(isinstance(a, (np.ndarray, np.generic)) for a in [*inputs, *outputs]):
            raise ValueError("it takes or gives a sequence, a map or an optional value")
        feed = dict(zip(names, map(np.asarray, inputs)))
        ir, known = load(str(path), feed)
        to_device = {s.tensor_id: s for s in ir.get_all_h2d_streams()}
        to_host = {s.tensor_id: s for s in ir.get_all_d2h_streams()}
        with popxl.Session(ir, device) as session:
            found = session.run({to_device[name]: feed[name] for name in to_device if name not in known})
        for value, expected in zip(model.graph.output, outputs):
            compare(value.name, np.asarray(found[to_host[value.name]]), expected, test)


def outcome(test, device, scratch):
    """(kind, message)"""
    try:
        with np.errstate(all="ignore"):
            run(test, device, scratch)
        return "passed", None
    except Wrong as e:
        return "wrong", str(e)[:400]
    except (ValueError, popxl.popart_exception if hasattr(popxl, "popart_exception") else ValueError) as e:
        return "rejected", " ".join(str(e).split())[:400]
    except Exception as e:
        rejected = type(e).__module__.startswith(("popart", "popxl"))
        return "rejected" if rejected else "wrong", f"{type(e).__name__}: {' '.join(str(e).split())[:400]}"


def fork(cases, jobs, seconds, folder):
    """(process, the end of a pipe that brings a line for each beginning and each result)"""
    reader, writer = os.pipe()
    process = os.fork()
    if process:
        os.close(writer)
        return process, reader
    os.close(reader)
    scratch = folder / str(os.getpid())
    scratch.mkdir()
    log = os.open(scratch / "log", os.O_WRONLY | os.O_CREAT)
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    with os.fdopen(writer, "w") as out:
        for case, device in jobs:
            print(json.dumps({"start": [case, device]}), file=out, flush=True)
            signal.alarm(seconds)
            kind, message = outcome(cases[case], device, scratch)
            signal.alarm(0)
            print(json.dumps(dict(case=case, device=device, kind=kind, message=message)), file=out, flush=True)
    os._exit(0)


class Fork:
    def __init__(self, cases, jobs, seconds, folder):
        self.jobs, self.done, self.running, self.rest = jobs, set(), None, b""
        self.process, self.reader = fork(cases, jobs, seconds, folder)

    def read(self):
        """New records; None at the end."""
        data = os.read(self.reader, 1 << 16)
        if not data:
            return None
        *lines, self.rest = (self.rest + data).split(b"\n")
        records = []
        for record in map(json.loads, lines):
            if "start" in record:
                self.running = tuple(record["start"])
            else:
                self.done.add((record["case"], record["device"]))
                self.running = None
                records.append(record)
        return records

    def end(self, seconds):
        """(the record of the test that ended it, or None, what is left to run)"""
        os.close(self.reader)
        status = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        crash = None
        if self.running is not None:
            why = f"takes more than {seconds} s" if status == -signal.SIGALRM else f"ends the interpreter with status {status}"
            crash = dict(case=self.running[0], device=self.running[1], kind="crashed", message=why)
            self.done.add(self.running)
        return crash, [job for job in self.jobs if job not in self.done]


def run_all(cases, jobs, processes, seconds, folder, write):
    chunks = [jobs[i:i + CHUNK] for i in range(0, len(jobs), CHUNK)]
    selector = selectors.DefaultSelector()

    def start(chunk):
        new = Fork(cases, chunk, seconds, folder)
        selector.register(new.reader, selectors.EVENT_READ, new)

    for _ in range(min(processes, len(chunks))):
        start(chunks.pop())
    finished, shown = 0, 0
    while selector.get_map():
        for key, _ in selector.select():
            records = key.data.read()
            if records is None:
                selector.unregister(key.data.reader)
                crash, rest = key.data.end(seconds)
                records = [crash] if crash else []
                if rest or chunks:
                    start(rest or chunks.pop())
            for record in records:
                write(record)
            finished += len(records)
            if finished >= shown + 500 or finished == len(jobs):
                shown = finished
                print(f"{finished} of {len(jobs)}", file=sys.stderr, flush=True)


def main():
    folder, processes, seconds = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    devices, pattern = sys.argv[4].split(","), sys.argv[5]
    cases = {name: test for name, test in all_cases().items() if not pattern or fnmatch.fnmatchcase(name, f"*{pattern}*")}
    if not cases:
        sys.exit(f"no test has '{pattern}' in its name")
    jobs = [(name, device) for device in devices for name in cases]
    with open(folder / "records", "w") as records:
        run_all(cases, jobs, processes, seconds, folder, lambda record: print(json.dumps(record), file=records))


if __name__ == "__main__":
    main()

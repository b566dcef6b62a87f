"""Runs the backend tests of the onnx package on the interpreter, the CPU device and the IPU model: those of single operators (node), of layers that
PyTorch exported (pytorch-converted, pytorch-operator) and of small graphs (simple).

A test passes if its outputs have the expected types, shapes and values on all devices. The package brings models and data; it is installed into an
environment of its own. Operands that must be known when a model is read, such as axes, are given to load_onnx with the test's own values.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys

import expectations
import python_clients

HERE = pathlib.Path(__file__).resolve().parent
DEVICES = ["interpreter", "cpu", "ipu_model"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prefix", required=True, help="an installed Pando; its Python environment lies beside it")
    parser.add_argument("--work", required=True, help="a folder for models and results; wiped first")
    parser.add_argument("--python", help="an interpreter that imports popxl (default: PREFIX/../venv/bin/python)")
    parser.add_argument("--only", help="run only what has this pattern in its name, such as 'node/test_reduce*'")
    parser.add_argument("--devices", default=",".join(DEVICES), help="the devices, with commas between them")
    parser.add_argument("--seconds", type=int, default=120, help="limit of one test on one device")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--random", type=int, metavar="COUNT", help="instead: so many random nodes, compared with ONNX Runtime")
    parser.add_argument("--seed", type=int, default=1, help="of the first random node")
    parser.add_argument("--update", action="store_true", help="add what newly passes to the list of what is expected")
    parsed = parser.parse_args()
    if not parsed.python:
        parsed.python = str(pathlib.Path(parsed.prefix).resolve().parent / "venv" / "bin" / "python")
    parsed.devices = parsed.devices.split(",")
    return parsed


def merged(records):
    """{case: None, or the first device that does not give what it should, with the reason}"""
    results = {}
    for record in records:
        message = record["message"] and f"{record['device']}: {record['message']}"
        results[record["case"]] = results.get(record["case"]) or message
    return dict(sorted(results.items()))


def kinds(records):
    """Lines that count, for each device, what passed, what was rejected with a reason, and what was wrong or ended the process."""
    lines = []
    for device in sorted({r["device"] for r in records}):
        counts = {}
        for record in records:
            if record["device"] == device:
                counts[record["kind"]] = counts.get(record["kind"], 0) + 1
        lines.append(f"{device:12} " + ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())))
    return lines


def main():
    parsed = arguments()
    work = pathlib.Path(parsed.work).resolve()
    parsed.work = str(work)
    python = python_clients.environment(parsed.python, work.parent / "onnx_venv", HERE / "onnx_requirements.txt")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    command = [python, str(HERE / "onnx_side" / "backend_tests.py"), str(work), str(parsed.jobs), str(parsed.seconds), ",".join(parsed.devices),
               parsed.only or ""]
    variables = expectations.user_environment(parsed.prefix, OMP_NUM_THREADS=1, PANDO_THREADS=1)
    if parsed.random:
        script = str(HERE / "onnx_side" / "random_nodes.py")
        sys.exit(max(subprocess.run([python, script, str(work), str(parsed.random), str(parsed.seed), device], env=variables, cwd=work).returncode
                     for device in parsed.devices))
    if subprocess.run(command, env=variables, cwd=work).returncode != 0:
        sys.exit("the tests did not come to their end")
    records = [json.loads(line) for line in (work / "records").read_text().splitlines()]
    print(*kinds(records), sep="\n")
    python_clients.finish(merged(records), "onnx", parsed, parsed.only is None and parsed.devices == DEVICES)


if __name__ == "__main__":
    main()

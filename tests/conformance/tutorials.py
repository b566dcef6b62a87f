"""Runs the public Poplar tutorials of graphcore/examples, unmodified, in a scratch copy of a checkout.

Each program is compiled as its own makefile does (g++ -std=c++11, -lpoplar) against the prefix, and must print what the
tutorials' own tests expect.
"""
import pathlib
import re
import shutil
import sys

import expectations

TUTORIALS = "tutorials/tutorials/poplar"
TUT1 = [r"Program complete", r"h3 data:", r"0 1 1.5 2", r"v4-1: \[10 11 12 13 14 15 16 17 18 19\]"]
EMULATED = {"PANDO_EMULATED_IPUS": 1}


def tut6(device, cost):
    return dict(folder=f"{TUTORIALS}/tut6_matrix_vector_opt", source="tut6.cpp",
                arguments=["10000", "1000", "--device", device], environment=EMULATED if device == "ipu" else {},
                patterns=["Multiplying matrix of size 10000x1000 by vector of size 1000", f"Worst cost seen: {cost}",
                          "Multiplication result OK"])


CASES = {
    "tut1_variables/model": dict(folder=f"{TUTORIALS}/tut1_variables/complete", source="tut1_ipu_model_complete.cpp", patterns=TUT1),
    "tut1_variables/hardware": dict(folder=f"{TUTORIALS}/tut1_variables/complete", source="tut1_ipu_hardware_complete.cpp",
                                    environment=EMULATED, patterns=["Attached to IPU"] + TUT1),
    "tut3_vertices": dict(folder=f"{TUTORIALS}/tut3_vertices/complete", source="tut3_complete.cpp",
                          patterns=["Program complete", r"v2: \[7.0000000 6.0000000 4.5000000 2.5000000\]"]),
    "tut6_matrix_vector_opt/model-ipu1": tut6("model-ipu1", 64373),
    "tut6_matrix_vector_opt/model-ipu2": tut6("model-ipu2", 53807),
    "tut6_matrix_vector_opt/ipu": tut6("ipu", 53807),
    "prefetch": dict(folder="tutorials/feature_examples/poplar/prefetch", source="prefetch.cpp", environment=EMULATED,
                     patterns=["Running", "complete", "prefetch"]),
}


def run_case(case, work, prefix):
    """None, or what went wrong."""
    folder = work / case["folder"]
    environment = expectations.user_environment(prefix, **case.get("environment", {}))
    program = folder / case["source"].removesuffix(".cpp")
    if not (folder / case["source"]).exists():
        return f"the checkout has no {case['folder']}/{case['source']}"
    status, output = expectations.run(["g++", "-std=c++11", case["source"], "-lpoplar", "-o", str(program)], folder, environment)
    if status != 0:
        return "does not compile:\n" + output
    status, output = expectations.run([str(program), *case.get("arguments", [])], folder, environment)
    if status != 0:
        return f"ends with status {status}:\n{output}"
    missing = [p for p in case["patterns"] if not re.search(p, output)]
    return f"does not print {missing}, but:\n{output}" if missing else None


def main():
    arguments = expectations.arguments()
    work = pathlib.Path(arguments.work).resolve()
    shutil.rmtree(work, ignore_errors=True)
    for folder in sorted({case["folder"] for case in CASES.values()}):
        source = pathlib.Path(arguments.source) / folder
        if not source.is_dir():
            sys.exit(f"{arguments.source} is no checkout of graphcore/examples: it has no {folder}")
        shutil.copytree(source, work / folder)
    results = {name: run_case(case, work, arguments.prefix) for name, case in CASES.items()}
    expectations.finish(results, pathlib.Path(__file__).with_suffix(".expected"))


if __name__ == "__main__":
    main()

"""Runs the public Poplar tutorials of graphcore/examples, unmodified, in a scratch copy of a checkout.

Each program is compiled as its own makefile does (g++ -std=c++11 ... -lpoplar) against the prefix, and must print what the
tutorials' own tests expect. mnist reads Fashion-MNIST (Debian package dataset-fashion-mnist), whose files have the same form.
"""
import gzip
import pathlib
import re
import shutil
import sys

import expectations

TUTORIALS = "tutorials/tutorials/poplar"
MNIST = "tutorials/simple_applications/poplar/mnist"
ADVANCED = "tutorials/feature_examples/poplar/advanced_example"
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
TUT1 = [r"Program complete", r"h3 data:", r"0 1 1.5 2", r"v4-1: \[10 11 12 13 14 15 16 17 18 19\]"]
TUT4 = ["Program complete", "Memory Usage:"]
EMULATED = {"PANDO_EMULATED_IPUS": 1}
REPORTS = {"POPLAR_ENGINE_OPTIONS": '{"autoReport.all": "true"}'}


def tut4(source, **more):
    return dict(folder=f"{TUTORIALS}/tut4_profiling", source=source, libraries=["poplar", "popops", "poplin", "poputil"], patterns=TUT4, **more)


def tut5(source, environment=None):
    return dict(folder=f"{TUTORIALS}/tut5_matrix_vector/complete", source=source, libraries=["poplar", "poputil"], arguments=["40", "50"],
                environment=environment or {},
                patterns=["Multiplying matrix of size 40x50 by vector of size 50", "Multiplication result OK"])


def tut6(device, cost):
    return dict(folder=f"{TUTORIALS}/tut6_matrix_vector_opt", source="tut6.cpp",
                arguments=["10000", "1000", "--device", device], environment=EMULATED if device == "ipu" else {},
                patterns=["Multiplying matrix of size 10000x1000 by vector of size 1000", f"Worst cost seen: {cost}",
                          "Multiplication result OK"])


def mnist(arguments, patterns, environment=None):
    return dict(folder=MNIST, source="regression-demo.cpp", more_sources=["mnist.cpp"],
                libraries=["popnn", "poplin", "popops", "poputil", "poplar"], arguments=arguments, environment=environment or {},
                data={f"data/{name}": FASHION / f"{name}.gz" for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")},
                patterns=patterns)


def advanced(arguments, patterns, environment=None):
    return dict(folder=ADVANCED, source="main.cpp", before=[["popc", "codelets.cpp", "-o", "codelets.gp"]],
                libraries=["poplar", "popops", "boost_program_options"], arguments=arguments, environment=environment or {},
                patterns=patterns + ["Results match."])


CASES = {
    "tut1_variables/model": dict(folder=f"{TUTORIALS}/tut1_variables/complete", source="tut1_ipu_model_complete.cpp", patterns=TUT1),
    "tut1_variables/hardware": dict(folder=f"{TUTORIALS}/tut1_variables/complete", source="tut1_ipu_hardware_complete.cpp",
                                    environment=EMULATED, patterns=["Attached to IPU"] + TUT1),
    "tut2_operations": dict(folder=f"{TUTORIALS}/tut2_operations/complete", source="tut2_complete.cpp", libraries=["poplar", "popops", "poputil"],
                            patterns=["Program complete", r"v3: \[\W+\[5.0000000 4.5000000\]\W+\[4.0000000 3.5000000]\W+\]",
                                      r"v4: \[\W+\[9.0000000 7.5000000\]\W+\[6.0000000 4.5000000]\W+\]",
                                      r"v5: \[\W+\[5.0000000 3.5000000\]\W+\[5.0000000 3.5000000]\W+\]"]),
    "tut3_vertices": dict(folder=f"{TUTORIALS}/tut3_vertices/complete", source="tut3_complete.cpp",
                          patterns=["Program complete", r"v2: \[7.0000000 6.0000000 4.5000000 2.5000000\]"]),
    "tut4_profiling/hardware": tut4("tut4_ipu_hardware.cpp", environment=EMULATED),
    "tut4_profiling/model": tut4("tut4_ipu_model.cpp", environment=REPORTS),
    # Reads the report that the case before it wrote.
    "tut4_profiling/libpva": dict(folder=f"{TUTORIALS}/tut4_profiling", source="libpva/cpp_example.cpp", libraries=["pva", "dl"],
                                  patterns=["Example information from profile", "Number of tiles on target: 1472"]),
    "tut5_matrix_vector/model": tut5("tut5_complete.cpp"),
    "tut5_matrix_vector/hardware": tut5("tut5_ipu_hardware_complete.cpp", EMULATED),
    "tut6_matrix_vector_opt/model-ipu1": tut6("model-ipu1", 64373),
    "tut6_matrix_vector_opt/model-ipu2": tut6("model-ipu2", 53807),
    "tut6_matrix_vector_opt/ipu": tut6("ipu", 53807),
    "prefetch": dict(folder="tutorials/feature_examples/poplar/prefetch", source="prefetch.cpp", environment=EMULATED,
                     patterns=["Running", "complete", "prefetch"]),
    "mnist/model": mnist(["1", "1.0"], ["Using the IPU Model", "Epoch", "100%"]),
    "mnist/hardware": mnist(["-IPU", "1", "1.0"], ["Using the IPU", "Epoch", "100%"], EMULATED),
    # Beyond what its test asks for: an epoch over all images learns something, and numCorrect counts it.
    "mnist/learns": mnist(["-IPU", "1"], [r"Epoch 1 \(9\d%\), accuracy [6-8]\d%"], EMULATED),
    "advanced_example/model": advanced(["--model"], ["Using IPU model"]),
    "advanced_example/hardware": advanced([], ["Using HW device ID"], EMULATED),
    "advanced_example/save": advanced(["--save-exe", "--exe-name", "saved", "--profile"], [], EMULATED),
    # Loads the executable that the case before it saved.
    "advanced_example/load": advanced(["--load-exe", "--exe-name", "saved"], [], EMULATED),
}


def provide(data, folder):
    """None, or what is missing. data: {file: compressed original}."""
    for name, original in data.items():
        if not original.exists():
            return f"there is no {original}: install dataset-fashion-mnist"
        if not (folder / name).exists():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(gzip.decompress(original.read_bytes()))
    return None


def run_case(case, work, prefix):
    """None, or what went wrong."""
    folder = work / case["folder"]
    environment = expectations.user_environment(prefix, **case.get("environment", {}))
    program = folder / case["source"].removesuffix(".cpp")
    if not (folder / case["source"]).exists():
        return f"the checkout has no {case['folder']}/{case['source']}"
    missing = provide(case.get("data", {}), folder)
    if missing:
        return missing
    compile_command = ["g++", "-std=c++11", case["source"], *case.get("more_sources", []),
                       *(f"-l{name}" for name in case.get("libraries", ["poplar"])), "-o", str(program)]
    for command in [*case.get("before", []), compile_command]:
        status, output = expectations.run(command, folder, environment)
        if status != 0:
            return f"{command[0]} fails:\n{output}"
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
            sys.exit(f"{arguments.source} is not a checkout of graphcore/examples: it has no {folder}")
        shutil.copytree(source, work / folder)
    results = {name: run_case(case, work, arguments.prefix) for name, case in CASES.items()}
    expectations.finish(results, pathlib.Path(__file__).with_suffix(".expected"))


if __name__ == "__main__":
    main()

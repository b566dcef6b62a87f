"""Runs the public PopXL examples and tests of graphcore/popart, unmodified, in a scratch copy of a checkout.

The examples have to end well and, where their values follow from their text, to have these values. The tests run under pytest, each file in a process of
its own, on the device that their CMake files name. MNIST's files are those of Fashion-MNIST (Debian package dataset-fashion-mnist), which have the same
form. Where a test asks NumPy for a name that it has no more, such as np.str, the name is given back (pytest_side/outcomes.py).
"""
import gzip
import pathlib
import re
import shutil
import sys

import expectations
import python_clients

DOCS = "docs/popxl/files"
TESTS = ["tests/integration/popxl", "tests/unittests/python/popxl"]
NEEDED = ["tests/conftest.py", "tests/integration/test_util.py"]
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
SAME = "__import__('numpy').allclose(outputs[o_d2h], {})"

# What holds after a script, in the names that it leaves. Scripts that are not here only have to end with status 0.
HOLDS = {
    "autodiff.py": [SAME.format("inputs[input] @ W_data + b_data"),
                    "__import__('numpy').allclose(outputs[grad_d2h], inputs[input].T @ [[1, 1], [1, 1]])"],
    "basic_graph.py": [SAME.format("inputs[input] + 1")],
    "call_with_info.py": ["outputs[o_d2h] == 2"],
    "create_multi_graphs_from_same_func.py": [SAME.format("inputs[input] @ [[1, 1], [1, 1]] @ [1, 1]")],
    "in_sequence.py": ["outputs[o_d2h] == 5"],
    "multi_call_graph_input.py": [SAME.format("inputs[input] + 3")],
    "multi_callsites_of_a_graph.py": [SAME.format("inputs[input] + 3")],
    "repeat_graph_0.py": ["outputs[o_d2h].tolist() == [[3, 3], [3, 3]]"],
    "repeat_graph_1.py": ["outputs[o_d2h].tolist() == [[7, 7], [7, 7]]"],
    "simple_addition.py": [SAME.format("data_a + data_b"), "run_output[o_d2h] == outputs[o_d2h]"],
    "tensor_addition.py": ["outputs[o_d2h] == 4", "outputs[o_d2h].dtype == 'int8'"],
    "tensor_get_write_adv.py": ["outputs[o_d2h] == 6", "tensor_datas[a] == 5", "tensor_datas[b] == 1"],
}
PATTERNS = {
    "call_with_info.py": ["Result is 2"],
    "tensor_addition.py": ["Result is 4"],
    "float8_inference.py": ["Result is "],
    "mnist.py": [r"Accuracy on test set: \d+\.\d\d%", "Testing complete"],
    "mnist_rts.py": [r"Accuracy on test set: \d+\.\d\d%", "Testing complete"],
    # Beyond what its test asks for: an epoch over a fifth of the images learns something.
    "mnist.py::learns": [r"Accuracy on test set: [6-8]\d\.\d\d%"],
}
FEW = ["--datasets-dir=datasets", "--test-batch-size", "8", "--limit-nbatches", "2"]
ARGUMENTS = {"mnist.py": FEW, "mnist_rts.py": [*FEW, "--replication-factor", "2", "--rts", "--test"],
             "mnist.py::learns": ["--datasets-dir=datasets", "--test-batch-size", "8", "--batch-size", "8", "--limit-nbatches", "750"]}
# Modules that others import.
NO_SCRIPTS = {"mnist_utils.py", "leaky_relu_op.py"}


def scripts(work):
    names = sorted(p.name for p in (work / DOCS).glob("*.py") if p.name not in NO_SCRIPTS)
    names += [name for name in ARGUMENTS if "::" in name]
    return {f"{DOCS}/{name}": dict(folder=DOCS, path=name.split("::")[0], arguments=ARGUMENTS.get(name, []), patterns=PATTERNS.get(name, []),
                                   holds=HOLDS.get(name, []))
            for name in names}


def device(file):
    """The device for which the CMake file beside a test registers it, the model rather than hardware if there is a choice."""
    listing = file.parent / "CMakeLists.txt"
    line = re.search(rf"\({file.stem}\b([^)]*)\)", listing.read_text()) if listing.exists() else None
    variants = line[1] if line else ""
    return "IpuModel2" if "IpuModel2" in variants else "Hw" if re.search(r"\bH[wW]", variants) else "Cpu"


def tests(work):
    """Their folder for pytest is tests, where the conftest.py is that knows of devices."""
    found = {}
    for folder in TESTS:
        for file in sorted((work / folder).rglob("test_*.py")):
            name = str(file.relative_to(work))
            found[name] = dict(folder="tests", name=name.removeprefix("tests/"), options=["--rootdir=.", f"--device-type={device(file)}"])
    return found


def provide_mnist(folder):
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for original in sorted(FASHION.glob("*.gz")):
        (raw / original.stem).write_bytes(gzip.decompress(original.read_bytes()))


def copy(source, work):
    shutil.rmtree(work, ignore_errors=True)
    for name in [DOCS, *TESTS, *NEEDED]:
        if not (source / name).exists():
            sys.exit(f"{source} is not a checkout of graphcore/popart: it has no {name}")
        place = work / name
        place.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (source / name).is_dir() else shutil.copy)(source / name, place)
    provide_mnist(work / DOCS / "datasets")


def main():
    parsed = python_clients.arguments(__doc__)
    work = pathlib.Path(parsed.work)
    python = python_clients.environment(parsed.python, work.parent / "venv", pathlib.Path(__file__).with_name("popxl_requirements.txt"))
    copy(pathlib.Path(parsed.source).resolve(), work)
    variables = expectations.user_environment(parsed.prefix, PANDO_EMULATED_IPUS=16, OMP_NUM_THREADS=1, OMPI_ALLOW_RUN_AS_ROOT=1,
                                              OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
    results = python_clients.run_all(parsed, python, scripts(work), tests(work), variables)
    python_clients.finish(results, "popxl", parsed, parsed.only is None)


if __name__ == "__main__":
    main()

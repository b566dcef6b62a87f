"""Runs the tests of graphcore/popxl-addons, and the package itself, unmodified, in a scratch copy of a checkout.

Its custom operations are C++ that is compiled against PopART's own headers: what needs them is in popxl_addons.reasons.
"""
import pathlib
import shutil
import sys

import expectations
import popxl
import python_clients

NEEDED = ["popxl_addons", "tests"]


def copy(source, work):
    shutil.rmtree(work, ignore_errors=True)
    for name in NEEDED:
        if not (source / name).is_dir():
            sys.exit(f"{source} is not a checkout of graphcore/popxl-addons: it has no {name}")
        shutil.copytree(source / name, work / name)
    popxl.provide_mnist(work / "datasets")


def tests(work):
    return {str(file.relative_to(work)): dict(folder=".", name=str(file.relative_to(work)), options=["--rootdir=."], path=[str(work)])
            for file in sorted((work / "tests").rglob("test_*.py"))}


def main():
    parsed = python_clients.arguments(__doc__)
    work = pathlib.Path(parsed.work)
    python = python_clients.environment(parsed.python, work.parent / "venv", pathlib.Path(__file__).with_name("popxl_requirements.txt"))
    copy(pathlib.Path(parsed.source).resolve(), work)
    variables = expectations.user_environment(parsed.prefix, PANDO_EMULATED_IPUS=16, OMP_NUM_THREADS=1, MNIST_DATASET_LOCATION=work / "datasets")
    results = python_clients.run_all(parsed, python, {}, tests(work), variables)
    python_clients.finish(results, "popxl_addons", parsed, parsed.only is None)


if __name__ == "__main__":
    main()

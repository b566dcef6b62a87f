"""Runs PopTorch's own tests and the scripts of its user guide, unmodified, in a scratch copy of a checkout of graphcore/poptorch.

Tests run under pytest, each file in a process of its own, on the CPU device. Those that are marked as tests of hardware run, too; poptorch tells them that
there is none.
"""
import pathlib
import shutil
import sys

import expectations
import python_clients

TESTS, GUIDE = "tests", "docs/user_guide"
# Files that need packages or data from elsewhere, or compilers of PopART ops.
LEFT_OUT = {"bert_small_and_medium_test.py", "custom_ops_test.py", "custom_ops_attributes_test.py", "fine_tuning_test.py", "grouping_scatters_gathers_test.py",
            "half_test.py", "io_performance_test.py", "pyg_torch_scatter_test.py", "torch_nn_test.py", "torchvision_inference_test.py",
            "attach_detach_wait_for_ipu_test.py", "conftest.py", "generate_test_file.py", "test_doc_urls.py"}
SCRIPTS = {"examples/simple_adder.py": ["Success"], "docs/user_guide/buffers.py": [], "docs/user_guide/trainingModel.py": [],
           "docs/user_guide/poptorch_training_simple.py": [], "docs/user_guide/device_iterations.py": [], "docs/user_guide/sumAnchorReturnType.py": [],
           "docs/user_guide/phased_execution.py": [], "docs/user_guide/replica_grouped_weights.py": [], "docs/user_guide/api.py": [],
           "docs/user_guide/debugging.py": [], "docs/user_guide/error_handling.py": ["needs to be taken offline"], "examples/lstm.py": []}


def copy(source, work):
    for name in (TESTS, GUIDE, "examples"):
        if not (source / name).is_dir():
            sys.exit(f"{source} is not a checkout of graphcore/poptorch: it has no {name}")
        shutil.rmtree(work / name, ignore_errors=True)
        shutil.copytree(source / name, work / name, ignore=shutil.ignore_patterns("gnn"))
    # Where the guide's build puts it.
    (work / GUIDE / "tmp").mkdir(exist_ok=True)
    shutil.copy(work / GUIDE / "poptorch.conf", work / GUIDE / "tmp")


def main():
    parsed = python_clients.arguments(__doc__)
    work = pathlib.Path(parsed.work)
    requirements = pathlib.Path(__file__).with_name("poptorch_requirements.txt")
    python = parsed.python if parsed.as_is else python_clients.environment(parsed.python, work.parent / "poptorch_venv", requirements)
    if not parsed.keep:
        shutil.rmtree(work, ignore_errors=True)
    copy(pathlib.Path(parsed.source).resolve(), work)
    scripts = {name: dict(folder=str(pathlib.PurePosixPath(name).parent), path=pathlib.PurePosixPath(name).name, patterns=patterns)
               for name, patterns in SCRIPTS.items()}
    files = {f"{TESTS}/{f.name}": dict(folder=TESTS, name=f.name, options=["--rootdir=."]) for f in sorted((work / TESTS).glob("*test*.py"))
             if f.name not in LEFT_OUT}
    # A test loads a whole module, which torch.load does not do by default.
    variables = expectations.user_environment(parsed.prefix, OMP_NUM_THREADS=1, PYTHONHASHSEED=0, PANDO_IGNORED_MARKS="ipuHardwareRequired",
                                             TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1)
    # Some tests start "python3" again.
    variables["PATH"] = f"{pathlib.Path(python).parent}:{variables['PATH']}"
    results = python_clients.run_all(parsed, python, scripts, files, variables)
    python_clients.finish(results, "poptorch", parsed, parsed.only is None, files=True)


if __name__ == "__main__":
    main()

"""Runs tutorials and models' own tests of graphcore/examples that use PopTorch, unmodified, in a scratch copy of a checkout.

They import examples_utils: `--utils` names a checkout of graphcore/examples-utils. The tutorials train on part of Fashion-MNIST in MNIST's files.
Tests that download weights or data, or compile operations for PopART, are left out, as are files conftest.py that do.
"""
import argparse
import pathlib
import shutil
import sys

import expectations
import popxl_applications
import python_clients

TUTORIALS = "tutorials/tutorials/pytorch"
# Where a training step takes batches * device iterations * accumulation * replicas samples of them, with some steps an epoch.
IMAGES = {"train": 12000, "t10k": 2000}
SCRIPTS = {f"{TUTORIALS}/pipelining/mnist_pipeline.py": dict(arguments=["--epochs", "1"], patterns=popxl_applications.LEARNS),
           f"{TUTORIALS}/observing_tensors/anchor_tensor_example.py": dict(patterns=[r"tensor names: \[", r"Loss: \d+\.\d+", r"Saved histogram"])}
# The files of an application's tests that run.
TESTS = {"speech/conformer/pytorch": ["tests/test_forward_grad.py"], "speech/fastpitch/pytorch": ["tests/test_layers.py"],
         "nlp/gpt2/pytorch": ["tests/cpu_ipu_test.py", "tests/loss_seralize_test.py"], "nlp/bert/pytorch": ["tests/argparse_test.py"],
         "vision/yolo_v4/pytorch": [f"tests/{name}_test.py" for name in ("preprocessing", "tools")]}
# Further options of an application's tests: what its conftest.py does is to download weights and build operations in C++.
OPTIONS = {"vision/yolo_v4/pytorch": ["--noconftest"]}


def copy(source, work):
    shutil.rmtree(work, ignore_errors=True)
    for name in [TUTORIALS, *TESTS]:
        if not (source / name).is_dir():
            sys.exit(f"{source} is not a checkout of graphcore/examples: it has no {name}")
        shutil.copytree(source / name, work / name)
    popxl_applications.provide_images(work / "home" / ".torch" / "datasets", IMAGES)


def scripts():
    return {name: dict(folder=str(pathlib.PurePosixPath(name).parent), path=pathlib.PurePosixPath(name).name, **script) for name, script in SCRIPTS.items()}


def tests(modules):
    return {f"{application}/{name}": dict(folder=application, name=name, options=["--rootdir=.", *OPTIONS.get(application, [])], path=[".", *modules])
            for application, files in TESTS.items() for name in files}


def main():
    own = argparse.ArgumentParser(add_help=False)
    own.add_argument("--utils", required="--help" not in sys.argv)
    given, sys.argv[1:] = own.parse_known_args()
    parsed = python_clients.arguments(__doc__)
    work, utils = pathlib.Path(parsed.work), str(pathlib.Path(given.utils).resolve())
    if not pathlib.Path(utils, "examples_utils").is_dir():
        sys.exit(f"{utils} has no package examples_utils")
    requirements = pathlib.Path(__file__).with_name("poptorch_applications_requirements.txt")
    python = parsed.python if parsed.as_is else python_clients.environment(parsed.python, work.parent / "poptorch_applications_venv", requirements)
    copy(pathlib.Path(parsed.source).resolve(), work)
    variables = expectations.user_environment(parsed.prefix, PANDO_EMULATED_IPUS=16, OMP_NUM_THREADS=1, HOME=work / "home", WANDB_MODE="disabled",
                                              PYTORCH_APPS_DETECTION_PATH=work / "vision/yolo_v4/pytorch",
                                              MPLBACKEND="agg", TQDM_DISABLE=1, PYTHONDONTWRITEBYTECODE=1, PYTHONPATH=utils, TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1)
    results = python_clients.run_all(parsed, python, scripts(), tests([utils]), variables)
    python_clients.finish(results, "poptorch_applications", parsed, parsed.only is None)


if __name__ == "__main__":
    main()

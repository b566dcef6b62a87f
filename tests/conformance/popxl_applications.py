"""Runs the PopXL tutorials and the layers of large language models of graphcore/examples, unmodified, in a scratch copy of a checkout.

They import popxl_addons and examples_utils: `--addons` and `--utils` name checkouts of graphcore/popxl-addons and graphcore/examples-utils. The tutorials train on
part of Fashion-MNIST in MNIST's files; the layers, with tensor parallelism over replicas, are compared with HuggingFace's on random weights, gradients included.
"""
import argparse
import gzip
import pathlib
import shutil
import struct
import sys

import expectations
import popxl
import python_clients

TUTORIALS = "tutorials/tutorials/popxl"
# Where the tests of an application's layers lie, in its folder.
LAYERS = {"nlp/bert/popxl": ["tests/unit/layer", "tests/integration/layer"], "nlp/bloom/popxl": ["tests/integration/layers"],
          "nlp/gpt3_2.7B/popxl": ["tests/integration/layers"], "nlp/gpt_j/popxl": ["tests/integration/layers"],
          "nlp/llama/popxl": ["tests/integration/layers"], "nlp/t5/popxl": ["tests/integration/layers"]}
IMAGES = {"train": 2560, "t10k": 640}
# Better than guessing among ten classes after one epoch of a few images.
LEARNS = [r"Accuracy on test set: [3-9]\d\.\d\d%"]

# The applications are written for Python 3.8: since 3.11, dataclasses reject defaults without a hash.
OLDER_PYTHON = '''import dataclasses
import inspect

exec(inspect.getsource(dataclasses._get_field).replace("f.default.__class__.__hash__ is None", "isinstance(f.default, (list, dict, set))"), dataclasses.__dict__)
'''


def provide_images(folder, images=None):
    """The first images of Fashion-MNIST, as files of MNIST that need not be loaded from elsewhere."""
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for name, count in (images or IMAGES).items():
        for kind, size, head in (("images-idx3", 784, struct.pack(">IIII", 2051, count, 28, 28)), ("labels-idx1", 1, struct.pack(">II", 2049, count))):
            data = gzip.decompress((popxl.FASHION / f"{name}-{kind}-ubyte.gz").read_bytes())[len(head):]
            (raw / f"{name}-{kind}-ubyte").write_bytes(head + data[:size * count])


def copy(source, work):
    shutil.rmtree(work, ignore_errors=True)
    for name in [TUTORIALS, *LAYERS]:
        if not (source / name).is_dir():
            sys.exit(f"{source} is not a checkout of graphcore/examples: it has no {name}")
        shutil.copytree(source / name, work / name)
    provide_images(work / "home" / ".torch" / "datasets")
    (work / "site").mkdir()
    (work / "site" / "sitecustomize.py").write_text(OLDER_PYTHON)


def tutorials(work):
    folders = sorted(p.parent for p in (work / TUTORIALS).glob("*/mnist.py"))
    return {f"{TUTORIALS}/{f.name}/mnist.py": dict(folder=str(f.relative_to(work)), path="mnist.py", patterns=LEARNS) for f in folders}


def tests(work, modules):
    found = {}
    for application, folders in LAYERS.items():
        for folder in folders:
            for file in sorted((work / application / folder).rglob("test_*.py")):
                name = str(file.relative_to(work / application))
                found[f"{application}/{name}"] = dict(folder=application, name=name, options=["--rootdir=."], path=[".", *modules])
    return found


def main():
    own = argparse.ArgumentParser(add_help=False)
    own.add_argument("--addons", required="--help" not in sys.argv)
    own.add_argument("--utils", required="--help" not in sys.argv)
    given, sys.argv[1:] = own.parse_known_args()
    parsed = python_clients.arguments(__doc__)
    work = pathlib.Path(parsed.work)
    modules = [str(pathlib.Path(p).resolve()) for p in (given.addons, given.utils)]
    for folder, package in zip(modules, ("popxl_addons", "examples_utils")):
        if not pathlib.Path(folder, package).is_dir():
            sys.exit(f"{folder} has no package {package}")
    python = python_clients.environment(parsed.python, work.parent / "venv_applications", pathlib.Path(__file__).with_name("popxl_applications_requirements.txt"))
    copy(pathlib.Path(parsed.source).resolve(), work)
    variables = expectations.user_environment(parsed.prefix, PANDO_EMULATED_IPUS=16, OMP_NUM_THREADS=1, HOME=work / "home", WANDB_MODE="disabled",
                                              PYTHONPATH=":".join([str(work / "site"), *modules]), PYTHONDONTWRITEBYTECODE=1, TQDM_DISABLE=1)
    results = python_clients.run_all(parsed, python, tutorials(work), tests(work, modules), variables)
    python_clients.finish(results, "popxl_applications", parsed, parsed.only is None)


if __name__ == "__main__":
    main()

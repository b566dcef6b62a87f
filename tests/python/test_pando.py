"""The package pando: its version, and its command line, which is the tool of the build."""
import os
import re
import subprocess
import sys

import pando
import popxl

BIN = os.environ["PANDO_BIN"]


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


def test_one_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+", pando.__version__)
    assert popxl.__version__ == "3.4.0"  # what public programs compare with
    said = run(os.path.join(BIN, "pando"), "--version")
    assert said.stdout.split()[:2] == ["pando", pando.__version__]


def test_importing_is_light():
    loaded = run(sys.executable, "-c", "import pando, sys; print([m for m in ('numpy', 'torch', 'popxl') if m in sys.modules])")
    assert loaded.stdout == "[]\n", loaded.stderr


def test_command_line_is_the_tools():
    machines = run(os.path.join(BIN, "pando"), "machines")
    by_package = run(sys.executable, "-m", "pando", "machines")
    assert machines.returncode == by_package.returncode == 0
    assert machines.stdout == by_package.stdout and "ipu2" in machines.stdout
    assert run(sys.executable, "-m", "pando", "no-such-command").returncode == run(os.path.join(BIN, "pando"), "no-such-command").returncode != 0

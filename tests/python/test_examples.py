"""The examples that are Python run as they stand."""
import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/popxl"


@pytest.mark.parametrize("device", ["cpu", "ipu_model"])
def test_fashion_mnist_learns(device):
    out = subprocess.run([sys.executable, EXAMPLES / "fashion_mnist.py", "--device", device, "--epochs", "1", "--images", "6000"],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    right = re.search(r"([\d.]+) % of the 10000 test images are right", out)
    assert right and float(right[1]) > 70, out

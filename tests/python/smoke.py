"""What an installed wheel has to do: import, build, differentiate, compile and run, with nothing but Python and NumPy in reach; and its tools.

PANDO_EMULATOR is a command that runs programs for another processor: this file runs under it, and so do the tools.
"""
import os
import pathlib
import subprocess

os.environ["PATH"] = "/nowhere"

import numpy as np

import pando
import popxl
import popxl.ops as ops

TOOLS = pathlib.Path(pando.__file__).parent / "bin"
EMULATOR = os.environ.get("PANDO_EMULATOR", "").split()


def trains_a_step():
    ir = popxl.Ir()
    with ir.main_graph:
        x = popxl.variable(np.ones((2, 2), np.float32))
        graph = ir.create_graph(lambda t: ops.tanh(t @ t), x)
        forward = ops.call_with_info(graph, x)
        gradient = popxl.transforms.autodiff(graph)
        (dx,) = ops.call(gradient.graph, np.ones((2, 2), np.float32), inputs_dict=gradient.inputs_dict(forward))
        half = ops.cast(ops.softmax(ops.cast(x, popxl.float16), 1), popxl.float32)
        out, halves = popxl.d2h_stream(dx.shape, dx.dtype), popxl.d2h_stream(half.shape, half.dtype)
        ops.host_store(out, dx)
        ops.host_store(halves, half)
    for device in ("cpu", "ipu_model"):
        with popxl.Session(ir, device) as session:
            results = session.run()
        np.testing.assert_allclose(results[out], np.full((2, 2), 4 * (1 - np.tanh(2)**2)), rtol=1e-4)
        np.testing.assert_allclose(results[halves], np.full((2, 2), 0.5), rtol=1e-3)


def run(tool, *arguments):
    done = subprocess.run([*EMULATOR, str(TOOLS / tool), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{tool} {' '.join(arguments)}: {done.stdout}{done.stderr}"
    return done.stdout


def runs_tools():
    versions = run("pando", "--version")
    assert versions.startswith(f"pando {pando.__version__}\n"), versions
    assert "ipu2" in run("pando", "machines")
    # Python on tiles: the codelet with the interpreter.
    answer = run("pando-repl", "--tiles", "4", "-c", "print(sum(allgather(__tileid * 2.5)))")
    assert answer.strip().split("\n")[-1] == "15.0", answer
    return next(line.split()[1] for line in versions.split("\n") if line.split()[0] == "level")


trains_a_step()
level = runs_tools()
print(f"fine: {level}, {popxl.__file__}")

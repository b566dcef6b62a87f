"""Programs placed by hand: the two notes from which distribution and projection come, written in Python, traced and run."""
import os
import pathlib
import subprocess

import numpy as np
import pytest

import popart
import popxl
import popxl.ops as ops
from popxl import across

PANDO = pathlib.Path(os.environ["PANDO_BIN"]) / "pando"


def pando(*arguments):
    return subprocess.run([PANDO, *map(str, arguments)], capture_output=True, text=True)


# --- pmap: data parallel training of two layers

F, H, C, B = 3, 4, 2, 12


def sequential(wA, wB, x, z, rate):
    a = x @ wA
    dl = 2 * (a @ wB - z)
    return wA - rate * x.T @ (dl @ wB.T), wB - rate * a.T @ dl, (dl * dl / 4).sum()


class DataParallel:
    """One step, on device 0 and `n` others."""

    def __init__(self, n, rate=0.125):
        random = np.random.default_rng(7)
        self.rate = rate
        self.data = {k: random.integers(-2, 3, s).astype(np.float32) for k, s in {"wA": (F, H), "wB": (H, C), "x": (B, F), "z": (B, C)}.items()}
        self.ir = popxl.Ir()
        devices = range(1, n + 1)
        with self.ir.main_graph:
            wA, wB, x, z = (popxl.variable(v, name=k) for k, v in self.data.items())
            xs, zs = across.scatter(x, devices), across.scatter(z, devices)
            wAs, wBs = across.broadcast(wA, devices), across.broadcast(wB, devices)

            def gradients(x, z, wA, wB):
                a = x @ wA
                d = a @ wB - z
                dl = d * 2
                return x.T @ (dl @ wB.T), a.T @ dl, ops.sum(d * d)

            dwAs, dwBs, ls = across.pmap(gradients, xs, zs, wAs, wBs)
            assert dwAs.shape == (F, H) and ls.shape == () and len(ls) == n and dwBs.devices == tuple(devices)
            dwAs, dwBs = across.all_reduce(dwAs), across.all_reduce(dwBs)
            newAs, newBs = across.pmap(lambda w, v, dw, dv: (w - dw * self.rate, v - dv * self.rate), wAs, wBs, dwAs, dwBs)
            results = [across.send(newAs[0], 0), across.send(newBs[n - 1], 0), across.reduce(ls, 0)]
            self.streams = [popxl.d2h_stream(t.shape, t.dtype) for t in results]
            for stream, t in zip(self.streams, results):
                ops.host_store(stream, t)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("device", ["interpreter", "cpu"])
def test_data_parallel_is_sequential(n, device):
    step = DataParallel(n)
    with popxl.Session(step.ir, device) as session:
        found = session.run()
    for stream, wanted in zip(step.streams, sequential(rate=step.rate, **step.data)):
        np.testing.assert_array_equal(found[stream], wanted)


def test_what_is_per_device_is_traced_once():
    texts = [str(DataParallel(n).ir) for n in (2, 4)]
    graphs = [[line for line in text.splitlines() if line.startswith("graph ")] for text in texts]
    assert len(graphs[0]) == len(graphs[1]) == 3
    assert "float32, d0]" in graphs[0][1]


def test_commands_take_the_text(tmp_path):
    file = tmp_path / "step.txt"
    file.write_text(across.text(DataParallel(3).ir))
    simulated = pando("simulate", file, "--machine", "bow-pod")
    assert simulated.returncode == 0 and simulated.stdout.startswith("4 devices, "), simulated.stderr
    unrolled = pando("transform", file, "--unroll-pmap")
    assert unrolled.returncode == 0 and "= pmap(" not in unrolled.stdout and "float32, 3]" in unrolled.stdout
    ran = pando("run", file, "-q")
    assert ran.returncode == 0, ran.stderr


def test_collectives():
    values = np.arange(16, dtype=np.float32).reshape(4, 4)
    ir = popxl.Ir()
    with ir.main_graph:
        xs = across.scatter(popxl.variable(values), [2, 5], dim=1)
        assert (xs.shape, xs.devices) == ((4, 2), (2, 5))
        gathered, scattered, turned = across.all_gather(xs), across.reduce_scatter(xs, op_type="max"), across.all_to_all(xs, 0, 1)
        assert (gathered.shape, scattered.shape, turned.shape) == ((8, 2), (2, 2), (2, 4))
        own = across.parts(*reversed(list(xs)))
        assert own.devices == (5, 2)
        results = [across.gather(t, 0) for t in (xs, gathered, scattered, turned)] + [across.reduce(own, 0, "mean")]
        streams = [popxl.d2h_stream(t.shape, t.dtype) for t in results]
        for stream, t in zip(streams, results):
            ops.host_store(stream, t)
    left, right = values[:, :2], values[:, 2:]
    wanted = [np.concatenate([left, right]), np.concatenate([left, right] * 2), np.maximum(left, right),
              np.concatenate([values[:2], values[2:]]), (left + right) / 2]
    for device in ("interpreter", "cpu"):
        with popxl.Session(ir, device) as session:
            found = session.run()
        for stream, w in zip(streams, wanted):
            np.testing.assert_array_equal(found[stream], w)


def test_mistakes():
    ir = popxl.Ir()
    with ir.main_graph:
        x = popxl.variable(np.zeros((3, 2), np.float32))
        xs, others = across.broadcast(x, [1, 2]), across.broadcast(x, [1, 3])
        for wrong, error in [(lambda: across.scatter(x, [1, 2]), "does-not-divide"), (lambda: across.scatter(x, [1, 1, 1]), "device-twice"),
                             (lambda: across.pmap(lambda a, b: a + b, xs, others), "different-devices"),
                             (lambda: across.all_reduce(xs, "xor"), "unknown-reduction")]:
            with pytest.raises((popart.popart_exception, ValueError), match=error):
                wrong()
        with pytest.raises(TypeError, match="takes Parts"):
            across.all_reduce(x)
        with pytest.raises(TypeError, match="takes Parts"):
            across.pmap(lambda a: a, x)
        with pytest.raises(ValueError, match="at least one"):
            across.scatter(x, [])
        with pytest.raises(IndexError):
            xs[2]
        with pytest.raises(TypeError, match="no constructor"):
            across.Parts()


# --- a loop over two devices, pipelined

def pipelined(in_sequence=False):
    """The body of the note's loop: A, B and their gradients on device 0, C and the loss on device 1."""
    ir = popxl.Ir()
    random = np.random.default_rng(1)

    def update(g, w):
        ops.var_updates.copy_var_update_(w, w - g * 0.125)

    with ir.main_graph, popxl.in_sequence(in_sequence):
        xs, ls = popxl.h2d_stream((3, 3), popxl.float32, "x"), popxl.h2d_stream((3, 3), popxl.float32, "l")
        WA, WB, WC = (popxl.variable(random.normal(size=(3, 3)).astype(np.float32), name=n) for n in ("WA", "WB", "WC"))
        with popxl.ipu(0):
            a = ops.tanh(WA @ ops.host_load(xs))
            b = ops.tanh(WB @ a)
        b1 = across.send(b, 1)
        with popxl.ipu(1):
            d = ops.tanh(WC @ b1) - ops.host_load(ls)
            d0 = across.send(d, 0)
            update(d, WC)
        with popxl.ipu(0):
            e = ops.tanh(WB @ d0) * b
            update(e, WB)
            update(ops.tanh(WA @ e) * a, WA)
    return ir


def two_collectives():
    """Two sums over devices 0 and 1, of what each loads and of its negative."""
    ir = popxl.Ir()
    with ir.main_graph:
        streams = [popxl.h2d_stream((2,), popxl.float32, n) for n in "xy"]
        mine = []
        for device, stream in enumerate(streams):
            with popxl.ipu(device):
                value = ops.host_load(stream)
                mine.append((value, ops.negate(value)))
        sums = [across.all_reduce(across.parts(*values)) for values in zip(*mine)]
        for device, name in enumerate("pq"):
            with popxl.ipu(device):
                ops.host_store(popxl.d2h_stream((2,), popxl.float32, name), sums[0][device] - sums[1][device])
    return ir


def test_devices_come_to_collectives_in_one_order(tmp_path):
    file, right, wrong = tmp_path / "module.txt", tmp_path / "right.txt", tmp_path / "wrong.txt"
    file.write_text(across.text(two_collectives()))
    assert pando("project", file, "--policy", "strict", "--capacity", 0, "-o", right).returncode == 0
    lines = right.read_text().splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line.startswith("device 1:"))
    messages = [i for i in range(start, len(lines)) if "= receive(" in lines[i] or lines[i].lstrip().startswith("send(")]
    # What comes from the host, two pairs of messages, what goes to the host.
    assert len(messages) == 6, "".join(lines[start:])
    pairs = messages[1:5]
    assert pairs == list(range(pairs[0], pairs[0] + 4)), "".join(lines[start:])
    lines[pairs[0]:pairs[3] + 1] = lines[pairs[2]:pairs[3] + 1] + lines[pairs[0]:pairs[1] + 1]
    wrong.write_text("".join(lines))
    for command in ("project", "run"):
        said = pando(command, wrong, "--samples", 4, "--seed", 1, *([] if command == "project" else ["-q"]))
        text = said.stdout + said.stderr
        assert said.returncode != 0 and "C5-deadlock" in text, text
        assert "device 0, trip 0, waits to send on stream" in text and "device 1, trip 0, waits to" in text
    assert pando("run", right, "--samples", 4, "--seed", 1, "-q").returncode == 0


@pytest.mark.parametrize("policy", ["strict", "delay", "stash", "2BW 2", "flush 3"])
def test_an_order_between_devices_is_a_message(policy, tmp_path):
    ordered, free = tmp_path / "ordered.txt", tmp_path / "free.txt"
    ordered.write_text(across.text(pipelined(True)))
    free.write_text(across.text(pipelined()))
    found = [pando("project", file, "--policy", policy, "-q", "--samples", 6, "--capacity", 0) for file in (ordered, free)]
    assert [f.returncode for f in found] == [0, 0], found[0].stderr
    # The same values of all variables, where both have the same versions.
    if policy in ("strict", "flush 3"):
        assert found[0].stdout == found[1].stdout
    brief = [pando("project", file, "--policy", policy, "--brief").stdout for file in (ordered, free)]
    # WC is updated on device 1 before device 0 goes on; a window's update is no part of the loop.
    assert [text.count(", 4 bytes") for text in brief] == [0 if " " in policy else 1, 0], brief[0]


@pytest.mark.parametrize("policy", ["strict", "delay", "stash", "2BW 2", "flush 3"])
def test_a_loop_is_projected_and_equals_its_reference(policy, tmp_path):
    file = tmp_path / "loop.txt"
    file.write_text(across.text(pipelined()))
    for capacity in ("0", "1", "unbounded"):
        found = pando("project", file, "--policy", policy, "-q", "--samples", 6, "--capacity", capacity)
        assert found.returncode == 0, found.stderr
        assert found.stdout.splitlines()[-1] == f"6 samples: equal to the reference of '{policy}', in terms and bit for bit"
    projected = tmp_path / "projected.txt"
    assert pando("project", file, "--policy", policy, "-o", projected).returncode == 0
    text = projected.read_text()
    assert "device 0:" in text and "device 1:" in text and text.count("stream ") >= 4
    ran = pando("run", projected, "--samples", 6, "--seed", 1, "-q")
    assert ran.returncode == 0, ran.stderr

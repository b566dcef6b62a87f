"""Ctrl-C, and other signals that Python handles, while a program runs, is compiled, or is searched for."""
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import popxl
import popxl.ops as ops


def endless(count=2**31 - 1, width=64):
    """A program that takes hours."""
    ir = popxl.Ir()
    with ir.main_graph:
        v = popxl.variable(np.ones((width, width), np.float32))
        r, = ops.repeat(ir.create_graph(lambda t: t + 1.0, v), count, v)
        d = popxl.d2h_stream(r.shape, r.dtype)
        ops.host_store(d, r)
    return ir


class After:
    """A signal to this process, and how long it takes until the block is left."""

    def __init__(self, seconds, number=signal.SIGINT):
        self.number, self.sent = number, None
        self.timer = threading.Timer(seconds, self.send)

    def send(self):
        self.sent = time.monotonic()
        os.kill(os.getpid(), self.number)

    def __enter__(self):
        self.timer.start()
        return self

    def __exit__(self, *_):
        self.timer.cancel()
        self.took = time.monotonic() - self.sent


@pytest.fixture(autouse=True)
def default_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("device", ("cpu", "ipu_model"))
def test_a_run_ends_with_keyboard_interrupt(device):
    ir = endless(width=8)
    with popxl.Session(ir, device) as session:
        for _ in range(2):  # it can run again
            with After(0.3) as after, pytest.raises(KeyboardInterrupt):
                session.run()
            assert after.took < 2


def test_handlers_run_while_the_program_goes_on():
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(time.monotonic()))
    try:
        with popxl.Session(endless(width=8), "cpu") as session:
            with After(0.2, signal.SIGUSR1) as first, After(0.8), pytest.raises(KeyboardInterrupt):
                session.run()
        assert len(seen) == 1 and seen[0] - first.sent < 0.5
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_what_a_handler_raises_comes_out():
    class Enough(Exception):
        pass

    def handler(*_):
        raise Enough("of it")

    before = signal.signal(signal.SIGALRM, handler)
    try:
        with popxl.Session(endless(width=8), "cpu") as session:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(Enough, match="of it"):
                session.run()
            assert session.is_attached
    finally:
        signal.signal(signal.SIGALRM, before)


def test_other_threads_run_as_before():
    ir = endless(count=10, width=8)
    results = []
    with popxl.Session(ir, "cpu") as session:
        thread = threading.Thread(target=lambda: results.append(session.run()))
        thread.start()
        thread.join()
        assert len(results) == 1 and all((a == 11).all() for a in results[0].values())


def test_compiling_ends_with_keyboard_interrupt():
    ir = popxl.Ir()
    with ir.main_graph:
        t = popxl.variable(np.ones((64, 64), np.float32))
        for i in range(8000):  # takes seconds
            t = ops.gelu(t @ t) if i % 2 else ops.softmax(t, -1)
        ops.host_store(popxl.d2h_stream(t.shape, t.dtype), t)
    with After(0.3) as after, pytest.raises(KeyboardInterrupt):
        popxl.Session(ir, "ipu_model")
    assert after.took < 4


def test_the_process_ends_at_once():
    """As from a shell: a program that nobody prepared for it."""
    script = textwrap.dedent("""
        import sys
        sys.path.insert(0, %r)
        from test_interrupts import endless
        import popxl
        with popxl.Session(endless(width=8), "cpu") as session:
            print("runs", flush=True)
            session.run()
    """) % os.path.dirname(__file__)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "runs\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        _, said = process.communicate(timeout=60)
    assert time.monotonic() - begin < 5
    assert "KeyboardInterrupt" in said and process.returncode != 0

"""A pytest plugin: writes what becomes of each test to a file at once, so that a test that ends the interpreter loses nothing but itself.

Read from the environment: PANDO_OUTCOMES, the file; PANDO_DONE, a file with the ids of tests that are not to be run again; PANDO_SECONDS, after
which a test is ended by an alarm (a signal that is not handled, since code of an extension would not return to a handler); PANDO_IGNORED_MARKS, marks
of tests that are not looked at, so that what is marked as a test of hardware runs.

Random data are the same in each run: Python's and NumPy's generators get a seed before files are read, and one for each test, of its id.
"""
import json
import os
import random
import signal
import zlib

import numpy as np
import pytest

# Names that NumPy had when the tests were written. Where a newer NumPy has the name again, its own meaning stays.
REMOVED = {"str": str, "int": int, "float": float, "object": object, "complex": complex, "bool": bool, "long": int, "unicode": str,
           "product": np.prod, "NaN": np.nan, "Inf": np.inf, "float_": np.float64}
for name, value in REMOVED.items():
    if name not in np.__dict__:
        setattr(np, name, value)


# A number with which the tests' own tolerances hold: some are relative to results that may be nearly 0.
SEED = 3


def seed(text):
    number = zlib.crc32(text.encode(), SEED)
    random.seed(number)
    np.random.seed(number)


seed("files")


def write(**record):
    with open(os.environ["PANDO_OUTCOMES"], "a", encoding="utf-8") as out:
        out.write(json.dumps(record) + "\n")


def pytest_collection_modifyitems(config, items):
    with open(os.environ["PANDO_DONE"], encoding="utf-8") as done:
        gone = set(done.read().splitlines())
    config.hook.pytest_deselected(items=[i for i in items if i.nodeid in gone])
    items[:] = [i for i in items if i.nodeid not in gone]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    seed(item.nodeid)
    ignored = os.environ.get("PANDO_IGNORED_MARKS", "").split()
    for node in item.listchain():
        node.own_markers[:] = [mark for mark in node.own_markers if mark.name not in ignored]


def pytest_collectreport(report):
    if report.failed:
        write(id=report.nodeid, message="collection fails: " + last_line(report))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart(nodeid):
    write(start=nodeid)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(os.environ["PANDO_SECONDS"]))


def pytest_runtest_logreport(report):
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else getattr(report, "wasxfail", "")
        write(id=report.nodeid, message=f"skips itself: {reason}")
    elif report.failed:
        write(id=report.nodeid, message=last_line(report))
    elif report.when == "call":
        write(id=report.nodeid, message=None)


def pytest_runtest_logfinish(nodeid):
    signal.alarm(0)


def pytest_sessionfinish():
    write(finished=True)


def last_line(report):
    """The exception, in one line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr).strip()
    lines = [line for line in text.splitlines() if line.strip()] or ["no message"]
    return (lines[0] if crash else lines[-1].removeprefix("E").strip())[:200]

"""What `poprun` says of this process in its environment, and the connection with the other instances, opened when it is first needed.
`popdist` has the functions for programs."""
import atexit
import contextlib
import os
import sys
import threading
import time

# What this process is of: opened once, and left at its end.
_state = {"connection": None, "members": [], "failed": False}
_lock = threading.Lock()

TIMEOUT = "PANDO_POPRUN_TIMEOUT"
_TIME_TO_TELL = 0.3  # seconds that a message to the others may take


def number(name, default):
    """A number of the environment.

    Raises:
        RuntimeError: it is none.
    """
    text = os.environ.get(name)
    if text is None:
        return default
    if not text.isdecimal():
        raise RuntimeError(f"The environment says {name}={text!r}, which is not a number; poprun sets it.")
    return int(text)


def index():
    """The number of this instance, from 0 on."""
    return number("POPDIST_INSTANCE_INDEX", 0)


def count():
    """How many instances there are."""
    return number("POPDIST_NUM_INSTANCES", 1)


def total_replicas():
    """How many replicas all instances have together."""
    return number("POPDIST_NUM_TOTAL_REPLICAS", 1)


def local_replicas():
    """How many replicas this instance runs."""
    return number("POPDIST_NUM_LOCAL_REPLICAS", 1)


def first_replica():
    """The number of this instance's first replica among those of all instances."""
    return number("POPDIST_REPLICA_INDEX_OFFSET", 0)


def connection():
    """The connection. Opens it first: that takes until all instances do so."""
    with _lock:
        if _state["connection"] is None:
            _state["connection"] = _open()
        return _state["connection"]


def _open():
    from popxl import _core

    opened = _core.open_instances(float(os.environ.get(TIMEOUT, 600)))
    if (opened.index(), opened.count()) != (index(), count()):
        raise RuntimeError(f"The environment says instance {index()} of {count()}, MPI {opened.index()} of {opened.count()}: start the program "
                           "with poprun.")
    process, hook = os.getpid(), sys.excepthook

    def tell(kind, value, trace):
        if os.getpid() == process and not issubclass(kind, KeyboardInterrupt):
            _state["failed"] = True
            opened.fail(f"{kind.__name__}: {value}")
            time.sleep(_TIME_TO_TELL)
        hook(kind, value, trace)

    def leave():
        # Who has failed does not wait: the end of this process ends the others.
        if os.getpid() != process or _state["failed"]:
            return
        if not opened.leave(float(os.environ.get(TIMEOUT, 600)) or 1e9):
            print("popdist: other instances have not come to the end of the program", file=sys.stderr, flush=True)
            os._exit(1)

    sys.excepthook = tell
    atexit.register(leave)
    return opened


@contextlib.contextmanager
def among(members):
    """Inside, collectives concern these instances alone."""
    _state["members"].append(members)
    try:
        yield
    finally:
        _state["members"].pop()


def members():
    """The instances that collectives concern now."""
    return _state["members"][-1] if _state["members"] else list(range(count()))


def all_gather(data, what):
    """What each of the instances gives, bytes, in their order."""
    taking_part = members()
    if len(taking_part) == 1:
        return [data]
    return connection().all_gather(data, what, taking_part)

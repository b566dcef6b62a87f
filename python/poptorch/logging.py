"""The log of PopTorch: logger "poptorch::python"."""
import logging as _logging
import os
import sys

_logging.addLevelName(5, "TRACE")
logger = _logging.getLogger("poptorch::python")
_LEVELS = {"TRACE": 5, "TRACE_ALL": 4, "DEBUG": _logging.DEBUG, "DEBUG_IR": _logging.DEBUG, "INFO": _logging.INFO, "WARN": _logging.WARNING,
           "ERR": _logging.ERROR, "OFF": _logging.CRITICAL + 1}
_NUMBERS = {0: "TRACE", 1: "DEBUG", 2: "INFO", 3: "WARN", 4: "ERR", 6: "OFF"}
_said = set()


def setLogLevel(level):
    """Sets the level of the log: "TRACE", "DEBUG", "INFO", "WARN", "ERR" or "OFF", or one of the older numbers. Raises ValueError for others."""
    if isinstance(level, int):
        if level not in _NUMBERS:
            raise ValueError("Invalid log level integer")
        level = _NUMBERS[level]
    if level not in _LEVELS:
        raise ValueError(f"Unknown log level: {level}. Valid values are DEBUG, ERR, INFO, OFF, TRACE and WARN")
    logger.setLevel(_LEVELS[level])


def say_once(message):
    """An INFO line, once in a process."""
    if message not in _said:
        _said.add(message)
        logger.info(message)


def say_graph(graph_module, sliced):
    """TRACE lines: the ops of a graph, one a line, after what was rewritten in it. sliced: pando.torch.program.Program.sliced."""
    if not logger.isEnabledFor(_LEVELS["TRACE"]):
        return
    for name, gathers in sliced:
        logger.log(_LEVELS["TRACE"], "%s %s", "Optimising gather:" if gathers else "Removing index expansion node:", name)
    for node in graph_module.graph.nodes:
        if node.op == "call_function":
            kind = str(node.target).replace(".", "::", 1).partition(".")[0]
            logger.log(_LEVELS["TRACE"], "%s = %s(%s)", node.name, kind, ", ".join(map(str, node.args)))


_PYTHON_LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERR", "OFF")


def setPopartLogLevel(level):
    """Accepted: there is no PopART. Raises ValueError for what is not a level."""
    if level not in _PYTHON_LEVELS:
        raise ValueError(f"Level must be one of {', '.join(_PYTHON_LEVELS)}")


class _Handler(_logging.StreamHandler):
    """Writes to what standard error is now."""

    def __init__(self):
        _logging.Handler.__init__(self)

    @property
    def stream(self):
        return sys.stderr


if not logger.handlers:
    _handler = _Handler()
    _handler.setFormatter(_logging.Formatter("[%(asctime)s] [poptorch::python] [%(levelname)s] %(message)s", "%H:%M:%S"))
    logger.addHandler(_handler)
    setLogLevel(os.environ.get("POPTORCH_LOG_LEVEL", "WARN"))

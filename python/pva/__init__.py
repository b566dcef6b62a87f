"""libpva's Python interface: a report file as objects with the public names. `pando.report` gives the same as tables.

    report = pva.openReport("report/profile.pop")
    max(step.notAlwaysLiveMemory.bytes for step in report.compilation.livenessProgramSteps)
    for operation in pva.OperationAnalysis(report).operations:
        print(operation.name, operation.debugContext.location.lineNumber, operation.cycles)

Memory is in bytes, time in cycles of a tile. There is no attribute for what a report does not have. The interface in C++ (pva/pva.hpp) has the same
parts but for analyses by operation, liveness by IPU and estimates of cycles outside the execution.
"""
from pva import pva_core
from pva.pva_core import *  # noqa: F401,F403 - the public names
from pva.pva_core import __all__ as _names

__all__ = [*_names, "pva_core"]

"""A report as a whole, and how a file of one is opened."""
import os
import re

import pando.report

from pva._compilation import Compilation
from pva._data import Data, Of
from pva._execution import Execution


class Report(Of):
    """What the compiler made and what the runs cost."""

    @property
    def compilation(self):
        return Compilation(self._data)

    @property
    def execution(self):
        """Raises ValueError if the report has no execution: no program ran, or cycles were not counted."""
        if not self._data.report["executed"]:
            raise ValueError(f"{self._data.report.path} has no execution: no program was run, or cycles were not counted")
        return Execution(self._data)

    @property
    def hasExecution(self):
        return bool(self._data.report["executed"])

    @property
    def version(self):
        """Of the file's format."""
        return FormatVersion(self._data.report.version)

    @property
    def poplarVersion(self):
        """Of the program that wrote the report."""
        return Version(self._data)


class FormatVersion:
    """`major`, `minor`, `point` of the file's format."""

    isUnstableFormat = False

    def __init__(self, number):
        self.major, self.minor, self.point = number, 0, 0


class Version(Of):
    @property
    def string(self):
        return self._data.report.writer

    def _number(self, i):
        numbers = re.findall(r"\d+", self.string)
        return int(numbers[i]) if i < len(numbers) else 0

    major, minor, point = (property(lambda self, i=i: self._number(i)) for i in range(3))


def openReport(path, debug=None):
    """Opens a report that an engine wrote (option autoReport.directory). Where "x.pop" is not there, "x.pando" is read. `debug`, the file of
    debug information, is not needed: the report has the lines of the program. Raises OSError, and ValueError for what is not a report."""
    path = os.fspath(path)
    other = path[:-len(".pop")] + ".pando" if path.endswith(".pop") else path
    return Report(Data(pando.report.open(path if os.path.exists(path) else other)))

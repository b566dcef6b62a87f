"""Views of whole programs."""
import sys

from popart.inference_session import DataFlow
from popart.session_options import SessionOptions

from . import access
from .graph_view import Graph


class Ir:
    """A program. Two views are equal if they show the same program."""

    def __init__(self, ir):
        self._ir = ir

    @property
    def id(self):
        return self._ir.id

    def getId(self):
        return self._ir.id

    def __eq__(self, other):
        return isinstance(other, Ir) and self._ir is other._ir

    def __hash__(self):
        return hash(id(self._ir))

    def getAllGraphs(self):
        """The main graph first, then the others in the order in which they were made."""
        return [Graph(access.graph_of(self._ir, number)) for number in range(access.program(self._ir).graph_count())]

    def getMainGraph(self):
        return Graph(self._ir.main_graph)

    def getGraph(self, name):
        for graph in self.getAllGraphs():
            if graph.id == name:
                return graph
        raise ValueError(f"the program has no graph {name!r}")

    def getSessionOptions(self):
        if self._ir._options_view is None:
            self._ir._options_view = SessionOptions(self._ir)
        return self._ir._options_view

    def setDataFlow(self, flow):
        """How often streams are used in a run, for popart.InferenceSession."""
        self._ir._data_flow = flow

    def getDataFlow(self):
        return self._ir.__dict__.get("_data_flow") or DataFlow()

    def updateVertices(self):
        """Nothing: ops are always where they belong."""

    def logIr(self):
        """Writes the program's text to stderr."""
        print(access.program(self._ir).text(), file=sys.stderr)

    def setPatterns(self, patterns):
        """Remembers nothing: rewrites that keep every number are chosen when a session lowers the program."""

    def applyPreAliasPatterns(self, graph):
        """Nothing, for the same reason."""

    def applyInplacePattern(self, graph):
        """Nothing: results lie where their operands lay wherever nobody can see it."""

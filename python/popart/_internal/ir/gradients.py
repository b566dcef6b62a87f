"""What autodiff says of a gradient graph: which forward tensor each of its inputs and outputs belongs to."""
from popxl.transforms.autodiff import ExpectedConnectionType


class ExpectedConnection:
    def __init__(self, fwdId, type):
        if not isinstance(type, ExpectedConnectionType):
            raise TypeError(f"the type of a connection is an ExpectedConnectionType, not {type!r}")
        self.fwdId = fwdId
        self.type = type

    def __eq__(self, other):
        return isinstance(other, ExpectedConnection) and (self.fwdId, self.type) == (other.fwdId, other.type)

    def __hash__(self):
        return hash((self.fwdId, self.type))

    def __repr__(self):
        return f"ExpectedConnection({self.fwdId!r}, {self.type.name})"


class BwdGraphInfo:
    def __init__(self, bwdGraphId, expectedInputs, expectedOutputs):
        self.bwdGraphId = bwdGraphId
        self.expectedInputs = list(expectedInputs)
        self.expectedOutputs = list(expectedOutputs)

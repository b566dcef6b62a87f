"""Names and numbers of things, as PopART's functions take them."""


class GraphId(str):
    """The name of a graph; the main graph's is empty."""

    def str(self):
        return self


class NumInputs:
    def __init__(self, minimum, maximum):
        self.min, self.max = minimum, maximum


class OperatorIdentifier:
    """An operation of a set of operations with a version, such as ("ai.onnx", "Sum", 6, NumInputs(2, -1), 1)."""

    def __init__(self, domain, type, version, inputs=None, outputs=1):
        self.domain, self.type, self.version = domain, type, version
        self.numInputs = inputs if inputs is not None else NumInputs(0, 0)
        self.numOutputs = outputs

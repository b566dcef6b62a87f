"""A functional graph of PyTorch as a program of Pando that runs."""
import weakref

import numpy as np
import torch

import popxl
import popxl.ops as ops

from pando.torch.importer import Importer
from pando.torch.types import to_array, to_popxl, to_tensor


class Seed:
    """The seed of a program's random ops: a stream that each call gives two numbers of torch's generator."""

    def __init__(self):
        self.stream = self._tensor = None

    def __call__(self):
        if self.stream is None:
            self.stream = popxl.h2d_stream((2,), popxl.uint32, name="seed")
            self._tensor = ops.host_load(self.stream)
        return self._tensor

    def data(self, calls=1, replicas=1):
        """{stream: seeds} for the micro-batches of a call."""
        if self.stream is None:
            return {}
        shape = [n for n in (calls, replicas) if n > 1] + [2]
        return {self.stream: torch.randint(0, 2**31 - 1, shape).numpy().astype(np.uint32)}


class GraphProgram:
    """Runs a graph: a list of inputs in, a list of outputs out, in the order of the graph.

    Args:
        graph_module: functional, with fake tensors in node.meta["val"].
        device: "cpu", "ipu_model" or "interpreter", as for popxl.Session.

    Raises:
        UnsupportedOps: ops without a rule, all of them named.
        UnsupportedType: element types that programs do not have.
    """

    def __init__(self, graph_module, device="cpu"):
        placeholders = [n for n in graph_module.graph.nodes if n.op == "placeholder"]
        self._types = [n.meta["val"] for n in placeholders]
        outputs = next(n for n in graph_module.graph.nodes if n.op == "output").args[0]
        self._output_types = [o.meta["val"] if isinstance(o, torch.fx.Node) else None for o in outputs]
        self.ir = popxl.Ir()
        self._seed = Seed()
        with self.ir.main_graph, popxl.in_sequence(False):
            used = {id(n) for n in placeholders if n.users}
            self._streams, given = [], []
            for node in placeholders:
                value = node.meta["val"]
                stream = None
                if isinstance(value, torch.Tensor) and id(node) in used:
                    stream = popxl.h2d_stream(tuple(value.shape), to_popxl(value.dtype), name=node.name)
                    given.append(ops.host_load(stream))
                else:
                    given.append(value if not isinstance(value, torch.Tensor) else None)
                self._streams.append(stream)
            made = Importer(self._seed).run(graph_module, given)
            self._outputs = []
            for value, fake in zip(made, self._output_types):
                if fake is None or not isinstance(fake, torch.Tensor):
                    self._outputs.append((None, value))
                    continue
                stream = popxl.d2h_stream(value.shape, value.dtype)
                ops.host_store(stream, value)
                self._outputs.append((stream, None))
        self._session = None
        if any(stream for stream, _ in self._outputs):
            self._session = popxl.Session(self.ir, device, weights_to_host_on_exit=False)
            self._session.__enter__()
            weakref.finalize(self, self._session.__exit__, None, None, None)

    def __call__(self, inputs):
        given = {s: to_array(x) for s, x in zip(self._streams, inputs) if s is not None}
        results = self._session.run({**given, **self._seed.data()}) if self._session else {}
        return [constant if stream is None else to_tensor(results[stream], fake.dtype)
                for (stream, constant), fake in zip(self._outputs, self._output_types)]

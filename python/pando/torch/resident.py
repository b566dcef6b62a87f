"""Programs whose weights stay on the device: loops of micro-batches, accumulation of gradients, replicas."""
import weakref
from typing import List

import numpy as np
import torch

import popxl
import popxl.ops as ops

from pando.torch.importer import Importer
from pando.torch.program import Seed
from pando.torch.types import to_array, to_popxl, to_tensor

aten = torch.ops.aten


def take_writes(graph_module, first, end):
    """Makes what a functional graph writes into some of its placeholders results.

    Args:
        first, end: the placeholders, by their numbers.

    Returns:
        their numbers, in the order of the new results, which stand behind the others.
    """
    graph = graph_module.graph
    placeholders = [n for n in graph.nodes if n.op == "placeholder"][first:end]
    output = next(n for n in graph.nodes if n.op == "output")
    written, results = [], list(output.args[0])
    for node in list(graph.nodes):
        if node.op == "call_function" and node.target is aten.copy_.default and node.args[0] in placeholders:
            written.append(first + placeholders.index(node.args[0]))
            results.append(node.args[1])
            node.replace_all_uses_with(node.args[1])
            graph.erase_node(node)
    output.args = (results,)
    return written


class ResidentProgram:
    """A program of steps: each runs `accumulation` micro-batches through a graph, then updates what is resident.

    Args:
        forward: the functional graph of a micro-batch: (resident..., inputs...) to (results..., gradients...); its writes into resident placeholders are updates.
        update: the graph of an update: (resident..., rates..., gradients...), or None.
        resident: tensors whose contents stay on the device, on the host now.
        rates: numbers that the host may change between calls.
        inputs: tensors of the shapes and types of one micro-batch.
        results: how many of forward's outputs are results.
        device: as for popxl.Session.
        steps, accumulation, replicas: how often.
        mean: whether gradients are divided by accumulation * replicas.
    """

    def __init__(self, forward, update, resident, rates, inputs, results, device, steps=1, accumulation=1, replicas=1, mean=True):
        self._forward, self._update, self._results = forward, update, results
        self._inputs, self._steps, self._accumulation, self._replicas, self._mean = inputs, steps, accumulation, replicas, mean
        self._seed, self._last_rates = Seed(), None
        self.ir = popxl.Ir()
        self.ir.num_host_transfers = steps * accumulation
        self.ir.replication_factor = replicas
        names = [n.name for n in forward.graph.nodes if n.op == "placeholder"]
        with self.ir.main_graph, popxl.in_sequence(True):
            self._variables = [popxl.variable(to_array(x), to_popxl(x.dtype), name=n) for x, n in zip(resident, names)]
            self._rates = [popxl.variable(np.float32(r), popxl.float32, name="rate") for r in rates]
            self._count = len(self._variables)
            accumulators = self._make_accumulators() if accumulation > 1 and update is not None else []
            state = [*self._variables, *self._rates, *accumulators]
            self._loop(self._write_step, steps if update is not None else steps * accumulation, state)
        self._session = popxl.Session(self.ir, device, weights_to_host_on_exit=False)
        self._session.__enter__()
        weakref.finalize(self, self._session.__exit__, None, None, None)

    # --- writing

    def _loop(self, write, count, state):
        if count == 1:
            write(state)
        elif state:
            ops.repeat(self.ir.create_graph(write, state), count, *state)
        else:
            ops.repeat(self.ir.create_graph(lambda: write([])), count)

    def _make_accumulators(self):
        outputs = next(n for n in self._forward.graph.nodes if n.op == "output").args[0][self._results:]
        return [popxl.variable(np.zeros(tuple(g.meta["val"].shape), np.float32), popxl.float32, name="accumulator") for g in outputs]

    def _write_step(self, state: List[popxl.TensorByRef]):
        resident, rates = state[:self._count], state[self._count:self._count + len(self._rates)]
        accumulators = state[self._count + len(self._rates):]
        if not accumulators:
            gradients = self._write_batch(resident)
        else:
            for a in accumulators:
                ops.var_updates.accumulator_zero_(a)
            self._loop(self._accumulate, self._accumulation, [*resident, *accumulators])
            gradients = accumulators
        if self._update is None:
            return
        gradients = [self._combined(g) for g in gradients]
        Importer(self._seed).run(self._update, [*resident, *rates, *gradients])

    def _accumulate(self, state: List[popxl.TensorByRef]):
        gradients = self._write_batch(state[:self._count])
        for accumulator, g in zip(state[self._count:], gradients):
            ops.var_updates.accumulate_(accumulator, ops.cast(g, popxl.float32) if g.dtype is not popxl.float32 else g)

    def _combined(self, gradient):
        if self._replicas > 1:
            gradient = ops.collectives.replicated_all_reduce(gradient, op="add")
        parts = self._accumulation * self._replicas
        return gradient * (1 / parts) if self._mean and parts > 1 else gradient

    def _write_batch(self, resident):
        self._streams = [popxl.h2d_stream(tuple(x.shape), to_popxl(x.dtype), name=f"input_{i}") for i, x in enumerate(self._inputs)]
        made = Importer(self._seed).run(self._forward, [*resident, *(ops.host_load(s) for s in self._streams)])
        self._outputs = []
        for value in made[:self._results]:
            if not isinstance(value, popxl.Tensor):
                self._outputs.append((None, value))
                continue
            stream = popxl.d2h_stream(value.shape, value.dtype)
            ops.host_store(stream, value)
            self._outputs.append((stream, None))
        return made[self._results:]

    # --- running

    @property
    def calls(self):
        """(micro-batches of a replica in one call, replicas)"""
        return self._steps * self._accumulation, self._replicas

    def run(self, inputs, rates=()):
        """Arrays for all micro-batches, (calls, replicas, *shape) without leading ones, to arrays of the same form, or what is constant."""
        rates = [float(r) for r in rates]
        if rates != self._last_rates:
            self._session.write_variables_data({v: np.float32(r) for v, r in zip(self._rates, rates)})
            self._last_rates = rates
        given = {s: x for s, x in zip(self._streams, inputs)}
        results = self._session.run({**given, **self._seed.data(*self.calls)}) if given or self._outputs or self._seed.stream else self._session.run()
        return [constant if stream is None else results[stream] for stream, constant in self._outputs]

    def load(self, resident):
        """Takes the contents of host tensors, in the order of `resident`; None leaves what is there."""
        self._session.write_variables_data({v: to_array(x).astype(v.dtype.as_numpy()) for v, x in zip(self._variables, resident) if x is not None})

    def save(self, resident):
        """Gives host tensors the contents that the device holds."""
        data = self._session.get_tensors_data(self._variables)
        with torch.no_grad():
            for v, x in zip(self._variables, resident):
                x.data.copy_(to_tensor(data[v], x.dtype))

"""A functional graph of PyTorch as a program of Pando that runs: what stays on the device, loops of micro-batches, accumulation of gradients, replicas."""
import weakref
from typing import List

import numpy as np
import torch

import popxl
import popxl.ops as ops

from pando.torch.bounds import bounds
from pando.torch.complex import joined, part_type, whole_shape
from pando.torch.importer import Importer
from pando.torch.passes import remove_index_expansions
from pando.torch.types import to_array, to_popxl, to_tensor

aten = torch.ops.aten


class Seed:
    """The seed of a program's random ops: a stream that each call gives two numbers of torch's generator."""

    def __init__(self):
        self.stream = self._tensor = None

    def __call__(self):
        if self.stream is None:
            self.stream = popxl.h2d_stream((2,), popxl.uint32, name="seed")
            self._tensor = ops.host_load(self.stream)
        return self._tensor

    def data(self, calls=1, replicas=1, here=None):
        """{stream: seeds} for the micro-batches of a call. here: the replicas of this process, a range; None: all."""
        if self.stream is None:
            return {}
        seeds = torch.randint(0, 2**31 - 1, (calls, replicas, 2)).numpy().astype(np.uint32)
        if here is not None:
            seeds, replicas = seeds[:, here.start:here.stop], len(here)
        return {self.stream: np.ascontiguousarray(seeds).reshape([n for n in (calls, replicas) if n > 1] + [2])}


def placeholders(graph_module):
    """The nodes of a graph's inputs."""
    return [n for n in graph_module.graph.nodes if n.op == "placeholder"]


def output(graph_module):
    """The node of a graph's results; its first argument lists them."""
    return next(n for n in graph_module.graph.nodes if n.op == "output")


def is_write(node):
    """Whether a node of a graph writes into a tensor."""
    return node.op == "call_function" and node.target is aten.copy_.default


def take_writes(graph_module, first, end):
    """Makes what a functional graph writes into some of its placeholders results.

    Args:
        first, end: the placeholders, by their numbers.

    Returns:
        their numbers, in the order of the new results, which stand after the others.
    """
    inputs = placeholders(graph_module)[first:end]
    written, results = [], list(output(graph_module).args[0])
    for node in list(graph_module.graph.nodes):
        if is_write(node) and node.args[0] in inputs:
            written.append(first + inputs.index(node.args[0]))
            results.append(node.args[1])
            node.replace_all_uses_with(node.args[1])
            graph_module.graph.erase_node(node)
    output(graph_module).args = (results,)
    return written


def on_one_replica(tensors, groups, replicas):
    """What one replica has of tensors of the host: an entry of those that differ between groups. groups: as for Program; None or empty: there are none."""
    groups = groups or [None] * len(tensors)
    return [t[0] if group is not None and group[1] < replicas else t for t, group in zip(tensors, groups)]


class Program:
    """A program that runs a graph for each micro-batch of a call and, where it trains, updates what is resident after `accumulation` of them.

    Args:
        forward: the functional graph of a micro-batch, with fake tensors in node.meta["val"]: (resident..., inputs...) to (results..., gradients...). Its
            writes into resident placeholders (aten.copy_) are updates. Inputs that it does not use are not sent to the device.
        device: "cpu", "ipu_model" or "interpreter", as for popxl.Session.
        resident: tensors whose contents stay on the device, on the host now.
        update: the graph of an update: (resident..., rates..., gradients...), or None.
        rates: numbers that the host may change between calls.
        results: how many of forward's outputs are results, the others being gradients; None: all.
        steps, accumulation, replicas: how often; replicas of this process.
        mean: whether gradients are divided by accumulation * replicas * instances.
        instances: processes that run the program, each so many replicas (popdist).
        names: of what is resident and of the inputs; empty: those of the graph's nodes.
        profile: a folder for a report of compiling and of the first run, as for popxl.Session; None: there is none.
        groups: for each resident tensor (stride, size) of the groups of replicas that share it, or None: all do. What several groups have is on the host
            a tensor with a first dimension of groups.
        gradient_groups: for each gradient the groups over which it is added up, in the same form.

    The session is made by open(), which the first run calls.

    Raises:
        UnsupportedOps: ops without a rule, all of them named.
        UnsupportedType: element types that programs do not have.
    """

    def __init__(self, forward, device="cpu", resident=(), update=None, rates=(), results=None, steps=1, accumulation=1, replicas=1, mean=True,
                 names=(), instances=1, profile=None, groups=(), gradient_groups=()):
        # [(node, whether it gathers)] of the graph whose index names whole slices now.
        self.sliced = remove_index_expansions(forward)
        self._forward, self._device, self._update, self._results = forward, device, update, results
        self._profile, self._gradient_groups = profile, list(gradient_groups)
        self._steps, self._accumulation, self._replicas, self._mean = steps, accumulation, replicas * instances, mean
        self._seed, self._last_rates, self._session = Seed(), [float(r) for r in rates], None
        self._count = len(resident)
        nodes = placeholders(forward)
        names = list(names) or [n.name for n in nodes]
        self._inputs, self._names = nodes[self._count:], names[self._count:]
        self._bounds = [(i, bound) for i, node in enumerate(self._inputs) for bound in bounds(node)]
        self._outputs, self._streams, self._checks = [], [], []
        self.ir = popxl.Ir()
        self.ir.num_host_transfers = steps * accumulation
        self.ir.replication_factor = replicas
        self._here = None
        if instances > 1:
            import popdist

            self._here = range(popdist.getReplicaIndexOffset(), popdist.getReplicaIndexOffset() + replicas)
            # Weights are the same on all replicas, and programs read them where one instance alone writes a checkpoint.
            self.ir._share(replicas * instances)
            self.ir._reads_own_replica = True
        # Reads and writes of what stays keep their order.
        ordered = update is not None or any(map(is_write, forward.graph.nodes))
        with self.ir.main_graph, popxl.in_sequence(ordered):
            groups = list(groups) or [None] * len(resident)
            self._variables = [popxl.variable(to_array(x), to_popxl(part_type(x.dtype)), name=name, replica_grouping=self._grouping(group))
                               for x, name, group in zip(resident, names, groups)]
            self._rates = [popxl.variable(np.float32(r), popxl.float32, name="rate") for r in rates]
            accumulators = self._make_accumulators() if accumulation > 1 and update is not None else []
            self._loop(self._write_step, steps if update is not None else steps * accumulation, [*self._variables, *self._rates, *accumulators])
        self._runs = ordered or any(stream for stream, _ in self._outputs) or bool(self._checks)

    def open(self):
        """Compiles the program, unless that is done. What is constant needs none. Returns self."""
        return self._open({})

    def _open(self, contents):
        """open() with other contents {variable: array} than those that the variables have, which go to the device once."""
        if self._session is None and self._runs:
            self._session = popxl.Session(self.ir, self._device, weights_to_host_on_exit=False, profile=self._profile)
            self._session._write_variables(contents)
            self._session.__enter__()
            weakref.finalize(self, self._session.__exit__, None, None, None)
        elif contents:
            self._session._write_variables(contents)
        return self

    # --- writing

    def _loop(self, write, count, state):
        if count == 1:
            write(state)
        elif state:
            ops.repeat(self.ir.create_graph(write, state), count, *state)
        else:
            ops.repeat(self.ir.create_graph(lambda: write([])), count)

    def _make_accumulators(self):
        gradients = output(self._forward).args[0][self._results:]
        return [popxl.variable(np.zeros(whole_shape(g.meta["val"]), np.float32), popxl.float32, name="accumulator") for g in gradients]

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
        gradients = [self._combined(g, group) for g, group in zip(gradients, self._gradient_groups or [None] * len(gradients))]
        Importer(self._seed).run(self._update, [*resident, *rates, *gradients])

    def _accumulate(self, state: List[popxl.TensorByRef]):
        gradients = self._write_batch(state[:self._count])
        for accumulator, g in zip(state[self._count:], gradients):
            ops.var_updates.accumulate_(accumulator, ops.cast(g, popxl.float32) if g.dtype is not popxl.float32 else g)

    def _grouping(self, group):
        return None if group is None else self.ir.replica_grouping(*group)

    def _combined(self, gradient, group):
        if self._replicas > 1 and (group is None or group[1] > 1):
            gradient = ops.collectives.replicated_all_reduce(gradient, op="add", group=self._grouping(group))
        parts = self._accumulation * self._replicas
        return gradient * (1 / parts) if self._mean and parts > 1 else gradient

    def _load(self, node, name):
        """The value of an input: a tensor from a stream; a number that the graph knows; None for what it does not use."""
        value = node.meta["val"]
        if not isinstance(value, torch.Tensor):
            self._streams.append(None)
            return value
        stream = popxl.h2d_stream(whole_shape(value), to_popxl(part_type(value.dtype)), name=name) if node.users else None
        self._streams.append(stream)
        return None if stream is None else ops.host_load(stream)

    def _write_batch(self, resident):
        importer = Importer(self._seed)
        made = importer.run(self._forward, [*resident, *map(self._load, self._inputs, self._names)])
        self._write_checks(importer.checks)
        made = [joined(value) for value in made]
        for value in made[:self._results]:
            if not isinstance(value, popxl.Tensor):
                self._outputs.append((None, value))
                continue
            stream = popxl.d2h_stream(value.shape, value.dtype)
            ops.host_store(stream, value)
            self._outputs.append((stream, None))
        return [] if self._results is None else made[self._results:]

    def _write_checks(self, checks):
        """A stream of one number for each check."""
        self._checks = checks
        if not checks:
            return
        holds = [ops.reshape(check.holds, (1,)) for check in checks]
        self._held = popxl.d2h_stream((len(checks),), popxl.int32, name="checks")
        ops.host_store(self._held, holds[0] if len(holds) == 1 else ops.concat(holds))

    def _look(self, held):
        """Raises what the first check says that does not hold."""
        held = held.reshape(-1, len(self._checks)).all(0)
        if not held.all():
            raise self._checks[int(held.argmin())].failure()

    # --- running

    def run(self, inputs, rates=()):
        """Runs all micro-batches of a call.

        Args:
            inputs: an array for each input, of the shape (steps * accumulation, replicas, *shape) without leading ones; what the graph does not use is ignored.
            rates: numbers in the order of `rates`.

        Returns:
            arrays of the same form, or what is constant, in the order of the results.

        Raises:
            IndexError: an index that an op of the graph does not take.
            RuntimeError: an assertion of the graph did not hold. All micro-batches have run, and what is resident has changed.
        """
        self.open()
        for i, bound in self._bounds:
            bound.check(inputs[i], self._names[i])
        if self._session is None:
            return [constant for _, constant in self._outputs]
        rates = [float(r) for r in rates]
        if rates != self._last_rates:
            self._session._write_variables({v: np.float32(r) for v, r in zip(self._rates, rates)})
            self._last_rates = rates
        given = {s: x for s, x in zip(self._streams, inputs) if s is not None}
        results = self._session.run({**given, **self._seed.data(self._steps * self._accumulation, self._replicas, self._here)})
        if self._checks:
            self._look(results[self._held])
        return [constant if stream is None else results[stream] for stream, constant in self._outputs]

    def __call__(self, inputs):
        """A list of tensors to a list of results, as PyTorch has them."""
        results = self.run([None if stream is None else to_array(x) for stream, x in zip(self._streams, inputs)])
        return [to_tensor(x, o.meta["val"].dtype) if isinstance(x, np.ndarray) else x for x, o in zip(results, output(self._forward).args[0])]

    def load(self, resident):
        """Takes the contents of host tensors, in the order of `resident`; None leaves what is there."""
        self._open({v: to_array(x).astype(v.dtype.as_numpy(), copy=False) for v, x in zip(self._variables, resident) if x is not None})

    def save(self, resident):
        """Gives host tensors the contents that the device holds."""
        data = self.open()._session.get_tensors_data(self._variables)
        with torch.no_grad():
            for v, x in zip(self._variables, resident):
                x.data.copy_(to_tensor(data[v], x.dtype))

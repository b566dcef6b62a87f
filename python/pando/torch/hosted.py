"""Graphs that call functions on the host: a program up to each call and one after the last, run one after the other."""
import itertools

import numpy as np
import torch
import torch.fx

from pando.torch.program import Program, is_write, output, placeholders
from pando.torch.rules.host import HOST_FUNCTIONS
from pando.torch.types import to_array

_CALL = torch.ops.pando.host_call.default


def calls_host(graph_module):
    """Whether a graph calls functions on the host."""
    return any(n.target is _CALL for n in graph_module.graph.nodes)


def _levels(graph):
    """{node: how many calls lie before it on the longest way}"""
    levels = {}
    for node in graph.nodes:
        levels[node] = max((levels[n] + (n.target is _CALL) for n in node.all_input_nodes), default=0)
    return levels


def _copy_constants(graph_module, resident):
    """Copies what stays on the device, or is constant, where a call or the host takes it: then a program makes it."""
    for node in [n for n in graph_module.graph.nodes if n.target is _CALL or n.op == "output"]:
        with graph_module.graph.inserting_before(node):
            for value in dict.fromkeys(node.all_input_nodes):
                if value in resident or value.op == "get_attr":
                    copied = graph_module.graph.call_function(torch.ops.aten.clone.default, (value,))
                    copied.meta["val"] = value.meta["val"]
                    node.replace_input_with(value, copied)


class HostedProgram:
    """A graph with calls of functions on the host, for inference: as many programs as there are calls one after the other, and one more.

    Args: as for Program.

    Raises:
        NotImplementedError: a graph that writes into what is resident.
    """

    def __init__(self, graph_module, device, resident, steps=1, replicas=1):
        if any(map(is_write, graph_module.graph.nodes)):
            raise NotImplementedError("A graph that calls a function on the host cannot change tensors that stay on the device.")
        self._lead = [n for n in (steps, replicas) if n > 1]
        self._nodes = placeholders(graph_module)[len(resident):]
        self._resident = placeholders(graph_module)[:len(resident)]
        _copy_constants(graph_module, self._resident)
        self._results = output(graph_module).args[0]
        levels = _levels(graph_module.graph)
        self._calls = [n for n in graph_module.graph.nodes if n.target is _CALL]
        self._parts = []
        for level in range(max(levels.values()) + 1):
            part = self._make_part(graph_module, levels, level, resident, device, steps, replicas)
            self._parts.append((part, [n for n in self._calls if levels[n] == level]))

    def _make_part(self, graph_module, levels, level, resident, device, steps, replicas):
        """(the program of a level or None, {its resident tensors' places}, its inputs, its results), the last two as nodes of the whole graph."""
        own = [n for n in graph_module.graph.nodes if levels[n] == level and n.op == "call_function" and n.target is not _CALL and not self._from_call(n)]
        inside = set(own)
        results = [n for n in own if any(user not in inside for user in n.users)]
        needed = list(dict.fromkeys(i for n in own for i in n.all_input_nodes if i not in inside and i.op != "get_attr"))
        weights = [i for i, n in enumerate(self._resident) if n in needed]
        inputs = [n for n in needed if n not in self._resident]
        if not results:
            return None, [], [], []
        graph, new = torch.fx.Graph(), {}
        for n in [*(self._resident[i] for i in weights), *inputs]:
            new[n] = graph.placeholder(n.name)
            new[n].meta["val"] = n.meta["val"]
        constants = dict.fromkeys(i for n in own for i in n.all_input_nodes if i.op == "get_attr")
        for n in [*constants, *own]:
            new[n] = graph.node_copy(n, lambda m: new[m])
        graph.output([new[n] for n in results])
        program = Program(torch.fx.GraphModule(graph_module, graph), device, [resident[i] for i in weights], steps=steps, replicas=replicas)
        return program, weights, inputs, results

    def _from_call(self, node):
        """Whether a node picks a result of a call."""
        return bool(node.args) and isinstance(node.args[0], torch.fx.Node) and node.args[0].target is _CALL

    def open(self):
        """See Program.open."""
        for (program, _, _, _), _ in self._parts:
            if program is not None:
                program.open()
        return self

    def run(self, inputs):
        """See Program.run."""
        values = dict(zip(self._nodes, inputs))
        for (program, _, given, results), calls in self._parts:
            if program is not None:
                values.update(zip(results, program.run([values[n] for n in given])))
            for call in calls:
                made = self._call(call, [values[n] for n in call.args[0]])
                values.update((user, made[user.args[1]]) for user in call.users)
        return [values[r] if isinstance(r, torch.fx.Node) else r for r in self._results]

    def _call(self, node, inputs):
        """The results of a call, for all micro-batches."""
        function, types = HOST_FUNCTIONS.function(node.args[1]), [n.meta["val"].dtype for n in node.args[0]]
        if not self._lead:
            return [to_array(y) for y in self._run_function(function, inputs, types)]
        made = {place: self._run_function(function, [x[place] for x in inputs], types) for place in itertools.product(*map(range, self._lead))}
        first = next(iter(made.values()))
        return [np.stack([to_array(ys[i]) for ys in made.values()]).reshape(*self._lead, *first[i].shape) for i in range(len(first))]

    @staticmethod
    def _run_function(function, arrays, types):
        with torch.no_grad():
            return function(*[torch.from_numpy(np.ascontiguousarray(a)).to(t) for a, t in zip(arrays, types)])

    def load(self, resident):
        """See Program.load."""
        for (program, weights, _, _), _ in self._parts:
            if program is not None:
                program.load([resident[i] for i in weights])

    def save(self, resident):
        """Nothing: the program does not change what is resident."""

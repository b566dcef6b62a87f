"""Random programs: public functions on random tensors and arguments, in random contexts, compiled and run. What does not fit raises an exception; nothing may
end the interpreter, or be a defect.

    random_programs.py SEED SECONDS     prints how many programs were tried, and ran
"""
import inspect
import random
import sys
import time

import numpy as np
import popxl
import popxl.ops as ops
from popxl.context import _execution_context

SHAPES = [(), (1,), (4,), (3, 4), (4, 3), (2, 3, 4), (1, 2, 5, 5), (0, 3)]
DTYPES = [popxl.float32] * 5 + [popxl.int32, popxl.float16, popxl.uint32, popxl.bool]
# They need more than tensors and numbers, or write to the test's own output.
LEFT_OUT = {"print_tensor", "call", "call_with_info", "repeat", "repeat_with_info", "conditional", "conditional_with_info"}
FUNCTIONS = [f for name in ops.__all__ if name not in LEFT_OUT and callable(f := getattr(ops, name, None)) and inspect.isfunction(f)]


class Programs:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def data(self, shape, dtype):
        values = [self.random.choice([0, 1, 2, 3, -1, 0.5, 7]) for _ in range(int(np.prod(shape)))]
        return np.array(values).reshape(shape).astype(dtype.as_numpy())

    def argument(self, parameter, tensors):
        """A value for a parameter: what its annotation asks for, mostly."""
        text = str(parameter.annotation)
        r = self.random
        if "Tensor" in text and not (r.random() < 0.3 and ("int" in text or "float" in text)):
            many = parameter.kind is parameter.VAR_POSITIONAL or "Iterable[Tensor" in text or "List[Tensor" in text
            return [r.choice(tensors) for _ in range(r.randint(1, 3))] if many and parameter.kind is not parameter.VAR_POSITIONAL else r.choice(tensors)
        if "dtype" in text:
            return r.choice(DTYPES)
        if "bool" in text:
            return r.random() < 0.5
        if any(word in text for word in ("Tuple", "Iterable", "List")):
            return [r.choice([0, 1, 2, 3, -1]) for _ in range(r.randint(1, 4))]
        if "int" in text:
            return r.choice([0, 1, 2, 3, -1, 4])
        if "float" in text:
            return r.choice([0.0, 0.5, 1.0, -2.0])
        if "str" in text or "Literal" in text:
            return r.choice(["add", "mean", "sum", "none", "max", "executable", "linear", "nearest", "same_upper", "not_set"])
        return parameter.default if parameter.default is not parameter.empty else r.choice(tensors)

    def step(self, tensors):
        function = self.random.choice(FUNCTIONS)
        arguments, named = [], {}
        for name, p in inspect.signature(function).parameters.items():
            if p.default is not p.empty and self.random.random() < 0.6:
                continue
            value = self.argument(p, tensors)
            if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
                named[name] = value
            elif p.kind is p.VAR_POSITIONAL:
                arguments += [value, self.random.choice(tensors)]
        made = function(*arguments, **named)
        for t in made if isinstance(made, (tuple, list)) else [made]:
            if isinstance(t, popxl.Tensor) and t.nelms < 500:
                tensors.append(t)

    def steps(self, tensors, count):
        for _ in range(count):
            try:
                self.step(tensors)
            except RuntimeError as e:
                if "defect" in str(e):
                    raise
            except (ValueError, TypeError, IndexError, KeyError, NotImplementedError, AttributeError, OverflowError):
                pass

    def graph(self, ir, tensors):
        """A graph of random steps, called; perhaps its gradient."""
        chosen = self.random.sample(tensors, min(2, len(tensors)))

        def body(*inputs):
            held = list(inputs)
            self.steps(held, 4)
            return held[-1]

        graph = ir.create_graph(body, *chosen)
        info = ops.call_with_info(graph, *chosen)
        tensors += info.outputs
        if self.random.random() < 0.5:
            gradient = popxl.transforms.autodiff(graph)
            seeds = [popxl.constant(np.ones(t.shape), t.dtype) for t in info.outputs]
            tensors += ops.call(gradient.graph, *seeds[:1], inputs_dict=gradient.inputs_dict(info))

    def context(self, ir):
        r = self.random.random()
        if r < 0.15:
            return popxl.in_sequence()
        if r < 0.25:
            return popxl.ipu(self.random.randint(0, 1))
        if r < 0.35:
            return _execution_context(self.random.choice(list(popxl.ExecutionContext)))
        return popxl.name_scope("s")

    def run(self):
        ir = popxl.Ir(self.random.choice([1, 1, 1, 2]))
        with ir.main_graph:
            tensors = [popxl.variable(self.data(s, d), d) for s, d in ((self.random.choice(SHAPES), self.random.choice(DTYPES)) for _ in range(5))]
            for _ in range(self.random.randint(1, 4)):
                with self.context(ir):
                    self.steps(tensors, 3)
                    if self.random.random() < 0.3:
                        try:
                            self.graph(ir, tensors)
                        except RuntimeError as e:
                            if "defect" in str(e):
                                raise
                        except (ValueError, TypeError, IndexError, KeyError, NotImplementedError, AttributeError, OverflowError):
                            pass
            for t in tensors[-3:]:
                ops.host_store(popxl.d2h_stream(t.shape, t.dtype), t)
        with popxl.Session(ir, "cpu") as session:
            session.run({stream: np.zeros(session._full_shape(stream), stream.dtype.as_numpy()) for stream in session.expected_inputs()})


def main(seed, seconds):
    end = time.monotonic() + seconds
    tried = ran = 0
    while time.monotonic() < end:
        tried += 1
        print(f"seed {seed}", file=sys.stderr, flush=True)
        try:
            Programs(seed).run()
            ran += 1
        except Exception as e:  # noqa: BLE001: all but defects are what a user sees
            if "defect" in str(e):
                sys.exit(f"seed {seed}: {e}")
        seed += 1
    print(f"{tried} tried, {ran} ran")


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))

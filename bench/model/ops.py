"""Single ops on a million elements, forward or the gradient: compile time and time of a run.

    ops.py NAME DEVICE [CALLS]    DEVICE: cpu, ipu_model (1,472 tiles), or torch: PyTorch's op on the host; prints one JSON object

Each op is tensors by name and type, with a function of popxl's ops, or of PyTorch's, on them. Results are compared by a sum of magnitudes.
"""
import json
import sys
import time

import numpy as np

SIDE = 1000
random = np.random.default_rng(0)


def floats(*shape):
    return random.normal(0, 1, shape).astype(np.float32)


def positions(n, *shape):
    return random.integers(0, n, shape).astype(np.int32)


# By name: the operands, then popxl's op and PyTorch's. `gradient`: of the first operand, the slope of the result being one everywhere.
OPS = {
    "cumsum": (lambda: [floats(SIDE, SIDE)], lambda ops, x: ops.cumsum(x, 1), lambda torch, x: torch.cumsum(x, 1)),
    "interpolate": (lambda: [floats(1, 4, 250, 250)], lambda ops, x: ops.interpolate(x, (1.0, 1.0, 2.0, 2.0)),
                    lambda torch, x: torch.nn.functional.interpolate(x, scale_factor=2, mode="nearest")),
    "histogram": (lambda: [floats(SIDE * SIDE)], lambda ops, x: ops.histogram(x, [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0], False),
                  lambda torch, x: torch.histc(x, 8, -4, 4)),
    "scatter_reduce": (lambda: [floats(10000, 100), positions(SIDE, 10000)], lambda ops, x, i: ops.scatter_reduce(x, i, "sum", axis=0, axis_size=SIDE),
                       lambda torch, x, i: torch.zeros(SIDE, x.shape[1]).index_add_(0, i, x)),
    "gather gradient": (lambda: [floats(SIDE, SIDE), positions(SIDE, SIDE)], lambda ops, x, i: ops.gather(x, i, 1),
                        lambda torch, x, i: torch.index_select(x, 1, i)),
    "subsample gradient": (lambda: [floats(SIDE, SIDE)], lambda ops, x: ops.subsample(x, [2, 2]), lambda torch, x: x[::2, ::2]),
    "maximum of halfs": (lambda: [floats(SIDE, SIDE).astype(np.float16), floats(SIDE, SIDE).astype(np.float16)], lambda ops, x, y: ops.maximum(x, y),
                         lambda torch, x, y: torch.maximum(x, y)),
    "exp of -100": (lambda: [floats(SIDE, SIDE) - 100], lambda ops, x: ops.exp(x), lambda torch, x: torch.exp(x)),
    "strided convolution": (lambda: [floats(4, 16, 128, 128), floats(32, 16, 3, 3)], lambda ops, x, w: ops.conv(x, w, (2, 2), (1, 1, 1, 1)),
                            lambda torch, x, w: torch.nn.functional.conv2d(x, w, stride=2, padding=1)),
    "median along axis 0": (lambda: [floats(SIDE, SIDE)], lambda ops, x: ops.median(x, 0), lambda torch, x: torch.median(x, 0).values),
    "transpose and add": (lambda: [floats(SIDE, SIDE)], lambda ops, x: ops.add(ops.transpose(x, (1, 0)), x), lambda torch, x: x.T + x),
    "product 100,000 deep": (lambda: [floats(10, 100 * SIDE), floats(100 * SIDE, 10)], lambda ops, x, y: ops.matmul(x, y), lambda torch, x, y: x @ y),
}
# Numbers of classes, not of the same ones; denormal numbers, which PyTorch keeps.
UNCOMPARED = {"histogram", "exp of -100"}


def sum_of(name, result):
    return 0.0 if name in UNCOMPARED else float(np.abs(np.asarray(result, np.float64)).sum())


def measured(run, calls):
    times = []
    for _ in range(calls + 1):
        began = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - began)
    return min(times[1:]), result


def of_popxl(name, device, calls):
    import popxl
    import popxl.ops as ops
    import popxl.transforms as transforms
    operands, op, _ = OPS[name]
    ir = popxl.Ir()
    with ir.main_graph, popxl.in_sequence():
        inputs = [popxl.variable(x) for x in operands()]
        graph = ir.create_graph(lambda *x: op(ops, *x), *inputs)
        info = ops.call_with_info(graph, *inputs)
        result = info.outputs[0]
        if name.endswith("gradient"):
            back = transforms.autodiff(graph, grads_required=[graph.inputs[0]])
            slope = popxl.constant(np.ones(result.shape, np.float32))
            given = ops.call(back.graph, slope, inputs_dict=back.inputs_dict(info))
            result = given[0] if isinstance(given, tuple) else given
        kept = popxl.variable(np.zeros(result.shape, result.dtype.as_numpy()))
        ops.var_updates.copy_var_update_(kept, result)
    began = time.perf_counter()
    session = popxl.Session(ir, device)
    compiled = time.perf_counter() - began
    with session:
        step, _ = measured(session.run, calls)
        return compiled, step, session.get_tensor_data(kept)


def of_torch(name, calls):
    import torch
    torch.set_num_threads(2)
    operands, _, op = OPS[name]
    inputs = [torch.from_numpy(x) for x in operands()]
    if not name.endswith("gradient"):
        step, result = measured(lambda: op(torch, *inputs), calls)
        return 0.0, step, result.numpy()

    def both_ways():
        inputs[0].grad = None
        op(torch, *inputs).sum().backward()
        return inputs[0].grad

    inputs[0].requires_grad_()
    step, result = measured(both_ways, calls)
    return 0.0, step, result.numpy()


def main():
    name, device = sys.argv[1:3]
    calls = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    compiled, step, result = of_torch(name, calls) if device == "torch" else of_popxl(name, device, calls)
    print(json.dumps({"compile": compiled, "step": step, "sum": sum_of(name, result)}))


if __name__ == "__main__":
    main()

"""Data-parallel training on any number of instances and replicas, which poprun says:

    poprun --num-instances 2 --num-replicas 4 python examples/popxl/data_parallel.py

Without poprun it is one replica. Each instance reads its own part of the data; the sum of the gradients goes over all replicas of all instances, and
each of them makes the same update.
"""
import numpy as np
import popdist
import popxl
from popdist import collectives
from popxl import ops

STEPS, BATCH, FEATURES = 60, 96, 8

popdist.init()
ir = popxl.Ir(replication="popdist")
here = ir.instance_replication_factor
batch = BATCH // ir.replication_factor

random = np.random.default_rng(1)
data = random.standard_normal((BATCH, FEATURES), np.float32)
truth = np.linspace(-1, 1, FEATURES, dtype=np.float32).reshape(FEATURES, 1)
first = popdist.getReplicaIndexOffset() * batch
mine = data[first:first + here * batch].reshape(here, batch, FEATURES)
targets = mine @ truth

with ir.main_graph, popxl.in_sequence():
    x_stream = popxl.h2d_stream((batch, FEATURES), popxl.float32)
    t_stream = popxl.h2d_stream((batch, 1), popxl.float32)
    loss_stream = popxl.d2h_stream((), popxl.float32)
    x, t = ops.host_load(x_stream), ops.host_load(t_stream)
    w = popxl.variable(np.zeros((FEATURES, 1), np.float32), name="w")
    difference = x @ w - t
    gradient = x.T @ difference * (2 / batch)
    mean = ops.collectives.replicated_all_reduce(gradient, op="mean")
    ops.var_updates.accumulate_(w, mean * -0.1)
    ops.host_store(loss_stream, ops.mean(difference * difference))

with popxl.Session(ir, "cpu") as session:
    for step in range(STEPS):
        loss = np.mean(session.run({x_stream: mine, t_stream: targets})[loss_stream])
        if step % 20 == 19:
            loss = collectives.all_reduce(loss, "mean")
            if popdist.getInstanceIndex() == 0:
                print(f"step {step + 1}: loss {loss:.4f}")

if popdist.getInstanceIndex() == 0:
    print("largest error of a weight:", f"{np.abs(session.get_tensor_data(w) - truth).max():.3f}")

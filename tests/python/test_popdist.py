"""poprun and popdist: programs on several instances, as processes."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

BIN = pathlib.Path(os.environ.get("PANDO_BIN", pathlib.Path(__file__).resolve().parents[2] / "build/bin"))
POPRUN = BIN / "poprun"

needs_mpi = pytest.mark.skipif(shutil.which("mpirun") is None or not (BIN.parent / "lib/libpando_mpi.so").exists(), reason="no MPI")

TRAIN = '''
import sys
import numpy as np
import popdist
import popxl
from popxl import ops

popdist.init()
ir = popxl.Ir(replication="popdist") if popdist.isPopdistEnvSet() else popxl.Ir(replication=4)
replicas, here = ir.replication_factor, ir.instance_replication_factor
first = popdist.getReplicaIndexOffset()
random = np.random.default_rng(7)
w_data = random.standard_normal((6, 5), np.float32)
g_data = random.standard_normal((2, 5), np.float32)
x_data = random.standard_normal((3, replicas, 8, 6), np.float32)
with ir.main_graph, popxl.in_sequence():
    x_stream = popxl.h2d_stream((8, 6), popxl.float32)
    loss_stream = popxl.d2h_stream((), popxl.float32)
    x = ops.host_load(x_stream)
    w = popxl.variable(w_data, name="w")
    bias = popxl.variable(g_data, name="bias", replica_grouping=ir.replica_grouping(group_size=2))
    handle, shard = popxl.replica_sharded_variable(np.arange(20, dtype=np.float32), name="state")
    graph = ir.create_graph(lambda x, w, b: ops.mean(ops.tanh(x @ w + b) ** 2), x, w, bias)
    gradients = popxl.transforms.autodiff(graph)
    called = ops.call_with_info(graph, x, w, bias)
    loss = called.outputs[0]
    activations = gradients.inputs_dict(called)
    back = ops.call_with_info(gradients.graph, ops.cast(popxl.constant(1.0), popxl.float32), inputs_dict=activations)
    of = gradients.fwd_parent_ins_to_grad_parent_outs(called, back)
    dw = ops.collectives.replicated_all_reduce(of[w], op="mean")
    ops.var_updates.accumulate_(w, dw * -0.5)
    db = ops.collectives.replicated_all_reduce(of[bias], op="mean", group=ir.replica_grouping(group_size=2))
    ops.var_updates.accumulate_(bias, db * -0.5)
    whole = ops.collectives.replicated_all_gather(shard)
    ops.var_updates.accumulate_(shard, ops.collectives.replica_sharded_slice(whole * 0.25))
    ops.host_store(loss_stream, loss)
losses = []
with popxl.Session(ir, sys.argv[2]) as session:
    for step in range(3):
        out = session.run({x_stream: x_data[step, first:first + here]})
        losses.append(np.atleast_1d(out[loss_stream]))
np.savez(sys.argv[1] + f"-{popdist.getInstanceIndex()}.npz", w=session.get_tensor_data(w), bias=session.get_tensor_data(bias),
         state=session.get_tensor_data(handle), losses=np.stack(losses))
'''


def environment(**more):
    """What programs start in. An interpreter without buffers writes a line in pieces, and pieces of two instances mix: programs here keep theirs."""
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return {**outside, **root, "OMP_NUM_THREADS": "1", **more}


def poprun(*words, status=0, **more):
    """What a command prints: (standard output, standard error)."""
    done = subprocess.run([str(POPRUN), *map(str, words)], capture_output=True, text=True, env=environment(**more), timeout=300)
    assert done.returncode == status, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout, done.stderr


def script(folder, text, name="program.py"):
    path = folder / name
    path.write_text(text)
    return path


@needs_mpi
@pytest.mark.parametrize("device", ["cpu", "ipu_model"])
def test_two_instances_of_two_replicas_train_to_the_same_bits_as_one_process(tmp_path, device):
    program = script(tmp_path, TRAIN)
    subprocess.run([sys.executable, program, tmp_path / "one", device], check=True, env=environment())
    poprun("--num-instances", 2, "--num-replicas", 4, sys.executable, program, tmp_path / "two", device)
    one = np.load(tmp_path / "one-0.npz")
    for instance in range(2):
        two = np.load(tmp_path / f"two-{instance}.npz")
        for name in ("w", "bias", "state"):
            assert two[name].tobytes() == one[name].tobytes(), (instance, name)
        assert two["losses"].tobytes() == one["losses"][:, 2 * instance:2 * instance + 2].tobytes()
    assert not np.array_equal(one["losses"][0], one["losses"][2])


TORCH = '''
import sys
import numpy as np
import popdist
import popdist.poptorch
import poptorch
import torch

popdist.init()
torch.manual_seed(3)
if popdist.isPopdistEnvSet():
    options = popdist.poptorch.Options()
else:
    options = poptorch.Options().replicationFactor(4)
options.deviceIterations(2).outputMode(poptorch.OutputMode.All)
options.Training.gradientAccumulation(2)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Dropout(0.3), torch.nn.Linear(8, 3))

    def forward(self, x, labels):
        y = self.layers(x)
        return y, torch.nn.functional.cross_entropy(y, labels)


model = Model()
training = poptorch.trainingModel(model, options, poptorch.optim.AdamW(model.parameters(), lr=0.01))
parts, local = 4, options.replication_factor
first = popdist.getReplicaIndexOffset()
torch.manual_seed(17)
losses = []
for step in range(3):
    x = torch.randn(parts, 4, 5, 6)[:, first:first + local].reshape(-1, 6)
    labels = torch.randint(0, 3, (parts, 4, 5))[:, first:first + local].reshape(-1)
    out, loss = training(x, labels)
    losses.append(loss.reshape(parts, local))
# One instance alone may read the weights.
if popdist.getInstanceIndex() == popdist.getNumInstances() - 1:
    np.savez(sys.argv[1] + ".npz", **{name: t.numpy() for name, t in model.state_dict().items()})
np.save(sys.argv[1] + f"-{popdist.getInstanceIndex()}.npy", torch.stack(losses).numpy())
'''


@needs_mpi
def test_a_poptorch_model_trains_on_two_instances_to_the_same_bits(tmp_path):
    pytest.importorskip("torch")
    program = script(tmp_path, TORCH)
    subprocess.run([sys.executable, program, tmp_path / "one"], check=True, env=environment())
    poprun("--num-instances", 2, "--num-replicas", 4, sys.executable, program, tmp_path / "two")
    one, two = np.load(tmp_path / "one.npz"), np.load(tmp_path / "two.npz")
    assert sorted(one) == sorted(two) and all(one[name].tobytes() == two[name].tobytes() for name in one)
    losses = np.load(tmp_path / "one-0.npy")
    for instance in range(2):
        assert np.load(tmp_path / f"two-{instance}.npy").tobytes() == losses[..., 2 * instance:2 * instance + 2].tobytes()


@needs_mpi
def test_instances_know_who_they_are_and_meet_on_the_host(tmp_path):
    program = script(tmp_path, '''
import numpy as np, popdist
from popdist import collectives
popdist.init()
i = popdist.getInstanceIndex()
print("instance", i, popdist.getNumInstances(), popdist.getNumTotalReplicas(), popdist.getNumLocalReplicas(), popdist.getReplicaIndexOffset(),
      popdist.getNumIpusPerReplica(), popdist.checkNumIpusPerReplica(3), popdist.isPopdistEnvSet())
x = np.arange(3, dtype=np.float32) + i
assert collectives.all_reduce(x).tolist() == [3, 6, 9]
assert collectives.all_reduce(x, "mean").tolist() == [1, 2, 3] and collectives.all_reduce(i, "max") == 2
assert collectives.all_gather(x)[:, 0].tolist() == [0, 1, 2]
assert collectives.broadcast(x, 1).tolist() == [1, 2, 3]
assert collectives.broadcast_object({"from": i}, 2) == {"from": 2}
inside = popdist.execute_on_instances({0, 2}, lambda: collectives.all_reduce(i + 1))
assert inside == (None if i == 1 else 4), inside
import horovod.torch as hvd
hvd.init()
assert (hvd.rank(), hvd.size()) == (i, 3) and hvd.broadcast_object(i, root_rank=1) == 1
popdist.synchronize()
try:
    collectives.all_reduce(np.zeros(i + 1))
except ValueError as error:
    print("rejected", error)
''')
    out, _ = poprun("--num-instances=3", "--num-replicas=6", "--ipus-per-replica", 3, "--tag-output", "no", sys.executable, program)
    for i in range(3):
        assert f"instance {i} 3 6 2 {2 * i} 3 True True" in out
    assert out.count("rejected") == 3 and "instance 1 one of <f8 (2,)" in out


def test_without_poprun_there_is_one_instance():
    import popdist
    from popdist import collectives

    assert not popdist.isPopdistEnvSet()
    assert (popdist.getInstanceIndex(), popdist.getNumInstances(), popdist.getNumTotalReplicas(), popdist.getNumLocalReplicas()) == (0, 1, 1, 1)
    popdist.init()
    popdist.synchronize()
    assert collectives.all_reduce(3) == 3 and collectives.all_gather([1, 2]).tolist() == [[1, 2]]
    assert popdist.execute_on_instances({0}, max, 1, 2) == 2
    with pytest.raises(ValueError, match="no instance 1: there are 1"):
        popdist.execute_on_instances({1}, max, 1, 2)
    with pytest.raises(ValueError, match="'median' is not a reduction; max, mean, min, prod, sum are"):
        collectives.all_reduce(1, "median")
    with pytest.raises(TypeError, match="not dict"):
        collectives.all_reduce({})


def test_replicas_of_other_processes_need_them():
    import popart  # noqa: F401
    import popxl
    from popxl import ops

    ir = popxl.Ir()
    options = ir._pb_ir.getSessionOptions()
    options.enableDistributedReplicatedGraphs = True
    options.globalReplicationFactor = 2
    assert (ir.replication_factor, ir.instance_replication_factor, options.replicatedGraphCount) == (2, 1, 1)
    with ir.main_graph:
        v = popxl.variable(1.0)
        ops.var_updates.accumulate_(v, ops.collectives.replicated_all_reduce(v))
    with pytest.raises(RuntimeError, match="that takes 2 instances, and there are 1: poprun --num-instances 2 starts them"):
        popxl.Session(ir, "cpu")


FAILS = '''
import os, signal, sys, popdist, popxl
from popxl import ops
popdist.init()
ir = popxl.Ir(replication="popdist")
with ir.main_graph:
    v = popxl.variable(1.0)
    ops.var_updates.accumulate_(v, ops.collectives.replicated_all_reduce(v))
with popxl.Session(ir, "cpu") as session:
    session.run()
    if popdist.getInstanceIndex() == 1:
        {}
    session.run()
'''


@needs_mpi
@pytest.mark.parametrize("what, says, status", [
    ("raise ValueError('no more data')", "instance 1 (replica 1) has failed: it ended with status 1", 1),
    ("sys.exit(3)", "instance 0 waits for replicas to meet in the program, but instance 1 has come to the end of its program", None),
    ("os.kill(os.getpid(), signal.SIGKILL)", "instance 1 (replica 1) died: Killed", 137),
])
def test_an_instance_that_fails_ends_all_and_is_named(tmp_path, what, says, status):
    program = script(tmp_path, FAILS.format(what))
    begin = time.monotonic()
    done = subprocess.run([str(POPRUN), "--num-instances", "2", "--num-replicas", "2", sys.executable, program], capture_output=True, text=True,
                          env=environment(), timeout=120)
    assert says in done.stderr, done.stderr
    assert done.returncode == status if status else done.returncode != 0
    assert time.monotonic() - begin < 60


@needs_mpi
def test_poprun_that_is_killed_leaves_no_instance(tmp_path):
    program = script(tmp_path, f'''
import pathlib, os, time, popdist
popdist.init()
pathlib.Path({str(tmp_path)!r}, f"pid{{popdist.getInstanceIndex()}}").write_text(str(os.getpid()))
time.sleep(100)
''')
    process = subprocess.Popen([str(POPRUN), "--num-instances", "2", "--num-replicas", "2", sys.executable, program], env=environment())
    files = [tmp_path / f"pid{i}" for i in range(2)]
    deadline = time.monotonic() + 60
    while not all(f.exists() and f.read_text() for f in files) and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    deadline = time.monotonic() + 20
    alive = [f.read_text() for f in files]
    while alive and time.monotonic() < deadline:
        alive = [pid for pid in alive if pathlib.Path("/proc", pid).exists()]
        time.sleep(0.1)
    assert not alive


@needs_mpi
def test_one_instance_is_heard_and_others_are_when_they_fail(tmp_path):
    program = script(tmp_path, '''
import sys, popdist
print(f"hello from {popdist.getInstanceIndex()}")
if popdist.getInstanceIndex() == int(sys.argv[1]):
    raise RuntimeError("what is wrong")
''')
    out, _ = poprun("--num-instances", 2, "--num-replicas", 2, "--only-output-from-instance", 0, sys.executable, program, 5)
    assert "hello from 0" in out and "[1,0]<stdout>:" in out and "hello from 1" not in out
    _, err = poprun("--num-instances", 2, "--num-replicas", 2, "--only-output-from-instance", 0, sys.executable, program, 1, status=1)
    assert "poprun: instance 1 has said:" in err and "RuntimeError: what is wrong" in err


@needs_mpi
def test_what_is_accepted_is_said_and_the_topology_is_shown():
    out, err = poprun("--num-instances", 2, "--num-replicas", 4, "--ipus-per-replica", 2, "--print-topology", "yes", "--vipu-partition", "mine",
                      "--update-partition=yes", "--mpi-global-args=--mca btl_tcp_if_include eth7", "--mpi-local-args", "-x PATH -x 'HOME'",
                      "--host", "localhost", "-vv", "true")
    rows = [[word.strip() for word in line.strip("|").split("|")] for line in out.splitlines()]
    assert ["instances", "0", "1"] in rows and ["replicas", "0-1", "2-3"] in rows and ["IPUs", "0-3", "4-7"] in rows
    assert "no effect here: --vipu-partition, --update-partition, --mca btl_tcp_if_include eth7" in err
    assert "-x PATH -x HOME" in err and "POPDIST_NUM_LOCAL_REPLICAS=2" in err


@pytest.mark.parametrize("words, says", [
    (["--num-instances", "2", "--num-replicas", "3", "true"], "3 replicas cannot be dealt out evenly to 2 instances"),
    (["--num-instances", "2"], "PROGRAM"),
    (["--num-instance", "2", "true"], "--num-instance"),
    (["--num-instances", "0", "true"], "--num-instances"),
    (["--print-topology", "perhaps", "true"], "perhaps"),
    (["--num-instances", "3", "--num-replicas", "3", "--host", "a,b", "true"], "3 instances cannot be dealt out evenly to 2 hosts"),
    (["--host", "a[2-", "true"], "a bracket is open"),
    (["--only-output-from-instance", "1", "true"], "there are 1 instances"),
    (["--mpi-global-args", "'open", "true"], "a quote without end"),
    (["--hostfile", "/nowhere", "true"], "cannot read /nowhere"),
])
def test_a_wrong_command_line_starts_nothing(words, says):
    _, err = poprun(*words, status=2)
    assert says in err


@needs_mpi
def test_a_program_that_is_not_there_is_named():
    _, err = poprun("--num-instances", 2, "--num-replicas", 2, "no-such-program", status=127)
    assert "cannot run 'no-such-program': No such file or directory" in err

"""What the ranks' programs use: process groups, messages, data, results, the trace. It needs torch alone."""

import json
import os
import pathlib
import sys
import time
import types

import torch
import torch.distributed as dist

# float32 is float32 on GPUs, too: in products it is by default, in convolutions not.
torch.backends.cudnn.allow_tf32 = False

HERE = pathlib.Path(__file__).resolve().parent
DTYPES = {
    "bool": torch.bool, "int8": torch.int8, "int16": torch.int16, "int32": torch.int32, "int64": torch.int64, "uint8": torch.uint8,
    "uint16": torch.uint16, "uint32": torch.uint32, "uint64": torch.uint64, "float8_143": torch.float8_e4m3fnuz,
    "float8_152": torch.float8_e5m2fnuz, "float16": torch.float16, "float32": torch.float32, "float64": torch.float64,
    "complex64": torch.complex64, "complex128": torch.complex128,
}
REDUCTIONS = {"add": dist.ReduceOp.SUM, "mean": dist.ReduceOp.SUM, "mul": dist.ReduceOp.PRODUCT, "min": dist.ReduceOp.MIN, "max": dist.ReduceOp.MAX}
NEUTRAL = {"add": 0, "mean": 0, "mul": 1, "min": float("inf"), "max": float("-inf")}


class Wrong(Exception):
    """Something that the user can put right: the message says what."""


class Stored:
    """Tensors that lie one behind the other in NAME.bin; NAME.json says where."""

    def __init__(self, name):
        index = HERE / f"{name}.json"
        self.entries = json.loads(index.read_text()) if index.exists() else {}
        self.bytes = None
        if self.entries:
            file = HERE / f"{name}.bin"
            self.bytes = torch.from_file(str(file), shared=False, size=file.stat().st_size, dtype=torch.uint8)

    def __contains__(self, key):
        return key in self.entries

    def __getitem__(self, key):
        dtype, shape, offset = self.entries[key][:3]
        elements = 1
        for d in shape:
            elements *= d
        type_ = DTYPES[dtype]
        return self.bytes[offset:offset + elements * type_.itemsize].view(type_).reshape(shape).clone()


# --- numbers that are made from a seed: the same as those of `pando run --seed`

def _low(value):
    """A number of 64 bits as the int64 of the same bits."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >= 1 << 63 else value


def _shifted(x, bits):
    return (x >> bits) & ((1 << (64 - bits)) - 1)


def _mix(x):
    x = (x ^ _shifted(x, 30)) * _low(0xBF58476D1CE4E5B9)
    x = (x ^ _shifted(x, 27)) * _low(0x94D049BB133111EB)
    return x ^ _shifted(x, 31)


def made_from_seed(seed, name, dtype, shape):
    """Floats between -1 and 1, integers 1 to 3, that depend on the seed, the name and the element's position alone."""
    state = _mix(torch.tensor(_low(seed + 0x9E3779B97F4A7C15)))
    for c in name.encode():
        state = _mix(state ^ c)
    elements = 1
    for d in shape:
        elements *= d
    bits = _mix(state + (torch.arange(elements, dtype=torch.int64) + 1) * _low(0x9E3779B97F4A7C15))
    type_ = DTYPES[dtype]
    if type_.is_floating_point:
        values = (_shifted(bits, 40).to(torch.float64) / (1 << 23) - 1).to(type_)
    elif type_ == torch.bool:
        values = (bits & 1).to(type_)
    else:
        # The remainder of an unsigned number of 64 bits: the highest bit counts 2^63, which leaves 2.
        values = (1 + ((bits & ((1 << 63) - 1)) % 3 + 2 * (bits < 0)) % 3).to(type_)
    return values.reshape(shape)


class Data:
    """Tensors by name: from files, zeros, what the program has itself, or made from a seed."""

    def __init__(self, layout, files=(), zeros=(), seed=None):
        self.layout, self.zeros, self.seed = layout, zeros, seed
        self.own = Stored("data")
        self.given = {}
        for file in files:
            self.given.update(self.read(file))
        known = {name for rank in layout.RANKS for name in rank["variables"] + rank["loads"] + rank["rows"]} | set(layout.WHOLES)
        unknown = [name for name in self.given if name not in known and not name.startswith("output/")]
        if unknown:
            raise Wrong(f"the program has no variable or stream {', '.join(sorted(unknown)[:8])}; it has {', '.join(sorted(known)[:12])}")

    @staticmethod
    def read(file):
        if str(file).endswith(".npz"):
            import numpy

            with numpy.load(file) as arrays:
                return {name: torch.from_numpy(arrays[name]) for name in arrays.files}
        tensors = torch.load(file, map_location="cpu", weights_only=True)
        if not isinstance(tensors, dict):
            raise Wrong(f"{file}: a dict of tensors by name is expected, a {type(tensors).__name__} was found")
        return tensors

    def _zero(self, name):
        return any(name.endswith(z[1:]) if z.startswith("*") else name == z for z in self.zeros)

    def _whole(self, name, dtype, shape, own):
        if name in self.given:
            t = self.given[name]
            if tuple(t.shape) != tuple(shape):
                raise Wrong(f"'{name}' is a tensor of shape {tuple(t.shape)}; {tuple(shape)} is expected")
            return t.to(DTYPES[dtype])
        if self._zero(name):
            return torch.zeros(shape, dtype=DTYPES[dtype])
        if own is not None:
            return own
        return made_from_seed(self.seed, name, dtype, shape) if self.seed is not None else None

    def variable(self, name, dtype, shape):
        """A variable, or the part of the whole tensor that it is."""
        own = self.own[name] if name in self.own else None
        piece = self.layout.PARTS.get(name)
        if piece is None or (name in self.given and tuple(self.given[name].shape) == tuple(shape)):
            t = self._whole(name, dtype, shape, own)
        else:
            whole, start = piece
            t = self._whole(whole, dtype, self.layout.WHOLES[whole][1], None if own is None or whole in self.given else own)
            if t is not own and t is not None:
                t = part(t, start, shape)
        if t is None:
            raise Wrong(f"variable '{name}' has no data: give it with --input, or --zeros, or --seed for numbers that are made")
        return t.clone()

    def blocks(self, name, dtype, shape, wanted):
        """A stream's blocks, one behind the other; a run begins again at the first where there are fewer than it takes."""
        loads = self.layout.LOADS.get(name)
        whole, all_shape = (loads[0][0], self.layout.WHOLES[loads[0][0]][1]) if loads else (name, shape)
        per_block = len(loads) if loads else 1
        steps = -(-wanted // per_block)
        t = self.given.get(whole)
        if t is not None and (tuple(t.shape[1:]) != tuple(all_shape) or t.shape[0] < 1):
            raise Wrong(f"stream '{whole}' takes blocks of shape {tuple(all_shape)}, one behind the other: {tuple(t.shape)} was found")
        if t is None:
            if self.seed is None:
                raise Wrong(f"stream '{whole}' has no data: give it with --input, or --seed for numbers that are made")
            t = made_from_seed(self.seed, whole, dtype, (steps, *all_shape))
        t = t.to(DTYPES[dtype])
        if not loads:
            return t
        return torch.stack([part(t[i], start, shape) for i in range(t.shape[0]) for _, start in loads])


def part(whole, start, shape):
    """The box of a tensor that begins at `start`; a part may lack dimensions of length 1."""
    missing = len(start) - len(shape)
    sizes = [1] * missing + list(shape) if missing > 0 else list(shape)
    for dim, (begin, size) in enumerate(zip(start, sizes)):
        whole = whole.narrow(dim, begin, size)
    return whole.reshape(shape)


class Rank:
    """One rank: its variables, its place among the others, and what its program calls."""

    def __init__(self, layout, program, number, device, data, steps, keep):
        mine = layout.RANKS[number]
        self.number, self.device, self.program, self.keep = number, device, program, keep
        self.name = mine["device"]
        self.groups = [Group(self, layout.GROUPS[g], groups_of(layout)[g]) for g in mine["groups"]]
        self.peers, self.paths = mine["peers"], paths_of(layout)
        self.channels = [Channel(self, *c) for c in mine.get("channels", ())]
        self.full_names = types.SimpleNamespace(
            variables=dict(zip(program.VARIABLES, mine["variables"])), loads=dict(zip(program.LOADS, mine["loads"])),
            outputs=dict(zip(program.OUTPUTS, mine["outputs"])))
        self.variables = types.SimpleNamespace()
        for local, (dtype, shape) in program.VARIABLES.items():
            setattr(self.variables, local, data.variable(self.full_names.variables[local], dtype, shape).to(device))
        self.streams = {}
        for local, (dtype, shape, per_step) in program.LOADS.items():
            blocks = data.blocks(self.full_names.loads[local], dtype, shape, steps * per_step)
            self.streams[local] = [blocks.pin_memory() if device.type == "cuda" else blocks, 0]
        own = Stored("constants")
        self.constants = types.SimpleNamespace()
        for local, value in program.CONSTANTS.items():
            if isinstance(value, str):
                t = own[value]
            else:
                dtype, shape, numbers = value
                t = torch.tensor(numbers, dtype=DTYPES[dtype]).reshape(shape)
            setattr(self.constants, local, t.to(device))
        self.buffers, self.rows, in_rows = [], [], iter(mine["rows"])
        for rows, dtype, shape, names in program.BUFFERS:
            memory = torch.zeros((rows, *shape), dtype=DTYPES[dtype], pin_memory=device.type == "cuda")
            for row in names:
                self.rows.append((next(in_rows), len(self.buffers), int(row)))
                memory[int(row)] = data.variable(self.rows[-1][0], dtype, shape)
            self.buffers.append(memory)
        self.results = {}
        self.pending = []

    # --- the host's data

    def load(self, stream, block=None):
        """The stream's next block, or block number `block` of this step."""
        blocks, at = self.streams[stream]
        if block is None:
            self.streams[stream][1] += 1
        else:
            at += block
        return blocks[at % len(blocks)].to(self.device, non_blocking=True)

    def end_blocks(self, stream, count):
        """`count` blocks of the stream, which were loaded by number, are done."""
        self.streams[stream][1] += count

    def output(self, name, value):
        """Keeps a result of the program, if somebody wants results."""
        if self.keep and self.full_names.outputs[name] is not None:
            self.results.setdefault(name, []).append(value.detach().clone())

    def remote_load(self, buffer, row):
        return self.buffers[buffer][int(row)].to(self.device, non_blocking=True, copy=True)

    def remote_store(self, buffer, row, value):
        self.buffers[buffer][int(row)].copy_(value)

    # --- messages: the sender does not wait for the receiver

    def send(self, value, to):
        value = value.contiguous()
        peer = self.peers[to]
        self.pending.append((dist.isend(value, peer, group=self.paths.get((self.number, peer, None))), value))

    def receive(self, shape, dtype, source):
        value = torch.empty(shape, dtype=dtype, device=self.device)
        peer = self.peers[source]
        dist.recv(value, peer, group=self.paths.get((peer, self.number, None)))
        return value

    def finish(self):
        """What was sent has gone."""
        for work, _ in self.pending:
            work.wait()
        self.pending.clear()
        for channel in self.channels:
            channel.finish()


class Channel:
    """Messages of one kind from one rank to another: at most `capacity` of them wait (0: sender and receiver meet; None: any number)."""

    def __init__(self, rank, peer, capacity, tag):
        self.rank, self.peer, self.capacity, self.tag = rank, peer, capacity, tag
        self.path = rank.paths.get((*sorted((rank.number, peer)), tag))
        self.pending = []

    def send(self, value):
        value = value.contiguous()
        self.pending.append((dist.isend(value, self.peer, group=self.path, tag=self.tag), value))
        while self.capacity is not None and len(self.pending) > self.capacity:
            self.pending.pop(0)[0].wait()

    def receive(self, shape, dtype):
        value = torch.empty(shape, dtype=dtype, device=self.rank.device)
        dist.recv(value, self.peer, group=self.path, tag=self.tag)
        return value

    def finish(self):
        for work, _ in self.pending:
            work.wait()
        self.pending.clear()


_groups = None


def groups_of(layout):
    """All process groups, made by all ranks in one order."""
    global _groups
    if _groups is None:
        world = layout.WORLD_SIZE
        _groups = [None if len(g) < 2 else dist.group.WORLD if sorted(g) == list(range(world)) else dist.new_group(sorted(g))
                   for g in layout.GROUPS]
    return _groups


_paths = None


def paths_of(layout):
    """With NCCL a process group for each direction between two ranks and for each channel, made by all ranks in one order: messages of one group
    wait for those before them and have no tags there. With gloo none: all messages go through the group of all ranks."""
    global _paths
    if _paths is None:
        _paths = {}
        if dist.is_initialized() and dist.get_backend() == "nccl":
            ways = set()
            for number, r in enumerate(layout.RANKS):
                ways |= {way for peer in r["peers"] for way in ((number, peer, None), (peer, number, None))}
                ways |= {(*sorted((number, peer)), tag) for peer, _, tag in r.get("channels", ())}
            for way in sorted(ways, key=lambda w: (w[0], w[1], -1 if w[2] is None else w[2])):
                _paths[way] = dist.new_group(sorted(way[:2]))
    return _paths


class Group:
    """Ranks that meet in collectives. Members are in the program's order, torch's groups in that of ranks: `order` translates."""

    def __init__(self, rank, members, group):
        self.group, self.size, self.members, self.rank = group, len(members), members, rank
        order = [members.index(r) for r in sorted(members)]
        self.order = None if order == list(range(self.size)) else order

    def _by_rank(self, parts):
        return parts if self.order is None else [parts[i] for i in self.order]

    def _by_member(self, parts):
        if self.order is None:
            return parts
        out = [None] * self.size
        for place, member in enumerate(self.order):
            out[member] = parts[place]
        return out

    def _scaled(self, value, op):
        return value.div_(self.size) if op == "mean" else value

    def all_reduce(self, value, op="add", in_place=False):
        if self.size == 1:
            return value
        if not (in_place and value.is_contiguous()):
            value = value.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(value, REDUCTIONS[op], self.group)
        return self._scaled(value, op)

    def all_gather(self, value, dim):
        if self.size == 1:
            return value
        value = value.contiguous()
        gathered = value.new_empty((self.size, *value.shape))
        dist.all_gather_into_tensor(gathered.view(-1), value.view(-1), self.group)
        return torch.cat(self._by_member(gathered.unbind(0)), dim)

    def reduce_scatter(self, value, dim, op="add"):
        if self.size == 1:
            return value
        parts = torch.stack(self._by_rank(value.chunk(self.size, dim)))
        mine = parts.new_empty(parts.shape[1:])
        dist.reduce_scatter_tensor(mine.view(-1), parts.view(-1), REDUCTIONS[op], self.group)
        return self._scaled(mine, op)

    def all_to_all(self, value, split_dim, concat_dim):
        if self.size == 1:
            return value
        parts = torch.stack(self._by_rank(value.chunk(self.size, split_dim)))
        received = torch.empty_like(parts)
        dist.all_to_all_single(received, parts, group=self.group)
        return torch.cat(self._by_member(received.unbind(0)), concat_dim)

    def broadcast(self, value, root, shape, dtype):
        """What member `root` has; the others give None."""
        if self.size == 1:
            return value
        value = torch.empty(shape, dtype=dtype, device=self.rank.device) if value is None else value.contiguous()
        dist.broadcast(value, self.members[root], self.group)
        return value

    def reduce(self, value, root, op, shape, dtype, terms):
        """The reduction of `terms` members' tensors, on member `root`, which need not have one."""
        if self.size == 1:
            return value
        if value is None:
            value = torch.full(shape, NEUTRAL[op], dtype=dtype, device=self.rank.device)
        value = value.clone(memory_format=torch.contiguous_format)
        dist.reduce(value, self.members[root], REDUCTIONS[op], self.group)
        return value.div_(terms) if op == "mean" else value

    def scatter(self, value, root, dim, shape, dtype, parts):
        """Part i of `parts` along `dim` of what member `root` has, for member i; a root beyond the parts gets nothing."""
        if self.size == 1:
            return value
        mine = torch.empty(shape, dtype=dtype, device=self.rank.device)
        pieces = None
        if value is not None:
            pieces = list(value.chunk(parts, dim))
            pieces += [torch.zeros_like(pieces[0])] * (self.size - parts)
            pieces = [p.contiguous() for p in self._by_rank(pieces)]
        dist.scatter(mine, pieces, self.members[root], self.group)
        return mine

    def gather(self, value, root, dim, shapes, dtype):
        """The members' tensors one behind the other along `dim`, on member `root`; a root whose shape is None gives nothing."""
        if self.size == 1:
            return value
        me = self.members.index(self.rank.number)
        if me != root:
            dist.send(value.contiguous(), self.members[root], self.group)
            return None
        pieces = []
        for member, shape in enumerate(shapes):
            if shape is None:
                continue
            if member == me:
                pieces.append(value)
                continue
            piece = torch.empty(shape, dtype=dtype, device=self.rank.device)
            dist.recv(piece, self.members[member], self.group)
            pieces.append(piece)
        return torch.cat(pieces, dim)


class Trace:
    """Times of a program's lines, under the names of `pando simulate`: one line is one op. Lines of a file that was edited have the names
    that are still there."""

    TRANSFERS = {"send", "receive", "ipu_copy", "broadcast_across", "scatter_across", "gather_across", "reduce_across", "all_reduce_across",
                 "all_gather_across", "reduce_scatter_across", "all_to_all_across", "all_reduce", "replicated_all_reduce",
                 "replicated_all_gather", "replicated_reduce_scatter", "differentiable_replicated_all_reduce"}

    def __init__(self, rank):
        import ast

        self.rank, self.file = rank, rank.program.__file__
        names = json.loads(pathlib.Path(self.file).with_suffix(".names.json").read_text())
        self.lines = {}
        for function in ast.parse(pathlib.Path(self.file).read_text()).body:
            if not isinstance(function, ast.FunctionDef):
                continue
            known = names.get(function.name, {})
            for node in ast.walk(function):
                key = None
                if isinstance(node, ast.Assign):
                    target = node.targets[0].elts[0] if isinstance(node.targets[0], ast.Tuple) else node.targets[0]
                    key = ast.unparse(target)
                elif isinstance(node, ast.Expr):
                    key = ast.unparse(node.value)
                if key in known:
                    self.lines[node.lineno] = (known[key], key)
        self.times = []

    def _now(self):
        if self.rank.device.type == "cuda":
            event = torch.cuda.Event(enable_timing=True)
            event.record()
            return event
        return time.perf_counter()

    def _line(self, frame, event, _):
        if event in ("line", "return"):
            self.times.append((frame.f_lineno if event == "line" else None, self._now()))
        return self._line

    def _call(self, frame, *_):
        return self._line if frame.f_code.co_filename == self.file else None

    def run(self, step):
        """One step, whose lines are timed."""
        self.begin = self._now()
        sys.settrace(self._call)
        try:
            step()
        finally:
            sys.settrace(None)
        if self.rank.device.type == "cuda":
            torch.cuda.synchronize(self.rank.device)

    def _since(self, t):
        return self.begin.elapsed_time(t) * 1e3 if self.rank.device.type == "cuda" else (t - self.begin) * 1e6

    def events(self):
        pid = self.rank.name
        out = [{"name": "process_name", "ph": "M", "pid": pid, "args": {"name": f"device {pid}"}}]
        out += [{"name": "thread_name", "ph": "M", "pid": pid, "tid": t, "args": {"name": n}} for t, n in enumerate(("computes", "transfers"))]
        for (line, start), (_, end) in zip(self.times, self.times[1:]):
            if line not in self.lines:
                continue
            label, value = self.lines[line]
            begin = self._since(start)
            out.append({"name": label, "ph": "X", "pid": pid, "tid": int(label in self.TRANSFERS), "ts": begin,
                        "dur": self._since(end) - begin, "args": {"value": value}})
        return out


def pick_device(wanted, local_rank, local_world):
    """The device of this rank and the backend: a GPU each and NCCL where there are as many GPUs as ranks, else CPUs and gloo."""
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if wanted == "cuda" and gpus < local_world:
        raise Wrong(f"{local_world} ranks of this host need as many GPUs; there are {gpus}")
    if wanted == "cuda" or (wanted == "auto" and 0 < local_world <= gpus):
        device = torch.device("cuda", local_rank)
        torch.cuda.set_device(device)
        return device, "nccl"
    return torch.device("cpu"), "gloo"


def environment():
    return (int(os.environ.get(name, default)) for name, default in
            (("RANK", 0), ("WORLD_SIZE", 1), ("LOCAL_RANK", os.environ.get("RANK", 0)), ("LOCAL_WORLD_SIZE", os.environ.get("WORLD_SIZE", 1))))

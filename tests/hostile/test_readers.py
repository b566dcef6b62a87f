"""Files of tables and JSON, damaged in every way, given to each tool that reads such: taken or rejected in a sentence that names the file; no signal, no
words of the C++ library. `test_readers.py [RUNS [SEED|new]]`: so many damaged files of each kind; a failing one is printed with its seed."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

PANDO = os.path.join(os.environ["PANDO_BIN"], "pando")
STRANGE = re.compile(rb"bad_alloc|::at\b|_M_|basic_string|bad[_ ]variant|bad[_ ]optional|vector::|sto[il]|json\.exception|terminate called|broken invariant")
NUMBERS = ["0", "-1", "1", "2", "7", "1e308", "nan", "inf", "-0.0", "9223372036854775807", "18446744073709551616", "1e-320", "4294967296", "", "x", "1.5", '"1"',
           "null", "true", "[]", "{}", "[1]", '{"a": 1}', "100000000000000000000000"]


MACHINE = {
    "name": "box", "half_operations": 1e14, "single_operations": 2e13, "vector_operations": 1e13, "memory_bytes_per_second": 2e12, "memory_bytes": 8e10,
    "launch": 1e-6, "matmul_efficiency": {"share": 0.7, "half": 1e9}, "memory_efficiency": [[1e3, 0.1], [1e9, 0.9]],
    "levels": [{"name": "node", "devices": 8, "bytes_per_second": 3e11, "latency": 1e-6, "efficiency": {"share": 0.8, "half": 1e6}},
               {"name": "net", "devices": 64, "bytes_per_second": 2.5e10, "latency": 5e-6}]}


def damaged_table(text, dice):
    lines = [line.split(",") for line in text.splitlines()]
    for _ in range(dice.randrange(1, 4)):
        line = dice.choice(lines)
        kind = dice.randrange(8)
        if kind < 5:
            line[dice.randrange(len(line))] = dice.choice(NUMBERS)
        elif kind == 5:
            del line[dice.randrange(len(line))]
            line or line.append("")
        elif kind == 6:
            line.insert(dice.randrange(len(line) + 1), dice.choice(line))
        else:
            lines.append(list(dice.choice(lines)))
    return "\n".join(",".join(line) for line in lines) + "\n"


def damaged_json(text, dice):
    tokens = re.findall(r'"(?:\\.|[^"\\])*"|[-+.\w]+|\s+|.', text)
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(len(tokens))
        kind = dice.randrange(8)
        if kind < 5:
            values = [i for i, t in enumerate(tokens) if re.match(r'["\w-]', t)]
            tokens[dice.choice(values) if values else at] = dice.choice(NUMBERS + [dice.choice(tokens)])
        elif kind == 5:
            del tokens[at]
        elif kind == 6:
            tokens.insert(at, dice.choice(tokens))
        else:
            tokens = tokens[:at] if dice.random() < 0.3 else tokens
        if not tokens:
            break
    return "".join(tokens)


def run(*command, **more):
    return subprocess.run([PANDO, *command], capture_output=True, timeout=120, env=dict(os.environ, **more))


def made(*command):
    done = run(*command)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Kinds:
    """What is read, by name: a whole text, what damages it, how its file is called, and the words of the command, with the file as {}."""

    def __init__(self, folder):
        self.folder = folder
        mlp, two, pieces = (os.path.join(folder, name) for name in ("mlp.txt", "two.txt", "pieces.json"))
        made("model", "mlp", "--layers", "2", "--width", "8", "--batch", "8", "--learning-rate", "0.5", "-o", mlp)
        made("transform", mlp, "--batch", "x,z", "--pipeline", "2", "--microbatches", "2", "--pieces", pieces, "-o", two)
        buffers = "id,lower,upper,size\na,0,3,8\nb,1,4,16\nc,2,9,8\n"
        with open(pieces) as file:
            piece_text = file.read()
        machine_text = json.dumps(MACHINE, indent=1)
        schedule = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"
        sc21 = "scheme,params_B,gpus,global_batch,microbatch_size,tflops_per_gpu_measured\nPTD-P,174.6,384,1536,1,153\nZeRO-3,174.6,384,1536,4,144\n"
        selene = ("model,layers,heads,hidden,seq,vocab,tp,pp,dp,interleave,global_batch,microbatch_size,recompute,sequence_parallel,iteration_s_measured\n"
                  "22B,48,64,6144,2048,51200,8,1,1,1,4,4,full,0,1.42\n")
        costs = "matmul,0.001\nrelu,0.002\n"
        self.all = {
            "allocate": (buffers, damaged_table, "buffers.csv", ["allocate", "{}", "--capacity", "64"]),
            "pieces": (piece_text, damaged_json, "pieces.json", ["run", two, "--pieces", "{}", "--seed", "1", "-q"]),
            "machine": (machine_text, damaged_json, "machine.json", ["simulate", two, "--machine", "{}"]),
            "search": (machine_text, damaged_json, "machine.json", ["search", mlp, "--devices", "2", "--machine", "{}", "--samples", "x,z"]),
            "costs": (costs, damaged_table, "costs.csv", ["simulate", two, "--table", "{}"]),
            "schedule": (schedule, damaged_table, "table.csv",
                         ["transform", mlp, "--batch", "x,z", "--pipeline", "2", "--microbatches", "2", "--table", "{}", "--summary"]),
            "validate": (sc21, damaged_table, "megatron_sc21_table2.csv", ["simulate", "--validate", "{folder}", "--rows"]),
            "validate steps": (selene, damaged_table, "selene_steps.csv", ["simulate", "--validate", "{folder}", "--rows"]),
            "executables": ("0 0123456789abcdef\n1 0123456789abcdef\n", damaged_table, "hashes", ["run", two, "--seed", "1", "-q", "--executables", "{}"]),
        }
        report = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli", "report.json")
        with open(report) as file:
            self.all["report"] = (file.read(), damaged_json, "report.json", ["report", "{}"])


def check_whole(kinds, name):
    """What is whole is read: damage is damage of something that works."""
    text, _, file_name, words = kinds.all[name]
    folder = os.path.join(kinds.folder, "whole")
    os.mkdir(folder)
    path = os.path.join(folder, file_name)
    with open(path, "w") as file:
        file.write(text)
    done = run(*[w.replace("{folder}", folder).replace("{}", path) for w in words])
    shutil.rmtree(folder)
    assert done.returncode == (1 if name == "executables" else 0), (name, done.returncode, done.stderr)


def one(kinds, name, seed):
    """What is wrong with a case; None if nothing."""
    text, damage, file_name, words = kinds.all[name]
    folder = os.path.join(kinds.folder, f"{name.replace(' ', '_')}_{seed}")
    os.mkdir(folder)
    path = os.path.join(folder, file_name)
    damaged = damage(text, random.Random(seed))
    with open(path, "w") as file:
        file.write(damaged)
    done = run(*[w.replace("{folder}", folder).replace("{}", path) for w in words])
    shutil.rmtree(folder)
    strange = STRANGE.search(done.stderr)
    if done.returncode in (0, 1, 2) and not strange and (done.returncode == 0 or done.stderr or done.stdout):
        return None
    return f"{name}, seed {seed}: status {done.returncode}: {done.stderr.decode(errors='replace')[:500]}\n{damaged[:2000]}"


def main(runs, first):
    folder = tempfile.mkdtemp()
    try:
        kinds = Kinds(folder)
        for name in kinds.all:
            check_whole(kinds, name)
        with ThreadPoolExecutor(2) as pool:
            wrong = [w for w in pool.map(lambda c: one(kinds, *c), [(name, seed) for name in kinds.all for seed in range(first, first + runs)]) if w]
    finally:
        shutil.rmtree(folder)
    print(f"test_readers: {runs} damaged files of each of {len(kinds.all)} kinds from seed {first}, {len(wrong)} faults")
    for w in wrong[:10]:
        print(w)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    seed = sys.argv[2] if len(sys.argv) > 2 else "1"
    if seed == "new":
        seed = random.SystemRandom().randrange(2**31)
        print(f"seed {seed}", flush=True)
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 12, int(seed))

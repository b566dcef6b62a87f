"""MicroPython's own tests, each on tiles: what they print there is compared with their .exp file, or else with what CPython prints.

  micropython.py --from SOURCES --work FOLDER [--program ontile_scripts] [--tiles 4] [--folders basics,io] [--broken]

SOURCES is a source tree of MicroPython. Two lists say what is expected, and may only get better: micropython.expected has the files
that pass, micropython.reasons why each of the others cannot. All tiles must answer alike. --broken is for an interpreter that was broken on
purpose: most files must fail.
"""
import argparse
import collections
import multiprocessing.pool
import pathlib
import re
import shutil
import subprocess
import sys

import expectations
from expectations import apply_reasons, read_reasons

FOLDERS = "basics float io misc extmod stress unicode micropython import".split()
# Their output is compared line by line with regular expressions; `########` stands for any lines.
SPECIAL = {"micropython/meminfo", "basics/bytes_compare3", "basics/builtin_help"}
# Folders of which files are opened or imported by name: they are on the tile's disk.
ON_DISK = {"import": "import", "io": "io", "unicode": "unicode"}
FUEL = 2_000_000_000

DISK = """\
import gc, os, vfs
gc.disable()
class Disk:
    def __init__(self, blocks):
        self.data = bytearray(512 * blocks)
    def readblocks(self, block, buf, off=0):
        at = block * 512 + off
        buf[:] = memoryview(self.data)[at:at + len(buf)]
    def writeblocks(self, block, buf, off=0):
        at = block * 512 + off
        self.data[at:at + len(buf)] = buf
    def ioctl(self, op, arg):
        if op == 4:
            return len(self.data) // 512
        if op == 5:
            return 512
        if op == 6:
            return 0
disk = Disk(%d)
vfs.VfsLfs2.mkfs(disk)
vfs.mount(vfs.VfsLfs2(disk), '/')
os.chdir('/')
def put(path, data):
    with open(path, 'wb') as f:
        f.write(data)
    gc.collect()
"""
# Tests look at what __main__ knows.
AFTER_DISK = """\
del os, vfs, Disk, disk, put
gc.enable()
gc.collect()
del gc
"""

# A module that is not in the package of sources, made of its text.
MODULE = """\
import sys
class Module:
    pass
names = {}
exec(%r, names)
module = Module()
for name in names:
    setattr(module, name, names[name])
sys.modules[%r] = module
del sys, Module, names, module, name
"""

Answer = collections.namedtuple("Answer", "ending tiles text")


def disk_script(folder):
    """A script that makes a disk with the files of `folder`."""
    paths = sorted(p for p in folder.rglob("*") if p.suffix != ".exp")
    lines = []
    blocks = 24
    for path in paths:
        name = str(path.relative_to(folder))
        if path.is_dir():
            lines.append(f"os.mkdir({name!r})\n")
            blocks += 2
        else:
            data = path.read_bytes()
            lines.append(f"put({name!r}, {data!r})\n")
            blocks += len(data) // 512 + 2 if len(data) > 64 else 1
    return DISK % blocks + "".join(lines) + AFTER_DISK


def run_on_tiles(program, work, names, tiles, log):
    """{name: [Answer]}"""
    before = {}
    for folder, on_disk in ON_DISK.items():
        before[folder] = work / f"disk_{folder}.py"
        before[folder].write_text(disk_script(work / "tests" / on_disk))
    unittest = work / "unittest.py"
    unittest.write_text(MODULE % (pathlib.Path(__file__).with_name("micropython").joinpath("unittest.py").read_text(), "unittest"))
    jobs = []
    for name in names:
        script = work / "tests" / f"{name}.py"
        first = unittest if b"import unittest\n" in script.read_bytes() else before.get(name.split("/")[0], "")
        jobs.append(f"{name}\t{script}\t{first}\n")
    (work / "jobs").write_text("".join(jobs))
    command = [program, "--tiles", str(tiles), "--fuel", str(FUEL), "--jobs", str(work / "jobs"), "--out", str(work / log)]
    status = subprocess.run(command).returncode
    results = read_answers((work / log).read_bytes())
    if status != 0:
        missing = [n for n in names if n not in results]
        sys.exit(f"{program} ended with {status}" + (f", in {missing[0]}" if missing else ""))
    return results


def read_answers(data):
    results = {}
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        _, name, groups = data[at:end].decode().split()
        at = end + 1
        results[name] = []
        for _ in range(int(groups)):
            end = data.index(b"\n", at)
            _, ending, tiles, size = data[at:end].decode().split()
            at = end + 1
            results[name].append(Answer(ending, int(tiles), data[at:at + int(size)]))
            at += int(size) + 1
    return results


def reference(path):
    """What the test has to print."""
    given = path.with_suffix(".py.exp")
    if given.exists():
        return given.read_bytes().replace(b"\r\n", b"\n")
    done = subprocess.run([sys.executable, "-BS", str(path)], cwd=path.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={"PYTHONIOENCODING": "utf-8", "PATH": "/usr/bin:/bin"}, timeout=60)
    return done.stdout if done.returncode == 0 else b"CPython ends with an error:\n" + done.stdout


def line_pattern(line):
    """A line of a special .exp file: a backslash before a character makes it a part of a regular expression."""
    out = ""
    escaped = False
    for c in line.decode():
        if not escaped and c == "\\":
            escaped = True
            continue
        out += c if escaped or c not in "()[]{}.*+^$" else "\\" + c
        escaped = False
    return re.compile(out.encode())


def matches_special(said, wanted):
    lines, at, skip = said.splitlines(), 0, False
    for want in wanted.splitlines():
        if want == b"########":
            skip = True
            continue
        pattern = line_pattern(want)
        while skip and at < len(lines) and not pattern.match(lines[at]):
            at += 1
        if at == len(lines) or not pattern.match(lines[at]):
            return False
        at += 1
        skip = False
    return skip or at == len(lines)


def first_difference(said, wanted):
    a, b = said.splitlines(), wanted.splitlines()
    for i, (x, y) in enumerate(zip(a + [b"(end)"], b + [b"(end)"])):
        if x != y:
            return f"line {i + 1} is {x.decode(errors='replace')[:90]!r}, expected {y.decode(errors='replace')[:90]!r}"
    return f"{len(a)} lines, expected {len(b)}"


def unittest_verdict(said):
    """None, or whether a report of module unittest ends the text well."""
    report = re.search(rb"(?:^|\n)-{70}\nRan \d+ tests\n\n(OK|FAILED)[^\n]*\n$", said)
    return report and report[1] == b"OK"


def verdict(name, answer, wanted):
    """None if the test passes, or why not."""
    said = answer.text.replace(b"\r\n", b"\n")
    if said == b"SKIP\n" or (name in SPECIAL and b"\nSKIP\n" in said):
        return "it skips itself"
    if answer.ending not in ("done", "exited"):
        last = said.splitlines()[-1:] or [b""]
        return f"{answer.ending}: {last[0].decode(errors='replace')[:110]}"
    reported = unittest_verdict(said)
    if reported is not None:
        return None if reported else "a test case failed"
    good = matches_special(said, wanted) if name in SPECIAL else said == wanted
    return None if good else first_difference(said, wanted)


def worst(name, answers, wanted):
    return next((v for v in (verdict(name, a, wanted) for a in answers) if v), None)


def collect(arguments):
    work = pathlib.Path(arguments.work).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    tests = pathlib.Path(arguments.source).resolve() / "tests"
    for folder in FOLDERS:
        shutil.copytree(tests / folder, work / "tests" / folder)
    names = [f"{folder}/{p.stem}" for folder in arguments.folders.split(",") for p in sorted((tests / folder).glob("*.py"))]
    return work, names


def finish_broken(results, expected):
    failed = sum(results.get(name) is not None for name in expected)
    print(f"{failed} of {len(expected)} files fail, as at least half of them have to")
    sys.exit(0 if 2 * failed >= len(expected) else 1)


def main():
    parser = argparse.ArgumentParser()
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--from", dest="source", required=True, help="a source tree of MicroPython")
    parser.add_argument("--prefix", help="an installed Pando; the program is found beside it")
    parser.add_argument("--program", help="ontile_scripts")
    parser.add_argument("--work", required=True, help="a folder for copies and answers; wiped first")
    parser.add_argument("--tiles", type=int, default=4)
    parser.add_argument("--folders", default=",".join(FOLDERS))
    parser.add_argument("--broken", action="store_true", help="succeed if most of the files fail")
    arguments = parser.parse_args()
    program = arguments.program or str(pathlib.Path(arguments.prefix).resolve().parent / "bin" / "ontile_scripts")
    work, names = collect(arguments)
    with multiprocessing.pool.ThreadPool(2) as pool:
        wanted = pool.map_async(reference, [work / "tests" / f"{n}.py" for n in names])
        answers = run_on_tiles(program, work, names, arguments.tiles, "answers")
        wanted = dict(zip(names, wanted.get()))
    results = {}
    for name in names:
        results[name] = worst(name, answers[name], wanted[name])
        # Some tests sleep: a busy host makes CPython late, which a tile's own clock never is.
        if results[name] and answers[name][0].text != b"SKIP\n" and not arguments.broken:
            results[name] = worst(name, answers[name], reference(work / "tests" / f"{name}.py"))
        if len(answers[name]) > 1 and results[name] is None and "time" not in name:
            results[name] = f"{len(answers[name])} different answers"
    in_folders = [f + "/" for f in arguments.folders.split(",")]
    expected = {n for n in expectations.read(here / "micropython.expected") if n.startswith(tuple(in_folders))}
    if arguments.broken:
        finish_broken(results, expected)
    reasons = [(p, r) for p, r in read_reasons(here / "micropython.reasons") if p.startswith(tuple(in_folders))]
    with_reasons, errors = apply_reasons(results, reasons)
    lines, status = expectations.judge(with_reasons, expected)
    for folder in arguments.folders.split(","):
        mine = [n for n in names if n.startswith(folder + "/")]
        print(f"{folder:12} {sum(results[n] is None for n in mine):4} of {len(mine)} pass")
    print("\n".join([line for line in lines if not line.startswith("pass") or "(new" in line][:-1] + errors + lines[-1:]))
    sys.exit(1 if errors else status)


if __name__ == "__main__":
    main()

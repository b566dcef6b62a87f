"""Runs IPUpy's own programs (osmarks/IPUpy-patch): examples/ (the multirepl), old_examples/ 1 to 7 and notebooks/, unmodified, in a
scratch copy of a checkout, built with their own makefiles.

Those look for the preprocessor and the library in the checkout (../IPUpyc, ../libIPUpy/build/libIPUpy.gp): there are links to the
installed ones. What is typed goes through a pseudo-terminal, a line when its prompt is there. What was seen is written to
WORK/transcripts/.
"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import time

import expectations

OLD = "old_examples"
SECONDS = 120
PROMPT = ">>> "


class Terminal:
    """A program on a pseudo-terminal; `seen` is all that it has shown."""

    def __init__(self, command, folder, environment):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stdin=slave, stdout=slave, stderr=slave, close_fds=True)
        os.close(slave)
        self.seen = ""
        self.end = time.monotonic() + SECONDS

    def read(self):
        """False at the end of the output or of the time."""
        ready, _, _ = select.select([self.master], [], [], max(0, self.end - time.monotonic()))
        try:
            data = os.read(self.master, 65536) if ready else b""
        except OSError:  # the other end is closed
            data = b""
        self.seen += data.decode("utf-8", "replace")
        return bool(data)

    def wait_for(self, text, start):
        while text not in self.seen[start:]:
            if not self.read():
                return False
        return True

    def finish(self):
        while self.read():
            pass
        os.close(self.master)
        if time.monotonic() >= self.end:
            self.process.kill()
        return self.process.wait()


def converse(command, folder, environment, lines):
    """Types each (what to wait for, keys). Returns (status, what was shown)."""
    terminal = Terminal(command, folder, environment)
    start = 0
    for awaited, keys in lines:
        if not terminal.wait_for(awaited, start):
            break
        start = len(terminal.seen)
        os.write(terminal.master, keys.encode())
    return terminal.finish(), terminal.seen.replace("\r\n", "\n")


def at_prompt(*lines):
    return [(PROMPT, line) for line in lines]


def at_shell(*lines):
    return [("$ ", line + "\r") for line in lines] + [("$ ", "\x04\x03")]


def old(name, patterns, **more):
    return {**dict(folder=OLD, make=[name], command=[f"./{name}"], patterns=patterns), **more}


def zeros(n):
    return lambda folder: (folder / "disk.img").write_bytes(bytes(n))


def with_alltoall(folder):
    """What the README says: 100 tiles, and COMMS."""
    parameters = folder / "multirepl_params.hpp"
    text = parameters.read_text().replace("// #define COMMS", "#define COMMS").replace("(1472)", "(100)")
    parameters.write_text(text)


def words(folder):
    (folder / "words.txt").write_text("".join(f"word{i} " for i in range(2000)))


KERNEL = """
import ctypes

class KernelResult(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int), ("data", ctypes.c_char_p)]

backend = ctypes.CDLL("./libmultikernel.so")
backend.init()
backend.execute.argtypes = [ctypes.c_char_p]
backend.getResult.restype = KernelResult
backend.getDisplay.restype = ctypes.POINTER(ctypes.c_ubyte * 4)

def execute(text):
    backend.execute(text.encode())
    while (result := backend.getResult()).count != 0:
        print(result.count, result.data.decode(), end="")

execute('print("Hello", __tileid % 3)\\n')
execute("before = getTime()\\nafter = getTime()\\nprint(deltaTime(before, after) >= 0)\\n")
execute("setPixel(3, 0, 9)\\n")
print(list(backend.getDisplay().contents))
"""


def as_kernel(folder):
    (folder / "exeCache").mkdir(exist_ok=True)
    (folder / "kernel.py").write_text(KERNEL)


COMPLEX = [r"Beginning ComplexOp\.\.\.", r"Result: \[4\.0, -9\.0, -10\.0, 7\.0\]"]
CONVOLUTION = r"\{1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, \}  -->  \{1, 1, 0, 1, 0, \}"
MESSAGES = r"Received: DATA\nReceived: SENT\nReceived: FROM\nReceived: HOST\nReceived: STOP\n"

CASES = {
    "example1": old("example1", [CONVOLUTION]),
    "example2": old("example2", COMPLEX),
    # The preprocessor on a tile gives what IPUpy's own gives on the host, but for the declarations at the top ...
    "example3": old("example3", [r"#include <poplar/Vertex.hpp>", r'IPUpy_add_memory_as_array\("X", &X\[0\], X\.size\(\), 102\);',
                                 r'IPUpy_do_str\("print\(\'Beginning ComplexOp\.\.\.\'\)\\nclass Worker:\\n    def __init__'],
                    command=["./example3", "example2_codelets.cpp"]),
    # ... and what it gives compiles and runs.
    "example3/self-hosting": old("example3", COMPLEX, command=["./example2"],
                                 before=[["rm", "-f", "example2_codelets.gp"],
                                         ["make", "example2", "PREPROCESSOR=--external_preprocessor ./example3"]]),
    "example4": old("example4", [r"\n17\n", r"\['hello.txt'\]", r"Shutting Down - Goodbye"], prepare=zeros(512 * 32),
                    lines=at_prompt("os.VfsLfs2.mkfs(__disk_device)\r", "os.mount(__disk_device, '/')\r", "f = open('hello.txt', 'w')\r",
                                    "f.write('Hello from a tile')\r", "f.close()\r", "os.listdir()\r", "\x04")),
    # The disk that the case before it left.
    "example4/again": old("example4", [r"\nHello from a tile\n"], lines=at_prompt("print(open('/hello.txt').read())\r", "\x04")),
    "example5": old("example5", [MESSAGES]),
    "example6": old("example6", [r"Some data\n"]),
    "example7": old("example7", [r"Entering IPUpysh", r"\nhello tiles\n", r"\n/d\n", r"f\.txt", r"\[1 0 0 1 1 0 0 0 0 1 0 1 0 0 0\] -> \[1 1 0 1 0\]",
                                 *COMPLEX, MESSAGES, r"\nfrom the host\n", r"IPU!", r"\n42\n", r"Leaving IPUpysh"],
                    lines=at_shell("mkdir d", "echo hello tiles > /d/f.txt", "cat /d/f.txt", "cd d", "pwd", "ls", "./example1", "./example2",
                                   "./example5", "echo print(6*7) > /p.py", "./example8 /p.py", "lshw", "!echo from the host")),
    "multirepl": dict(folder="examples", make=["multirepl"], command=["./multirepl"],
                      lines=at_prompt("print(__tileid % 3)\r", "x = __tileid * 2\r", "print(sum(range(x)) if x < 4 else 'large')\r", "\x04"),
                      patterns=[r"Launching 1472 REPL instances", r"\[491x\] -+.*\n0\n", r"\[491x\] -+.*\n1\n", r"\[490x\] -+.*\n2\n",
                                r"\[1470x\] -+.*\nlarge\n", r"Shutting Down"]),
    "multirepl/data": dict(folder="examples", make=["multirepl"], command=["./multirepl", "words.txt"], prepare=words,
                           lines=at_prompt("n = len(__tiledata)\r", "print(n)\r", "\x04"), patterns=[r"\[1407x\] -+.*\n12\n", r"\[1x\] -+.*\n6\n", r"\[64x\] -+.*\n0\n"]),
    "multirepl/alltoall": dict(folder="examples", copy_to="examples_comms", change=with_alltoall, make=["multirepl"], command=["./multirepl"],
                               lines=at_prompt("r = alltoall(__tileid ** 2)\r", "print(r == [i * i for i in range(100)])\r",
                                               "for i in range(100): assert alltoall((i, __tileid)) == [(i, j) for j in range(100)]\r\r",
                                               "print(sum(alltoall((__tileid, 1.5))[99]))\r", "\x04"),
                               patterns=[r"\[100x\] -+.*\nTrue\n", r"\[100x\] -+.*\n100\.5\n"], unwanted="Error"),
    # 5,888 interpreters on four IPUs, in a Python process as its Jupyter kernel has them.
    "multikernel": dict(folder="notebooks", make=["all"], prepare=as_kernel, command=["python3", "kernel.py"], ipus=4,
                        patterns=[r"1963 Hello 0\n1963 Hello 1\n1962 Hello 2\n", r"5888 True\n", r"\[1, 3, 0, 9\]\n"]),
}


def run_case(name, case, work, prefix):
    """None, or what went wrong."""
    folder = work / case.get("copy_to", case["folder"])
    if not folder.exists():
        shutil.copytree(work / case["folder"], folder)
        case["change"](folder)
        subprocess.run(["make", "clean"], cwd=folder, capture_output=True)
    environment = expectations.user_environment(prefix, PANDO_EMULATED_IPUS=case.get("ipus", 1))
    case.get("prepare", lambda _: None)(folder)
    for command in [["make", *case["make"]], *case.get("before", [])]:
        status, output = expectations.run(command, folder, environment)
        if status != 0:
            return f"{' '.join(command)} fails:\n{output}"
    status, output = converse(case["command"], folder, environment, case.get("lines", []))
    (work / "transcripts").mkdir(exist_ok=True)
    (work / "transcripts" / (name.replace("/", "-") + ".txt")).write_text(f"$ {' '.join(case['command'])}\n{output}")
    if status != 0:
        return f"ends with status {status}:\n{output}"
    missing = [p for p in case["patterns"] if not re.search(p, output)]
    if case.get("unwanted") and case["unwanted"] in output:
        return f"prints '{case['unwanted']}':\n{output}"
    return f"does not print {missing}, but:\n{output}" if missing else None


def copy_checkout(source, work, prefix):
    for folder in ("examples", "notebooks", OLD):
        if not (source / folder).is_dir():
            sys.exit(f"{source} is not a checkout of IPUpy: it has no {folder}")
        shutil.copytree(source / folder, work / folder)
    for shipped in (work / OLD).glob("*.gp"):
        shipped.unlink()  # for the machine itself
    library = work / "libIPUpy"
    (library / "build").mkdir(parents=True)
    shutil.copy(source / "libIPUpy" / "libIPUpy.hpp", library)
    (library / "build" / "libIPUpy.gp").symlink_to(prefix / "lib" / "libIPUpy.gp")
    for place in (library, work):
        (place / "IPUpyc").symlink_to(prefix / "bin" / "IPUpyc")


def main():
    arguments = expectations.arguments()
    work, prefix = pathlib.Path(arguments.work).resolve(), pathlib.Path(arguments.prefix).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    copy_checkout(pathlib.Path(arguments.source), work, prefix)
    results = {name: run_case(name, case, work, prefix) for name, case in CASES.items()}
    expectations.finish(results, pathlib.Path(__file__).with_suffix(".expected"))


if __name__ == "__main__":
    main()

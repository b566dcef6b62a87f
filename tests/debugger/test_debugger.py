"""A debugger stops before a vertex (engine option pando.break) and steps into its codelet, as docs/debug-a-program.md says.

The program is a test of tests/api; its codelet is compiled with -g. Without gdb, or where processes must not be traced, there is nothing to test."""
import os
import pathlib
import shutil
import subprocess
import sys

PROGRAM = pathlib.Path(os.environ["PANDO_BIN"]) / "test_api"
COMMANDS = ["set pagination off", "set breakpoint pending on", "break pando_break", "run", r'printf "tile %d, vertex %d\n", $edi, $esi',
            "break Scale::compute", "continue", "backtrace 1", "print i"]


def session():
    words = ["gdb", "-q", "-nx", "-batch"]
    for command in COMMANDS:
        words += ["-ex", command]
    words += ["--args", PROGRAM, "--gtest_filter=LookingCloser.VerticesWithABreakGiveTheSameResults"]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    return done.stdout


def main():
    if shutil.which("gdb") is None:
        print("there is no gdb")
        return 77
    said = session()
    if "Operation not permitted" in said or "Could not trace" in said:
        print("processes must not be traced here")
        return 77
    wanted = ["in pando_break (", "tile 2, vertex 6\n", "Scale::compute (this=", "scale.cpp:11\n", "$1 = 0\n"]
    missing = [w for w in wanted if w not in said]
    if missing:
        print(said)
        print("gdb did not say", missing)
        return 1
    return 0


sys.exit(main())

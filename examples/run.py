"""Builds an example as its README says, against an installed prefix, runs it, and compares what it prints with expected.txt.

An example with a CMakeLists.txt is built with CMake (find_package), any other with one line of g++. A line of expected.txt
is compared as it stands; `~ PATTERN` is a regular expression; `...` stands for any lines. `# run: ARGUMENTS` gives arguments.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys


def matches(expected, actual):
    """Where the lines differ, or None: (index in expected, index in actual)."""
    def at(i, j):
        while i < len(expected):
            line = expected[i]
            if line == "...":
                ends = [at(i + 1, k) for k in range(j, len(actual) + 1)]
                return None if None in ends else max(ends)
            if j >= len(actual):
                return i, j
            if line.startswith("~ "):
                if not re.fullmatch(line[2:], actual[j]):
                    return i, j
            elif line != actual[j]:
                return i, j
            i, j = i + 1, j + 1
        return None if j == len(actual) else (i, j)
    return at(0, 0)


def call(command, folder, environment):
    print("$", *command, flush=True)
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        print(done.stdout)
        sys.exit(f"failed with status {done.returncode}")
    return done.stdout


def build(example, folder, prefix, compiler, environment):
    """The program's path."""
    if (example / "CMakeLists.txt").exists():
        call(["cmake", "-S", str(example), "-B", str(folder), "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}",
              "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={prefix}"], example, environment)
        call(["cmake", "--build", str(folder), "-j", "2"], example, environment)
        return folder / "train"
    program = folder / example.name
    standard = re.search(r"-std=c\+\+\d\d", (example / "README.md").read_text()).group(0)
    call(["g++", standard, "-O2", f"{example.name}.cpp", f"-I{prefix}/include", f"-L{prefix}/lib", "-lpoplar", "-o", str(program)],
         example, environment)
    return program


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("example")
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--compiler", default="c++")
    a = parser.parse_args()
    example, folder, prefix = (pathlib.Path(p).resolve() for p in (a.example, a.build, a.prefix))
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": f"{prefix}/lib"}
    lines = (example / "expected.txt").read_text().splitlines()
    arguments = [word for line in lines if line.startswith("# run:") for word in line[6:].split()]
    expected = [line for line in lines if not line.startswith("# run:")]

    program = build(example, folder, prefix, a.compiler, environment)
    actual = call([str(program), *arguments], example, environment).splitlines()
    where = matches(expected, actual)
    if where is None:
        print(f"{example.name}: as expected")
        return 0
    i, j = where
    print("\n".join(actual))
    print(f"{example.name}: line {j + 1} is {actual[j] if j < len(actual) else '(nothing)'!r}, expected "
          f"{expected[i] if i < len(expected) else '(nothing)'!r}")
    return 1


if __name__ == "__main__":
    sys.exit(main())

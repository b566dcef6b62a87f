"""Pando configures without each of its optional libraries, says what is lost, and compiles what used them; and it takes a compiler by its version."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTIONAL = {
    "XSMM": ("libxsmm", "convolutions and products of few columns are plain loops"),
    "MPI": ("MPI", "the ranks of pando run are threads of one process"),
    "EDIT": ("libedit", "have no history, completion and moving cursor"),
    "DNNL": ("oneDNN", "no benchmarks of bench/poplibs"),
    "OPENMP": ("OpenMP", "no benchmarks of stencils"),
}
# What each library's absence changes, and a symbol of the library.
COMPILED = {"src/kernels/small_products.cpp": "libxsmm_", "src/ontile/repl/terminal/plain_line_editor.cpp": "el_gets"}


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)


class WithoutLibraries(unittest.TestCase):
    def test_all_at_once(self):
        with tempfile.TemporaryDirectory(prefix="pando-configure-") as folder:
            off = [f"-DPANDO_USE_{name}=OFF" for name in OPTIONAL]
            said = run("cmake", "--preset", "release", "-B", folder, "-DPANDO_PYTHON=OFF", "-DPANDO_TESTS=OFF", *off, cwd=ROOT)
            self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
            for library, lost in OPTIONAL.values():
                (line,) = [line for line in said.stdout.splitlines() if line.startswith(f"-- Without {library}: ")]
                self.assertIn(lost, line)
            self.compile(pathlib.Path(folder))

    def compile(self, folder):
        """The files alone: that libraries are built before them is an order that compiling does not need."""
        rules = (folder / "build.ninja").read_text()
        (folder / "objects.ninja").write_text("".join(line.split(" || ")[0].rstrip("\n") + "\n" for line in rules.splitlines()))
        objects = {}
        for source in COMPILED:
            (objects[source],) = [line.split()[1].rstrip(":") for line in rules.splitlines()
                                  if line.startswith("build ") and "_COMPILER_" in line and f"/{source}" in line]
        made = run("ninja", "-C", folder, "-f", "objects.ninja", *objects.values())
        self.assertEqual(made.returncode, 0, made.stdout)
        for source, symbol in COMPILED.items():
            self.assertNotIn(symbol, run("nm", "-u", folder / objects[source]).stdout)


class Compiler(unittest.TestCase):
    def find(self, *programs):
        """What the toolchain file says where only these programs are: (name, version)."""
        with tempfile.TemporaryDirectory(prefix="pando-compilers-") as folder:
            for name, version in programs:
                program = pathlib.Path(folder) / name
                program.write_text(f"#!/bin/sh\necho {version}\n")
                program.chmod(0o755)
            script = pathlib.Path(folder) / "find.cmake"
            script.write_text(f'include({ROOT}/cmake/toolchains/clang.cmake)\nmessage("took ${{CMAKE_CXX_COMPILER}}")\n')
            environment = {name: value for name, value in os.environ.items() if name not in ("CC", "CXX")}
            said = run(self.cmake(), "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF", "-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=ON",
                       "-DPANDO_CLANG_FOLDERS=", "-P", script, env={**environment, "PATH": folder})
            return " ".join(said.stderr.replace(folder, "DIR").split())

    def cmake(self):
        return run("sh", "-c", "command -v cmake").stdout.strip()

    def test_version_19_goes_first(self):
        both = [(f"{name}{suffix}", f"{version}.1.0") for name in ("clang", "clang++") for suffix, version in (("", 20), ("-19", 19))]
        self.assertEqual(self.find(*both), "took DIR/clang++-19")

    def test_another_name(self):
        self.assertEqual(self.find(("clang", "18.1.8"), ("clang++", "18.1.8")), "took DIR/clang++")

    def test_too_old(self):
        said = self.find(("clang", "16.0.6"), ("clang++", "16.0.6"))
        self.assertIn("No compiler: clang of version 17 or later was expected, DIR/clang (version 16.0.6) was found", said)

    def test_none(self):
        self.assertIn("No compiler: clang of version 17 or later was expected, none was found", self.find())


class ModuleSources(unittest.TestCase):
    def sources(self, *elsewhere):
        """What cmake/modules.cmake takes for the module `a`, or its message."""
        with tempfile.TemporaryDirectory(prefix="pando-modules-") as folder:
            folder = pathlib.Path(folder)
            for name in ("x.cpp", "errors/y.cpp", "command/z.cpp", "deep/command/w.cpp"):
                (folder / "src/a" / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / "src/a" / name).touch()
            (folder / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.25)\nproject(a NONE)\n"
                f'include({ROOT}/cmake/modules.cmake)\npando_module_sources(out a {" ".join(elsewhere)})\nmessage("${{out}}")\n')
            said = run("cmake", "-S", folder, "-B", folder / "build").stderr
            return said.strip().replace(f"{folder}/src/a/", "").split(";") if "Error" not in said else " ".join(said.split())

    def test_every_folder_counts(self):
        self.assertEqual(self.sources(), ["command/z.cpp", "deep/command/w.cpp", "errors/y.cpp", "x.cpp"])

    def test_but_those_that_are_named(self):
        self.assertEqual(self.sources("command"), ["deep/command/w.cpp", "errors/y.cpp", "x.cpp"])

    def test_a_name_of_none(self):
        self.assertIn("pando_module(a ... ELSEWHERE comand): there is no folder src/a/comand", self.sources("comand"))


if __name__ == "__main__":
    unittest.main()

"""What popc made in one clone is taken in another one, and only if all that it read is the same. The same of what the C++ compiler made with a
precompiled header, which is made only where something has to be compiled, and of what any other command made (made_before.py). No object is of one
clone alone: no definition and no generated source of this build names its folders."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
POPC = os.environ["PANDO_POPC"]
CODELET = """#include <poplar/Vertex.hpp>
#include "factor.h"
class Scale : public poplar::Vertex { public: poplar::InOut<float> x; void compute() { *x = *x * kFactor; } };
"""


class Clone:
    """A folder with a codelet and its header, and a popc that counts its calls."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "src").mkdir(parents=True)
        (folder / "src" / "scale.cpp").write_text(CODELET)
        self.header(2)
        self.calls = folder / "calls"
        self.calls.touch()
        popc = folder / "popc"
        popc.write_text(f'#!/bin/sh\necho >>{self.calls}\nexec {POPC} "$@"\n')
        popc.chmod(0o755)

    def header(self, factor):
        (self.folder / "src" / "factor.h").write_text(f"constexpr float kFactor = {factor};\n")

    def build(self, cache, *flags, key="key", **variables):
        """Compiles and links; the file, and how often popc ran for it."""
        before = self.calls.stat().st_size
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache), **variables}
        call = [sys.executable, str(ROOT / "cmake" / "popc_cached.py"), str(self.folder), key, str(self.folder / "popc")]
        partial, gp = self.folder / "scale.partial.gp", self.folder / "scale.gp"
        for output in (partial, gp):
            output.unlink(missing_ok=True)
        source = ["-c", *flags, "-MF", f"{partial}.d", str(self.folder / "src" / "scale.cpp"), "-o", str(partial)]
        subprocess.run([*call, *source], check=True, env=environment)
        subprocess.run([*call, str(partial), "-o", str(gp)], check=True, env=environment)
        return gp.read_bytes(), self.calls.stat().st_size - before

    def depfile(self):
        return (self.folder / "scale.partial.gp.d").read_text()


def main(folder):
    a, b, cache = Clone(folder / "a"), Clone(folder / "b"), folder / "cache"
    made, calls = a.build(cache)
    assert calls == 2, calls
    assert a.build(cache) == (made, 0)
    # Another clone, whose rule for ninja names its own files.
    assert b.build(cache) == (made, 0)
    assert f"{b.folder}/src/factor.h" in b.depfile() and f"{a.folder}/" not in b.depfile(), b.depfile()
    # What was read has changed; and changed back.
    b.header(3)
    other, calls = b.build(cache)
    assert calls == 2 and other != made
    b.header(2)
    assert b.build(cache) == (made, 0)
    assert a.build(cache, "-DOTHER")[1] > 0
    assert a.build(cache, key="another popc")[1] == 2
    assert a.build(cache, PANDO_BUILD_CACHE="off")[1] == 2
    # What is damaged is not taken.
    a.build(cache)
    for kept in (cache / "pando" / "build").glob("*.gp"):
        kept.write_bytes(kept.read_bytes()[:-1])
    assert a.build(cache)[1] == 2
    # A mistake in the source is popc's, and nothing is kept.
    (a.folder / "src" / "factor.h").write_text("constexpr float kFactor = ;\n")
    kept = len(list((cache / "pando" / "build").iterdir()))
    try:
        a.build(cache)
        raise AssertionError("a wrong source was compiled")
    except subprocess.CalledProcessError as error:
        assert error.returncode == 1
    assert len(list((cache / "pando" / "build").iterdir())) == kept


class CompiledClone:
    """A folder with a header that is precompiled, and a file that includes it."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "cmake").mkdir(parents=True)
        for name in ("cached_compiler", "compiler_of_misses"):
            shutil.copy(ROOT / "cmake" / name, folder / "cmake" / name)
        self.write("factor.h", "#pragma once\nconstexpr int kFactor = 2;\n")
        self.write("all.hxx", "#include <vector>\n#include <factor.h>\n")
        self.write("all.hxx.cxx", "")
        self.write("scale.cpp", "#include <factor.h>\nint scale(std::vector<int> x) { return x.at(0) * kFactor; }\n")
        self.pch = folder / "all.pch"

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def run(self, cache, *words, **variables):
        call = [self.folder / "cmake/cached_compiler", os.environ["PANDO_CXX"], "-std=c++20", f"-I{self.folder}", "-Xclang", "-fno-pch-timestamp", *words]
        return subprocess.run(list(map(str, call)), cwd=self.folder, env={**os.environ, "CCACHE_DIR": str(cache), **variables}, capture_output=True, text=True)

    def build(self, cache, **variables):
        """The words of the compiler, and whether the header had to be precompiled."""
        header = self.run(cache, "-Xclang", "-emit-pch", "-Xclang", "-include", "-Xclang", self.folder / "all.hxx", "-x", "c++-header", "-MD", "-MT", "all.pch",
                          "-MF", "all.pch.d", "-o", self.pch, "-c", self.folder / "all.hxx.cxx", **variables)
        assert header.returncode == 0 and "factor.h" in (self.folder / "all.pch.d").read_text(), header.stderr
        assert self.pch.stat().st_size == 0
        before = self.pch.stat().st_mtime_ns
        made = self.run(cache, "-include-pch", self.pch, "-MD", "-MT", "scale.o", "-MF", "scale.d", "-o", "scale.o", "-c", self.folder / "scale.cpp", **variables)
        assert self.pch.stat().st_mtime_ns == before
        return made.stderr, self.pch.stat().st_size > 0


def compiled(folder):
    if "clang" not in os.environ["PANDO_CXX"] or not shutil.which("ccache"):
        return
    a, b, cache = CompiledClone(folder / "a"), CompiledClone(folder / "b"), folder / "cache"
    assert a.build(cache) == ("", True)
    assert a.build(cache) == ("", False)
    assert b.build(cache) == ("", False)
    assert b.build(cache, PANDO_BUILD_CACHE="off") == ("", True)
    assert (a.folder / "scale.o").read_bytes() == (b.folder / "scale.o").read_bytes()
    b.write("factor.h", "#pragma once\nconstexpr int kFactor = 3;\n")
    assert b.build(cache) == ("", True)
    # A mistake in a header is told, and again.
    for _ in range(2):
        b.write("factor.h", "#pragma once\nconstexpr int kFactor = ;\n")
        said, made = b.build(cache)
        assert "factor.h:2:25: error: expected expression" in said and not made, said


def made(folder):
    """What any command makes of files."""
    cache = folder / "cache"

    def run(clone, *more, status=0, **variables):
        root = folder / clone
        call = [sys.executable, ROOT / "cmake/made_before.py", root, root / "in", "program:bash", "--", root / "out/one", root / "out/two", "--",
                "bash", "-c", f"echo >>{folder}/calls; mkdir -p {root}/out; cat {root}/in/* >{root}/out/one && wc -c <{root}/out/one >{root}/out/two", *more]
        before = (folder / "calls").stat().st_size
        done = subprocess.run(list(map(str, call)), env={**os.environ, "XDG_CACHE_HOME": str(cache), **variables}, capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        ran = (folder / "calls").stat().st_size - before
        return (root / "out/one").read_text() + (root / "out/two").read_text(), ran

    for clone in "ab":
        (folder / clone / "in").mkdir(parents=True)
        (folder / clone / "in" / "text").write_text("x\n")
    (folder / "calls").touch()
    assert run("a") == ("x\n2\n", 1) and run("a") == ("x\n2\n", 0) and run("b") == ("x\n2\n", 0)
    (folder / "b/in/more").write_text("y\n")
    assert run("b") == ("y\nx\n4\n", 1)
    (folder / "b/in/more").unlink()
    assert run("b") == ("x\n2\n", 0)
    assert run("b", "another word")[1] == 1 and run("b", PANDO_BUILD_CACHE="off")[1] == 1
    for kept in (cache / "pando/made").glob("*/1"):
        kept.write_bytes(b"damage")
    assert run("a") == ("x\n2\n", 1) and run("a")[1] == 0
    # What fails is not kept.
    (folder / "a/in/text").unlink()
    (folder / "a/in/none").mkdir()
    (folder / "a/in/none/text").write_text("")
    for _ in range(2):
        assert run("a", status=1)[1] == 1


def of_one_clone(commands, root, texts):
    """What makes an object useless to other clones: definitions that name a path below `root`, and sources that were made with one. `texts` gives the
    text of a source."""
    wrong = set()
    for command in commands:
        for name, value in re.findall(r"-D(\w+)=(\S+)", command["command"]):
            if root in value:
                wrong.add(f"{command['file']}: -D{name}={value}")
        if root in texts(command["file"]):
            wrong.add(f"{command['file']}: its text names {root}")
    return sorted(wrong)


def objects(build):
    def text(path):
        return pathlib.Path(path).read_text(errors="replace") if path.startswith(f"{build}/") and pathlib.Path(path).is_file() else ""

    commands = json.loads((build / "compile_commands.json").read_text())
    assert len(commands) > 100, len(commands)
    wrong = of_one_clone(commands, str(ROOT), text)
    assert not wrong, "no other clone finds these objects; base/testing/places.h finds files when a test runs:\n" + "\n".join(wrong)
    # Each of the two trips it.
    command = {"file": "/a/src/x.cpp", "command": 'c++ -DNDEBUG -DCODELETS=\\"/a/tests/codelets\\" -I/a/src -o x.o -c /a/src/x.cpp'}
    assert of_one_clone([command], "/a", lambda path: "") == ['/a/src/x.cpp: -DCODELETS=\\"/a/tests/codelets\\"']
    assert not of_one_clone([command], "/b", lambda path: "")
    command["command"] = "c++ -I/a/src -o x.o -c /a/src/x.cpp"
    assert of_one_clone([command], "/a", lambda path: '#include "/a/src/y.h"') == ["/a/src/x.cpp: its text names /a"]


work = pathlib.Path(tempfile.mkdtemp(prefix="pando-clones-"))
try:
    main(work)
    compiled(work / "compiled")
    (work / "made").mkdir()
    made(work / "made")
    objects(pathlib.Path(os.environ["PANDO_BIN"]).parent)
finally:
    shutil.rmtree(work)
print("fine")

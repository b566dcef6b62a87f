#!/usr/bin/env python3
"""The C++ of the pages: what is a whole program is built against the installed prefix and run, a codelet goes through popc, a file of the project
(it includes a header of src first) is compiled as one, and a fragment is compiled in a setting of its own, below. (The pages of docs/guide are run by tests/python/test_guide.py, and so is the README's Python.)

Commands of the quickstarts run (pages_run.py)."""
import os
import pathlib
import re
import subprocess
import tempfile
import textwrap
import unittest

import pages_run

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ["PANDO_BIN"])
PREFIX = pathlib.Path(os.environ["PANDO_PREFIX"])
POPC = os.environ.get("PANDO_POPC", str(BIN / "popc"))
# In a list, blocks are indented.
BLOCK = re.compile(r"^( *)```cpp\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)

# What stands around a fragment: (before it, behind it). A page with several has one for each, in order.
SETTINGS = {
    "docs/architecture.md": [("""#include <poplar/Engine.hpp>
using namespace poplar;
using namespace poplar::program;
void in_the_page(Graph& graph) {
""", "}\n")],
    "docs/debug-a-program.md": [("""#include <poplar/Graph.hpp>
void in_the_page(poplar::Graph& graph) {
""", "}\n")],
    "docs/level/distribution.md": [("""#include "models/mlp.h"
#include "transform/distribute/parallelise.h"
using namespace pando;
void in_the_page() {
""", "}\n")],
    "docs/level/ranks.md": [("""#include "exec/transports/in_process.h"
#include "ranks/run.h"
#include "split/split.h"
using namespace pando;
using namespace pando::ranks;
void in_the_page(const ir::Module& module, const Data& data) {
""", "}\n")],
}


def pages():
    return [ROOT / "README.md"] + sorted((ROOT / "docs").rglob("*.md"))


def blocks():
    """(page, code, number of the fragment in its page) of every block of C++."""
    for page in pages():
        fragments = 0
        for _, code in BLOCK.findall(page.read_text()):
            code = textwrap.dedent(code)
            whole = code.startswith("#include")
            yield page.relative_to(ROOT).as_posix(), code, None if whole else fragments
            fragments += not whole


def run(command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, **more)


class CodeOfThePages(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.source = pathlib.Path(self.folder.name) / "code.cpp"

    def test_there_is_some(self):
        found = list(blocks())
        self.assertGreater(len(found), 3)
        fragments = [(page, n) for page, _, n in found if n is not None]
        self.assertEqual(sorted(fragments), sorted((page, n) for page, all_ in SETTINGS.items() for n in range(len(all_))),
                         "every fragment has a setting, and every setting a fragment")

    def test_programs_run_and_codelets_compile(self):
        for place, (page, code, number) in enumerate(blocks()):
            if number is not None:
                continue
            with self.subTest(page):
                self.source.write_text(code)
                if code.startswith('#include "'):
                    self.is_of_the_project(page, f"file{place}", code)
                elif "int main(" in code:
                    self.builds_and_runs()
                else:
                    compiled = run([POPC, self.source, "-o", self.source.with_suffix(".gp")])
                    self.assertEqual(compiled.returncode, 0, compiled.stderr)

    def builds_and_runs(self):
        program = self.source.with_suffix("")
        built = run(["g++", "-std=c++11", self.source, "-I", PREFIX / "include", "-L", PREFIX / "lib", "-lpoplar", "-o", program])
        self.assertEqual(built.returncode, 0, built.stderr)
        ran = run([program], cwd=self.folder.name, env=dict(os.environ, LD_LIBRARY_PATH=str(PREFIX / "lib")))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("y: [2.0000000 4.0000000]", ran.stdout + ran.stderr)

    def test_fragments_compile(self):
        for page, code, number in blocks():
            if number is None:
                continue
            with self.subTest(page):
                before, behind = SETTINGS[page][number]
                self.is_of_the_project(page, number, before + code + behind)

    def is_of_the_project(self, page, number, code):
        """In a place of its own, through the compiler cache: it is parsed again if it has changed, or a header that it includes."""
        source = BIN.parent / "docs_code" / f"{page.removesuffix('.md').replace('/', '_')}_{number}.cpp"
        source.parent.mkdir(exist_ok=True)
        source.write_text(code)
        compiled = run([ROOT / "cmake/cached_compiler", os.environ.get("PANDO_CXX", "clang++"), "-std=c++20", "-DFMT_SHARED", "-I", ROOT / "src",
                        "-I", ROOT / "include", "-I", BIN.parent / "generated", "-MD", "-MF", source.with_suffix(".d"), "-c", source,
                        "-o", source.with_suffix(".o")])
        self.assertEqual(compiled.returncode, 0, compiled.stderr)

    def test_commands_of_the_quickstarts(self):
        found = sorted((ROOT / "docs/quickstart").glob("*.md"))
        self.assertEqual(len(found), 5)
        for page in found:
            with self.subTest(page.name):
                self.assertEqual("\n".join(pages_run.run(page.read_text(), BIN.parent, ROOT)), "")

    def test_a_page_that_says_something_else(self):
        page = "```text title=\"one.txt\"\n1\n```\n```console\n$ cat one.txt\n{}\n$ false\n$ seq 3\n1\n...\n```\n"
        messages = pages_run.run(page.format("2"), BIN.parent, ROOT)
        self.assertEqual([m.split("\n")[0] for m in messages], ["$ cat one.txt", "$ false"])
        self.assertEqual(len(pages_run.run(page.format("..."), BIN.parent, ROOT)), 1)


if __name__ == "__main__":
    unittest.main()

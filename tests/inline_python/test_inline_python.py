#!/usr/bin/env python3
"""Inline Python in codelets: popc and src/ontile/ipupyc/ipupyc.py give the same text and the same errors; popc's compiler errors
name the line of the source.

usage: test_inline_python.py FOLDER_OF_IPUPYC    (environment: PANDO_POPC)"""

import os
import random
import subprocess
import sys
import tempfile
import unittest

FOLDER = sys.argv.pop(1)
sys.path.insert(0, FOLDER)
sys.dont_write_bytecode = True
import ipupyc  # noqa: E402

POPC = os.environ["PANDO_POPC"]
START, END = "#pragma IPUpy_start", "#pragma IPUpy_end"

GOOD = {
    "nothing": "",
    "no Python": "int x;\n#pragma once\n# pragma IPUpy_start []\n",
    "all operands": f"a\n  {START} [X=in, y, z<float>, w = out<char>, stdout=text]\n  print(1)\n  {END}\nb\n",
    "types": f"{START} [a=b<int>, c=d< float >, e = this->f<char> ]\n{END}",
    "no operands": f"{START} []\npass\n{END}\n",
    "quotes": f'\t{START} [x]\n\tprint("a\\n", \'\\\\"\')\n\t{END}\n',
    "blank lines": f"  {START} [x]\n\n   \n\t\n  y = 1\n\n  {END}\n",
    "indented block": f"    {START} [x]\n    if x:\n        pass\n    {END}\n",
    "two blocks": f"{START} [x]\n1\n{END}\n{START} [y]\n2\n{END}\n",
    "tabs and spaces": f" \t#pragma \t IPUpy_start\t[x]  \n \tpass\n  #pragma  IPUpy_end  // done\nz\n",
    "carriage returns": f"a\r\n{START} [x]\r\npass\r\n{END}\r\nb\r\n",
    "no last newline": f"{START} [x]\npass\n{END}",
    "other bytes": f"{START} [x]\nprint('caf\u00e9 \u00ff')\n{END}\n",
    "pragma in text": f'{START} [x]\nprint("{END}")\nif line == "#pragma IPUpy_start": pass\n{END}\n',
}
BAD = {
    "end without start": f"a\n{END}\n",
    "no end": f"a\n{START} [x]\npass\n",
    "start in a block": f"{START} [x]\n{START} [y]\n{END}\n",
    "no list": f"{START}\n{END}\n",
    "half a list": f"{START} [x\n{END}\n",
    "unknown type": f"{START} [x=y<double>]\n{END}\n",
    "no opening bracket": f"{START} [x=y>]\n{END}\n",
    "no name": f"{START} [=y]\n{END}\n",
    "two commas": f"{START} [x,,y]\n{END}\n",
    "no field": f"{START} [x=]\n{END}\n",
    "bad name": f"{START} [1x=y]\n{END}\n",
    "indentation": f"    {START} [x]\n  pass\n    {END}\n",
}
PIECES = [START, END, "[x]", "[x=y<float>, stdout=z]", "[", "]", "<int>", "=", ",", "\n", "\n", "\n", "  ", "\t", "\r", '"', "\\", "pass", "print(x)", "#", "\u00e9"]


def in_python(text):
    try:
        return ipupyc.preprocess(text)
    except ValueError as e:
        return f"error: FILE:{e}\n"


class Test(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, text, name="source.cpp"):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="latin-1", newline="") as out:
            out.write(text)
        return path

    def in_popc(self, text):
        path = self.file(text)
        result = subprocess.run([POPC, "--expand-python", path], capture_output=True)
        if result.returncode:
            return result.stderr.decode("latin-1").replace("popc: ", "").replace(path, "FILE")
        return result.stdout.decode("latin-1")

    def test_good(self):
        for name, text in GOOD.items():
            with self.subTest(name):
                expanded = in_python(text)
                self.assertEqual(expanded.count("\n"), text.count("\n") + 3)
                self.assertEqual(expanded, self.in_popc(text))

    def test_bad(self):
        for name, text in BAD.items():
            with self.subTest(name):
                self.assertIn("error: FILE:", in_python(text))
                self.assertEqual(in_python(text), self.in_popc(text))

    def test_random(self):
        generator = random.Random(4)
        for _ in range(80):
            text = "".join(generator.choices(PIECES, k=generator.randrange(30)))
            self.assertEqual(in_python(text), self.in_popc(text), repr(text))

    def test_what_the_calls_say(self):
        expanded = in_python(GOOD["all operands"]).splitlines()
        self.assertEqual(expanded[4], "  { IPUpy_set_stdout((char *)&text[0], text.size()); IPUpy_init((char *)__builtin_frame_address(0)); "
                         "IPUpy_add_memory_as_array(\"X\", (void *)&in[0], in.size(), 'i'); IPUpy_add_memory_as_array(\"y\", (void *)&y[0], y.size(), 'i'); "
                         "IPUpy_add_memory_as_array(\"z\", (void *)&z[0], z.size(), 'f'); IPUpy_add_memory_as_array(\"w\", (void *)&out[0], out.size(), 'b'); "
                         'IPUpy_do_str(""')
        self.assertEqual(expanded[5:7], ['  "print(1)\\n"', "  , 0); IPUpy_deinit(); }"])

    def test_the_command_takes_paths_in_any_language(self):
        with tempfile.TemporaryDirectory(suffix=" mit ä 木") as folder:
            source = os.path.join(folder, "größe.cpp")
            with open(source, "w", encoding="utf-8") as file:
                file.write("class V : public poplar::Vertex {\n public:\n  void compute() { fehler; }\n};\n")
            env = dict(os.environ, PATH=os.path.dirname(POPC) + os.pathsep + os.environ["PATH"], PYTHONPATH=FOLDER, LC_ALL="C.UTF-8")
            done = subprocess.run([os.path.join(FOLDER, "IPUpyc"), "-i", source, "-o", os.path.join(folder, "ä.gp"), "--compile_only"],
                                  capture_output=True, text=True, env=env, timeout=120)
            self.assertIn(f"{source}:3:20: error:", done.stderr)

    def test_compiler_errors_name_the_line(self):
        text = ("class V : public poplar::Vertex {\n public:\n  poplar::InOut<poplar::Vector<int>> x;\n  void compute() {\n"
                f"    {START} [x]\n    pass\n    {END}\n    int y = nothing;\n    {START} [z]\n    {END}\n  }}\n}};\n")
        result = subprocess.run([POPC, "-c", self.file(text, "lines.cpp"), "-o", os.path.join(self.folder.name, "x.gp")], capture_output=True, text=True)
        self.assertIn("lines.cpp:8:13: error: use of undeclared identifier 'nothing'", result.stderr)
        self.assertIn("lines.cpp:9:", result.stderr)
        self.assertEqual(result.returncode, 1)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""./x mutate on a tiny module: one file, whose test sees some changes and not others."""
import pathlib
import subprocess
import tempfile
import unittest

import mutate

TINY = """// a < b && c in a comment
#if 1 == 1
#endif
const char* const kText = "x + y";
int clamp(int x) { return x > 9 ? 9 : x; }
int sum(const int* v, int size) {
  int n = 0;
  for (int i = 0; i < size; ++i) n += v[i];
  return n;
}

"""
TEST = """#include "tiny.cpp"
const int kNumbers[] = {1, 2, 3, 100};
int main() { return sum(kNumbers, 3) == 6 && clamp(12) == 9 && clamp(9) == 9 && clamp(3) == 3 ? 0 : 1; }
"""


class Tiny:
    """A module of one file, compiled by hand."""

    name = "tiny"

    def __init__(self, place):
        self.place = place
        (place / "tiny.cpp").write_text(TINY)
        (place / "test.cpp").write_text(TEST)

    def files(self):
        return [self.place / "tiny.cpp"]

    def run(self, *command):
        return subprocess.run(command, cwd=self.place, capture_output=True, timeout=60, check=False).returncode == 0

    def build(self):
        return self.run("g++", "test.cpp", "-o", "test")

    def passes(self):
        return self.run("./test")


class Mutate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.module = Tiny(pathlib.Path(folder.name))

    def test_tokens_are_those_of_the_code(self):
        found = [(c.line_number, c.old.strip(), c.new.strip()) for c in mutate.changes_in("tiny.cpp", TINY)]
        self.assertEqual(found, [(5, ">", ">="), (8, "<", "<="), (8, "+=", "-=")])
        text = "int* p = std::max(a, b) - x;\nbool q = a != b && !c; // max(a)\nT&& r; char c = '<'; f<int>(a);\n"
        self.assertEqual([c.old.strip() for c in mutate.changes_in("a.cpp", text)], ["max(", "-", "!=", "&&"])

    def test_one_lives_and_two_are_killed(self):
        said = []
        verdicts = {}
        for seed in range(12):
            verdict, change = mutate.run_round(self.module, seed, {}, said.append)
            verdicts[change.old.strip()] = verdict
        self.assertEqual(verdicts, {">": "survived", "<": "killed", "+=": "killed"})
        self.assertEqual((self.module.place / "tiny.cpp").read_text(), TINY)
        self.assertRegex(said[0], r"^seed 0: (survived|killed): tiny.cpp:\d: ")

    def test_a_change_that_means_the_same_is_accepted_with_a_reason(self):
        equal = mutate.read_equal("# all\ntiny.cpp: > becomes >=: int clamp(int x) { return x > 9 ? 9 : x; }\n    9 gives 9 on both ways.\n")
        self.assertEqual(list(equal.values()), ["9 gives 9 on both ways."])
        counts, survivors = mutate.run_module(self.module, 12, 0, equal, lambda text: None)
        self.assertEqual((counts["survived"], survivors), (0, []))
        self.assertGreater(counts["equal"], 0)
        self.assertIn("100 %", mutate.table({"tiny": (counts, survivors)}))
        with self.assertRaises(ValueError):
            mutate.read_equal("tiny.cpp: something else\n")

    def test_files_are_restored_when_a_test_raises(self):
        def interrupted():
            raise KeyboardInterrupt

        self.module.passes = interrupted
        with self.assertRaises(KeyboardInterrupt):
            mutate.run_round(self.module, 1, {}, lambda text: None)
        self.assertEqual((self.module.place / "tiny.cpp").read_text(), TINY)

    def test_tests_that_fail_without_a_change_are_said(self):
        (self.module.place / "test.cpp").write_text("int main() { return 1; }")
        with self.assertRaisesRegex(RuntimeError, "its tests fail without a change"):
            mutate.run_module(self.module, 1, 1, {}, lambda text: None)


if __name__ == "__main__":
    unittest.main()

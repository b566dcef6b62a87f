"""The rules by which MicroPython's tests are judged, each tripped once."""
import pathlib
import tempfile
import unittest

from micropython import Answer, apply_reasons, disk_script, matches_special, read_answers, read_reasons, unittest_verdict, verdict


class Answers(unittest.TestCase):
    def test_answers_are_read_with_any_bytes(self):
        data = b"job a/b 2\ngroup done 3 4\n\xff\n\n1\ngroup ended 1 0\n\njob c 1\ngroup raised 4 2\nx\n\n"
        self.assertEqual(read_answers(data), {"a/b": [Answer("done", 3, b"\xff\n\n1"), Answer("ended", 1, b"")],
                                              "c": [Answer("raised", 4, b"x\n")]})


class Verdicts(unittest.TestCase):
    def test_equal_output_passes(self):
        self.assertIsNone(verdict("basics/a", Answer("done", 4, b"1\r\n2\n"), b"1\n2\n"))

    def test_the_first_difference_is_named(self):
        self.assertEqual(verdict("basics/a", Answer("done", 4, b"1\n2\n"), b"1\n3\n"), "line 2 is '2', expected '3'")
        self.assertEqual(verdict("basics/a", Answer("done", 4, b"1\n"), b"1\n3\n"), "line 2 is '(end)', expected '3'")

    def test_a_skip_is_no_pass(self):
        self.assertEqual(verdict("basics/a", Answer("exited", 4, b"SKIP\n"), b"SKIP\n"), "it skips itself")

    def test_an_exception_is_no_pass(self):
        self.assertEqual(verdict("basics/a", Answer("raised", 4, b"ValueError\n"), b"ValueError\n"), "raised: ValueError")

    def test_reports_of_unittest(self):
        report = b"x ... ok\n" + b"-" * 70 + b"\nRan 2 tests\n\n%s\n"
        self.assertIs(unittest_verdict(report % b"OK (skipped=1)"), True)
        self.assertIs(unittest_verdict(report % b"FAILED (failures=1, errors=0)"), False)
        self.assertIsNone(unittest_verdict(b"OK\n"))


class Special(unittest.TestCase):
    def test_hashes_stand_for_any_lines(self):
        self.assertTrue(matches_special(b"a\nb\nc\nd\n", b"a\n########\nd\n"))
        self.assertFalse(matches_special(b"a\nb\nc\n", b"a\n########\nd\n"))
        self.assertTrue(matches_special(b"a\nb\n", b"a\n########\n"))

    def test_backslashes_make_patterns(self):
        self.assertTrue(matches_special(b"mem: 12 (x)\n", b"mem: \\\\d\\+ (x)\n"))
        self.assertFalse(matches_special(b"mem: ab (x)\n", b"mem: \\\\d\\+ (x)\n"))

    def test_too_many_lines(self):
        self.assertFalse(matches_special(b"a\nb\n", b"a\n"))


class Reasons(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "reasons")
            path.write_text("# why\nno such thing:\n  basics/a*  # a comment\n  io/b\n")
            self.reasons = read_reasons(path)

    def test_reading(self):
        self.assertEqual(self.reasons, [("basics/a*", "no such thing"), ("io/b", "no such thing")])

    def test_a_failure_without_a_reason_is_an_error(self):
        _, errors = apply_reasons({"basics/ab": "bad", "io/b": "bad", "io/c": "bad"}, self.reasons)
        self.assertEqual(errors, ["FAIL  io/c: bad; it is neither expected to pass nor has it a reason"])

    def test_a_reason_that_explains_nothing_is_an_error(self):
        out, errors = apply_reasons({"basics/ab": "bad", "io/b": None}, self.reasons)
        self.assertEqual(out, {"basics/ab": "no such thing (bad)", "io/b": None})
        self.assertEqual(errors, ["FAIL  the reason of io/b (no such thing) explains nothing"])


class Disk(unittest.TestCase):
    def test_files_and_folders_come_onto_the_disk(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "sub").mkdir()
            pathlib.Path(folder, "sub", "m.py").write_bytes(b"x = 1\n")
            script = disk_script(pathlib.Path(folder))
        self.assertIn("os.mkdir('sub')\nput('sub/m.py', b'x = 1\\n')\n", script)


if __name__ == "__main__":
    unittest.main()

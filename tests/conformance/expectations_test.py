"""The rules of expected-pass lists, each tripped once."""
import unittest

from expectations import judge


class Judge(unittest.TestCase):
    def test_a_listed_failure_is_an_error(self):
        lines, status = judge({"a": None, "b": "boom"}, {"a", "b"})
        self.assertEqual(status, 1)
        self.assertIn("FAIL  b: boom", lines)
        self.assertEqual(lines[-1], "1 passed, 1 failed")

    def test_an_unlisted_failure_is_known(self):
        lines, status = judge({"a": None, "b": "boom"}, {"a"})
        self.assertEqual(status, 0)
        self.assertEqual(lines[-1], "1 passed, 0 failed, 1 skipped")

    def test_a_new_pass_is_reported(self):
        lines, status = judge({"a": None}, set())
        self.assertEqual(status, 0)
        self.assertIn("new", lines[0])

    def test_a_listed_case_that_is_gone_is_an_error(self):
        lines, status = judge({"a": None}, {"a", "gone"})
        self.assertEqual(status, 1)
        self.assertIn("FAIL  gone", lines[1])


if __name__ == "__main__":
    unittest.main()

"""The rules of expected-pass lists, each tripped once."""
import os
import pathlib
import re
import unittest
from unittest import mock

from expectations import READ, judge, user_environment

ROOT = pathlib.Path(__file__).resolve().parents[2]


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


class UserEnvironment(unittest.TestCase):
    def test_what_the_project_reads_is_dropped_and_the_rest_stays(self):
        read = {name: "1" for name in ("PANDO_THREADS", "PANDO_POPC", "POPLAR_LOG_LEVEL", "POPLAR_ENGINE_OPTIONS", "PVTI_OPTIONS", "IPU_POPOPS_GP")}
        with mock.patch.dict(os.environ, dict(read, PANDO_MARK="of the caller", HOME="/home")):
            given = user_environment("/prefix", PANDO_EMULATED_IPUS=16)
        self.assertEqual([name for name in read if name in given], [])
        self.assertEqual((given["PANDO_MARK"], given["HOME"], given["PANDO_EMULATED_IPUS"]), ("of the caller", "/home", "16"))

    def test_the_list_is_what_the_sources_read(self):
        files = [f for folder in ("src", "python") for f in (ROOT / folder).rglob("*") if f.suffix in (".c", ".cpp", ".h", ".py")]
        # golden.h and tests read what is the tests' own.
        texts = [f.read_text(errors="replace") for f in files if "_test." not in f.name and f.name != "golden.h"]
        named = {name for text in texts for name in re.findall(r"""["']((?:PANDO|POPART|POPXL|PVTI)_[A-Z_]+)["']""", text)}
        self.assertEqual(named, READ)


if __name__ == "__main__":
    unittest.main()

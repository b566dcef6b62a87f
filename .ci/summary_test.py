"""The last line of ./x test, tripped once for each way a test can end."""
import unittest
import xml.etree.ElementTree as ElementTree

from summary import count, slowest


def case(status, output="", skipped=None):
    element = ElementTree.Element("testcase", name="t", status=status)
    if skipped is not None:
        ElementTree.SubElement(element, "skipped", message=skipped)
    ElementTree.SubElement(element, "system-out").text = output
    return element


class Count(unittest.TestCase):
    def test_an_entry_that_says_nothing_is_one_case(self):
        self.assertEqual(count(case("run", "fine\n")), (1, 0, 0))

    def test_google_test_cases_are_counted(self):
        self.assertEqual(count(case("run", "[  PASSED  ] 12 tests.\n[  SKIPPED ] 1 test, listed below:\n")), (12, 0, 1))
        self.assertEqual(count(case("fail", "[  PASSED  ] 4 tests.\n[  FAILED  ] 2 tests, listed below:\n")), (4, 2, 0))

    def test_a_script_says_its_own_count_last(self):
        self.assertEqual(count(case("run", "9 passed, 0 failed\n3 passed, 0 failed, 2 skipped\n")), (3, 0, 2))

    def test_an_entry_that_fails_is_never_all_passed(self):
        self.assertEqual(count(case("fail", "5 passed, 0 failed\n")), (5, 1, 0))
        self.assertEqual(count(case("fail", "killed\n")), (0, 1, 0))

    def test_only_a_test_that_skips_itself_is_skipped(self):
        self.assertEqual(count(case("notrun", skipped="SKIP_RETURN_CODE=77")), (0, 0, 1))
        self.assertEqual(count(case("notrun", skipped="Unable to find executable")), (0, 1, 0))
        self.assertEqual(count(case("disabled", "Disabled")), (0, 1, 0))

    def test_the_slowest_are_named_slowest_first(self):
        self.assertEqual(slowest([(1, "a"), (20.25, "b"), (3, "c")], 2), ["slowest:", "     20.2 s  b", "      3.0 s  c"])
        self.assertEqual(slowest([(1, "a")]), [])


if __name__ == "__main__":
    unittest.main()

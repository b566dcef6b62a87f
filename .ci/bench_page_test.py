"""docs/performance.md as ./x bench --page writes it."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))

import page  # noqa: E402


class Page(unittest.TestCase):
    def test_a_section_is_replaced_and_others_stay(self):
        text = page.updated("", "b", [["figure of b", "1 s"]], "host", "2026-01-01")
        text = page.updated(text, "a", [["a | c", "2 s", "peer", "3 s", "0.67", "<= 1", "ok"]], "host", "2026-01-02")
        before = page.sections_of(text)["b"]
        text = page.updated(text, "a", [["new", "5 s"]], "host 2", "2026-01-03")
        self.assertEqual(list(page.sections_of(text)), ["a", "b"])
        self.assertEqual(page.sections_of(text)["b"], before)
        self.assertIn("| new | 5 s |  |  |  |  |  |", text)
        self.assertNotIn("2026-01-02", text)
        self.assertIn("`./x bench a` on 2026-01-03", text)

    def test_cells_cannot_end_a_column(self):
        self.assertIn("| x / y |", page.section("n", [["x | y"]], "host", "2026-01-01"))

    def test_the_page_is_one_of_these(self):
        text = page.PAGE.read_text()
        self.assertTrue(text.startswith(page.INTRO))
        self.assertTrue(page.sections_of(text))


if __name__ == "__main__":
    unittest.main()

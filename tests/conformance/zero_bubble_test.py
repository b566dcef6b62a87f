"""What the runner of zero bubble's generators reads and judges, each message tripped once."""
import pathlib
import tempfile
import unittest

import zero_bubble

HEAD = "model,layers,heads,hidden,seq,p,microbatch_size,m,T_F_ms,T_B_ms,T_W_ms,T_comm_ms,schedule,bubble_rate_computed\n"
HALF = HEAD.replace("F_ms", "F_half_ms").replace("B_ms", "B_half_ms").replace("W_ms", "W_half_ms")


class Rows(unittest.TestCase):
    def test_times_are_those_of_a_whole_rank_in_microseconds(self):
        row = "14.6B,46,40,5120,1024,24,2,72,6.763,6.969,5.251,0.755,ZB-V,0.0638\n"
        (case, read), = zero_bubble.rows_of(HALF + row, True).items()
        self.assertEqual(case, "14.6B p=24 m=72 ZB-V")
        self.assertEqual((read["F"], read["I"], read["W"], read["transfer"], read["stages_per_rank"]), (13526, 13938, 10502, 755, 2))
        self.assertEqual(zero_bubble.costs(read)[:2], ["--forward", "6763.0"])
        (_, whole), = zero_bubble.rows_of(HEAD + row.replace("ZB-V", "1F1B-I"), False).items()
        self.assertEqual((whole["F"], whole["stages_per_rank"]), (6763, 2))

    def test_rows_without_a_rate_are_left_out(self):
        self.assertEqual(zero_bubble.rows_of(HEAD + "14.6B,46,40,5120,1024,24,2,72,1,1,1,0,ZB-1p,\n", False), {})

    def test_the_projects_rows_are_all_there(self):
        text = [(zero_bubble.DATA / name).read_text() for name in ("zb_iclr24.csv", "zbv_arxiv.csv")]
        self.assertEqual([len(zero_bubble.rows_of(t, half)) for t, half in zip(text, (False, True))], [36, 15])

    def test_the_rate_is_read_from_what_is_printed(self):
        self.assertAlmostEqual(zero_bubble.read_rate("2 ranks: makespan 9, longest rank 9, bubble 33.3333 %\n"), 0.333333)
        self.assertIsNone(zero_bubble.read_rate("order: rank 3"))
        self.assertEqual(zero_bubble.read_peak("activations at the most, in microbatches of a rank: 4 3.5 2 1\n"), 4)


class Judge(unittest.TestCase):
    ROW = dict(F=1, I=1, W=1, microbatches=8, ranks=4, schedule="ZB-1p", published=0.2)

    def judge(self, replayed=zero_bubble.Replay(0.2, 4), stated=30.0, own=zero_bubble.Replay(0.1, 4), **more):
        return zero_bubble.judge_row(dict(self.ROW, **more), replayed, stated, own)

    def test_what_is_right_passes(self):
        self.assertEqual(self.judge(), {"rate": None, "statement": None, "memory": None, "ours": None})

    def test_another_rate_than_the_published_one_fails(self):
        self.assertEqual(self.judge(published=0.21)["rate"], "20.0000 %, published 21.00 %")
        self.assertIsNone(self.judge(published=0.20004)["rate"])

    def test_another_rate_than_the_stated_one_fails(self):
        self.assertEqual(self.judge(stated=31.0)["statement"], "20.0000 %, the authors state 22.5806 %")

    def test_an_own_schedule_that_is_worse_fails(self):
        self.assertEqual(self.judge(own=zero_bubble.Replay(0.2001, 4))["ours"], "20.0100 %, published 20.00 %")

    def test_a_table_that_holds_too_much_fails(self):
        self.assertEqual(self.judge(replayed=zero_bubble.Replay(0.2, 4.5))["memory"], "a rank holds 4.5 microbatches of 4")
        self.assertNotIn("memory", self.judge(schedule="ZB-H1"))

    def test_a_table_that_breaks_a_rule_fails(self):
        results = self.judge(replayed=zero_bubble.Replay(rejected="pando schedule ends with status 1: order"))
        self.assertEqual(results["rate"], "pando schedule ends with status 1: order")
        self.assertNotIn("statement", results)


class Clone(unittest.TestCase):
    def test_a_folder_without_the_commits_is_rejected(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(SystemExit, "is not a clone of sail-sg/zero-bubble"):
            zero_bubble.take_out(pathlib.Path(folder), *zero_bubble.PAPER, pathlib.Path(folder, "taken"))


if __name__ == "__main__":
    unittest.main()

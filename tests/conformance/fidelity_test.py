"""How the runner of published measurements reads rows, turns cycles into their units, and judges."""
import csv
import pathlib
import tempfile
import unittest

from fidelity import (FITTED, ROWS, NotRun, Place, arguments_of, case_of, checkout_of, copy_program, folder_of, judge_row, machine_of, predicted_value, program_of, table,
                      with_tile_width, without_sparse)

ALL = list(csv.DictReader(ROWS.read_text().splitlines()))


def row(identifier, unit):
    return next(r for r in ALL if r["id"] == identifier and r["unit"] == unit)


class Fidelity(unittest.TestCase):
    def test_every_row_has_a_program_and_a_name_of_its_own(self):
        self.assertTrue(all(program_of(r).wanted <= 0.2 for r in ALL))
        self.assertEqual(len({case_of(r) for r in ALL}), len(ALL))

    def test_at_most_a_third_of_the_rows_is_fitted(self):
        self.assertLessEqual(3 * sum(r["id"] in FITTED for r in ALL), len(ALL))

    def test_the_published_cycles_give_the_published_value(self):
        for r in ALL:
            if r["cycles_per_step_derived"]:
                value = predicted_value(r, float(r["cycles_per_step_derived"]))
                self.assertAlmostEqual(value / float(r["value"]), 1, delta=0.025, msg=case_of(r))  # seconds are printed with two decimals

    def test_twice_the_cycles_are_twice_the_time_and_half_the_rate(self):
        for identifier, unit, factor in (("4", "s", 2), ("4", "TFLOP/s", 0.5), ("23", "cycles", 2)):
            r = row(identifier, unit)
            self.assertAlmostEqual(predicted_value(r, 2e6) / predicted_value(r, 1e6), factor)

    def test_a_row_is_judged_by_its_own_limit(self):
        self.assertIsNone(judge_row(row("2", "s"), 0.3 * 1.099))
        self.assertEqual(judge_row(row("2", "s"), 0.3 * 1.2), "+20.0 %, wanted 10 %")
        self.assertIsNone(judge_row(row("23", "cycles"), 90084))
        self.assertEqual(judge_row(row("23", "cycles"), 90990), "+1.0 %, wanted 0 %")

    def test_fitted_rows_are_apart(self):
        rows = [row("23", "cycles"), row("2", "s"), row("4", "s")]
        lines = table(rows, {"23:cycles": 90084, "2:s": 0.33})
        self.assertIn("1 predicted rows: mean 10.0 % off, worst 10.0 %, 1 as close as wanted", lines)
        self.assertIn("1 fitted rows: mean 0.0 % off, worst 0.0 %, 1 as close as wanted", lines)
        self.assertEqual(len(lines), 6)  # the row without a prediction has no line

    def test_a_program_runs_on_the_machine_that_it_was_measured_on(self):
        self.assertEqual([machine_of(row(i, u)) for i, u in (("2", "s"), ("23", "cycles"))], ["ipu2", "bow"])
        self.assertTrue(all(machine_of(r) for r in ALL))

    def test_arguments(self):
        self.assertEqual(arguments_of(row("4", "s"), {"--num-iterations": "10"}), ["./main", "--height", "7000", "--width", "7000", "--num-iterations", "10"])
        self.assertEqual(arguments_of(row("23", "cycles")), ["./pi", "1000"])

    def test_folders(self):
        self.assertEqual([folder_of(row(i, u)) for i, u in (("1", "TB/s"), ("2", "s"), ("20", "s"), ("23", "cycles"))],
                         ["STREAMTriad", "HeatEquation2D", "IPU/HeatEquation3D", "cpp_ipu_pi_dir"])

    def test_a_checkout_or_a_folder_that_is_not_there_is_a_reason(self):
        with tempfile.TemporaryDirectory() as name:
            source = pathlib.Path(name)
            with self.assertRaisesRegex(NotRun, "has no checkout of simehaa/IPU"):
                checkout_of(source, "simehaa/IPU")
            for form in ("IPU", "simehaa+IPU", "simehaa/IPU"):
                (source / form).mkdir(parents=True)
                self.assertEqual(checkout_of(source, "simehaa/IPU"), source / form)
            with self.assertRaisesRegex(NotRun, "has no HeatEquation2D"):
                copy_program(row("2", "s"), source, source / "work")

    def test_a_vertex_that_is_not_counted_gives_no_prediction(self):
        answers = {"codelets": {"rows": [{"codelet": "A", "estimated": True, "source": "counted"}]},
                   "runs": {"rows": [{"program": 0, "begin": 0, "end": 7}, {"program": 1, "begin": 7, "end": 107}, {"program": 1, "begin": 107, "end": 137}]}}
        place = Place(None, None, 1, False)
        place.ask = answers.get
        self.assertEqual(place.cycles_of_program(1), 130)
        answers["codelets"]["rows"].append({"codelet": "B", "estimated": False, "source": "not counted: it prints"})
        with self.assertRaisesRegex(NotRun, "the cycles of B are not known: not counted: it prints"):
            place.cycles_of_program(1)

    def test_a_name_that_a_program_does_not_declare(self):
        high = "unsigned y_high = block_high(y, nw, options.width) + 1;"
        self.assertEqual(with_tile_width(high + " halo += tile_width;"), high + " unsigned tile_width = y_high - y_low; halo += tile_width;")
        for text in (high, high + " unsigned tile_width = 3; halo += tile_width;"):
            self.assertEqual(with_tile_width(text), text)

    def test_without_sparse_products(self):
        text = ("#include <poplin/MatMul.hpp>\n#include <popsparse/codelets.hpp>\nstruct DenseImpl : Impl {\n  int a;\n};\n\n"
                "struct StaticBlockSparseImpl : Impl {\n  popsparse::X x;\n};\nvoid f() {\n    popsparse::addCodelets(graph);\n"
                "    impl.reset(new StaticBlockSparseImpl(problem));\n}\n")
        self.assertEqual(without_sparse(text).split(), "#include <poplin/MatMul.hpp> struct DenseImpl : Impl { int a; }; void f() { }".split())


if __name__ == "__main__":
    unittest.main()

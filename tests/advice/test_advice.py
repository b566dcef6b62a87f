"""Each rule of advice from end to end: a program that has what the rule finds (programs.cpp) runs with a report; the rule says so, with evidence that
other tables of the report bear out; with the change that it asks for it is silent, and the number is better.

    test_advice.py BUILD
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(BUILD / "python"))
import pando.report  # noqa: E402

PROGRAMS = BUILD / "bin" / "advice_programs"
PANDO = BUILD / "bin" / "pando"
TERMS = ("compute", "exchange", "local_copy", "sync", "global_exchange", "host")
SCRATCH = tempfile.TemporaryDirectory()


class Ran:
    """The report of a run, as columns of lists."""

    def __init__(self, rule, version):
        folder = pathlib.Path(SCRATCH.name) / f"{rule}-{version}"
        options = {"autoReport.all": "true", "autoReport.directory": str(folder)}
        done = subprocess.run([PROGRAMS, rule, version], env={**os.environ, "POPLAR_ENGINE_OPTIONS": json.dumps(options)},
                              cwd=pathlib.Path(__file__).parent, capture_output=True, text=True, timeout=120)
        assert done.returncode in (0, 3), done.stderr
        self.path = folder / "profile.pando"
        self.report = pando.report.open(self.path)
        self.target = self.report["target"]
        self.advice = {finding["rule"]: finding for finding in self.report.document("advice")}

    def ask(self, question):
        return self.report.ask(question, top=1000)

    def table(self, name):
        if name not in self.report.tables:
            return []
        table = self.report.table(name)
        columns = {c: list(table[c]) for c in table.keys()}
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def steps(self):
        return self.table("steps")

    def busy(self):
        return sum(s[t] for s in self.steps() for t in TERMS)

    def share(self, part):
        """Of all cycles, the waiting of streams left out."""
        return sum(part(s) for s in self.steps()) / self.busy()

    def fullest(self):
        """The tile with the highest address in use, and its row."""
        return max(enumerate(self.table("tiles")), key=lambda item: (item[1]["with_gaps"], -item[0]))

    def of_category(self, is_one):
        """Of the fullest tile's memory, 0 to 1."""
        tile, _ = self.fullest()
        return sum(row["bytes"] for row in self.ask(f"tile={tile}")["categories"] if is_one(row["category"])) / self.target["bytes_per_tile"]

    def exchange_of(self, step):
        row = self.table("program")[step["program"]]["exchange"] if step["program"] >= 0 else -1
        return self.table("exchanges")[row] if row >= 0 else None

    def pieces(self, row):
        """How many pieces an exchange has, its copies within tiles included."""
        ends = [e["traffic"] for e in self.table("exchanges")]
        return sum(t["messages"] for t in self.table("traffic")[ends[row - 1] if row > 0 else 0:ends[row]]) + self.table("exchanges")[row]["copies"]


def lost_workers(ran, step):
    used, workers = step["used_workers"], ran.target["workers"]
    # The vertex of a worker has every sixth cycle of the tile; one that uses all workers has them all.
    uses_all = step["slowest_cycles"] * 2 > step["compute"] // max(1, step["executions"])
    # Of a vertex' cycles 40 stay as they are, however its work is divided.
    divisible = max(0, step["slowest_cycles"] - 40) * step["executions"]
    return 0 if used in (0, workers) or uses_all else min(step["compute"] / workers, divisible) * (workers - used)


def one_by_one(ran):
    slow = set()
    for row, e in enumerate(ran.table("exchanges")):
        bytes_of_all = e["bytes"] + e["local_bytes"]
        if bytes_of_all >= 1024 and bytes_of_all // ran.pieces(row) <= 8:
            slow.add(row)
    of_step = {i: p["exchange"] for i, p in enumerate(ran.table("program"))}
    return ran.share(lambda s: s["exchange"] + s["local_copy"] + s["global_exchange"] if of_step.get(s["program"], -1) in slow else 0)


def idle_tiles(ran):
    """Of compute steps: the share of the tiles that do nothing, weighted by cycles, of all cycles."""
    ends, ranges = [p["ranges"] for p in ran.table("tile_profiles")], ran.table("tile_cycles")
    tiles = [sum(r["end"] - r["begin"] for r in ranges[(ends[i - 1] if i > 0 else 0):end]) for i, end in enumerate(ends)]
    return ran.share(lambda s: s["compute"] * (1 - tiles[s["profile"]] / ran.target["tiles"]) if s["profile"] >= 0 else 0)


def always_live(ran):
    tile, _ = ran.fullest()
    categories = [c["category"] for c in ran.report.document("categories")]
    variables = ran.table("variables")
    return sum(a["size"] for a in ran.table("allocations") if a["tile"] == tile and a["live"] < 0 and
               categories[variables[a["variable"]]["category"]] == "variable") / ran.target["bytes_per_tile"]


def gaps(ran):
    _, row = ran.fullest()
    return (row["with_gaps"] - row["used"]) / ran.target["bytes_per_tile"]


# What each rule measures, from the tables alone.
MEASURES = {
    "unbalanced": lambda r: r.share(lambda s: round(s["compute"] * (1 - s["balance"]))),
    "exchange_bound": lambda r: r.share(lambda s: s["exchange"] + s["global_exchange"]),
    "sync_bound": lambda r: r.share(lambda s: s["sync"]),
    "rearrangement": lambda r: r.share(lambda s: s["local_copy"]),
    "one_by_one": one_by_one,
    "few_tiles": idle_tiles,
    "few_workers": lambda r: r.share(lambda s: lost_workers(r, s)),
    "host_bound": lambda r: r.share(lambda s: s["host"]),
    "unestimated": lambda r: sum(s["unestimated_vertices"] for s in r.steps()) / sum(s["vertices"] for s in r.steps()),
    "gaps": gaps,
    "always_live": always_live,
    "loadable_code": lambda r: r.of_category(lambda c: c.endswith(" code")),
    "exchange_buffers": lambda r: r.of_category(lambda c: c == "exchange buffer"),
}

def bytes_text(n):
    return f"{n:,} B" if n < 1024 else f"{n / 1024:,.1f} KiB" if n < 1024 * 1024 else f"{n / 1024 / 1024:,.1f} MiB"


CYCLES = ("unbalanced", "exchange_bound", "sync_bound", "rearrangement", "one_by_one", "few_tiles", "few_workers", "host_bound")


class Advice(unittest.TestCase):
    def both(self, rule):
        before, after = Ran(rule, "before"), Ran(rule, "after")
        self.assertIn(rule, before.advice, f"the rule does not find what its program has; it finds {sorted(before.advice)}")
        self.assertNotIn(rule, after.advice)
        self.assertAlmostEqual(before.advice[rule]["cost"], MEASURES[rule](before), places=3)
        self.assertLess(MEASURES[rule](after), MEASURES[rule](before))
        text = subprocess.run([PANDO, "report", before.path, "--ask", "advice"], capture_output=True, text=True, check=True).stdout
        self.assertIn(before.advice[rule]["title"], text)
        self.assertEqual(before.ask("advice")["rows"], before.report.document("advice"))
        for evidence in before.advice[rule]["evidence"]:
            self.assertIn(f"    - {evidence['text']}\n", text)
        for evidence in before.advice[rule]["evidence"]:
            self.check(before, evidence)
        if rule in CYCLES:
            self.assertLess(after.report["total_cycles"], before.report["total_cycles"])
        return before, after, before.advice[rule]["evidence"]

    def check(self, ran, evidence):
        """The rows that a piece of evidence names have the names and the numbers that its text says."""
        text = evidence["text"]
        if "step" in evidence:
            step = ran.steps()[evidence["step"]]
            self.assertTrue(text.startswith(f"'{step['name']}'"), text)
            self.assertEqual(evidence["order"], step["order"])
            if "tile" in evidence:
                self.assertEqual(evidence["tile"], step["slowest_tile"])
        if "variable" in evidence:
            variable = ran.table("variables")[evidence["variable"]]
            self.assertIn(f"'{variable['name']}'", text)
            self.assertIn(f"{bytes_text(sum(a['size'] for a in ran.table('allocations') if (a['tile'], a['variable']) == (evidence['tile'], evidence['variable'])))} on tile", text)
        if "compute_set" in evidence:
            self.assertIn(f"'{ran.table('compute_sets')[evidence['compute_set']]['name']}'", text)
        if "exchange" in evidence:
            self.assertEqual(f"'{ran.table('exchanges')[evidence['exchange']]['name']}'", text.split(":")[0])

    def test_unbalanced(self):
        before, after, evidence = self.both("unbalanced")
        row = before.ask("imbalance")["rows"][0]
        self.assertIn(f"balance {row['balance'] * 100:.1f} %; tile {row['slowest_tile']} is slowest, with {row['slowest_vertex']}", evidence[0]["text"])
        self.assertEqual(row["slowest_tile"], 0)
        self.assertGreater(min(s["balance"] for s in after.steps() if s["kind"] == "compute"), 0.95)

    def test_exchange_bound(self):
        before, after, evidence = self.both("exchange_bound")
        self.assertGreater(MEASURES["exchange_bound"](before), before.share(lambda s: s["compute"]))
        # 32 tiles receive 1,024 numbers, 20 times.
        self.assertEqual(before.steps()[evidence[0]["step"]]["exchanged_bytes"], 32 * 1024 * 4 * 20)
        self.assertIn("2.5 MiB received", evidence[0]["text"])
        self.assertEqual(after.ask("exchanges")["rows"], [])

    def test_sync_bound(self):
        before, after, evidence = self.both("sync_bound")
        self.assertEqual(sum(s["executions"] for s in before.steps() if s["sync"] > 0), 100 * 20)
        self.assertEqual(sum(s["executions"] for s in after.steps() if s["sync"] > 0), 20)
        self.assertIn("executed 20 times", evidence[0]["text"])

    def test_rearrangement(self):
        before, _, evidence = self.both("rearrangement")
        self.assertIn(f"{before.steps()[evidence[0]['step']]['local_copy']:,} cycles of copies", evidence[0]["text"])

    def test_one_by_one(self):
        before, _, evidence = self.both("one_by_one")
        self.assertIn(": 4 bytes a piece", evidence[0]["text"])
        self.assertEqual(before.pieces(evidence[0]["exchange"]), 64 * 256)

    def test_few_tiles(self):
        before, after, evidence = self.both("few_tiles")
        self.assertIn("'squash': 4 tiles", evidence[0]["text"])
        self.assertIn("6.2 % of the 64 tiles", before.advice["few_tiles"]["title"])
        self.assertLess(after.report["total_cycles"], before.report["total_cycles"] / 8)

    def test_few_workers(self):
        before, after, evidence = self.both("few_workers")
        self.assertIn("1 of 6 workers on tile", evidence[0]["text"])
        self.assertLess(after.report["total_cycles"], before.report["total_cycles"] / 4)

    def test_host_bound(self):
        before, after, evidence = self.both("host_bound")
        host = [s for s in before.steps() if s["host"] > 0]
        self.assertEqual([s["executions"] for s in host], [50])
        self.assertIn(f"{host[0]['host']:,} cycles", evidence[0]["text"])

    def test_unestimated(self):
        before, after, evidence = self.both("unestimated")
        self.assertRegex(evidence[0]["text"], "Precise: executed 64 times; not counted: .*double")
        self.assertEqual(after.ask("codelets")["rows"][0]["cycles"], 64 * (20 + 60 * 100))

    def test_gaps(self):
        before, after, evidence = self.both("gaps")
        self.assertLess(after.fullest()[1]["with_gaps"], 208 * 1024 < before.fullest()[1]["with_gaps"] and 208 * 1024)
        self.assertEqual(before.ask("map=0")["gaps"], before.fullest()[1]["with_gaps"] - before.fullest()[1]["used"])

    def test_always_live(self):
        before, after, evidence = self.both("always_live")
        self.assertEqual([re.search("'(.*)'", e["text"])[1] for e in evidence][:2], ["first", "second"])
        # Both temporaries lie at one place.
        self.assertLess(after.fullest()[1]["used"], before.fullest()[1]["used"] * 0.6)

    def test_loadable_code(self):
        before, after, evidence = self.both("loadable_code")
        self.assertLess(after.fullest()[1]["used"], before.fullest()[1]["used"] / 10)
        code = sum(row["bytes"] for row in before.ask("tile=0")["categories"] if row["category"].endswith(" code"))
        self.assertIn(f"{code / 1024:.1f} KiB of code", evidence[0]["text"])

    def test_exchange_buffers(self):
        before, after, evidence = self.both("exchange_buffers")
        cause = before.ask("buffers")["rows"][0]
        self.assertIn(f"{cause['field']} of compute set 'add' reads 'x' in {cause['pieces']} piece", evidence[0]["text"])
        self.assertEqual(cause["bytes"], 20 * 1024 * 4)
        self.assertEqual(after.ask("buffers")["rows"], [])

    def test_out_of_memory(self):
        before, after = Ran("out_of_memory", "before"), Ran("out_of_memory", "after")
        finding = before.advice["out_of_memory"]
        self.assertEqual(list(before.advice)[0], "out_of_memory")
        self.assertNotIn("out_of_memory", after.advice)
        # The program maps x over as many tiles as the advice says, and fits.
        changes = before.ask("why_not_fit")["changes"]
        self.assertIn("map 'x' over at least 2 of the 64 tiles instead of 1: it has 1.0 MiB on tile 0", changes)
        self.assertEqual(finding["text"], f"The smallest change: {changes[0]}.")
        self.assertEqual([e["text"] for e in finding["evidence"] if e["text"].startswith("or: ")], ["or: " + c for c in changes[1:]])
        for evidence in finding["evidence"]:
            self.check(before, evidence)
        self.assertGreater(before.fullest()[1]["with_gaps"], before.target["bytes_per_tile"])
        self.assertLess(after.fullest()[1]["with_gaps"], after.target["bytes_per_tile"])
        self.assertEqual({k: before.ask("why_not_fit")[k] for k in ("fits", "tile", "tiles_over")}, {"fits": False, "tile": 0, "tiles_over": 1})

    def test_every_rule_has_a_program(self):
        rules = {p.stem for p in (pathlib.Path(__file__).parents[2] / "src" / "profile" / "advice").glob("*.cpp")}
        said = subprocess.run([PROGRAMS, "none", "before"], capture_output=True, text=True)
        self.assertEqual(said.returncode, 2)
        self.assertEqual(set(said.stderr.split("rules:")[1].split()), rules)
        self.assertEqual({name[len("test_"):] for name in dir(self) if name.startswith("test_")} - {"every_rule_has_a_program"}, rules)


if __name__ == "__main__":
    unittest.main()

"""Runs the schedule generators of zero bubble's authors (sail-sg/zero-bubble-pipeline-parallelism), unmodified, with the passes' times of every row of
tests/data/distribution/zb_iclr24.csv and zbv_arxiv.csv that has a published bubble rate, and replays what they make with `pando schedule`.

DIR is a clone with its branches: two commits are taken out of it, PAPER (branch arxiv: the sums that the papers' rates were computed with) and
GENERATORS (the tables). A row has up to five cases:

  rate       the table obeys the rules, and Pando's bubble rate of it is the published one to 5e-5. Of ZB-H1 and ZB-H2 the authors have no table but a
             sum: the table is Pando's of this name.
  statement  the time that the authors state for it, as a bubble rate, is Pando's, as exactly as both are printed
  memory     tables that the authors searched for under a limit of memory hold to it, as Pando counts
  ours       Pando's own schedule under the same memory has no more than the published rate + 5e-5

zero_bubble.reasons says why a case does not pass.
"""
import csv
import fnmatch
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import typing

import expectations
import python_clients

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data" / "distribution"
GENERATORS = ("39f2c186a27580b7051eb51e0f651e1efd0a8170", "megatron/core/pipeline_parallel/zerobubble/scheduler")
PAPER = ("f68d38794764d7d937f4942dca3a1e9a07544898", "megatron/core/pipeline_parallel/efficiency.py")
WITHIN = 5e-5
# `pando schedule` prints percent with four decimals; the authors print rates with four.
PRINTED = {"ZB-V": 5.1e-5}
WITHOUT_SEARCH = {"1F1B", "1F1B-I"}
OURS = {"1F1B": "1F1B", "1F1B-I": "Interleaved1F1B", "ZB-H1": "ZB-H1", "ZB-H2": "ZB-H2", "ZB-1p": "ZB-H1", "ZB-V": "ZBV"}


def rows_of(text, half):
    """{case: the row}, times in microseconds of a whole rank; rows without a published rate are left out."""
    rows = {}
    for line in csv.DictReader(io.StringIO(text)):
        if not line["bubble_rate_computed"]:
            continue
        times = {key: round((2000 if half else 1000) * float(line[f"T_{name}{'_half' if half else ''}_ms"]))
                 for key, name in (("F", "F"), ("I", "B"), ("W", "W"))}
        row = dict(times, schedule=line["schedule"], ranks=int(line["p"]), microbatches=int(line["m"]), hidden=int(line["hidden"]),
                   heads=int(line["heads"]), positions=int(line["seq"]), transfer=round(1000 * float(line["T_comm_ms"])),
                   # Embedding and head count as a layer each; an interleaved stage is one layer.
                   stages_per_rank={"1F1B-I": (int(line["layers"]) + 2) // int(line["p"]), "ZB-V": 2}.get(line["schedule"], 1),
                   published=float(line["bubble_rate_computed"]))
        rows[f"{line['model']} p={line['p']} m={line['m']} {line['schedule']}"] = row
    return rows


def take_out(clone, commit, path, place):
    """A commit's files below `path`, as they are."""
    done = subprocess.run(["git", "-C", str(clone), "archive", "--format=tar", commit, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"{clone} is not a clone of sail-sg/zero-bubble-pipeline-parallelism with all its branches: it has no {path} of commit {commit}")
    place.mkdir()
    subprocess.run(["tar", "-x", "-C", str(place)], input=done.stdout, check=True)


def costs(row):
    n = row["stages_per_rank"]
    return ["--forward", str(row["F"] / n), "--input-gradient", str(row["I"] / n), "--weight-gradient", str(row["W"] / n), "--transfer",
            str(row["transfer"])]


def read_rate(printed):
    found = re.search(r"bubble (\d+\.\d+) %", printed)
    return float(found[1]) / 100 if found else None


def read_peak(printed):
    found = re.search(r"in microbatches of a rank:(.*)", printed)
    return max(map(float, found[1].split())) if found else None


def released(row):
    """The share of a layer's activations that goes with I: all but the operands of its products."""
    return 1 - 32 * row["hidden"] / (34 * row["hidden"] + 5 * row["heads"] * row["positions"])


def limit_of(row):
    """What the authors' searches may hold, in microbatches of a rank."""
    return {"ZB-1p": 1, "ZB-2p": 2, "ZB-V": 1}.get(row["schedule"], 0) * row["ranks"]


class Replay(typing.NamedTuple):
    """What Pando says of a table: its bubble rate and the most that a rank holds, or why there is none."""
    rate: float = None
    peak: float = None
    rejected: str = None


class Pando:
    def __init__(self, prefix, folder):
        self.folder, self.variables = folder, expectations.user_environment(prefix)

    def replay(self, *arguments):
        status, printed = expectations.run(["pando", "schedule", *arguments], self.folder, self.variables, 600)
        if status == 0 and read_rate(printed) is not None:
            return Replay(read_rate(printed), read_peak(printed))
        return Replay(rejected=f"pando schedule ends with status {status}: {' '.join(printed.split())[:200]}")

    def shape(self, row):
        return ["--ranks", str(row["ranks"]), "--microbatches", str(row["microbatches"]), "--stages-per-rank", str(row["stages_per_rank"])]

    def table(self, row):
        expectations.run(["pando", "schedule", "--name", OURS[row["schedule"]], *self.shape(row), "-o", "own.csv"], self.folder, self.variables)
        return (self.folder / "own.csv").read_text()

    def own(self, row):
        """The schedule with the name, or one made under ZB-2p's memory."""
        if row["schedule"] != "ZB-2p":
            return self.replay("--name", OURS[row["schedule"]], *self.shape(row), *costs(row))
        return self.replay(*self.shape(row), *costs(row), "--memory", str(limit_of(row)), "--released", str(released(row)))


def judge_row(row, replayed, stated, own):
    """{kind: None or a message}"""
    published = row["published"]

    def against(rate):
        return f"{100 * rate:.4f} %, published {100 * published:.2f} %"

    results = {"rate": replayed.rejected, "ours": own.rejected}
    if not replayed.rejected:
        results["rate"] = None if abs(replayed.rate - published) <= WITHIN else against(replayed.rate)
        by_authors = 1 - (row["F"] + row["I"] + row["W"]) * row["microbatches"] / stated
        same = abs(replayed.rate - by_authors) <= PRINTED.get(row["schedule"], 1e-6)
        results["statement"] = None if same else f"{100 * replayed.rate:.4f} %, the authors state {100 * by_authors:.4f} %"
        if limit := limit_of(row):
            results["memory"] = None if replayed.peak <= limit else f"a rank holds {replayed.peak:g} microbatches of {limit}"
    if not own.rejected:
        results["ours"] = None if own.rate <= published + WITHIN else against(own.rate)
    return results


def line_of(case, row, replayed, own):
    percent = lambda rate: "-" if rate is None else f"{100 * rate:.4f}"
    return f"{case:32} {percent(row['published']):>9} {percent(replayed.rate):>9} {percent(own.rate):>9}"


def main():
    parsed = python_clients.arguments(__doc__)
    work = pathlib.Path(parsed.work)
    python = python_clients.environment(parsed.python, work.parent / "zero_bubble_venv", HERE / "zero_bubble_requirements.txt")
    shutil.rmtree(work, ignore_errors=True)
    tables = work / "tables"
    tables.mkdir(parents=True)
    for name, (commit, path) in {"main": GENERATORS, "arxiv": PAPER}.items():
        take_out(pathlib.Path(parsed.source).resolve(), commit, path, work / name)
    rows = rows_of((DATA / "zb_iclr24.csv").read_text(), False) | rows_of((DATA / "zbv_arxiv.csv").read_text(), True)
    rows = {case: row for case, row in rows.items() if parsed.only is None or fnmatch.fnmatchcase(case, f"*{parsed.only}*")}
    request, answer = work / "request.json", work / "answer.json"
    request.write_text(json.dumps(dict(main=str(work / "main"), arxiv=str(work / "arxiv"), tables=str(tables), rows=rows)))
    status, output = expectations.run([python, str(HERE / "zero_bubble_side" / "tables.py"), str(request), str(answer)], work,
                                      expectations.user_environment(parsed.prefix), parsed.seconds)
    if status != 0:
        sys.exit(f"the authors' generators end with status {status}:\n{output}")
    pando, results = Pando(parsed.prefix, work), {}
    print(f"bubble rates in %{'':16} {'published':>9} {'replayed':>9} {'ours':>9}")
    for case, made in json.loads(answer.read_text()).items():
        own = pando.own(rows[case])
        replayed = pando.replay(made["table"], *costs(rows[case]), "--released", str(released(rows[case]))) if made["table"] else own
        print(line_of(case, rows[case], replayed, own), flush=True)
        if rows[case]["schedule"] in WITHOUT_SEARCH:
            same = pathlib.Path(made["table"]).read_text() == pando.table(rows[case])
            results[f"{case}::table"] = None if same else "the authors' table is another than Pando's"
        results.update({f"{case}::{kind}": message for kind, message in judge_row(rows[case], replayed, made["stated"], own).items()})
    python_clients.finish(results, "zero_bubble", parsed, parsed.only is None)


if __name__ == "__main__":
    main()

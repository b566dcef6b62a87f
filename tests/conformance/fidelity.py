"""Predicted cycles of whole programs beside published measurements of real machines: the rows of tests/data/ipu/whole_programs.csv.

Each row's program is built in a scratch copy of its checkout and runs on emulated IPUs; what the cycle model says of the measured part is
turned into the row's unit. `--from` is a folder of checkouts: OWNER/NAME, OWNER+NAME or NAME in it.

A step takes the same number of cycles each time, so programs run some steps of the published number, and what they take is scaled; `--whole`
runs all of them. Rows that constants of the model were read from are fitted, all others are predictions.
"""
import argparse
import csv
import dataclasses
import fnmatch
import json
import pathlib
import re
import shutil
import subprocess
import sys
import typing

import expectations

HERE = pathlib.Path(__file__).resolve().parent
ROWS = HERE.parent / "data" / "ipu" / "whole_programs.csv"
# Rows that a constant of the model was read from, and which.
FITTED = {"23": "the slots of f32div (src/machine/worker/instructions.cpp)"}


class NotRun(Exception):
    """Why a row does not run here."""


@dataclasses.dataclass
class Place:
    """Where a program is built and runs."""
    folder: pathlib.Path
    prefix: pathlib.Path
    seconds: int
    whole: bool

    def run(self, command, **environment):
        status, output = expectations.run(command, self.folder, expectations.user_environment(self.prefix, **environment), self.seconds)
        if status != 0:
            raise NotRun(f"{' '.join(command)} ends with status {status}: {last_line(output)}")
        return output

    def run_on(self, row, command):
        report = self.folder / "report"
        options = {"autoReport.all": "true", "autoReport.directory": str(report), "autoReport.executionProfileProgramRunCount": "100"}
        return self.run(command, PANDO_EMULATED_IPUS=row["ipus"], PANDO_EMULATED_MACHINE=machine_of(row), POPLAR_ENGINE_OPTIONS=json.dumps(options))

    def ask(self, question):
        output = self.run([str(self.prefix / "bin" / "pando"), "report", str(self.folder / "report" / "profile.pando"), "--json", question,
                           "--top", "1000000"])
        return json.loads(output)

    def check_counted(self):
        """A vertex whose cycles are not known adds nothing: what is left is not a prediction."""
        unknown = [row for row in self.ask("codelets")["rows"] if not row["estimated"]]
        if unknown:
            raise NotRun(f"the cycles of {unknown[0]['codelet']} are not known: {unknown[0]['source']}")

    def cycles_of_program(self, program):
        """Of the run of an engine's program."""
        self.check_counted()
        return sum(run["end"] - run["begin"] for run in self.ask("runs")["rows"] if run["program"] == program)


def machine_of(row):
    """The machine that the row was measured on, by Pando's name: "GC200 (Mk2)" is ipu2."""
    return {"GC2": "ipu1", "GC200": "ipu2", "Bow": "bow", "C600": "ipu21"}[row["machine"].split()[0]]


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it prints nothing"


def arguments_of(row, change={}):
    """The command line of a row, without what its author says about it in brackets; `change`: other values of options."""
    words = re.sub(r"\(.*?\)", "", row["arguments"]).split()
    for option, value in change.items():
        words[words.index(option) + 1] = value
    return words


def with_tile_width(source):
    """AlievPanfilovModel of this commit counts halos with a tile_width that it does not declare, so no compiler takes it."""
    if "tile_width" not in source or "tile_width =" in source:
        return source
    high = "unsigned y_high = block_high(y, nw, options.width) + 1;"
    return source.replace(high, high + " unsigned tile_width = y_high - y_low;")


def stencil(row, place):
    """(cycles of a step): mesh programs, whose engine runs all steps as its program 1."""
    steps = "1000" if place.whole else "10"
    source = place.folder / "main.cpp"
    source.write_text(with_tile_width(source.read_text()))
    place.run(["make", "CXX=g++"])
    place.run_on(row, arguments_of(row, {"--num-iterations": steps}))
    return place.cycles_of_program(1) / int(steps)


def triad(row, place):
    """The number of repeats is in the source; the assembly vertex is the third of three, each followed by a copy to the host."""
    repeats = "100000" if place.whole else "10"
    source = place.folder / "main.cpp"
    source.write_text(source.read_text().replace("num_iterations = 100000;", f"num_iterations = {repeats};"))
    place.run(["make"])
    place.run_on(row, ["./main"])
    return place.cycles_of_program(5) / int(repeats)


def quadrature(row, place):
    """The program prints what its codelets read from the cycle counter."""
    place.run(["make", "pi"])
    output = place.run_on(row, arguments_of(row))
    found = re.search(r"\((\d+) cycles at", output)
    if not found:
        raise NotRun(f"it does not print its cycles: {last_line(output)}")
    return int(found[1])


def without_sparse(source):
    """What the dense product needs of matmul_bench.cpp: its sparse implementations use popsparse, which Pando does not have."""
    source = re.sub(r"#include <popsparse/.*\n", "", source)
    source = re.sub(r"struct (Static|Dynamic)BlockSparseImpl : Impl \{\n.*?\n\};\n", "", source, flags=re.DOTALL)
    source = re.sub(r"impl\.reset\(new (Static|Dynamic)BlockSparseImpl\(problem\)\);", "", source)
    return source.replace("popsparse::addCodelets(graph);", "")


def product(row, place):
    """Steps of the product itself, compute and exchange: names that its script counts. --ignore-data: without a product on the host."""
    if not (place.folder / "matmul_bench").exists():
        source = place.folder / "matmul_bench.cpp"
        source.write_text(without_sparse(source.read_text()))
        place.run(["g++", "-O2", "-std=c++17", "-Icxxopts/include", "-include", "numeric", "matmul_bench.cpp", "-o", "matmul_bench", "-lpoplar", "-lpopops",
                   "-lpoplin", "-lpoputil"])
    sizes = [word for pair in re.findall(r"(-[mkn]) (\d+)", row["arguments"]) for word in pair]
    kind = re.search(r"--type (\w+)", row["arguments"])[1]
    place.run_on(row, ["./matmul_bench", *sizes, "--data-type", kind, "--device-type", "IpuModel21", "--ignore-data", "--profile-dir", "report"])
    place.check_counted()
    steps = [step for step in place.ask("slowest_steps")["rows"] if "matmul" in step["name"]]
    if not steps:
        raise NotRun("no step of the report is of the product")
    return sum(step["cycles"] for step in steps)


def julia(row, place):
    raise NotRun("its codelet is made by Julia's compiler for IPUs (IPUToolkit.jl)")


class Program(typing.NamedTuple):
    """How the rows of one program are predicted: cycles of a step, and how close they should come."""
    predict: typing.Callable
    wanted: float


PROGRAMS = {"1": Program(triad, 0.03), "2": Program(stencil, 0.10), "3": Program(stencil, 0.10), "4": Program(stencil, 0.10),
            "20": Program(stencil, 0.10), "23": Program(quadrature, 0.0), "25": Program(julia, 0.03), "mm-*": Program(product, 0.10)}


def program_of(row):
    return next(program for pattern, program in PROGRAMS.items() if fnmatch.fnmatchcase(row["id"], pattern))


def case_of(row):
    """`2:s`: the number of a run in one unit."""
    return f"{row['id']}:{row['unit']}"


def predicted_value(row, cycles):
    """Cycles of a step in the row's unit. A rate is what one step does by what it takes: it follows from the published pair."""
    if row["unit"] == "cycles":
        return cycles
    if row["unit"] == "s":
        return cycles * 1000 / (float(row["clock_GHz"]) * 1e9)
    return float(row["value"]) * float(row["cycles_per_step_derived"]) / cycles


def difference(row, predicted):
    return predicted / float(row["value"]) - 1


def judge_row(row, predicted):
    """None, or by how much the prediction is farther off than wanted."""
    off = difference(row, predicted)
    wanted = program_of(row).wanted
    return None if abs(off) <= wanted + 1e-9 else f"{100 * off:+.1f} %, wanted {100 * wanted:g} %"


def line_of(row, predicted):
    what = f"{row['id']:17} {row['machine'].split()[0]:6} {row['quantity'][:42]:42}"
    off = 100 * difference(row, predicted)
    return f"{what} {float(row['value']):>11g} {predicted:>11.6g} {row['unit']:8} {off:>+7.1f} %  {100 * program_of(row).wanted:>3g} %"


def table(rows, predicted):
    """Lines: predictions, fitted rows, and by how much each kind is off."""
    lines = []
    for title, is_fitted in (("predicted", False), ("fitted", True)):
        chosen = [row for row in rows if (row["id"] in FITTED) == is_fitted and case_of(row) in predicted]
        if not chosen:
            continue
        lines.append(f"{title + ' rows':67} {'published':>11} {'predicted':>11} {'':8} {'off':>9}  wanted")
        lines += [line_of(row, predicted[case_of(row)]) for row in chosen]
        off = [abs(difference(row, predicted[case_of(row)])) for row in chosen]
        met = sum(judge_row(row, predicted[case_of(row)]) is None for row in chosen)
        lines.append(f"{len(chosen)} {title} rows: mean {100 * sum(off) / len(off):.1f} % off, worst {100 * max(off):.1f} %, {met} as close as wanted")
    return lines


def checkout_of(source, repository):
    owner, name = repository.split("/")
    for folder in (f"{owner}/{name}", f"{owner}+{name}", name):
        if (source / folder).is_dir():
            return source / folder
    raise NotRun(f"{source} has no checkout of {repository} ({owner}/{name}, {owner}+{name} or {name})")


def folder_of(row):
    """The folder of the program in its repository: `path` is a folder, or files that begin with it."""
    path = row["path"].split(" + ")[0]
    return str(pathlib.PurePosixPath(path).parent) if path.endswith((".cpp", ".jl")) else path


def copy_program(row, source, work):
    """The program's folder in a scratch copy, made once."""
    checkout = checkout_of(source, row["repository"])
    if not (checkout / folder_of(row)).is_dir():
        raise NotRun(f"{checkout} has no {folder_of(row)}")
    copy = work / row["repository"].replace("/", "+") / folder_of(row)
    if not copy.exists():
        shutil.copytree(checkout / folder_of(row), copy)
        head = subprocess.run(["git", "-C", str(checkout), "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
        if (checkout / ".git").exists() and head != row["commit"]:
            print(f"note: {checkout} is at {head[:12]}, the row names {row['commit'][:12]}")
    return copy


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="source", required=True, help="a folder of checkouts")
    parser.add_argument("--prefix", required=True, help="an installed Pando")
    parser.add_argument("--work", required=True, help="a folder for copies and programs; wiped first")
    parser.add_argument("--rows", default="*", help="only rows whose id has this pattern, such as 'mm-f32-*'")
    parser.add_argument("--whole", action="store_true", help="all steps of each program")
    parser.add_argument("--seconds", type=int, default=1200, help="limit of one program")
    return parser.parse_args()


def predict_all(rows, source, work, parsed):
    """({case: value}, {case: why not}): each program runs once, however many numbers it has."""
    predicted, reasons, cycles = {}, {}, {}
    for row in rows:
        try:
            if row["id"] not in cycles:
                print(f"{row['id']}: {row['program']}", file=sys.stderr, flush=True)
                cycles[row["id"]] = program_of(row).predict(row, Place(copy_program(row, source, work), pathlib.Path(parsed.prefix).resolve(),
                                                                      parsed.seconds, parsed.whole))
            predicted[case_of(row)] = predicted_value(row, cycles[row["id"]])
        except NotRun as reason:
            reasons[case_of(row)] = str(reason)
    return predicted, reasons


def main():
    parsed = parse()
    work = pathlib.Path(parsed.work).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    rows = [row for row in csv.DictReader(ROWS.read_text().splitlines()) if fnmatch.fnmatchcase(row["id"], parsed.rows)]
    if not rows:
        sys.exit(f"no row of {ROWS.name} has an id like '{parsed.rows}'")
    predicted, not_run = predict_all(rows, pathlib.Path(parsed.source).resolve(), work, parsed)
    print("\n".join(table(rows, predicted)))
    if not_run:
        print("not run")
        print("\n".join(f"{case:17} {reason}" for case, reason in not_run.items()))
    results = {case_of(row): not_run.get(case_of(row)) or judge_row(row, predicted[case_of(row)]) for row in rows}
    expected = expectations.read(HERE / "fidelity.expected")
    reasons = expectations.read_reasons(HERE / "fidelity.reasons")
    if parsed.rows != "*":
        expected &= set(results)
        failed = [case for case, why in results.items() if why]  # a reason may be there for rows that were not asked for
        reasons = [(pattern, reason) for pattern, reason in reasons if any(fnmatch.fnmatchcase(case, pattern) for case in failed)]
    results, errors = expectations.apply_reasons(results, reasons, expected)
    lines, status = expectations.judge(results, expected)
    print("\n".join(["", *errors, *lines]))
    sys.exit(1 if errors else status)


if __name__ == "__main__":
    main()

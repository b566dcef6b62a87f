"""Changes one token of a module at random and runs the module's tests: a change that lives is a test that is missing. ./x mutate

    mutate.py ROOT [MODULE...] [--rounds N] [--seed N]

Works in a copy of the sources (ROOT/build/mutate), so the sources stay whatever happens. Round i of a module draws with the seed N + i, which it
prints: `./x mutate MODULE --seed S --rounds 1` makes the same change again. A change that does not compile is drawn again. equal.txt lists
changes that mean the same, each with its reason. Exit status: 0 all other changes are killed, 1 some live, 2 something cannot be built or run.
"""
import argparse
import dataclasses
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# What one token becomes. Operators stand between blanks (clang-format): angles of templates and references do not.
SWAPS = {
    " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ", " + ": " - ", " - ": " + ", " * ": " / ", " / ": " * ",
    " && ": " || ", " || ": " && ", " += ": " -= ", " -= ": " += ", "max(": "min(", "min(": "max(",
}
TOKEN = re.compile("|".join(r"\b" + re.escape(t) if t[0].isalpha() else re.escape(t) for t in sorted(SWAPS, key=len, reverse=True)))
# Comments, strings, characters, directives: their letters are no tokens.
QUIET = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^[ \t]*#(?:\\\n|[^\n])*', re.DOTALL | re.MULTILINE)
# Fuzzers beside the unit tests of a module.
FUZZERS = {
    "allocate": ["graph"], "compile": ["graph"], "exec": ["graph", "channels"], "graph": ["graph", "aliases"], "tile": ["graph", "corrupt"],
    "ir": ["model"], "lower": ["model"], "transform": ["model"], "session": ["model"], "project": ["project"], "facade": ["graph"],
}
# Modules whose units test another one, too: steps of training are built above the transforms that distribute them.
TESTED_BY = {"transform": ["models"], "split": ["project", "ranks"]}
TIMEOUT = 300


@dataclasses.dataclass(frozen=True)
class Change:
    file: str
    offset: int
    old: str
    new: str
    line_number: int
    line: str  # without blanks around

    def __str__(self):
        return f"{self.file}:{self.line_number}: {self.old.strip()} becomes {self.new.strip()}: {self.line}"

    def key(self):
        return (self.file, self.line, self.old.strip(), self.new.strip())


def changes_in(file, text):
    """Every change of one token of a text."""
    quiet = QUIET.sub(lambda m: re.sub(r"[^\n]", "~", m[0]), text)
    lines, found = text.split("\n"), []
    for m in TOKEN.finditer(quiet):
        number = text.count("\n", 0, m.start()) + 1
        found.append(Change(file, m.start(), m[0], SWAPS[m[0]], number, lines[number - 1].strip()))
    return found


def apply(text, change):
    return text[:change.offset] + change.new + text[change.offset + len(change.old):]


def read_equal(text):
    """{change: reason} of equal.txt: a line `FILE: OLD becomes NEW: LINE`, and an indented line with the reason."""
    equal, key = {}, None
    for line in text.split("\n"):
        m = re.match(r"^(\S+): (\S+) becomes (\S+): (.*)$", line)
        if m:
            key = (m[1], m[4].strip(), m[2], m[3])
        elif line.startswith("    ") and key:
            equal[key] = (equal.get(key, "") + " " + line.strip()).strip()
        elif line.strip() and not line.startswith("#"):
            raise ValueError(f"equal.txt: no change and no reason: {line}")
    return equal


class Copy:
    """A copy of the project's sources, with a build of its own."""

    def __init__(self, root, say):
        self.root, self.place, self.say = root, root / "build/mutate", say

    def update(self):
        """What git sees, changed files alone: what is built stays built. What is gone from the sources goes."""
        listed = subprocess.run(["git", "-C", self.root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], stdout=subprocess.PIPE, check=True)
        names = {n for n in listed.stdout.decode().split("\0") if n and (self.root / n).is_file()}
        for name in names:
            source, target = self.root / name, self.place / name
            if not target.exists() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
        for old in [p for p in self.place.rglob("*") if p.is_file() and not p.relative_to(self.place).parts[0].startswith("build")]:
            if old.relative_to(self.place).as_posix() not in names:
                old.unlink()

    def configure(self):
        popc = self.root / "build/bin/popc"
        self.run(["cmake", "--preset", "release", *([f"-DPANDO_POPC_EXECUTABLE={popc}"] if popc.exists() else [])], must=True)

    def run(self, command, must=False, timeout=None):
        try:
            done = subprocess.run([str(c) for c in command], cwd=self.place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            return False
        if must and done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}:\n" + done.stdout.decode(errors="replace")[-3000:])
        return done.returncode == 0


class Module:
    """A module of the project in a copy: its files, how it is built, and what tests it."""

    def __init__(self, copy, name):
        self.name, self.copy, self.place = name, copy, copy.place
        self.fuzzers = FUZZERS.get(name, [])
        self.units = [*([name] if has_tests(self.place, name) else []), *TESTED_BY.get(name, [])]

    def files(self):
        return sorted(p for e in ("*.cpp", "*.h") for p in (self.place / "src" / self.name).rglob(e) if not p.name.endswith("_test.cpp"))

    def build(self):
        return self.copy.run(["ninja", "-C", "build", *(f"test_{u}" for u in self.units), *(f"fuzz_{f}" for f in self.fuzzers)])

    def passes(self):
        names = "|".join([*(f"unit\\.{u}" for u in self.units), *(f"fuzz\\.{f}" for f in self.fuzzers)])
        return self.copy.run(["ctest", "--test-dir", "build", "--timeout", str(TIMEOUT), "--stop-on-failure", "-R", f"^({names})$"], timeout=4 * TIMEOUT)


def run_round(module, seed, equal, say):
    """("killed" | "survived" | "equal", the change) of one round."""
    draw = random.Random(seed)
    candidates = [c for f in module.files() for c in changes_in(f.relative_to(module.place).as_posix(), f.read_text())]
    if not candidates:
        raise RuntimeError(f"{module.name}: nothing to change")
    for change in draw.sample(candidates, min(20, len(candidates))):
        path = module.place / change.file
        text = path.read_text()
        began = time.monotonic()
        try:
            path.write_text(apply(text, change))
            if not module.build():
                continue
            verdict = "survived" if module.passes() else "killed"
        finally:
            path.write_text(text)
        if verdict == "survived" and change.key() in equal:
            verdict = "equal"
        say(f"seed {seed}: {verdict}: {change} ({time.monotonic() - began:.0f} s)")
        return verdict, change
    raise RuntimeError(f"{module.name}: no change of seed {seed} compiles")


def run_module(module, rounds, seed, equal, say):
    """The verdicts of a module's rounds, and what survived."""
    say(f"{module.name}: building")
    if not module.build():
        raise RuntimeError(f"{module.name} does not build")
    if not module.passes():
        raise RuntimeError(f"{module.name}: its tests fail without a change")
    counts, survivors = {"killed": 0, "survived": 0, "equal": 0}, []
    for i in range(rounds):
        verdict, change = run_round(module, seed + i, equal, say)
        counts[verdict] += 1
        if verdict == "survived":
            survivors.append((seed + i, change))
    return counts, survivors


def table(results):
    lines = [f"{'module':<14} {'rounds':>6} {'killed':>6} {'survived':>8} {'equal':>6} {'killed of those that differ':>28}"]
    for name, (counts, _) in results.items():
        differ = counts["killed"] + counts["survived"]
        share = f"{100 * counts['killed'] / differ:.0f} %" if differ else "-"
        lines.append(f"{name:<14} {sum(counts.values()):>6} {counts['killed']:>6} {counts['survived']:>8} {counts['equal']:>6} {share:>28}")
    return "\n".join(lines)


def has_tests(root, name):
    return any((root / "src" / name).rglob("*_test.cpp"))


def modules_of(root):
    return sorted(p.name for p in (root / "src").iterdir() if p.is_dir() and (has_tests(root, p.name) or p.name in TESTED_BY))


def main(arguments):
    parser = argparse.ArgumentParser(prog="./x mutate", description="Change one token of a module at a time and run its tests.")
    parser.add_argument("root", help=argparse.SUPPRESS)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="modules of src with unit tests; all without one")
    parser.add_argument("--rounds", type=int, default=20, help="changes of each module (20)")
    parser.add_argument("--seed", type=int, default=1, help="of the first round; each next one has the next (1)")
    a = parser.parse_args(arguments)
    root = pathlib.Path(a.root).resolve()
    known = modules_of(root)
    for name in a.modules:
        if name not in known:
            parser.error(f"no module {name} with unit tests; there are {' '.join(known)}")
    if a.rounds < 1:
        parser.error(f"--rounds is {a.rounds}; at least 1 is expected")

    def say(text):
        print(text, file=sys.stderr, flush=True)

    results = {}
    try:
        equal = read_equal((HERE / "equal.txt").read_text())
        copy = Copy(root, say)
        copy.update()
        copy.configure()
        for name in a.modules or known:
            results[name] = run_module(Module(copy, name), a.rounds, a.seed, equal, say)
    except (RuntimeError, ValueError) as wrong:
        say(f"./x mutate: {wrong}")
        return 2
    print(table(results))
    for name, (_, survivors) in results.items():
        for seed, change in survivors:
            print(f"survived (./x mutate {name} --seed {seed} --rounds 1): {change}")
    return 1 if any(survivors for _, survivors in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

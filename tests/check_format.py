"""C++ is laid out as .clang-format says, and no line is wider than 140 columns, where rows are laid out by hand too. A file that clang-format has passed
is not read by it again while it, its name, every .clang-format and the program are the same (~/.cache/pando/format; switch: PANDO_BUILD_CACHE=off)."""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import checking

MAX_COLUMNS = 140
SOURCE = re.compile(r"\.(cpp|cc|h|hpp)$")
FOREIGN = re.compile(r"^src/ontile/port/")  # C for MicroPython, in its style
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)
COMPLAINT = re.compile(r"^(.*?):(\d+):\d+: error: code should be clang-formatted", re.MULTILINE)


def wide_lines(path, text):
    # What a raw string holds is data: its lines are not ours to break.
    code = RAW_STRING.sub(lambda s: "\n" * s.group().count("\n"), text)
    return [f"{path}:{row}: {len(line)} columns; no line is wider than {MAX_COLUMNS}"
            for row, line in enumerate(code.split("\n"), 1) if len(line) > MAX_COLUMNS]


class Passed:
    """Digests of what has passed, the last ones of several trees: one a line."""
    MOST = 20000

    def __init__(self, program, tree):
        self.file = None
        self.known = []
        if os.environ.get("PANDO_BUILD_CACHE") == "off":
            return
        self.rules = hashlib.sha256(subprocess.run([program, "--version"], capture_output=True, check=True).stdout)
        for path in sorted(p for p in tree if os.path.basename(p) == ".clang-format"):
            self.rules.update(f"{path}\0{tree[path]}\0".encode())
        self.file = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "pando" / "format" / "passed"
        if self.file.is_file():
            self.known = self.file.read_text().split()

    def digest(self, path, text):
        own = self.rules.copy()
        own.update(f"{path}\0{text}".encode())
        return own.hexdigest()

    def others(self, tree, sources):
        if self.file is None:
            return sources
        known = set(self.known)
        return [s for s in sources if self.digest(s, tree[s]) not in known]

    def add(self, tree, sources):
        if self.file is None or not sources:
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        lines = (self.known + [self.digest(s, tree[s]) for s in sources])[-self.MOST:]
        with tempfile.NamedTemporaryFile("w", dir=self.file.parent, delete=False) as out:
            out.write("\n".join(lines) + "\n")
        os.replace(out.name, self.file)


def complaints(program, tree, sources):
    """{file: the first line that clang-format would change}, or a message. The tree is written out: it may exist in memory only."""
    with tempfile.TemporaryDirectory() as folder:
        for path in sources + [p for p in tree if os.path.basename(p) == ".clang-format"]:
            full = os.path.join(folder, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as f:
                f.write(tree[path])
        with open(os.path.join(folder, "files"), "w", encoding="utf-8") as f:
            f.write("\n".join(os.path.join(folder, s) for s in sources))
        found = subprocess.run([program, "--dry-run", "--Werror", "--files=" + os.path.join(folder, "files")], capture_output=True, text=True)
        first = {}
        for path, row in COMPLAINT.findall(found.stderr):
            first.setdefault(os.path.relpath(path, folder), row)
        if found.returncode != 0 and not first:
            return "clang-format-19: " + found.stderr.strip()[:500]
        return first


def unformatted(tree, sources):
    program = shutil.which("clang-format-19")
    if program is None:
        return ["clang-format-19 is not installed (packages.txt): the layout of the sources cannot be checked"]
    passed = Passed(program, tree)
    new = passed.others(tree, sources)
    if not new:
        return []
    first = complaints(program, tree, new)
    if isinstance(first, str):
        return [first]
    passed.add(tree, [s for s in new if s not in first])
    return [f"{path}:{row}: not laid out as .clang-format says; ./x format does it" for path, row in first.items()]


def check(tree):
    sources = sorted(path for path in tree if SOURCE.search(path) and not FOREIGN.search(path))
    messages = [message for path in sources for message in wide_lines(path, tree[path])]
    return messages + (unformatted(tree, sources) if sources else [])


CLEAN = {".clang-format": "BasedOnStyle: Google\n", "src/rows/.clang-format": "DisableFormat: true\n", "src/a.cpp": "int f() { return 1; }\n",
         "src/rows/b.cpp": "int  g()   { return 1; }\n", "src/c.cpp": 'const char* k =\n    R"(' + "x" * 200 + ')";\n',
         "src/ontile/port/d.h": "int  g()   { return 1; }\n"}
CASES = [
    ({"src/d.cpp": "int  f() { return 1; }\n"}, "src/d.cpp:1: not laid out"),
    ({"src/rows/e.cpp": "int  g()   { return 1; }  // " + "x" * 120 + "\n"}, "src/rows/e.cpp:1: 149 columns"),
    ({"src/.clang-format": "BasedOnStyle: Nobody\n", "src/f.cpp": "int f() { return 1; }\n"}, "clang-format-19: "),
]

if __name__ == "__main__":
    checking.run("check_format", check, CASES, CLEAN)

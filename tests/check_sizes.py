"""No source file over 800 lines, no folder of src/ over 28 files. Long functions are shown, as warnings, so that they are seen."""
import collections
import re

import checking

MAX_LINES = 800
LONG_FUNCTION = 60
MAX_FILES = 28
ROWS = re.compile(r"/ops/")  # one op is one file, however many there are
SOURCE = re.compile(r"(\.(cpp|cc|c|h|hpp|py|ts|tsx|sh|cmake)|(^|/)CMakeLists\.txt|^x)$")
CXX = re.compile(r"\.(cpp|cc|h|hpp)$")
# "type name(arguments) ... {" at the end of a line, not a namespace, class, initialiser or control statement.
OPENING = re.compile(r"^[ \t]*(?!namespace|class|struct|enum|union|if|for|while|switch|else|do|return|extern)[\w:~<>,&*\[\] ]+\(.*\{$")


def functions(text):
    """(first line, lines) of what looks like a function with its body, by counting braces."""
    lines = text.split("\n")
    row = 0
    while row < len(lines):
        if not OPENING.match(lines[row]):
            row += 1
            continue
        depth, end = 0, row
        while end < len(lines):
            depth += lines[end].count("{") - lines[end].count("}")
            if depth <= 0:
                break
            end += 1
        yield row + 1, end - row + 1
        row = end + 1


def warnings(tree):
    return [f"{path}:{row}: warning: a function of {size} lines" for path, text in tree.items()
            if path.startswith("src/") and CXX.search(path) for row, size in functions(text) if size > LONG_FUNCTION]


def crowded_folders(tree):
    folders = collections.Counter(path.rsplit("/", 1)[0] for path in tree if path.startswith("src/"))
    return [f"{folder}: {n} files; no folder has more than {MAX_FILES}: which of them want a room of their own?"
            for folder, n in sorted(folders.items()) if n > MAX_FILES and not ROWS.search(folder)]


def check(tree):
    for warning in warnings(tree):
        print(warning)
    return [f"{path}: {n} lines; no source file has more than {MAX_LINES}: which thing in it wants a room of its own?"
            for path, text in tree.items() if SOURCE.search(path) and (n := text.count("\n")) > MAX_LINES] + crowded_folders(tree)


def check_with_warnings(tree):
    return check(tree) + warnings(tree)


LONG = "void f(int a) {\n" + "  g();\n" * 60 + "}\n"
CLEAN = {"src/base/a.cpp": "int f() {\n  return 1;\n}\n", "README.md": "x\n" * 2000, **{f"src/ir/ops/math/f{i}.cpp": "" for i in range(40)}}
CASES = [
    ({"src/base/b.cpp": "\n" * 801}, "src/base/b.cpp: 801 lines"),
    ({"tests/check_x.py": "\n" * 801}, "tests/check_x.py: 801 lines"),
    ({"src/base/c.cpp": LONG}, "src/base/c.cpp:1: warning: a function of 62 lines"),
    ({f"src/base/f{i}.cpp": "" for i in range(30)}, "src/base: 31 files; no folder has more than 28"),
]

if __name__ == "__main__":
    import sys
    self_testing = sys.argv[1:] == ["--self-test"]
    checking.run("check_sizes", check_with_warnings if self_testing else check, CASES, CLEAN)

"""Nobody lists kinds of steps: what is true of one stands in its row (src/tile/steps), and switches over the rows' columns have no default."""
import re

import checking

READERS = re.compile(r"^src/(tile|exec|cycles|compile|poplar)/.*\.(h|cpp)$")
TEST = re.compile(r"_test\.cpp$")
CASE = re.compile(r"\bcase\s+(?:pando::)?(?:tile::)?Op::")
SWITCH = re.compile(r"\bswitch\s*\(([^{;]*)\)\s*\{")
COLUMN = re.compile(r"\bcase\s+(?:pando::)?(?:tile::)?(Work|Flow|Names|HostStep)::")
DEFAULT = re.compile(r"\bdefault\s*:")


def block_of(text, begin):
    """The text from the opening brace at begin to its closing one."""
    depth = 0
    for i in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return text[begin:i + 1]
    return text[begin:]


def check(tree):
    messages = []
    for path, text in tree.items():
        if not READERS.match(path) or TEST.search(path):
            continue
        for case in CASE.finditer(text):
            messages.append(f"{path}:{checking.line_of(text, case.start())}: a case for one kind of step; ask its row (tile/step.h)")
        for switch in SWITCH.finditer(text):
            block = block_of(text, switch.end() - 1)
            if COLUMN.search(block) and DEFAULT.search(block):
                messages.append(f"{path}:{checking.line_of(text, switch.start())}: a default in a switch over a column of the steps' rows")
    return messages


CLEAN = {
    "src/exec/a.cpp": "switch (row.work) { case Work::compute: return 1; case Work::nothing: return 0; }",
    "src/exec/b.cpp": "if (in.op == Op::compute) { switch (x) { case 1: default: break; } }",
    "src/exec/a_test.cpp": "switch (op) { case Op::compute: break; default: break; }",
}
CASES = [
    ({"src/cycles/c.cpp": "\nswitch (in.op) { case tile::Op::compute: return 1; }"}, "src/cycles/c.cpp:2: a case for one kind of step"),
    ({"src/exec/c.cpp": "switch (row.flow) { case Flow::end: return; default: break; }"}, "src/exec/c.cpp:1: a default in a switch"),
]

if __name__ == "__main__":
    checking.run("check_steps", check, CASES, CLEAN)

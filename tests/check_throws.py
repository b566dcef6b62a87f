"""The op libraries throw through one thrower (src/poplibs/poputil/refuse.h): every error has an id."""
import re

import checking

LIBRARIES = re.compile(r"^src/poplibs/.*\.(h|cpp)$")
THROWER = "src/poplibs/poputil/refuse.h"
THROW = re.compile(r"^(?P<code>[^/\"\n]*)\bthrow\s+[A-Za-z_:]", re.MULTILINE)


def check(tree):
    messages = []
    for path, text in tree.items():
        if not LIBRARIES.match(path) or path == THROWER or path.endswith("_test.cpp"):
            continue
        for throw in THROW.finditer(text):
            messages.append(f"{path}:{checking.line_of(text, throw.end())}: a bare throw; poputil::refuse gives the error an id")
    return messages


CLEAN = {
    "src/poplibs/popops/a.cpp": 'void f() { poputil::refuse("shape", "text"); }\n// they throw errors\ntry { g(); } catch (...) { throw; }',
    "src/poplibs/poputil/refuse.h": "throw poplibs_error(text);",
}
CASES = [
    ({"src/poplibs/popnn/a.cpp": "\n  if (bad) throw poputil::poplibs_error(text);"}, "src/poplibs/popnn/a.cpp:2: a bare throw"),
]

if __name__ == "__main__":
    checking.run("check_throws", check, CASES, CLEAN)

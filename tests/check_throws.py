"""What is built on the public API throws through one thrower a library: every error has an id."""
import re

import checking

# Sources, and the file whose function throws for them.
THROWERS = [(re.compile(r"^src/poplibs/.*\.(h|cpp)$"), "src/poplibs/poputil/refuse.h"), (re.compile(r"^src/ontile/.*\.(h|cpp)$"), "src/ontile/refuse.h")]
# Of our exception classes: an operating system's error and a command line's have classes of their own.
THROW = re.compile(r"^(?P<code>[^/\"\n]*)\bthrow\s+(?!std::system_error|CLI::)[A-Za-z_:]", re.MULTILINE)


def check(tree):
    messages = []
    for path, text in tree.items():
        thrower = next((thrower for sources, thrower in THROWERS if sources.match(path)), None)
        if thrower in (None, path) or re.search(r"_test\.cpp$|/fake_", path):
            continue
        for throw in THROW.finditer(text):
            messages.append(f"{path}:{checking.line_of(text, throw.end())}: a bare throw; the thrower of {thrower} gives the error an id")
    return messages


CLEAN = {
    "src/poplibs/popops/a.cpp": 'void f() { poputil::refuse("shape", "text"); }\n// they throw errors\ntry { g(); } catch (...) { throw; }',
    "src/poplibs/poputil/refuse.h": "throw poplibs_error(text);",
    "src/ontile/refuse.h": "throw Exception(text);",
    "src/ontile/a.cpp": 'throw std::system_error(errno, std::generic_category(), "pipe");\nthrow CLI::ExtrasError("x");',
}
CASES = [
    ({"src/poplibs/popnn/a.cpp": "\n  if (bad) throw poputil::poplibs_error(text);"}, "src/poplibs/popnn/a.cpp:2: a bare throw"),
    ({"src/ontile/repl/b.cpp": 'if (bad) throw poplar::invalid_option("text");'}, "src/ontile/repl/b.cpp:1: a bare throw"),
]

if __name__ == "__main__":
    checking.run("check_throws", check, CASES, CLEAN)

"""Errors go through throwers, which give each an id: one of the stack and one of the model level, one of the op libraries, one of ontile."""
import re

import checking

# Sources, and the files whose functions throw for them; the first is named. popc reports like a compiler, gccs in the classes that its users expect.
THROWERS = [
    (re.compile(r"^src/poplibs/.*\.(h|cpp)$"), ["src/poplibs/poputil/reject.h"]),
    (re.compile(r"^src/ontile/.*\.(h|cpp)$"), ["src/ontile/reject.h"]),
    (re.compile(r"^src/(?!popc/|gccs/).*\.(h|cpp)$|^python/native/.*\.(h|cpp)$"), [
        "src/base/error.h", "src/facade/errors/throw_error.cpp", "src/ir/error.cpp", "src/ir/reject_at.h",
        "src/facade/engine/compile_graph.cpp", "src/facade/engine/engine.cpp",  # classes with more to say than a text
        "python/native/errors.cpp"  # a defect, not a user's error
    ]),
]
# Of our exception classes: an operating system's error, a command line's and Python's have classes of their own; a run that ends because
# another one did says what that one said.
THROW = re.compile(
    r"^(?P<code>[^/\"\n]*)\bthrow\s+(?!std::system_error|std::bad_alloc|CLI::|nb::|(exec::)?RunFailed|TimedOut|Deadlock|Stopped)[A-Za-z_:]", re.MULTILINE)


def check(tree):
    messages = []
    for path, text in tree.items():
        throwers = next((throwers for sources, throwers in THROWERS if sources.match(path)), [path])
        if path in throwers or re.search(r"_test\.cpp$|_testing\.h$|/fake_|/conformance/", path):
            continue
        for throw in THROW.finditer(text):
            messages.append(f"{path}:{checking.line_of(text, throw.end())}: a bare throw; the thrower of {throwers[0]} gives the error an id")
    return messages


CLEAN = {
    "src/poplibs/popops/a.cpp": 'void f() { poputil::reject("shape", "text"); }\n// they throw errors\ntry { g(); } catch (...) { throw; }',
    "src/poplibs/poputil/reject.h": "throw poplibs_error(text);",
    "src/ontile/reject.h": "throw Exception(text);",
    "src/popc/a.cpp": 'throw std::runtime_error("text");',
    "src/ir/error.cpp": "throw ModelError(text);",
    "src/exec/a.cpp": "throw std::bad_alloc(); throw RunFailed(text);",
    "src/ontile/a.cpp": 'throw std::system_error(errno, std::generic_category(), "pipe");\nthrow CLI::ExtrasError("x");',
}
CASES = [
    ({"src/session/a.cpp": 'throw std::runtime_error("text");'}, "src/session/a.cpp:1: a bare throw; the thrower of src/base/error.h"),
    ({"python/native/a.cpp": "throw ModelError(text);"}, "python/native/a.cpp:1: a bare throw"),
    ({"src/poplibs/popnn/a.cpp": "\n  if (bad) throw poputil::poplibs_error(text);"}, "src/poplibs/popnn/a.cpp:2: a bare throw"),
    ({"src/ontile/repl/b.cpp": 'if (bad) throw poplar::invalid_option("text");'}, "src/ontile/repl/b.cpp:1: a bare throw"),
]

if __name__ == "__main__":
    checking.run("check_throws", check, CASES, CLEAN)

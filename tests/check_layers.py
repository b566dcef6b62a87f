"""A module includes only modules of a strictly lower layer, and itself (layers.txt); base knows nothing of the API above it."""
import re

import checking

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(([a-z_]+)/[^"]+)"', re.MULTILINE)
API = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]((?:poplar|pando|pop[a-z]+|gcl)/[^">]+)[">]', re.MULTILINE)
SOURCE = re.compile(r"^src/([^/]+)/.*\.(h|hpp|cpp|cc|c|inc)$")


def read_layers(text):
    layers = {}
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words:
            layers[words[0]] = int(words[1])
    return layers


def check(tree):
    layers = read_layers(tree.get("layers.txt", ""))
    messages = []
    unknown = set()
    for path, text in tree.items():
        source = SOURCE.match(path)
        if not source:
            continue
        module = source.group(1)
        if module not in layers:
            unknown.add(module)
            continue
        if module == "base" and not path.endswith("_test.cpp"):
            messages += [f"{path}:{checking.line_of(text, m.start(1))}: base includes {m.group(1)}, which is the API's: it declares, the facade "
                         "maps" for m in API.finditer(text)]
        for include in INCLUDE.finditer(text):
            header, other = include.groups()
            is_public = "include/" + header in tree  # include/poplar is not the module src/facade
            if is_public or other == module or other not in layers:
                continue
            if layers[other] >= layers[module]:
                messages.append(
                    f"{path}:{checking.line_of(text, include.start(1))}: {module} (layer {layers[module]}) includes "
                    f"{other} (layer {layers[other]}); only lower layers may be included")
    return messages + [f"layers.txt: module src/{m} has no layer" for m in sorted(unknown)]


CLEAN = {
    "layers.txt": "# module: layer\nbase 0\ngraph 3\ntile 3\ncompile 4\n",
    "src/compile/a.cpp": '#include "compile/a.h"\n#include "graph/g.h"\n#include <vector>\n',
    "src/graph/g.h": '#include "base/ids.h"\n#include "compile/public.hpp"\n',
    "include/compile/public.hpp": "",
    "src/base/a.cpp": '#include "base/a.h"\n',
    "src/base/a_test.cpp": '#include "poplar/exceptions.hpp"\n',
}
CASES = [
    ({"src/graph/g.cpp": '\n#include "compile/a.h"\n'}, "src/graph/g.cpp:2: graph (layer 3) includes compile (layer 4)"),
    ({"src/tile/t.cpp": '#include "graph/g.h"\n'}, "tile (layer 3) includes graph (layer 3)"),
    ({"src/base/a.cpp": '#include "base/a.h"\n#include <poplar/exceptions.hpp>\n'}, "src/base/a.cpp:2: base includes poplar/exceptions.hpp"),
    ({"src/new/n.cpp": ""}, "module src/new has no layer"),
]

if __name__ == "__main__":
    checking.run("check_layers", check, CASES, CLEAN)

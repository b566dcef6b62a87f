"""A module includes only modules of a strictly lower layer, and itself (layers.txt); base knows nothing of the API above it. Folders of a
module have layers, too: no folder includes another one that includes it, on any way around. Tests may look everywhere. Python packages
that layers.txt names import only strictly lower ones of these."""
import os
import re

import checking

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(([a-z_]+)/[^"]+)"', re.MULTILINE)
API = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]((?:poplar|pando|pop[a-z]+|gcl)/[^">]+)[">]', re.MULTILINE)
PYTHON = re.compile(r"^(python/[^/]+)/.*\.py$")
PYTHON_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+([a-z_]+)", re.MULTILINE)
SOURCE = re.compile(r"^src/([^/]+)/.*\.(h|hpp|cpp|cc|c|inc)$")


def read_layers(text):
    layers = {}
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words:
            layers[words[0]] = int(words[1])
    return layers


TEST = re.compile(r"_test\.(cpp|h)$|testing\.h$")


def folder_edges(tree):
    """{folder: {folder that its files include: (file, line, header) of one include}} of folders of one module below src."""
    edges = {}
    for path, text in tree.items():
        source = SOURCE.match(path)
        if not source or TEST.search(path):
            continue
        folder = os.path.dirname(path)
        for include in INCLUDE.finditer(text):
            header = "src/" + include.group(1)
            other = os.path.dirname(header)
            if header in tree and include.group(2) == source.group(1) and other != folder:
                edges.setdefault(folder, {}).setdefault(other, (path, checking.line_of(text, include.start(1)), include.group(1)))
    return edges


def way_back(edges, start, end):
    """The shortest list of folders from `start` to `end`, None without one."""
    before, queue = {start: None}, [start]
    for folder in queue:
        if folder == end:
            way = []
            while folder is not None:
                way.append(folder)
                folder = before[folder]
            return way[::-1]
        for other in sorted(edges.get(folder, ())):
            if other not in before:
                before[other] = folder
                queue.append(other)
    return None


def check_folders(tree):
    edges, messages, said = folder_edges(tree), [], set()
    for folder in sorted(edges):
        for other in sorted(edges[folder]):
            way = way_back(edges, other, folder)
            if way is None or frozenset(way) in said:
                continue
            said.add(frozenset(way))
            around = [folder, *way]
            steps = [edges[a][b] for a, b in zip(around, around[1:])]
            path, line, header = steps[0]
            back = ", ".join(f"{p}:{n} includes {h}" for p, n, h in steps[1:])
            messages.append(f"{path}:{line}: folders include each other: it includes {header}; {back}")
    return messages


def check_packages(tree, layers):
    messages = []
    for path, text in tree.items():
        package = PYTHON.match(path)
        if not package or package.group(1) not in layers:
            continue
        own = package.group(1)
        for line in PYTHON_IMPORT.finditer(text):
            other = "python/" + line.group(1)
            if other != own and layers.get(other, -1) >= layers[own]:
                messages.append(f"{path}:{checking.line_of(text, line.start(1))}: {own} (layer {layers[own]}) imports "
                                f"{other} (layer {layers[other]}); only lower layers may be imported")
    return messages


def check(tree):
    layers = read_layers(tree.get("layers.txt", ""))
    messages = check_folders(tree) + check_packages(tree, layers)
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
    "layers.txt": "# module: layer\nbase 0\ngraph 3\ntile 3\ncompile 4\npython/popxl 9\npython/popart 10\n",
    "python/popart/a.py": "import popxl\nimport popdist\n",
    "src/compile/a.cpp": '#include "compile/a.h"\n#include "graph/g.h"\n#include <vector>\n',
    "src/graph/g.h": '#include "base/ids.h"\n#include "compile/public.hpp"\n',
    "include/compile/public.hpp": "",
    "src/base/a.cpp": '#include "base/a.h"\n',
    "src/base/a_test.cpp": '#include "poplar/exceptions.hpp"\n#include "base/in/b.h"\n',
    "src/base/in/b.h": '#include "base/a.h"\n',
    "src/base/a.h": "",
}
CASES = [
    ({"python/popxl/a.py": "def f():\n    from popart.devices import D\n"}, "python/popxl/a.py:2: python/popxl (layer 9) imports python/popart (layer 10)"),
    ({"src/graph/g.cpp": '\n#include "compile/a.h"\n'}, "src/graph/g.cpp:2: graph (layer 3) includes compile (layer 4)"),
    ({"src/tile/t.cpp": '#include "graph/g.h"\n'}, "tile (layer 3) includes graph (layer 3)"),
    ({"src/base/a.cpp": '#include "base/a.h"\n#include <poplar/exceptions.hpp>\n'}, "src/base/a.cpp:2: base includes poplar/exceptions.hpp"),
    ({"src/new/n.cpp": ""}, "module src/new has no layer"),
    ({"src/schedule/a/a.h": '#include "schedule/b/b.h"\n', "src/schedule/b/b.h": "", "src/schedule/b/b.cpp": '\n#include "schedule/a/a.h"\n'},
     'src/schedule/a/a.h:1: folders include each other: it includes schedule/b/b.h; src/schedule/b/b.cpp:2 includes schedule/a/a.h'),
    ({"src/schedule/h.h": '#include "schedule/a/a.h"\n', "src/schedule/a/a.h": '#include "schedule/b/b.h"\n', "src/schedule/b/b.h": '#include "schedule/h.h"\n'},
     'src/schedule/a/a.h:1 includes schedule/b/b.h, src/schedule/b/b.h:1 includes schedule/h.h'),
]

if __name__ == "__main__":
    checking.run("check_layers", check, CASES, CLEAN)

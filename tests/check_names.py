"""Files are named in snake_case after what they hold; nothing that is tracked names a path or a tool of one machine."""
import re

import checking

NAMELESS = {"util", "utils", "common", "misc", "helper", "helpers", "stuff"}
SNAKE = re.compile(r"^[a-z0-9]+(_[a-z0-9]+)*(\.[a-z0-9]+)*$")
OURS = re.compile(r"^(src|bench|tests|examples|cmake)/.*\.(cpp|cc|c|h|hpp|py|inc|ts|tsx)$")
# Written in pieces, so that this file does not trip over itself.
PLACES = re.compile(r"(?<![\w.$}/])/(" + "|".join(["wo" + "rk", "ho" + "me", "ro" + "ot", "t" + "mp", "farm"]) + r")/\w")
WORDS = re.compile(r"\b(" + "|".join(["sub" + "agent", "farm-" + "bench", "farm-" + "studio", "TO" + "DO", "FIX" + "ME", "X" + "XX"]) + r")\b")


def bad_name(path):
    name = path.rsplit("/", 1)[-1]
    stem = name.split(".")[0]
    if stem.lower() in NAMELESS and not path.startswith(("include/pop", "python/pop")):  # the names of these APIs are not ours to choose
        return f"{path}: name a file after what it holds, not `{stem}`"
    if OURS.match(path) and not SNAKE.match(name):
        return f"{path}: file names are snake_case"
    folder = next((f for f in path.split("/")[:-1] if f.lower() in NAMELESS), None)
    return f"{path}: name a folder after what it holds, not `{folder}`" if folder else None


def check(tree):
    messages = [message for path in tree if (message := bad_name(path))]
    for path, text in tree.items():
        for pattern, what in ((PLACES, "a path of one machine"), (WORDS, "a word that does not belong here")):
            messages += [f"{path}:{checking.line_of(text, m.start())}: {what}: {m.group(0)}" for m in pattern.finditer(text)]
    return messages


CLEAN = {
    "src/graph/views/tile_map.cpp": "// build/log/x, ${dir}/" + "work/y, https://example.org/home/page\n",
    "include/poplar/VertexIntrospector.hpp": "",
    "include/poputil/Util.hpp": "",
    "README.md": "",
}
CASES = [
    ({"src/graph/TileMap.cpp": ""}, "src/graph/TileMap.cpp: file names are snake_case"),
    ({"src/graph/utils.h": ""}, "src/graph/utils.h: name a file after what it holds"),
    ({"src/common/a.h": ""}, "name a folder after what it holds, not `common`"),
    ({"docs/a.md": "see\n" + "/ho" + "me/someone/x"}, "docs/a.md:2: a path of one machine"),
    ({"src/graph/a.cpp": '"/t' + 'mp/x.gp"'}, "src/graph/a.cpp:1: a path of one machine"),
    ({"src/graph/a.cpp": "// TO" + "DO later"}, "src/graph/a.cpp:1: a word that does not belong here"),
]

if __name__ == "__main__":
    checking.run("check_names", check, CASES, CLEAN)

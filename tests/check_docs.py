"""What the documents name exists: commands of ./x, commands of pando, files, links."""
import posixpath
import re

import checking

X_USED = re.compile(r"\./x ([a-z]+)")
X_KNOWN = re.compile(r"^\./x ([a-z]+)", re.MULTILINE)
PANDO_USED = re.compile(r"(?:^|[`$/ ])pando ((?:[a-z]+-)*[a-z]+)(?= [-<A-Z]|`)", re.MULTILINE)
PANDO_ROW = re.compile(r'\.name = "([a-z-]+)"')
PANDO_ALIASES = re.compile(r"\.aliases = \{([^}]*)\}")
FILE_USED = re.compile(r"`((?:src|include|tests|examples|bench|docs|cmake)/[\w./-]+)`")
LINK = re.compile(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)")


def exists(tree, path):
    path = posixpath.normpath(path)
    return path in tree or any(other.startswith(path + "/") for other in tree)


def check(tree):
    x_commands = set(X_KNOWN.findall(tree.get("x", "")))
    rows = [text for path, text in tree.items() if path.startswith("src/cli/commands/")]
    pando_commands = {name for text in rows for name in PANDO_ROW.findall(text)}
    aliases = {name for text in rows for names in PANDO_ALIASES.findall(text) for name in re.findall(r'"([a-z-]+)"', names)}
    messages = []
    for path, text in tree.items():
        if not path.endswith(".md"):
            continue

        def complain(match, what):
            messages.append(f"{path}:{checking.line_of(text, match.start(1))}: {what}: {match.group(1)}")

        for used in X_USED.finditer(text):
            if used.group(1) not in x_commands:
                complain(used, "no such command of ./x")
        for used in PANDO_USED.finditer(text):
            if used.group(1) in aliases:
                complain(used, "an earlier name of a command of pando")
            elif used.group(1) not in pando_commands:
                complain(used, "no such command of pando")
        for used in FILE_USED.finditer(text):
            if not exists(tree, used.group(1)):
                complain(used, "no such file")
        for used in LINK.finditer(text):
            if not exists(tree, posixpath.join(posixpath.dirname(path), used.group(1))):
                complain(used, "a link to nothing")
    return messages


CLEAN = {
    "x": "usage:\n./x build [--preset P]\n./x test\n",
    "src/cli/main.cpp": "",
    "src/cli/commands/dump.cpp": '.name = "dump",\n      .aliases = {"text"},',
    "docs/notes.md": "",
    "README.md": "`./x build`, then `pando dump --level=tile`; see `src/cli/main.cpp`, `src/cli` and [notes](docs/notes.md#top).\n",
}
CASES = [
    ({"docs/a.md": "\nRun `./x fly`."}, "docs/a.md:2: no such command of ./x: fly"),
    ({"docs/a.md": "Run `pando paint --red`."}, "no such command of pando: paint"),
    ({"docs/a.md": "Run `pando text --red`."}, "an earlier name of a command of pando: text"),
    ({"docs/a.md": "See `src/cli/gone.cpp`."}, "no such file: src/cli/gone.cpp"),
    ({"docs/a.md": "See [it](gone.md)."}, "a link to nothing: gone.md"),
]

if __name__ == "__main__":
    checking.run("check_docs", check, CASES, CLEAN)

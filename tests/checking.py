"""What the checks share: a source tree as {path: text}, and one way to run a check or its self-test.

A check is a pure function from a tree to a list of messages. `CASES` of a check are small trees with the words that its
message must contain: a check that nothing trips is decoration.
"""
import os
import sys

SKIPPED_FOLDERS = {".git", ".venv", "__pycache__", "node_modules", ".ccache"}


def read_tree(root):
    tree = {}
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in SKIPPED_FOLDERS and not f.startswith("build"))
        for name in sorted(files):
            path = os.path.join(folder, name)
            try:
                with open(path, encoding="utf-8") as f:
                    tree[os.path.relpath(path, root)] = f.read()
            except UnicodeDecodeError:
                tree[os.path.relpath(path, root)] = ""  # pictures, archives: they are there, without a text
            except OSError:
                continue  # dangling links
    return tree


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def self_test(name, check, cases, clean):
    failures = [f"{name}: a clean tree gives {message!r}" for message in check(clean)]
    for tree, expected in cases:
        messages = check({**clean, **tree})
        if not any(expected in message for message in messages):
            failures.append(f"{name}: {sorted(tree)} should give {expected!r}, gives {messages}")
    for failure in failures:
        print(failure)
    print(f"{len(cases) + 1 - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


def run(name, check, cases, clean):
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test(name, check, cases, clean))
    if len(sys.argv) != 2:
        sys.exit(f"usage: {name} ROOT | --self-test")
    messages = check(read_tree(sys.argv[1]))
    for message in messages:
        print(message)
    print(f"{name}: {len(messages)} complaints" if messages else f"{name}: fine")
    sys.exit(1 if messages else 0)

"""Pages and helps say what is, in the usual order of words (docs/style.md): inverted and negative forms are named, and prose has lines under 120
characters."""
import re

import checking

# What to write instead.
FORMS = {
    r"\banew\b": "again",
    r"\bwhoever\b": "who, or the one that",
    r"\bwhat is no\b": "what is not a ..., or the rule that it breaks",
    r"\bof which (?:nobody|none|no one)\b": "which nobody ..., or a sentence of its own",
    r"\bis refused what\b": "the error that the input gets",
    r"\b(?:refuse[sd]?|refusing|refusals?)\b": "reject, or throw",
    r"\b(?:that|which|it) (?:is|are) no (?:file|number|object|model|tensor|text|list|name|error|folder|report)\b": "is not a ...",
    r"\bit takes it that\b": "it assumes that",
    r"\bfirst design\b": "what is today",
}
PATTERN = re.compile("|".join(f"(?:{form})" for form in FORMS), re.IGNORECASE)
PAGES = re.compile(r"^(README|CONTRIBUTING|CHANGELOG|SECURITY)\.md$|^docs/(?!site/).*\.md$")
HELPS = re.compile(r"^src/cli/.*\.(cpp|h)$")
# Docstrings are pages, too.
DOCSTRINGS = re.compile(r"^python/(?!.*test).*\.pyi?$")
# Names in code of what docs call otherwise: one word for one thing.
SOURCES = re.compile(r"^(src|include|python|bench|examples|tests)/.*\.(h|hpp|cpp|py|pyi)$")
NAMES = {re.compile(r"refus", re.IGNORECASE): "reject", re.compile(r"\bfinals\b"): "updated inputs", re.compile(r"\bwholes\b"): "whole tensors"}
CONNECTION = re.compile(r"[cC]onnection ?[rR]efused|ECONNREFUSED")
# It quotes what not to write.
QUOTES = "docs/style.md"
# Pages that a program writes line by line, or whose lines are recorded.
WRITTEN = {"docs/compatibility.md", "docs/level/ops.md", "docs/level/onnx.md", "docs/level/options.md", "docs/level/session-options.md", "docs/level/report.md", "docs/ontile/session.md",
           "docs/performance.md"}
MOST = 120
FENCE = re.compile(r"^ *(```|~~~)")


def long_lines(text):
    """Numbers of the lines of prose that are too long: code, tables, pictures and lines that are one word cannot be broken."""
    found, fence = [], False
    for number, line in enumerate(text.split("\n"), 1):
        if FENCE.match(line):
            fence = not fence
        elif not fence and len(line) >= MOST and not line.lstrip().startswith(("|", "![", "<")) and not line.startswith("    ") and " " in line.strip():
            found.append(number)
    return found


def check(tree):
    messages = []
    for path, text in tree.items():
        if any(kind.match(path) for kind in (PAGES, HELPS, DOCSTRINGS)) and path != QUOTES:
            for m in PATTERN.finditer(text):
                instead = next(word for form, word in FORMS.items() if re.fullmatch(form, m[0], re.IGNORECASE))
                messages.append(f"{path}:{checking.line_of(text, m.start())}: '{m[0]}': write {instead}")
        if PAGES.match(path) and path not in WRITTEN:
            messages += [f"{path}:{number}: a line of {MOST} characters or more" for number in long_lines(text)]
        if SOURCES.match(path) and path != "tests/check_style.py":
            code = CONNECTION.sub("", text)
            for name, instead in NAMES.items():
                messages += [f"{path}:{checking.line_of(code, m.start())}: '{m[0]}' in a name: {instead}" for m in name.finditer(code)]
    return messages


CLEAN = {
    "README.md": "It runs again.\n```\n" + "x " * 90 + "\n```\n| " + "a " * 90 + "|\n",
    "docs/style.md": "Not: anew.\n",
    "docs/a.md": "See `poputil/reject.h` and reject_ambiguity.\n",
    "src/cli/main.cpp": "// Prints it again.\n",
    "src/ir/a.cpp": "// anew: another check's\nConnectionRefusedError, connection refused; finalsize",
}
CASES = [
    ({"docs/a.md": "\nIt is read anew."}, "docs/a.md:2: 'anew': write again"),
    ({"docs/a.md": "\nSizes are refused."}, "docs/a.md:2: 'refused': write reject"),
    ({"src/cli/main.cpp": '"a file that is no text"'}, "src/cli/main.cpp:1: 'that is no text': write is not a"),
    ({"docs/a.md": "What is no number"}, "docs/a.md:1: 'What is no': write what is not a"),
    ({"src/cli/main.cpp": '"For whoever asks"'}, "src/cli/main.cpp:1: 'whoever': write who"),
    ({"python/popxl/a.py": '"""TypeError for what is no tensor."""'}, "python/popxl/a.py:1: 'what is no': write what is not"),
    ({"src/ir/a.h": "\nvoid refuse_it();"}, "src/ir/a.h:2: 'refus' in a name: reject"),
    ({"src/ir/a.h": "map finals;"}, "src/ir/a.h:1: 'finals' in a name: updated inputs"),
    ({"docs/a.md": "word " * 24}, "docs/a.md:1: a line of 120 characters or more"),
]

if __name__ == "__main__":
    checking.run("check_style", check, CASES, CLEAN)

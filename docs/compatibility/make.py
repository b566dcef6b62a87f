"""Writes docs/compatibility.md: what there is of the public API, from the headers, the tests and notes.txt.

  python3 docs/compatibility/make.py        from the root of the tree

A function counts as tested if a test's file calls it by name. notes.txt has what a parser cannot see: what differs, rejects or is absent.
"""
import collections
import pathlib
import re

LIBRARIES = {
    "poplar": "libpoplar: graphs, programs, engines", "pva": "libpva: reports", "pvti": "libpvti: traces of the host",
    "poputil": "libpoputil: mapping, helpers", "popops": "libpopops: element-wise operations, reductions, slices", "poplin": "libpoplin: products, convolutions",
    "popnn": "libpopnn: layers", "poprand": "libpoprand: random numbers", "popsparse": "libpopsparse: products with sparse matrices", "popfloat": "libpopfloat: floating-point formats of any width", "gcl": "libgcl: collectives",
    "gccs": "GCCS: what newer PopLibs need to build", "poplar_test": "poplar_test: memory of the host for tests",
}
DEVICE_HEADERS = {"Vertex.hpp", "InOutTypes.hpp", "FieldTypes.hpp", "VectorListTypes.hpp", "VectorTypes.hpp", "HalfFloat.hpp", "HalfMath.hpp", "QuarterFloat.hpp", "QuarterEdges.hpp",
                  "Loops.hpp", "Alignment.hpp", "StackSizeDefs.hpp", "AvailableVTypes.h", "TileConstants.hpp"}
NOT_NAMES = {"if", "for", "while", "switch", "return", "sizeof", "alignof", "decltype", "static_assert", "defined", "noexcept", "operator", "explicit", "throw"}
HIDDEN_SCOPES = {"pando_detail", "detail", "consts", "reading", "pando", "core", "internal", "std", "facade", "profile", "graph"}


def bare(text):
    """Without comments, strings, preprocessor lines and macros of export."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", " ", text)
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"^[ \t]*#.*$", " ", text, flags=re.M)
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text)
    return re.sub(r"\bPOPLAR_EXPORT\b|\[\[[^\]]*\]\]", " ", text)


def without_template(statement):
    statement = statement.strip()
    while statement.startswith("template"):
        depth = 0
        for i, c in enumerate(statement):
            depth += (c == "<") - (c == ">")
            if c == ">" and depth == 0:
                statement = statement[i + 1:].strip()
                break
        else:
            return statement
    return statement


def function_name(statement, scope):
    """The name that a declaration declares, or nothing if it is no public function's."""
    statement = without_template(statement)
    if "(" not in statement or re.match(r"(using|typedef|friend|extern|static_assert|enum|struct|class|namespace|POPLAR_DECLARE|union)\b", statement):
        return None
    head = statement[:statement.index("(")]
    if "=" in head or "operator" in head or "~" in head:
        return None
    found = re.search(r"([A-Za-z_]\w*)\s*$", head)
    if not found or found.group(1) in NOT_NAMES or (head.strip() == found.group(1) and found.group(1) != scope):
        return None
    return found.group(1)


def functions_of(header):
    """{qualified name: overloads} of public functions and members, in order."""
    text = bare(header)
    scopes, statement, found = [], "", collections.OrderedDict()
    for c in text:
        if c not in "{};:":
            statement += c
            continue
        if c == ":":
            access = re.search(r"\b(public|private|protected)\s*$", statement)
            if access and scopes:
                scopes[-1]["public"] = access.group(1) == "public"
                statement = ""
            else:
                statement += c
            continue
        opaque = any(s["kind"] == "other" for s in scopes)
        if c != "}" and not opaque and all(s["public"] for s in scopes) and not any(s["name"] in HIDDEN_SCOPES for s in scopes):
            name = function_name(statement, scopes[-1]["name"] if scopes else "")
            if name:
                qualified = "::".join([s["name"] for s in scopes if s["kind"] == "class"] + [name])
                found[qualified] = found.get(qualified, 0) + 1
        if c == "{":
            opened = re.match(r"(?:inline\s+)?(namespace|class|struct)\s+((?:\w|::)*)", without_template(statement))
            is_scope = opened and "(" not in statement
            kind = "other" if not is_scope else "namespace" if opened.group(1) == "namespace" else "class"
            scopes.append({"kind": kind, "name": opened.group(2) if is_scope else "", "public": not is_scope or opened.group(1) != "class"})
        elif c == "}" and scopes:
            scopes.pop()
        statement = ""
    return found


def test_texts(root):
    files = [f for f in (root / "tests").rglob("*") if f.suffix in (".cpp", ".py", ".h")] + list((root / "src").rglob("*_test.cpp"))
    return [f.read_text(encoding="utf-8", errors="replace") for f in files] + [f.read_text() for f in (root / "examples").rglob("*.cpp")]


def words_called(texts):
    """{name: number of files that call it}"""
    called = collections.Counter()
    for text in texts:
        called.update(set(re.findall(r"\b([A-Za-z_]\w*)\s*(?:<[^<>()]*>)?\s*[({]", text)))
    return called


def read_notes(root):
    notes = collections.defaultdict(list)
    for line in (root / "docs/compatibility/notes.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            place, kind, text = (part.strip() for part in line.split("|", 2))
            notes[place].append((kind, text))
    return notes


def section(folder, headers, called, notes, out):
    rows = [(h, functions_of(h.read_text())) for h in headers if h.name not in DEVICE_HEADERS]
    count = sum(len(f) for _, f in rows)
    named = sum(1 for _, f in rows for name in f if called[name.split("::")[-1]])
    out.append(f"\n## {LIBRARIES[folder]}\n\n{count} functions in {len(rows)} headers; {named} are named by a test.\n")
    for header, functions in rows:
        place = f"{folder}/{header.relative_to(header.parents[len(header.relative_to(headers[0].parent).parts) - 1])}"
        if functions:
            items = [f"`{name}`" + (f" ×{n}" if n > 1 else "") + ("" if called[name.split("::")[-1]] else " °") for name, n in functions.items()]
            out.append(f"**{place}** — " + ", ".join(items))
        elif notes[place]:
            out.append(f"**{place}**")
        out.extend(f"* *{kind}*: {text}" for kind, text in notes[place])
        if functions or notes[place]:
            out.append("")
    out.extend(f"* *{kind}*: {text}" for kind, text in notes[folder])


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    called, notes = words_called(test_texts(root)), read_notes(root)
    out = ["# Compatibility", "",
           "The public API, function by function. Made by `docs/compatibility/make.py` from the headers, the tests and `docs/compatibility/notes.txt`.",
           "×n: overloads. °: no test's file calls it by this name (it may be called through another). Below a header: what differs, rejects or is absent."]
    for folder in LIBRARIES:
        headers = sorted(h for h in (root / "include" / folder).rglob("*") if h.suffix in (".hpp", ".h"))
        if headers:
            section(folder, headers, called, notes, out)
    out.append("\n## Codelets\n")
    out.extend(f"* *{kind}*: {text}" for kind, text in notes["codelets"])
    out.append("\n## popc\n")
    out.extend(f"* *{kind}*: {text}" for kind, text in notes["popc"])
    (root / "docs/compatibility.md").write_text("\n".join(out).rstrip() + "\n")


if __name__ == "__main__":
    main()

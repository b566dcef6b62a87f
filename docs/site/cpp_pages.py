"""The reference of C++: a page for each public header, from its declarations and its comments (///)."""
import pathlib
import re

LIBRARIES = {
    "poplar": "Graphs, variables, vertices, programs, engines, devices.",
    "pando": "What Pando adds: transfers with a capacity, memory and suspension of a tile, models, Python in codelets.",
    "poputil": "Helpers of the op libraries: mappings, broadcasts, checks.",
    "popops": "Element-wise operations, reductions, slices, sorts, casts.",
    "poplin": "Products of matrices, convolutions, factorisations.",
    "popnn": "Layers: pooling, norms, losses, recurrent networks, non-linearities.",
    "poprand": "Random numbers.",
    "popsparse": "Products with sparse matrices: of blocks or elements, known or changing.",
    "popfloat": "Numbers of chosen width.",
    "gcl": "Collectives between replicas and IPUs.",
    "gccs": "What newer op libraries need to build: a solver of small integer problems, helpers.",
    "pva": "Reading reports.",
    "pvti": "Writing traces.",
    "poplar_test": "Helpers of public test programs.",
}
HIDDEN = {"core", "detail", "internal"}
ACCESS = re.compile(r"\b(public|protected|private)\s*:(?!:)")
TYPE = re.compile(r"^(template\s*<.*?>\s*)?(enum\s+class|enum\s+struct|class|struct|union|enum)\s+(?:[A-Z_]+\s+)?(\w+)", re.DOTALL)


def without_preprocessor(text):
    """(file comment, the rest): directives go."""
    lines, kept, comment, continued, begun = text.split("\n"), [], [], False, False
    for line in lines:
        directive = continued or line.lstrip().startswith("#")
        continued = directive and line.rstrip().endswith("\\")
        if directive:
            continue
        if not begun and line.startswith("//") and not line.startswith("///"):
            comment.append(line[2:].removeprefix(" "))
            continue
        begun = begun or bool(line.strip())
        kept.append(line)
    return "\n".join(comment).strip(), "\n".join(kept)


def end_of_braces(text, at):
    """Behind the brace that closes the one at `at`."""
    depth = 0
    while at < len(text):
        if text.startswith("//", at):
            at = text.find("\n", at)
            if at < 0:
                break
        elif text[at] in "\"'":
            quote = text[at]
            at += 1
            while at < len(text) and text[at] != quote:
                at += 2 if text[at] == "\\" else 1
        elif text[at] == "{":
            depth += 1
        elif text[at] == "}":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return len(text)


def declarations(text):
    """(comment, declaration up to its body, body or None) of each in a scope. Text between parentheses and angles keeps its semicolons away."""
    at, comment = 0, []
    while at < len(text):
        if text[at].isspace() or text[at] in ";}":
            if text.startswith("\n\n", at):
                comment = []  # a comment belongs to what follows it at once
            at += 1
            continue
        if text.startswith("//", at):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            if text.startswith("///", at):
                comment.append(text[at + 3:end].removeprefix(" ").removeprefix("<").strip("\n"))
            at = end
            if text.startswith("\n", at) and not text.startswith("\n\n", at):
                at += 1
            continue
        access = ACCESS.match(text, at)
        if access:
            yield [], access[1] + ":", None
            at, comment = access.end(), []
            continue
        begin, depth = at, 0
        while at < len(text):
            c = text[at]
            if text.startswith("//", at):
                at = text.find("\n", at)
                continue
            if c in "([":
                depth += 1
            elif c in ")]":
                depth -= 1
            elif depth == 0 and c in ";{":
                # The braces of a default value or of an initialiser belong to the declaration.
                if c == "{" and re.search(r"[=,:(]\s*\w*\s*$|=\s*[\w:<>]+\s*$", text[begin:at]) and not re.search(r"\)\s*(const|noexcept|override)*\s*$", text[begin:at]):
                    at = end_of_braces(text, at)
                    continue
                break
            elif c == "{":
                at = end_of_braces(text, at)
                continue
            at += 1
        head = text[begin:at].strip()
        body = None
        if at < len(text) and text[at] == "{":
            end = end_of_braces(text, at)
            body, at = text[at + 1:end - 1], end
        else:
            at += 1
        rest = re.match(r"[ \t]*///<?(.*)", text[at:])
        if rest:
            comment.append(rest[1].strip())
        if head:
            yield comment, head, body
        comment = []


def tidy(declaration):
    text = re.sub(r"\b(POPLAR_EXPORT|POPLIBS_EXPORT|inline)\s+", "", declaration)
    text = re.sub(r"\s*//.*", "", text)
    if re.match(r"^[\w:~<>]+\(.*\)\s*(noexcept\s*)?:[^:]", text, re.DOTALL) or re.match(r"^(explicit |constexpr )*\w+\([^{}]*\)\s*:[^:]", text):
        depth = 0
        for i, c in enumerate(text):  # an initialiser list of a constructor goes
            depth += c in "(<" and 1 or 0
            depth -= c in ")>" and 1 or 0
            if c == ":" and depth == 0 and text[i - 1:i + 2].count(":") == 1:
                text = text[:i]
                break
    return re.sub(r"[ \t]*\n[ \t]*", "\n    ", text).strip()


def enumerators(body):
    text = body.replace("///", "//").rstrip()
    return text + "\n" if "\n" in text else text + " "


def heading_of(declaration):
    """The name that a declaration gives."""
    text = re.sub(r"template\s*<[^{};]*?>\s*(?=\w)", "", declaration)
    typed = TYPE.match(text)
    if typed:
        return typed[3]
    if text.startswith("using") or text.startswith("typedef"):
        m = re.match(r"using\s+(?:[\w:]+::)?(\w+)", text) or re.search(r"(\w+)\s*$", text)
        return m[1] if m else text
    m = re.search(r"(operator\s*(?:\(\)|\[\]|[^\s(]+|\s\w+)|~?\w+)\s*\(", text)
    if m:
        return re.sub(r"\s+", " ", m[1])
    m = re.search(r"(\w+)\s*(?:=.*)?$", text, re.DOTALL)
    return m[1] if m else text


def plain(line):
    """What Markdown would read as more than text, between spans of code, is text."""
    parts = line.split("`")
    if len(parts) % 2 == 0:
        return line
    if line.startswith("* "):
        return "* " + plain(line[2:])
    return "`".join(re.sub(r"[\[\]*_]", r"\\\g<0>", part).replace("<", "&lt;") if i % 2 == 0 else part for i, part in enumerate(parts))


def said(comment):
    """The text of a comment as Markdown: lines of a list or of code stay lines."""
    text = "\n".join(comment)
    text = re.sub(r"\\p (\w+)", r"`\1`", text)
    text = re.sub(r"[\\@](?:param|tparam)(?:\[[a-z,]+\])? (\w+)", r"\n* `\1`: ", text)
    text = re.sub(r"[\\@]returns? ", "\nReturns ", text)
    text = re.sub(r"[\\@](?:throws?|exception) ", "\nThrows ", text)
    text = re.sub(r"[\\@](?:brief|details) ", "", text)
    out, listed = [], False
    for line in text.split("\n"):
        row = re.match(r"^ {2,}(\S+) {2,}(\S.*)$", line)
        if row:  # a table of options
            if not listed:
                out.append("")
            out.append(f"* `{row[1]}`: {plain(row[2])}")
            listed = True
        elif listed and line.startswith("   "):
            out[-1] += " " + plain(line.strip())
        elif line.startswith("  ") and line.strip():
            out += ["", "    " + line] if not (out and out[-1].startswith("    ")) else ["    " + line]
            listed = False
        else:
            if (listed or (out and out[-1].startswith("    "))) and line.strip():
                out.append("")
            out.append(plain(line))
            listed = False
    return "\n".join(out).strip()


class Page:
    def __init__(self):
        self.lines = []

    def entity(self, level, comment, declaration, scope):
        name = heading_of(declaration)
        self.lines += [f"{'#' * level} `{scope + '::' if scope and level < 4 else ''}{name}`", ""]
        self.lines += ["```cpp", tidy(declaration) + ";", "```", ""]
        if comment:
            self.lines += [said(comment), ""]

    def group(self, members):
        """Members that one comment describes, or none: in one block."""
        if not members:
            return
        self.lines += ["```cpp"] + [tidy(m) + ";" for m in members] + ["```", ""]

    def scope(self, text, scope, level):
        for comment, head, body in declarations(text):
            space = re.match(r"^(?:inline\s+)?namespace\s+([\w:]*)", head)
            if space and body is not None:
                if space[1].split("::")[0] not in HIDDEN and space[1]:
                    self.scope(body, (scope + "::" if scope else "") + space[1], level)
                continue
            if head.startswith(("extern \"C\"", "using namespace", "friend", "namespace", "static_assert")):
                if head.startswith("extern \"C\"") and body is not None:
                    self.scope(body, scope, level)
                continue
            typed = TYPE.match(head)
            if typed and body is None and not typed[2].startswith("enum"):
                continue  # it says only that there is one
            if typed and body is not None:
                self.type(comment, head, body, scope, level, typed)
            else:
                self.entity(level, comment, head, scope)

    def type(self, comment, head, body, scope, level, typed):
        if typed[2].startswith("enum"):
            self.lines += [f"{'#' * level} `{scope}::{typed[3]}`", "", "```cpp", tidy(head) + " {" + enumerators(body) + "};", "```", ""]
            if comment:
                self.lines += [said(comment), ""]
            return
        self.entity(level, comment, head, scope)
        visible, plain = typed[2] != "class", []
        for note, member, inner in declarations(body):
            if ACCESS.match(member + " "):
                visible = member.startswith("public")
                continue
            if not visible or member.startswith("friend"):
                continue
            nested = TYPE.match(member)
            if nested and inner is None and not nested[2].startswith("enum"):
                continue
            if nested and inner is not None:
                self.group(plain)
                plain = []
                self.type(note, member, inner, f"{scope}::{typed[3]}" if scope else typed[3], min(level + 1, 5), nested)
            elif note:
                self.group(plain)
                plain = []
                self.lines += ["```cpp", tidy(member) + ";", "```", "", said(note), ""]
            else:
                plain.append(member)
        self.group(plain)


def page_of(header, name):
    comment, text = without_preprocessor(header)
    page = Page()
    page.scope(text, "", 2)
    if not page.lines:
        return None, ""
    # The comment of a file: what begins at a column of its own is code.
    about = re.sub(r"(?m)^(  +)(?=\S)", "    ", comment)
    about = re.sub(r"(?m)^(?=\S)([^\n]*)\n(?=    )", r"\1\n\n", about)
    first = re.split(r"(?<=[.:])\s", comment.replace("\n", " "))[0] if comment else ""
    return f"# &lt;{name}&gt;\n\n`#include <{name}>`\n\n{about}\n\n" + "\n".join(page.lines), first


def write(include, out):
    """Pages below `out`; returns them as nav: the index, then one page per library."""
    nav = ["reference/cpp/index.md"]
    index = ["# C++", "", "The public API, from the comments of its headers. [Compatibility](../../docs/compatibility.md) says, function by function, what",
             "differs from other implementations.", ""]
    for library, what in LIBRARIES.items():
        rows = []
        for header in sorted((include / library).rglob("*.h*")) if (include / library).is_dir() else []:
            name = header.relative_to(include).as_posix()
            text, first = page_of(header.read_text(), name)
            if text is None:
                continue
            stem = name.removeprefix(library + "/").replace("/", "_").rsplit(".", 1)[0]
            target = out / "reference/cpp" / library / f"{stem}.md"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
            names = re.findall(r"^## `([^`]+)`", text, re.MULTILINE)
            shown = ", ".join(f"`{n.split('::')[-1]}`" for n in dict.fromkeys(names[:6])) + (", ..." if len(names) > 6 else "")
            rows.append(f"| [{name}](cpp/{library}/{stem}.md) | {shown} | {first.replace('|', '/')} |")
        if rows:
            page = ["# " + library, "", what, "", "| header | declares | |", "| --- | --- | --- |", *rows, ""]
            (out / f"reference/cpp_{library}.md").write_text("\n".join(page))
            index.append(f"* [{library}](../cpp_{library}.md): {what}")
            nav.append({library: f"reference/cpp_{library}.md"})
    (out / "reference/cpp/index.md").write_text("\n".join(index) + "\n")
    return nav

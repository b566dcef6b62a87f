"""Pages as the site's Markdown needs them. The pages are written for GitHub, whose lists begin without a blank line and continue at the column of
their text; the site's library wants a blank line and four spaces.
"""
import posixpath
import re

ITEM = re.compile(r"^( *)([*+-]|\d+[.)])( +)(.*)$")
FENCE = re.compile(r"^ *(```|~~~)")
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)#\s:]+)(#[^)]*)?(\))", re.DOTALL)


def indent_of(line):
    return len(line) - len(line.lstrip(" "))


def relist(text):
    """The same page with lists as the library reads them."""
    out, stack, fence, shift, blank = [], [], False, 0, True
    for line in text.split("\n"):
        if fence:
            fence = not FENCE.match(line)
            out.append(" " * max(0, min(shift, shift + indent_of(line))) + line if shift >= 0 else line[-shift:])
            blank = False
            continue
        if not line.strip():
            out.append(line)
            blank = True
            continue
        indent, item = indent_of(line), ITEM.match(line)
        was_in_list = bool(stack)
        if item or blank or FENCE.match(line):
            while stack and indent < stack[-1]:
                stack.pop()
        base = stack[-1] if stack else 0
        new = 4 * len(stack) + max(0, indent - base)
        if item and not (blank and indent - base >= 4):
            if not blank and not was_in_list:
                out.append("")
            out.append(" " * 4 * len(stack) + item[2] + " " + item[4])
            stack.append(indent + len(item[2]) + len(item[3]))
        else:
            if FENCE.match(line):
                fence, shift = True, new - indent
                if not blank:
                    out.append("")
            elif line.startswith("|") and not blank and not out[-1].startswith("|"):
                out.append("")
            out.append(" " * new + line.lstrip(" "))
        blank = False
    return "\n".join(out)


def outside_fences(text, change):
    """The text, with `change` applied to what no fence holds."""
    parts, piece, fence = [], [], False
    for line in text.split("\n"):
        if FENCE.match(line):
            if not fence:
                parts.append(change("\n".join(piece)))
                piece = [line]
            else:
                piece.append(line)
                parts.append("\n".join(piece))
                piece = []
            fence = not fence
        else:
            piece.append(line)
    parts.append("\n".join(piece) if fence else change("\n".join(piece)))
    return "\n".join(parts)


def relink(text, path, pages):
    """Links of the page at `path`, to what the site has: a file without a page of its own is the page that shows it. Raises ValueError for none."""
    def change(m):
        begin, target, anchor, end = m[1], m[2], m[3] or "", m[4]
        whole = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        shown_by = [posixpath.dirname(whole) + "/README.md"] if whole.startswith("examples/") else []  # example_pages.py
        for candidate in (whole, whole + ".md", whole + "/README.md", *shown_by):
            if candidate in pages:
                return begin + posixpath.relpath(candidate, posixpath.dirname(path) or ".") + anchor + end
        raise ValueError(f"{path}: a link to {target}, which the site does not have")
    return outside_fences(text, lambda part: LINK.sub(change, part))

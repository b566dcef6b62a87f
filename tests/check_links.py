"""Links of the Markdown: each place in a page that a link names is there, every page is reachable from the README, and the site's nav has every page."""
import posixpath
import re

import checking

LINK = re.compile(r"\]\(([^)#\s:]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$")
FENCE = re.compile(r"^ *(```|~~~)")
ANCHOR = re.compile(r'<a (?:id|name)="([^"]+)"')
NAV = "docs/site/mkdocs.yml"
NAV_PAGE = re.compile(r"^ +- .*?([\w./-]+\.md)$", re.MULTILINE)
# Generated from elsewhere; the site has them, the tree does not.
GENERATED = ("reference/", "LICENSE.md")


def without_code(text):
    """The text with what stands in fences and in `...` blank: line numbers stay."""
    lines, fence = [], False
    for line in text.split("\n"):
        if FENCE.match(line):
            fence = not fence
            lines.append("")
        else:
            lines.append("" if fence else re.sub(r"`[^`]*`", lambda m: "`" + " " * (len(m[0]) - 2) + "`", line))
    return "\n".join(lines)


def slug(heading):
    """The name that GitHub, and the site, give to a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def places_of(text):
    lines, fence, slugs = [], False, {}
    for line in text.split("\n"):
        fence ^= bool(FENCE.match(line))
        heading = None if fence else HEADING.match(line)
        if heading:
            name = slug(heading[1])
            slugs[name] = slugs.get(name, -1) + 1
            lines.append(name if slugs[name] == 0 else f"{name}-{slugs[name]}")
    return set(lines) | set(ANCHOR.findall(text))


def check(tree):
    pages = {path: text for path, text in tree.items() if path.endswith(".md") and not path.startswith("tests/")}
    places = {path: places_of(text) for path, text in pages.items()}
    messages, links = [], {path: set() for path in pages}
    for path, text in pages.items():
        text = without_code(text)
        for m in LINK.finditer(text):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), m[1])) if m[1] else path
            if target not in pages and target + "/README.md" in pages:
                target += "/README.md"
            if target in pages:
                links[path].add(target)
                if m[2] and m[2] not in places[target]:
                    messages.append(f"{path}:{checking.line_of(text, m.start())}: no place #{m[2]} in {target}")
    reached, todo = {"README.md"}, ["README.md"]
    while todo:
        for target in links.get(todo.pop(), ()):
            if target not in reached:
                reached.add(target)
                todo.append(target)
    nav = set(NAV_PAGE.findall(tree.get(NAV, "")))
    for path in sorted(pages):
        if path.startswith("docs/") and path not in reached:
            messages.append(f"{path}: no page that the README leads to has a link to it")
        if path.startswith("docs/") and NAV in tree and path not in nav:
            messages.append(f"{path}: the nav of {NAV} does not have it")
    messages += [f"{NAV}: no page {page}" for page in sorted(nav) if page not in pages and not page.startswith(GENERATED)]
    return messages


CLEAN = {
    "README.md": "# Pando\n[all](docs/a.md#two-words-1), [examples](examples)\n```\n[x](gone.md#y)\n```\n",
    "examples/README.md": "",
    "docs/a.md": "# A `b`, c!\n## Two words\n## Two words\n[up](#a-b-c) [b](b.md)\n",
    "docs/b.md": "<a id=\"here\"></a>[h](#here)",
    NAV: "nav:\n  - A: docs/a.md\n  - docs/b.md\n  - C: reference/cli.md\n  - X: \"@cpp\"\n",
}
CASES = [
    ({"docs/b.md": "\n[x](a.md#three)"}, "docs/b.md:2: no place #three in docs/a.md"),
    ({"docs/c.md": ""}, "docs/c.md: no page that the README leads to has a link to it"),
    ({"docs/c.md": "", "docs/b.md": "[c](c.md)"}, "docs/c.md: the nav of docs/site/mkdocs.yml does not have it"),
    ({NAV: CLEAN[NAV] + "  - D: docs/d.md\n"}, "docs/site/mkdocs.yml: no page docs/d.md"),
]

if __name__ == "__main__":
    checking.run("check_links", check, CASES, CLEAN)

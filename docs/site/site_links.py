"""Links of the finished site: each file and each place in it that a page names is there. Absolute addresses of this site are errors: pages are
also read from a folder."""
import html.parser
import pathlib
import urllib.parse


class Names(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.ids = [], set()

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" or (name == "name" and tag == "a"):
                self.ids.add(value)
            elif name in ("href", "src") and value and tag in ("a", "img", "script", "link"):
                self.links.append(value)


def check(site):
    """Messages, one for each broken link; and the number of links."""
    pages = {}
    for path in sorted(pathlib.Path(site).rglob("*.html")):
        names = Names()
        names.feed(path.read_text(encoding="utf-8"))
        pages[path] = names
    messages, count = [], 0
    for path, names in pages.items():
        if path.name == "404.html":
            continue  # it is served for any address
        for link in names.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            if parts.path.startswith("/"):
                messages.append(f"{path}: {link} is absolute")
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path.resolve()
            if not target.exists():
                messages.append(f"{path}: {link} is not there")
            elif parts.fragment and target.suffix == ".html":
                known = pages.get(target) or pages.get(path.parent / parts.path) or next((n for p, n in pages.items() if p.resolve() == target), None)
                if known is not None and urllib.parse.unquote(parts.fragment) not in known.ids and not parts.fragment.startswith("__"):
                    messages.append(f"{path}: {link}: no such place in {target.name}")
    return messages, count

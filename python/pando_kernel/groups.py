"""Groups of equal answers as HTML, and their errors as Jupyter wants them."""
import html

WRONG = ("raised", "ended")
MOST_GROUPS = 50  # in HTML; the rest is counted
STYLE = "margin:0;max-height:24em;overflow:auto"


def spoken(groups):
    """Those that say something."""
    return [group for group in groups if group["text"] and group["ending"] != "skipped"]


def wrong(groups):
    return [group for group in groups if group["ending"] in WRONG]


def as_html(groups):
    """A row for each group: how many tiles said it, which, and what."""
    shown = spoken(groups)
    rows = "".join(
        f'<tr><td style="vertical-align:top;text-align:right" title="tiles {html.escape(group["tiles"])}"><b>{group["count"]}&times;</b></td>'
        f'<td style="text-align:left"><pre style="{STYLE}">{html.escape(group["text"].rstrip(chr(10)))}</pre></td></tr>'
        for group in shown[:MOST_GROUPS])
    more = len(shown) - MOST_GROUPS
    return f"<table>{rows}</table>" + (f"<p>... and {more} more groups</p>" if more > 0 else "")


def error_of(groups):
    """(name, value, lines) of what went wrong on the most tiles; the lines show all of it. None if all went well."""
    bad = wrong(groups)
    if not bad:
        return None
    lines = []
    for group in bad:
        if len(groups) > 1:
            lines.append(f"---------- [{group['count']}x] ---------- tile{'' if group['count'] == 1 else 's'} {group['tiles']}")
        lines += group["text"].rstrip("\n").split("\n")
    last = bad[0]["text"].rstrip("\n").rsplit("\n", 1)[-1]
    name, _, value = last.partition(":")
    return ("InterpreterEnded", last, lines) if bad[0]["ending"] == "ended" else (name.strip(), value.strip(), lines)

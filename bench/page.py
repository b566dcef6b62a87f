"""docs/performance.md: a section for each benchmark, as `./x bench NAME --page` last wrote it. Other sections stay."""
import datetime
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs/performance.md"
INTRO = """# Performance

Each section is what `./x bench NAME --page` has written: every figure beside that of a peer from the same run, and a
target. The lines above a table say when and on what host it was measured. A figure that misses its target is marked
`short`: hosts differ. `./x bench --page` writes all sections on your host.
"""


def cpu():
    found = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1].strip() if found else "an unknown processor"


def section(name, rows, host, date):
    """`host`: what the calibration printed."""
    about = "\n".join(line.rstrip() for line in host.strip().split("\n") if line.strip())
    lines = [f"## {name}", "", f"`./x bench {name}` on {date}, {cpu()}.", "", "```text", about, "```", "",
             "| figure | Pando | peer, in the same run | its figure | ratio | target | |", "| --- | --- | --- | --- | --- | --- | --- |"]
    lines += ["| " + " | ".join(cell.replace("|", "/") for cell in (row + [""] * 7)[:7]) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def sections_of(text):
    """{name: section} of a page."""
    return {part.split("\n", 1)[0]: "## " + part for part in re.split(r"(?m)^## ", text)[1:]}


def updated(text, name, rows, host, date):
    """The page with the section of that name, in alphabetical order of all."""
    sections = {key: value.rstrip("\n") + "\n" for key, value in sections_of(text).items()}
    sections[name] = section(name, rows, host, date)
    return INTRO + "\n" + "\n".join(sections[key] for key in sorted(sections))


def update(name, rows, host):
    text = PAGE.read_text() if PAGE.exists() else ""
    PAGE.write_text(updated(text, name, rows, host, datetime.date.today().isoformat()))

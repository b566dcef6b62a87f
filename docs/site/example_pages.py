"""The examples: each folder's page with its sources and what it prints. The tests run each of them."""
KINDS = {".cpp": "cpp", ".h": "cpp", ".hpp": "cpp", ".py": "python"}


def write(examples, out):
    """Returns the pages as nav."""
    nav = ["examples/README.md"]
    for readme in sorted(examples.glob("*/README.md")):
        folder = readme.parent
        text = readme.read_text().rstrip()
        title = text.split("\n")[0].lstrip("# ")
        for source in sorted(folder.iterdir()):
            if source.suffix in KINDS:
                text += f"\n\n## {source.name}\n\n```{KINDS[source.suffix]}\n{source.read_text().rstrip()}\n```"
        expected = folder / "expected.txt"
        if expected.exists():
            text += f"\n\n## What it prints\n\n```text\n{expected.read_text().rstrip()}\n```"
        page = f"examples/{folder.name}/README.md"
        (out / page).parent.mkdir(parents=True, exist_ok=True)
        (out / page).write_text(text + "\n")
        nav.append({title: page})
    (out / "examples/README.md").write_text((examples / "README.md").read_text())
    return nav

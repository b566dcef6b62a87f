"""Builds the site: ./x docs. The pages of docs/ and of the root, and pages that are made from headers, docstrings, helps and examples.

    make.py ROOT BUILD    pages in BUILD/docs, the site in BUILD/site
"""
import logging
import pathlib
import shutil
import sys

from mkdocs.commands import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort
import yaml
from pymdownx.slugs import slugify

import cli_pages
import cpp_pages
import example_pages
import page_text
import python_pages
import site_links

ROOT_PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md"]
PICTURES = {".svg", ".png"}


def stage(root, build):
    """Every page and picture below BUILD/docs; returns what nav says at @name."""
    out = build / "docs"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    generated = {"cpp": cpp_pages.write(root / "include", out), "python": python_pages.write(build / "python", out),
                 "examples": example_pages.write(root / "examples", out)}
    cli_pages.write(build / "bin/pando", out)
    (out / "LICENSE.md").write_text("# License\n\n```text\n" + (root / "LICENSE").read_text() + "```\n")
    written = [*(root / page for page in ROOT_PAGES), *sorted((root / "docs").rglob("*.md"))]
    pages = {p.relative_to(root).as_posix() for p in written} | {p.relative_to(out).as_posix() for p in out.rglob("*.md")}
    for picture in (p for p in (root / "docs").rglob("*") if p.suffix in PICTURES):
        name = picture.relative_to(root).as_posix()
        pages.add(name)
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, out / name)
    for page in written:
        name = page.relative_to(root).as_posix()
        text = page_text.relink(page.read_text(), name, pages)
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(page_text.relist(text))
    for page in out.glob("examples/**/*.md"):
        page.write_text(page_text.relist(page_text.relink(page.read_text(), page.relative_to(out).as_posix(), pages)))
    for page in (out / "reference").rglob("*.md"):
        page.write_text(page_text.relist(page.read_text()))
    shutil.copy(root / "docs/site/site.css", out / "site.css")
    return generated


def expand(nav, generated):
    """nav with lists in place of @name."""
    if isinstance(nav, list):
        return [expand(item, generated) for item in nav]
    if isinstance(nav, dict):
        return {title: expand(item, generated) for title, item in nav.items()}
    return generated[nav[1:]] if nav.startswith("@") else nav


def main(root, build):
    root, build = pathlib.Path(root).resolve(), pathlib.Path(build).resolve()
    generated = stage(root, build)
    file = root / "docs/site/mkdocs.yml"
    nav = expand(yaml.safe_load(file.read_text())["nav"], generated)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    config = load_config(str(file), docs_dir=str(build / "docs"), site_dir=str(build / "site"), nav=nav, strict=True)
    # Places in pages have the names that GitHub gives them.
    config.mdx_configs.setdefault("toc", {})["slugify"] = slugify(case="lower")
    handler = config.plugins["mkdocstrings"].config.handlers["python"]
    handler["paths"] = [str(build / "python")]
    try:
        mkdocs_build.build(config)
    except Abort as wrong:
        sys.exit(f"docs: {wrong}")
    messages, links = site_links.check(build / "site")
    for message in messages:
        print(message)
    pages = len(list((build / "site").rglob("*.html")))
    print(f"docs: {pages} pages, {links} links, {len(messages)} of them broken: {build / 'site/index.html'}")
    return 1 if messages else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

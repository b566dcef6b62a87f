"""The pages of docs/guide that have Python (tests/docs_console runs those with a console): their blocks of Python run, in order, and print what the block of text behind them says. The README's block runs."""
import contextlib
import io
import pathlib
import re

import pytest

PAGES = [page for page in sorted((pathlib.Path(__file__).resolve().parents[2] / "docs" / "guide").glob("*.md")) if "```python" in page.read_text()]
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_page(page, tmp_path, monkeypatch):
    text = page.read_text()
    monkeypatch.chdir(tmp_path)  # a page may write files
    if "\nimport torch\n" in text:
        pytest.importorskip("torch")
    names, printed, checked = {"__name__": page.stem}, "", 0
    for kind, code in BLOCK.findall(text):
        if kind == "text":
            assert printed == code
            checked += 1
            continue
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, str(page), "exec"), names)
        printed = out.getvalue()
    assert checked > 0


def test_there_are_pages():
    assert PAGES


def test_readme():
    text = (PAGES[0].parents[2] / "README.md").read_text()
    blocks = [code for kind, code in BLOCK.findall(text) if kind == "python"]
    assert blocks
    for code in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
        assert out.getvalue()

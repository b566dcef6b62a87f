"""Pages whose commands run: blocks ```console, in order, in one shell. A line `$ COMMAND` is run; the lines after it are what it prints, where `...`
stands for any text, in a line or for lines. A block with title="FILE" is a file of that name first.

    pages_run.py BUILD ROOT PAGE...    prints the pages that differ; used by test_docs_code.py
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
MARK = "====pages_run===="


def commands_in(text):
    """[(command, expected lines)] of a page."""
    found = []
    for kind, _, code in BLOCK.findall(text):
        if kind != "console":
            continue
        for line in code.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def files_in(text):
    return {name: code for _, name, code in BLOCK.findall(text) if name}


def pattern(lines):
    """A regular expression for what a command prints."""
    out = ""
    for line in lines:
        if line.strip() == "...":
            out += r"(?:.*\n)*?"
        else:
            out += ".*".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ ]*\n"
    return out


def run(text, build, root):
    """Messages, one for each command of the page that prints something else or fails."""
    commands = commands_in(text)
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        for name, target in {"build": build, "x": root / "x", "examples": root / "examples"}.items():
            (place / name).symlink_to(target)
        for name, code in files_in(text).items():
            (place / name).write_text(code)
        script = "".join(f"{command}\necho '{MARK}' $?\n" for command, _ in commands)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PANDO_BIN", "PANDO_PREFIX", "POPLAR_"))}
        environment["PATH"] = f"{build / 'bin'}:{environment['PATH']}"
        done = subprocess.run(["bash"], input=script, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=600, check=False)
    outputs = re.split(rf"^(?P<text>.*?){MARK} (\d+)\n", done.stdout, flags=re.MULTILINE)
    printed, messages = "", []
    results = []
    for i in range(0, len(outputs) - 1, 3):
        results.append((outputs[i] + outputs[i + 1], int(outputs[i + 2])))
    for (command, expected), (printed, status) in zip(commands, results):
        if status != 0:
            messages.append(f"$ {command}\nends with {status}:\n{printed}")
        elif not re.fullmatch(pattern(expected), printed if not printed or printed.endswith("\n") else printed + "\n"):
            messages.append(f"$ {command}\nprints:\n{printed}the page says:\n" + "\n".join(expected))
    if len(results) != len(commands):
        messages.append(f"the shell ended after {len(results)} of {len(commands)} commands: {done.stdout[-400:]}")
    return messages


def main(build, root, *pages):
    status = 0
    for page in pages:
        for message in run(pathlib.Path(page).read_text(), pathlib.Path(build).resolve(), pathlib.Path(root).resolve()):
            print(f"{page}: {message}")
            status = 1
    return status


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

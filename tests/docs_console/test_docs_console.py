"""Pages whose blocks of `console` are what happens: their commands run in the root of the source tree and print what stands below them. A line `...`
stands for any lines, and `...` within a line for any text. `$ cat FILE` shows a file that a command of the page wrote; `# status N` after a command is its
exit status."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["docs/guide/plan-a-run.md", "docs/guide/poprun.md", "docs/guide/find-a-slow-step.md", "docs/level/distribution.md", "docs/level/emit.md",
         "docs/level/projection.md", "docs/level/ranks.md", "docs/level/schedule.md", "docs/level/simulation.md"]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STATUS = re.compile(r"  # status (\d+)$")


def commands_of(page):
    """(command, status, lines that it prints) of a page's blocks."""
    for block in BLOCK.findall(page):
        command, printed = None, []
        lines = iter(block.splitlines())
        for line in lines:
            if not line.startswith("$ "):
                printed.append(line)
                continue
            if command is not None:
                yield command, status, printed
            command, printed = line[2:], []
            while command.endswith("\\"):
                command = command[:-1] + next(lines).lstrip("> ")
            status = int(STATUS.search(command).group(1)) if STATUS.search(command) else 0
            command = STATUS.sub("", command)
        if command is not None:
            yield command, status, printed


def pattern_of(lines):
    parts = [r"(?:.*\n)*?" if line == "..." else ".*?".join(map(re.escape, line.split("..."))) + "\n" for line in lines]
    return re.compile("".join(parts) + r"\Z")


def check(page, run):
    """Complaints about a page; `run` gives the output and the status of a command."""
    complaints, seen = [], 0
    for command, status, lines in commands_of(page):
        seen += 1
        output, returned = run(command)
        if returned != status:
            complaints.append(f"$ {command}\nhas the status {returned}, not {status}:\n{output}")
        elif lines and not pattern_of(lines).match(output):
            complaints.append(f"$ {command}\nprints\n{output}\ninstead of\n" + "\n".join(lines))
    return complaints or ([] if seen else ["no command"])


def self_test():
    page = "```console\n$ a  # status 1\n1\n...\n3 ... 5\n$ b \\\n>   c\n```\n"
    assert list(commands_of(page)) == [("a", 1, ["1", "...", "3 ... 5"]), ("b c", 0, [])]
    outputs = {"a": ("1\n2\n2\n3 4 5\n", 1), "b c": ("", 0)}
    assert check(page, outputs.get) == []
    for command, output in (("a", ("1\n3 4 6\n", 1)), ("a", ("1\n3 4 5\n", 0)), ("b c", ("", 2))):
        assert len(check(page, {**outputs, command: output}.get)) == 1
    assert check("text", outputs.get) == ["no command"]


def main():
    self_test()
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        # What a page writes stays away from the tree.
        for name in ("tests", "examples"):
            os.symlink(ROOT / name, pathlib.Path(folder) / name)
        tools = pathlib.Path(os.environ["PANDO_BIN"])
        environment = {**os.environ, "PATH": f"{tools}:{tools.parent / 'venv/bin'}:{os.environ['PATH']}", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                       "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "CPATH": str(ROOT / "include"), "LIBRARY_PATH": str(tools.parent / "lib"),
                       "LD_LIBRARY_PATH": str(tools.parent / "lib")}

        def run(command):
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  check=False, timeout=300)
            return done.stdout, done.returncode

        for page in PAGES:
            failures += [f"{page}: {c}" for c in check((ROOT / page).read_text(), run)]
        shutil.rmtree(pathlib.Path(folder) / "out", ignore_errors=True)
    print("\n\n".join(failures) or f"{len(PAGES)} passed, 0 failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

"""The reference of commands: what `--help` of each prints."""
import re
import subprocess

COMMAND = re.compile(r"^  ([a-z][a-z-]*) +(\S.*)$")


def help_of(pando, *words):
    done = subprocess.run([pando, *words, "--help"], capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(f"pando {' '.join(words)} --help ends with {done.returncode}: {done.stderr.strip()}")
    return done.stdout.rstrip()


def groups_in(text):
    """[(title, [(command, summary)])] of `pando --help`."""
    groups = []
    for line in text.split("\n"):
        if re.match(r"^[A-Z].*:$", line) and not line.startswith(("Options", "Usage")):
            groups.append((line[:-1], []))
        elif groups and COMMAND.match(line):
            groups[-1][1].append(COMMAND.match(line).groups())
    return groups


def parts_in(text):
    """The commands of a command."""
    below = text.partition("\nSubcommands:\n")[2].partition("\n\n")[0]
    return [COMMAND.match(line)[1] for line in below.split("\n") if COMMAND.match(line)]


def section(pando, words, level):
    text = help_of(pando, *words)
    lines = [f"{'#' * level} pando {' '.join(words)}", "", "```text", text, "```", ""]
    if len(words) == 1:
        for part in parts_in(text):
            lines += section(pando, [*words, part], level + 1)
    return lines


def write(pando, out):
    groups = groups_in(help_of(pando))
    lines = ["# Commands", "", "`pando COMMAND --help` prints what stands here. `./x help` lists the commands of the source tree.", ""]
    for title, commands in groups:
        lines += ["| " + title + " | |", "| --- | --- |"]
        lines += [f"| [{name}](#pando-{name}) | {summary} |" for name, summary in commands] + [""]
    for _, commands in groups:
        for name, _ in commands:
            lines += section(pando, [name], 2)
    path = out / "reference/cli.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines))

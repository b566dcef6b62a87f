"""Plays the session of docs/ontile/session.md again, at a terminal, and compares; --record writes what came out into the page."""
import os
import re
import sys
import tempfile
import time

from terminal import Terminal

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "ontile", "session.md")
COLUMNS = 160
INPUT = re.compile(r"(?:\[[^\n]*\] )?>>> ")
MORE = re.compile(r" *\.\.\.(?: |$)(?!and \d|\d+ more)")
ASKS = r"\n((?:\[[^\n]*\] )?>>> | *\.\.\. +)$"
TIME = re.compile(r"(Wall time: ).*")


def fenced(lines):
    """(first, end) of each block between fences."""
    fences = [row for row, line in enumerate(lines) if line == "```"]
    return zip(fences[::2], fences[1::2])


def commands(block):
    """The inputs of a block: of each its lines, and None for Ctrl-C."""
    found = []
    for line in block:
        if match := INPUT.match(line):
            found.append([line[match.end():]])
        elif found and line == "^C":
            found[-1].append(None)
        elif found and (match := MORE.match(line)):
            found[-1].append(line[match.end():])
    return found


class Session:
    def __init__(self, command, env):
        self.terminal = Terminal(command, env, COLUMNS)
        banner = self.terminal.expect(ASKS, 300)[:-len("\n>>> ")]
        self.banner = banner[banner.index("Pando"):].split("\n")  # progress does not stay
        self.prompt = ">>> "

    def say(self, lines):
        """What is seen of one command: its lines after their prompts, then the answer."""
        text = ""
        seen = [self.prompt + lines[0]]
        seen += [(" " * (len(self.prompt) - 4) + "... " + line).rstrip() for line in lines[1:] if line is not None]
        for line, following in zip(lines, [*lines[1:], ""]):
            if line is None:
                time.sleep(3)  # it has to run before it can be interrupted
                self.terminal.type("\x03")
            else:
                self.terminal.type("\x15" + line + "\r")  # without what the prompt has indented
                if line == "exit":
                    assert self.terminal.status() == 0
                    return seen
                self.terminal.expect("\n")
            if following is not None:
                self.terminal.seen = "\n" + self.terminal.seen
                text = self.terminal.expect(ASKS, 600)
        prompt = re.search(ASKS, text).group(1)
        assert prompt.endswith(">>> "), f"more is wanted after {lines}: {text}"
        self.prompt = prompt
        answer = text[1:-len(prompt) - 1]
        return seen + (answer.split("\n") if answer else [])


def play(lines, options):
    """The page as it would be recorded now."""
    page, last, session = [], 0, None
    with tempfile.TemporaryDirectory() as state:
        env = dict(os.environ, XDG_STATE_HOME=state, TERM="xterm", LC_ALL="C.UTF-8", NO_COLOR="1")
        for first, end in fenced(lines):
            block = lines[first + 1:end]
            page += lines[last:first + 1]
            if block[0].startswith("$ pando"):
                session = Session([os.path.join(os.environ["PANDO_BIN"], "pando"), *block[0].split()[2:], *options], env)
                page += [block[0], *session.banner]
            for command in commands(block):
                page += session.say(command)
            last = end
        session.terminal.close()
    return page + lines[last:]


def main():
    with open(PAGE) as file:
        lines = file.read().split("\n")
    record = sys.argv[1:2] == ["--record"]
    played = play(lines, sys.argv[2:] if record else [])
    if record:
        with open(PAGE, "w") as file:
            file.write("\n".join(played))
        return 0
    if not os.path.exists("/usr/share/dict/words"):
        return 77
    wrong = [f"{row}: {now}\n  the page has: {then}" for row, (then, now) in enumerate(zip(lines, played), 1)
             if TIME.sub(r"\1", then) != TIME.sub(r"\1", now)]
    if wrong or len(lines) != len(played):
        print(f"{os.path.normpath(PAGE)} has {len(lines)} lines, the session {len(played)}", *wrong[:20], sep="\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

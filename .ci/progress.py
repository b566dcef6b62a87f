"""Reads ctest's output and shows a line per finished test, and the output of those that failed."""
import re
import sys

DONE = re.compile(r"^\s*(\d+)/(\d+) Test\s+#\d+: (\S+) \.*\s*(.*?)\s+([\d.]+) sec")


def main():
    failed_block = False
    terminal = sys.stderr.isatty()
    for line in sys.stdin:
        done = DONE.match(line)
        if not done:
            if failed_block and not line.startswith(("    Start", "      Start")):
                sys.stderr.write("    " + line)
            continue
        number, total, name, result, seconds = done.groups()
        passed = "Passed" in result or "Skipped" in result
        failed_block = not passed
        text = f"[{number}/{total}] {name} {result.strip('* ')} {seconds} s"
        if terminal and passed:
            sys.stderr.write("\r\033[K" + text)
        elif not passed or float(seconds) >= 5 or int(number) % 10 == 0:
            sys.stderr.write(("\r\033[K" if terminal else "") + text + "\n")
        sys.stderr.flush()
    if terminal:
        sys.stderr.write("\r\033[K")


main()

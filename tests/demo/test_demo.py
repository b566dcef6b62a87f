"""What `./x demo` builds is what it runs: popxl, the op libraries with their codelets, and popc, which compiles those. No test, benchmark or tool."""
import os
import pathlib
import re
import subprocess
import sys

BUILD = pathlib.Path(os.environ["PANDO_BIN"]).parent
# Sources of what the demo does not run.
ELSEWHERE = re.compile(r" -c \S*/(tests|bench|examples|src/(cli|ontile|measure|project|ranks|gccs)|src/poplibs/(gcl|popfloat))/|_test\.cpp(\s|$)")
PROGRAM = re.compile(r" -o bin/(\S+)")


def superfluous(targets):
    commands = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", *targets], check=True, capture_output=True, text=True).stdout.splitlines()
    found = [c for c in commands if ELSEWHERE.search(c)]
    return found + [c for c in commands if (program := PROGRAM.search(c)) and program.group(1) != "popc"], len(commands)


if __name__ == "__main__":
    # The whole of ./x build has what the demo does not need, so the check can fail.
    if not superfluous(["tools"])[0]:
        sys.exit("nothing in the target `tools` is beyond the demo: this test looks at the wrong commands")
    found, count = superfluous(["demo_tools", "popxl"])
    print(f"{count} commands, {len(found)} of them for what the demo does not run")
    sys.exit("\n".join(c[-300:] for c in found) or 0)

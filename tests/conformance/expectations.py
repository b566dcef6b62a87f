"""Compares what passed with the list of what is known to pass. The list may only grow: a listed case that fails, or is gone,
is an error; a pass that is not listed is reported as new, with the line to add.

The list is a text file with one case a line; `#` begins a comment.
"""
import argparse
import fnmatch
import os
import pathlib
import re
import subprocess
import sys

# What the project reads from the environment, other than POPLAR_* and IPU_*_GP: expectations_test.py compares it with the sources.
READ = frozenset("""PANDO_DUMP_FILE PANDO_DUMP_LEVEL PANDO_DUMP_TILE PANDO_EMULATED_IPUS PANDO_EMULATED_MACHINE PANDO_EMULATOR PANDO_HOST_MEMORY PANDO_KERNEL_COMMAND PANDO_MPI_BELLS PANDO_POPC
  PANDO_POPRUN_ONLY_OUTPUT_FROM PANDO_POPRUN_TIMEOUT PANDO_PYTHON_SCANS_NOTHING PANDO_RUN_BOARD PANDO_THREADS PANDO_VECTORS POPART_DOT_CHECKS POPART_LOG_LEVEL POPXL_CACHE_DIR PVTI_OPTIONS""".split())


def read(path):
    lines = (line.split("#")[0].strip() for line in pathlib.Path(path).read_text().splitlines())
    return {line for line in lines if line}


def judge(results, expected):
    """results: {case: message, or None if it passed}. Returns (lines to print, exit status)."""
    lines = []
    errors = 0
    for case, message in results.items():
        if message is None:
            lines.append(f"pass  {case}" + ("" if case in expected else "   (new: add this line to the list)"))
        elif case in expected:
            errors += 1
            lines.append(f"FAIL  {case}: {message}")
        else:
            lines.append(f"known {case}: {message}")
    for case in sorted(expected - set(results)):
        errors += 1
        lines.append(f"FAIL  {case}: it is in the list of known passes, but there is no such case")
    passed = sum(message is None for message in results.values())
    lines.append(f"{passed} passed, {errors} failed" + (f", {n} skipped" if (n := len(results) - passed - errors) > 0 else ""))
    return lines, 1 if errors else 0


def read_reasons(path):
    """[(pattern, reason)]: a reason is a line that ends with a colon; patterns of file names follow, indented."""
    reasons, reason = [], None
    for line in path.read_text().splitlines():
        text = line.split("#")[0].rstrip()
        if not text:
            continue
        if not text.startswith(" "):
            reason = text.rstrip(":")
        else:
            reasons += [(pattern, reason) for pattern in text.split()]
    return reasons


def apply_reasons(results, reasons, expected=frozenset()):
    """({case: message}, errors): failures get their reason; one that is not expected to pass and has no reason, and a reason that nothing needs,
    are errors."""
    errors, used, out = [], set(), dict(results)
    for case, message in results.items():
        if message is None:
            continue
        fitting = [(p, r) for p, r in reasons if fnmatch.fnmatchcase(case, p)]
        if fitting:
            used.update(p for p, _ in fitting)
            out[case] = f"{fitting[0][1]} ({message})"
        elif case not in expected:
            errors.append(f"FAIL  {case}: {message}; it is neither expected to pass nor has it a reason")
    errors += [f"FAIL  the reason of {p} ({r}) explains nothing" for p, r in reasons if p not in used]
    return out, errors


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--from", dest="source", required=True, help="a checkout of the other project")
    parser.add_argument("--prefix", required=True, help="an installed Pando")
    parser.add_argument("--work", required=True, help="a folder for copies and programs; wiped first")
    return parser.parse_args()


def changes_behaviour(variable):
    return variable in READ or variable.startswith("POPLAR_") or re.fullmatch("IPU_[A-Z]+_GP", variable) is not None


def user_environment(prefix, **more):
    """What sourcing PREFIX/enable.sh gives, and nothing else that the project would read."""
    prefix = str(pathlib.Path(prefix).resolve())
    environment = {k: v for k, v in os.environ.items() if not changes_behaviour(k)}
    environment.update(CPATH=f"{prefix}/include", LIBRARY_PATH=f"{prefix}/lib", LD_LIBRARY_PATH=f"{prefix}/lib",
                       PATH=f"{prefix}/bin:{environment.get('PATH', '')}", POPLAR_SDK_ENABLED=prefix)
    environment.update({k: str(v) for k, v in more.items()})
    return environment


def run(command, folder, environment, seconds=300):
    """(exit status, everything printed)"""
    try:
        done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=seconds, text=True, errors="replace")
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as e:
        return -1, f"stopped after {seconds} s\n" + (e.stdout or b"").decode(errors="replace")


def finish(results, expected_path):
    lines, status = judge(results, read(expected_path))
    print("\n".join(lines))
    sys.exit(status)

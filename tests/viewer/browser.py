"""A headless Chromium that opens pages of `pando view`, for tests, pictures and figures."""
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
# No network, no sandbox (it runs as root in containers).
FLAGS = ["--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars"]

# WebGL2 without a graphics card, for pages that ask for it (?gl=on); or none of it, as on a host without one.
EMULATED, NO_CARD = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"], ["--disable-gpu"]


def environment(build):
    """The Python that has Selenium: made in BUILD/viewer/venv from requirements.txt. Run this script again by it: `enter(build)`."""
    folder, wanted = build / "viewer/venv", HERE / "requirements.txt"
    python, stamp = folder / "bin/python", folder / "made-of.txt"
    if not stamp.exists() or stamp.read_text() != wanted.read_text():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", str(wanted)], check=True)
        stamp.write_text(wanted.read_text())
    return python


def enter(build):
    """Goes on in the environment that has Selenium, if this one has not."""
    python = environment(build)
    if pathlib.Path(sys.prefix).resolve() != (build / "viewer/venv").resolve():
        os.execv(python, [str(python), *sys.argv])


class Browser:
    def __init__(self, width=1400, height=900, dark=False, card=EMULATED):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        self.folder = tempfile.TemporaryDirectory(prefix="pando-viewer-")
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for flag in [*FLAGS, *card, f"--user-data-dir={self.folder.name}", f"--window-size={width},{height}", f"--force-{'dark' if dark else 'light'}-mode=0"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.page_load_strategy = "normal"
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.driver.set_script_timeout(120)
        self.driver.set_page_load_timeout(180)
        self.size(width, height)
        if dark:
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})

    def size(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def close(self):
        self.driver.quit()
        self.folder.cleanup()

    def open(self, page, place="", query=""):
        """Opens the page afresh; returns seconds until it showed something that a user can work with."""
        self.driver.get("about:blank")
        began = time.monotonic()
        self.driver.get(f"file://{page}{query}" + (f"#{place}" if place else ""))
        self.until("return document.documentElement.dataset.opened !== undefined || document.getElementById('wrong-report') !== null", "the page opens")
        return time.monotonic() - began

    def go(self, place):
        self.driver.execute_script("location.hash = arguments[0]", place)
        self.settle()

    def settle(self):
        """Until two frames have been drawn."""
        self.driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30)))")

    def until(self, condition, what, seconds=60):
        end = time.monotonic() + seconds
        while not self.driver.execute_script(condition):
            if time.monotonic() > end:
                raise AssertionError(f"waited {seconds} s: {what}")
            time.sleep(0.02)

    def ask(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self):
        return self.ask("return (document.querySelector('main') ?? document.body).innerText")

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()
        self.settle()

    def hold(self, held, key):
        """Presses a key while another one is held."""
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).key_down(held).send_keys(key).key_up(held).perform()
        self.settle()

    def picture(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(path))

    def complaints(self):
        """What the page said to the console as errors or warnings, since the last call."""
        return [f"{e['level']}: {e['message']}" for e in self.driver.get_log("browser") if e["level"] in ("SEVERE", "WARNING") and "GPU stall" not in e["message"] and "swiftshader" not in e["message"].lower()]


def page_of(build, reports, output):
    """What `pando view` writes."""
    subprocess.run([build / "bin/pando", "view", *reports, "--output", output, "--no-open"], check=True, stdout=subprocess.PIPE)
    return output


def page_with(page, name, data):
    """The text of a page without reports with one in it, as `pando view` writes it; it does not look at the report."""
    pieces = "".join(f"<!--{base64.b64encode(data[at:at + 49152]).decode()}-->" for at in range(0, len(data), 49152))
    return page.replace("<!-- pando: reports -->", f'<div class="pando-report" hidden data-name="{name}" data-bytes="{len(data)}">{pieces}</div>')


def written_report(build, name, folder):
    """Runs a program of programs/write_reports.py that writes its report into the folder; returns the file."""
    folder.mkdir(parents=True, exist_ok=True)
    options = {"autoReport.all": "true", "autoReport.directory": str(folder), "debug.instrumentCompute": "true"}
    # Sources are named as the command names them: a report says nothing of the folder in which it was made.
    program = "tests/viewer/programs/write_reports.py"
    start = f"import sys; sys.argv = [{program!r}, {name!r}]; exec(compile(open({program!r}).read(), {program!r}, 'exec'))"
    result = subprocess.run([build / "venv/bin/python", "-c", start], cwd=HERE.parents[1], env={**os.environ, "POPLAR_ENGINE_OPTIONS": json.dumps(options)},
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        raise AssertionError(f"{name}: {result.stdout[-2000:]}")
    return find_report(folder)


def find_report(folder):
    """The report among what a run wrote: of version 4, or of version 3 (JSON)."""
    for name in ["profile.pando", "profile.json"]:
        if (folder / name).exists():
            return folder / name
    raise AssertionError(f"no report in {folder}: {sorted(f.name for f in folder.iterdir())}")


def report_of_ranks(build, folder):
    """The report of a training step that runs on four devices, as a pipeline of four microbatches."""
    pando, program, split, pieces = build / "bin/pando", folder / "mlp.txt", folder / "four.txt", folder / "pieces.json"
    report = folder / "ranks.pando"
    for command in [
        ["training-step", "mlp", "--layers", "4", "--width", "128", "--batch", "32", "--learning-rate", "0.5", "-o", program],
        ["transform", program, "--batch", "x,z", "--pipeline", "4", "--microbatches", "4", "--pieces", pieces, "-o", split],
        ["run", split, "--pieces", pieces, "--seed", "1", "--steps", "3", "-q", "--device", "ipu_model", "--tiles", "32", "--profile", report],
    ]:
        result = subprocess.run([pando, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if result.returncode != 0:
            raise AssertionError(f"{command}: {result.stdout[-2000:]}")
    return report


def compiled(build, source, program, libraries=("poplar",)):
    """Compiles a program against this build's libraries, once."""
    include, lib = HERE.parents[1] / "include", build / "lib"
    if not program.exists():
        subprocess.run(["g++", "-std=c++17", f"-I{include}", source, f"-L{lib}", f"-Wl,-rpath,{lib}", *(f"-l{name}" for name in libraries), "-o", program], cwd=HERE.parents[1], check=True)
    return program


def report_of_lines(build, folder):
    """The report of a codelet that was compiled with lines."""
    options = {"autoReport.all": "true", "autoReport.directory": str(folder / "lines_report")}
    program = compiled(build, "tests/viewer/programs/lines.cpp", folder / "lines")
    subprocess.run([program, "tests/viewer/programs/normalise.cpp"], cwd=HERE.parents[1], env={**os.environ, "POPLAR_ENGINE_OPTIONS": json.dumps(options)}, check=True)
    return find_report(folder / "lines_report")


def report_of_product(build, folder, kind):
    """The report of examples/product, slow or fast."""
    program = compiled(build, "examples/product/product.cpp", folder / "product", ("poplar", "poplin", "popops", "poputil"))
    # The folder is called as in the guide: the page names it.
    options = {"autoReport.all": "true", "autoReport.directory": str(folder / "guide" / kind)}
    subprocess.run([program, kind], env={**os.environ, "POPLAR_ENGINE_OPTIONS": json.dumps(options)}, check=True)
    return find_report(folder / "guide" / kind)

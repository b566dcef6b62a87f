"""Runs Python programs and pytest files of another project on an installed Pando, and compares with lists of what is expected.

The programs run in an environment of their own: what they import besides Pando comes from PyPI, and Pando's packages from its own environment.
"""
import argparse
import fnmatch
import hashlib
import json
import multiprocessing.pool
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading

import expectations

HERE = pathlib.Path(__file__).resolve().parent
MAX_RESTARTS = 40
# What most files import, and what takes long.
PRELOADED = ["pytest", "numpy", "torch", "popxl", "popxl.ops", "popart", "popart._internal.ir"]


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--from", dest="source", required=True, help="a checkout of the other project")
    parser.add_argument("--prefix", required=True, help="an installed Pando; its Python environment lies beside it")
    parser.add_argument("--work", required=True, help="a folder for copies and results; wiped first")
    parser.add_argument("--python", help="an interpreter that imports popxl (default: PREFIX/../venv/bin/python)")
    parser.add_argument("--only", help="run only what has this pattern in its name, such as 'test_c*'")
    parser.add_argument("--seconds", type=int, default=300, help="limit of one test or script")
    parser.add_argument("--file-seconds", type=int, help="limit of a file of tests (default: 20 times --seconds)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="go on where an earlier run stopped: cases that have a result in --work are not run again")
    parser.add_argument("--again", action="store_true", help="with --keep: run what did not pass again")
    parser.add_argument("--as-is", action="store_true", help="run --python itself, which has what the programs import, instead of an environment of their own")
    parser.add_argument("--update", action="store_true", help="add what newly passes to the list of what is expected")
    parsed = parser.parse_args()
    parsed.work = str(pathlib.Path(parsed.work).resolve())
    if not parsed.python:
        parsed.python = str(pathlib.Path(parsed.prefix).resolve().parent / "venv" / "bin" / "python")
    parsed.file_seconds = parsed.file_seconds or 20 * parsed.seconds
    return parsed


def probe(python, code):
    done = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/")
    if done.returncode != 0:
        sys.exit(f"{python} does not import what it has to:\n{done.stderr}")
    return done.stdout.split("\n")


def environment(python, folder, requirements):
    """The interpreter of a virtual environment in `folder` that has `requirements` (a file) and sees the packages of `python`, with the same NumPy."""
    # A package of the same name in the folder of a user would come first: -c starts in the root folder.
    site, numpy = probe(python, "import os, numpy, popxl; print(os.path.dirname(os.path.dirname(popxl.__file__))); print(numpy.__version__)")[:2]
    folder = pathlib.Path(folder)
    inner = folder / "bin" / "python"
    stamp = folder / "complete"
    wanted = hashlib.sha256((requirements.read_text() + site + numpy + python).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return str(inner)
    shutil.rmtree(folder, ignore_errors=True)
    base = probe(python, "import sys; print(sys._base_executable)")[0]
    subprocess.run([base, "-m", "venv", str(folder)], check=True)
    constraints = folder / "constraints.txt"
    constraints.write_text(f"numpy=={numpy}\n")
    print(f"installing {requirements.name} into {folder}", file=sys.stderr)
    subprocess.run([str(inner), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(requirements), "-c", str(constraints)],
                   check=True)
    packages = probe(str(inner), "import sysconfig; print(sysconfig.get_paths()['purelib'])")[0]
    (pathlib.Path(packages) / "pando.pth").write_text(site + "\n")
    stamp.write_text(wanted)
    return str(inner)


def ending(status, seconds):
    """What a status of a subprocess says, or None if it ended by itself."""
    if status == -signal.SIGALRM:
        return f"takes more than {seconds} s"
    return f"ends the interpreter with {signal.Signals(-status).name}" if status < 0 else None


def read_outcomes(path):
    """({id: message or None}, the test that was running at the end or None, whether pytest came to its end)"""
    results, running, finished = {}, None, False
    for line in pathlib.Path(path).read_text().splitlines() if os.path.exists(path) else []:
        record = json.loads(line)
        if "start" in record:
            running = record["start"]
        elif "finished" in record:
            finished = True
        else:
            # What fails in its teardown has passed before: the failure counts.
            results[record["id"]] = record["message"] or results.get(record["id"])
    return results, (running if running not in results else None), finished


class Forker:
    """A process that runs pytest in forks of itself (pytest_side/forker.py)."""

    def __init__(self, python, preload, variables):
        self._command = [python, str(HERE / "pytest_side" / "forker.py"), *preload]
        self._variables = variables
        self._process = None

    def run(self, arguments, folder, variables, path, seconds, output):
        """(exit status, everything printed)"""
        if self._process is None:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self._variables, text=True)
        request = dict(folder=str(folder), variables=variables, path=path, arguments=arguments, output=str(output))
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        pid = json.loads(self._process.stdout.readline())["pid"]
        timer = threading.Timer(seconds, os.kill, (pid, signal.SIGHUP))
        timer.start()
        status = json.loads(self._process.stdout.readline())["status"]
        timer.cancel()
        return status, pathlib.Path(output).read_text(errors="replace") if pathlib.Path(output).exists() else ""

    def close(self):
        if self._process is not None:
            self._process.stdin.close()
            self._process.wait()
            self._process.stdout.close()


def run_pytest(start, name, seconds, scratch, file_seconds=None, known=()):
    """{id: message or None} of one file, which is started again behind each test that ends the interpreter. start(variables, arguments, seconds,
    output): (status, everything printed). known: results of an earlier run, whose cases are not run again."""
    scratch.mkdir(parents=True, exist_ok=True)
    outcomes, done = scratch / "outcomes", scratch / "done"
    variables = dict(PANDO_OUTCOMES=str(outcomes), PANDO_DONE=str(done), PANDO_SECONDS=str(seconds))
    results, file_seconds = dict(known), file_seconds or 20 * seconds
    for _ in range(MAX_RESTARTS):
        outcomes.unlink(missing_ok=True)
        done.write_text("\n".join(results))
        status, output = start(variables, [name, f"--basetemp={scratch / 'base'}"], file_seconds, scratch / "output")
        new, running, finished = read_outcomes(outcomes)
        results.update(new)
        if finished:
            break
        why = ending(status, seconds) if status != -signal.SIGHUP else f"the file takes more than {file_seconds} s"
        results[running or name] = why or f"pytest ends with status {status}: {output.strip().splitlines()[-1:]}"
        if running is None or status == -signal.SIGHUP:
            break
    return results


def run_script(python, script, folder, variables, seconds):
    """None, or what went wrong. script: path, arguments, patterns of the output, expressions that hold in its names afterwards."""
    code = ("import runpy, sys\n"
            f"sys.argv = {[script['path'], *script.get('arguments', [])]!r}\n"
            f"sys.path.insert(0, '.')\n"
            f"names = runpy.run_path({script['path']!r}, run_name='__main__')\n"
            f"for text in {script.get('holds', [])!r}:\n"
            "    if not eval(text, names):\n"
            "        sys.exit(f'does not hold: {text}')\n")
    status, output = expectations.run([python, "-c", code], folder, variables, seconds)
    if status != 0:
        lines = [line for line in output.splitlines() if line.strip()] or [f"ends with status {status}"]
        return ending(status, seconds) or lines[-1][:200]
    missing = [p for p in script.get("patterns", []) if not re.search(p, output)]
    return f"does not print {missing}" if missing else None


def by_folder(results, files=False):
    """Lines that count cases and functions: a function passes if all of its cases do. files: by file instead of by folder."""
    folders = {}
    for case, message in results.items():
        file, _, function = case.partition("::")
        functions = folders.setdefault(file if files else str(pathlib.PurePosixPath(file).parent), {})
        functions.setdefault(file + function.split("[")[0], []).append(message is None)
    lines = []
    for folder, functions in sorted(folders.items()):
        cases = [passed for each in functions.values() for passed in each]
        lines.append(f"{folder:45} {sum(cases):5} of {len(cases)} cases, {sum(map(all, functions.values())):4} of {len(functions)} functions pass")
    return lines


def by_reason(results):
    """Lines that count why cases do not pass, the most frequent first."""
    counts = {}
    for message in results.values():
        if message is not None:
            reason = message.split(" (")[0]
            counts[reason] = counts.get(reason, 0) + 1
    return [f"{n:5}  {reason}" for reason, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def chosen(name, only):
    return only is None or fnmatch.fnmatchcase(name, f"*{only}*")


def finish(results, name, parsed, whole, files=False):
    """Compares with NAME.expected and NAME.reasons beside this file, prints, exits. whole: whether everything was run; files: counts by file."""
    expected_path, reasons_path = HERE / f"{name}.expected", HERE / f"{name}.reasons"
    expected, reasons = expectations.read(expected_path), expectations.read_reasons(reasons_path)
    with_reasons, errors = expectations.apply_reasons(results, reasons, expected)
    if not whole:
        files = {case.partition("::")[0] for case in results}
        expected = {case for case in expected if case.partition("::")[0] in files}
        errors = [e for e in errors if "explains nothing" not in e]
    lines, status = expectations.judge(with_reasons, expected)
    if parsed.update:
        passes = {case for case, message in results.items() if message is None}
        expected_path.write_text("".join(f"{case}\n" for case in sorted(expectations.read(expected_path) | passes)))
    pathlib.Path(parsed.work, "results.json").write_text(json.dumps(results, indent=0, sort_keys=True))
    print("\n".join([line for line in lines[:-1] if line.startswith("FAIL") or "(new" in line] + errors))
    print("what does not pass, by reason:", *by_reason(with_reasons), "", *by_folder(results, files), lines[-1], sep="\n")
    sys.exit(1 if errors else status)


def run_all(parsed, python, scripts, files, variables):
    """{id: message or None}. scripts: {id: script}; files: {id: {folder of pytest, name there, further options and folders of modules}}."""
    work = pathlib.Path(parsed.work)
    jobs = [(name, "script", s) for name, s in scripts.items() if chosen(name, parsed.only)]
    jobs += [(name, "file", f) for name, f in files.items() if chosen(name, parsed.only)]

    here = threading.local()
    forkers = []

    def run_file(what, scratch, known):
        if not hasattr(here, "forker"):
            here.forker = Forker(python, PRELOADED, variables)
            forkers.append(here.forker)
        fixed = ["-q", "-p", "outcomes", "-p", "no:cacheprovider", "-o", "addopts=", *what.get("options", [])]
        path = [str(HERE / "pytest_side"), *what.get("path", [])]
        return run_pytest(lambda more, arguments, seconds, output: here.forker.run(fixed + arguments, work / what["folder"], more, path, seconds, output),
                          what["name"], parsed.seconds, scratch, parsed.file_seconds, known)

    def run(job):
        name, kind, what = job
        kept = work / "scratch" / name.replace("/", ".") / "results.json"
        known = json.loads(kept.read_text()) if parsed.keep and kept.exists() else {}
        if parsed.again:
            known = {case: message for case, message in known.items() if message is None}
        if kind == "script":
            found = known or {name: run_script(python, what, work / what["folder"], variables, parsed.seconds)}
        else:
            found = run_file(what, kept.parent, known)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found))
        result = found if kind == "script" else {f"{what['folder']}/{case}".removeprefix("./"): message for case, message in found.items()}
        print(f"{name}: {sum(m is None for m in result.values())} of {len(result)}", file=sys.stderr, flush=True)
        return result

    results = {}
    with multiprocessing.pool.ThreadPool(parsed.jobs) as pool:
        for result in pool.imap(run, jobs):
            results.update(result)
    for forker in forkers:
        forker.close()
    return results

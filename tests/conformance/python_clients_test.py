"""The rules of running other projects' Python, each tripped once."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import expectations
import python_clients

# The build's environment has pytest and NumPy.
VENV = pathlib.Path(os.environ.get("PANDO_BIN", ".")).absolute().parent / "venv/bin/python"
WITH_PYTEST = str(VENV) if VENV.exists() else sys.executable

# Stands for pytest: the test a ends the interpreter, the test b passes, the test c fails; none is run again.
FAKE_PYTEST = """
import json, os, signal
done = open(os.environ['PANDO_DONE']).read().split()
def write(**record):
    with open(os.environ['PANDO_OUTCOMES'], 'a') as out:
        out.write(json.dumps(record) + '\\n')
for name, message in (('b', None), ('a', None), ('c', 'ValueError')):
    if name in done:
        continue
    write(start=name)
    if name == 'a':
        os.kill(os.getpid(), signal.%s)
    write(id=name, message=message)
write(finished=True)
"""


class Pytest(unittest.TestCase):
    def run_fake(self, code):
        def start(variables, arguments, seconds, output):
            return expectations.run([sys.executable, "-c", code], "/", variables, seconds)

        with tempfile.TemporaryDirectory() as folder:
            return python_clients.run_pytest(start, "file", 5, pathlib.Path(folder) / "scratch")

    def test_a_crash_loses_one_test(self):
        self.assertEqual(self.run_fake(FAKE_PYTEST % "SIGSEGV"), {"b": None, "a": "ends the interpreter with SIGSEGV", "c": "ValueError"})

    def test_an_alarm_is_a_limit_of_time(self):
        self.assertEqual(self.run_fake(FAKE_PYTEST % "SIGALRM")["a"], "takes more than 5 s")

    def test_a_pytest_that_does_not_start_is_a_failure_of_the_file(self):
        self.assertEqual(self.run_fake("raise SystemExit('no pytest')"), {"file": "pytest ends with status 1: ['no pytest']"})

    def test_a_failing_teardown_is_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "outcomes"
            path.write_text('{"start": "a"}\n{"id": "a", "message": null}\n{"id": "a", "message": "teardown"}\n')
            self.assertEqual(python_clients.read_outcomes(path), ({"a": "teardown"}, None, False))


class Forks(unittest.TestCase):
    def test_a_fork_for_each_request(self):
        """Without pytest: a module of that name stands for it."""
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "pytest.py").write_text(
                "import os\ndef main(arguments):\n    print(os.getcwd(), os.environ['A'], flush=True)\n"
                "    return int(arguments[0]) if arguments[0] != 'die' else os.kill(os.getpid(), 9)\n")
            forker = python_clients.Forker(sys.executable, ["json", "no_such_module"], {})
            output = pathlib.Path(folder) / "output"
            self.assertEqual(forker.run(["3"], folder, {"A": "b"}, [folder], 5, output), (3, f"{pathlib.Path(folder).resolve()} b\n"))
            self.assertEqual(forker.run(["die"], folder, {"A": "c"}, [folder], 5, output)[0], -signal.SIGKILL)
            forker.close()


class Seeds(unittest.TestCase):
    def drawn(self, folder):
        """{test: what it drew} of a run of pytest, with the numbers of the file's import."""
        (folder / "test_draws.py").write_text(
            "import random\nimport numpy as np\nAT_IMPORT = np.random.rand()\n"
            "def note(name):\n    open('drawn', 'a').write(f'{name} {AT_IMPORT} {random.random()} {np.random.rand()}\\n')\n"
            "def test_a():\n    note('a')\ndef test_b():\n    note('b')\n")
        (folder / "done").write_text("")
        variables = {**os.environ, "PYTHONPATH": str(python_clients.HERE / "pytest_side"), "PANDO_OUTCOMES": str(folder / "outcomes"),
                     "PANDO_DONE": str(folder / "done"), "PANDO_SECONDS": "60"}
        (folder / "drawn").unlink(missing_ok=True)
        subprocess.run([WITH_PYTEST, "-m", "pytest", "-q", "-p", "outcomes", "-p", "no:cacheprovider", "test_draws.py"], cwd=folder, env=variables,
                       check=True, stdout=subprocess.DEVNULL)
        return dict(line.split(" ", 1) for line in (folder / "drawn").read_text().splitlines())

    @unittest.skipUnless(subprocess.run([WITH_PYTEST, "-c", "import numpy, pytest"], check=False, stderr=subprocess.DEVNULL).returncode == 0,
                         f"{WITH_PYTEST} has no pytest with NumPy")
    def test_random_data_are_the_same_in_each_run(self):
        with tempfile.TemporaryDirectory() as folder:
            first, again = (self.drawn(pathlib.Path(folder)) for _ in range(2))
            self.assertEqual(first, again)
            self.assertNotEqual(first["a"], first["b"])


class Scripts(unittest.TestCase):
    def verdict(self, text, **script):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "a.py").write_text(text)
            return python_clients.run_script(sys.executable, dict(path="a.py", **script), folder, {}, 5)

    def test_what_holds_and_is_printed_passes(self):
        self.assertIsNone(self.verdict("import sys\nx = 2\nprint('x is', x, sys.argv[1])", arguments=["7"], holds=["x == 2"], patterns=["x is 2 7"]))

    def test_each_way_to_fail(self):
        self.assertEqual(self.verdict("x = 3", holds=["x == 2"]), "does not hold: x == 2")
        self.assertEqual(self.verdict("print(3)", patterns=["2"]), "does not print ['2']")
        self.assertEqual(self.verdict("raise ValueError('no')"), "ValueError: no")
        self.assertEqual(self.verdict(f"import os; os.kill(os.getpid(), {int(signal.SIGSEGV)})"), "ends the interpreter with SIGSEGV")


class Counting(unittest.TestCase):
    RESULTS = {"d/a.py::f[1]": None, "d/a.py::f[2]": "boom", "d/a.py::g": None, "e/s.py": None}

    def test_a_function_passes_with_all_of_its_cases(self):
        lines = [" ".join(line.split()) for line in python_clients.by_folder(self.RESULTS)]
        self.assertEqual(lines, ["d 2 of 3 cases, 1 of 2 functions pass", "e 1 of 1 cases, 1 of 1 functions pass"])

    def test_reasons_are_counted(self):
        self.assertEqual(python_clients.by_reason({"a": "out (x)", "b": "out (y)", "c": None, "d": "z"}), ["    2  out", "    1  z"])


class Reasons(unittest.TestCase):
    def test_a_failure_needs_a_reason_or_is_an_error(self):
        results, errors = expectations.apply_reasons({"a": "boom", "b": "boom"}, [("a*", "out"), ("c*", "none")])
        self.assertEqual(results["a"], "out (boom)")
        self.assertEqual(errors, ["FAIL  b: boom; it is neither expected to pass nor has it a reason", "FAIL  the reason of c* (none) explains nothing"])


if __name__ == "__main__":
    unittest.main()

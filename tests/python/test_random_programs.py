"""No program in Python ends the interpreter."""
import pathlib
import re
import subprocess
import sys


def test_random_programs_end_with_exceptions_at_most():
    done = subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("random_programs.py")), "1", "8"], capture_output=True, text=True)
    last = done.stderr.strip().splitlines()[-3:]
    assert done.returncode == 0, f"status {done.returncode}, {last}"
    tried, ran = map(int, re.fullmatch(r"(\d+) tried, (\d+) ran", done.stdout.strip()).groups())
    assert tried >= 5 and ran >= 1, done.stdout

"""Imports once what tests import, and forks a process of pytest for each request: a file has a process of its own without paying for the imports.

A request is a line of JSON on stdin: {"folder", "variables", "path", "arguments", "output"}; answers are lines on stdout: {"pid"}, then {"status"},
which is negative for a process that a signal ended.
"""
import importlib
import json
import os
import sys


def run(request):
    os.chdir(request["folder"])
    os.environ.update(request["variables"])
    sys.path[:0] = request["path"] + ["."]
    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    os.close(0)
    import pytest
    status = pytest.main(request["arguments"])
    sys.stdout.flush()
    sys.stderr.flush()
    # The interpreter's end is not what is tested.
    os._exit(int(status))


def main():
    for name in sys.argv[1:]:
        try:
            importlib.import_module(name)
        except ImportError:
            # The tests that need it say so.
            pass
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                run(json.loads(line))
            finally:
                os._exit(70)
        print(json.dumps({"pid": pid}), flush=True)
        _, status = os.waitpid(pid, 0)
        print(json.dumps({"status": os.waitstatus_to_exitcode(status)}), flush=True)


if __name__ == "__main__":
    main()

"""The Jupyter kernel as a notebook uses it: installed by one command, asked through jupyter_client. Over a machine without tiles, and
over `pando repl` itself if this build has it."""
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest

BIN = os.environ["PANDO_BIN"]
PYTHON = "/usr/bin/python3"  # the one that the Debian packages are for

try:
    import ipykernel  # noqa: F401
    from jupyter_client import KernelManager
    from jupyter_client.kernelspec import KernelSpecManager
except ImportError:
    if sys.executable == PYTHON or not os.path.exists(PYTHON):
        print("skipped: no ipykernel and jupyter_client (see packages.txt)")
        sys.exit(77)
    os.execv(PYTHON, [PYTHON, *sys.argv])

SECONDS = 120


def install(prefix, *more, python=sys.executable):
    return subprocess.run([os.path.join(BIN, "pando"), "jupyter", "install", "--prefix", prefix, "--python", python, *more],
                          capture_output=True, text=True)


class Notebook(unittest.TestCase):
    """One kernel for all tests of a class."""
    command = None  # what to drive instead of what was installed
    options = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        done = install(cls.folder.name, *cls.options)
        assert done.returncode == 0, done.stderr
        folder = os.path.join(cls.folder.name, "share", "jupyter", "kernels", "pando")
        if cls.command:
            with open(os.path.join(folder, "kernel.json"), "r+") as file:
                spec = json.load(file)
                spec["env"]["PANDO_KERNEL_COMMAND"] = json.dumps(cls.command)
                file.seek(0)
                json.dump(spec, file)
                file.truncate()
        specs = KernelSpecManager(kernel_dirs=[os.path.dirname(folder)])
        cls.manager = KernelManager(kernel_name="pando", kernel_spec_manager=specs)
        cls.manager.start_kernel(env=dict(os.environ, XDG_CACHE_HOME=cls.folder.name))
        cls.client = cls.manager.blocking_client()
        cls.client.start_channels()
        cls.client.wait_for_ready(timeout=SECONDS)

    @classmethod
    def tearDownClass(cls):
        cls.client.stop_channels()
        cls.manager.shutdown_kernel()
        cls.folder.cleanup()

    def run_cell(self, code, then=None):
        """(status, messages): what a notebook shows of it."""
        # Else a kernel drops what it is asked within a moment after a cell that ended in an error.
        number = self.client.execute(code, allow_stdin=False, stop_on_error=False)
        messages = []
        while True:
            message = self.client.get_iopub_msg(timeout=SECONDS)
            if message["parent_header"].get("msg_id") != number:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                break
            if kind == "execute_input" and then:
                then()
            if kind in ("stream", "display_data", "error"):
                messages.append((kind, content))
        reply = self.client.get_shell_msg(timeout=SECONDS)
        while reply["parent_header"].get("msg_id") != number:
            reply = self.client.get_shell_msg(timeout=SECONDS)
        return reply["content"], messages

    def interrupt_soon(self):
        threading.Timer(1, self.manager.interrupt_kernel).start()

    def ask(self, method, *arguments):
        getattr(self.client, method)(*arguments)
        return self.client.get_shell_msg(timeout=SECONDS)["content"]


class WithoutTiles(Notebook):
    command = [os.path.join(BIN, "repl_without_tiles"), "--json"]

    def test_one_voice_is_a_stream(self):
        reply, messages = self.run_cell("all hello")
        self.assertEqual(reply["status"], "ok")
        self.assertEqual(messages, [("stream", {"name": "stdout", "text": "hello\n"})])
        self.assertEqual(self.run_cell("")[1], [])

    def test_different_answers_are_a_table(self):
        reply, messages = self.run_cell("parity\nall <b>")
        self.assertEqual([kind for kind, _ in messages], ["display_data"])
        data = messages[0][1]["data"]
        self.assertIn("---------- [4x] ---------- tiles 0,2,4,6\n0\n<b>\n", data["text/plain"])
        self.assertIn("<b>4&times;</b>", data["text/html"])
        self.assertIn("0\n&lt;b&gt;</pre>", data["text/html"])
        self.assertIn('title="tiles 1,3,5,7"', data["text/html"])

    def test_errors_are_errors(self):
        reply, messages = self.run_cell("all before\nraise 3")
        self.assertEqual((reply["status"], reply["ename"], reply["evalue"]), ("error", "ValueError", "no"))
        self.assertEqual([kind for kind, _ in messages], ["display_data", "error"])
        self.assertIn("---------- [1x] ---------- tile 3", messages[1][1]["traceback"])
        self.assertEqual(self.run_cell("raise")[0]["traceback"][0], "Traceback (most recent call last):")  # of all: no ruler

    def test_tiles_read_lines(self):
        number = self.client.execute("ask", allow_stdin=True)
        asked = self.client.get_stdin_msg(timeout=SECONDS)
        self.assertEqual(asked["content"]["prompt"], "? ")
        self.client.input("a line")
        while self.client.get_shell_msg(timeout=SECONDS)["parent_header"]["msg_id"] != number:
            pass
        said = [self.client.get_iopub_msg(timeout=SECONDS) for _ in range(4)]
        self.assertIn("a line\n", [message["content"].get("text") for message in said])
        self.assertEqual(self.run_cell("ask")[1], [("stream", {"name": "stdout", "text": "EOF\n"})])

    def test_ended_interpreters(self):
        reply, messages = self.run_cell("die 2")
        self.assertEqual((reply["ename"], reply["evalue"]), ("InterpreterEnded", "stack overflow"))
        self.assertIn("%reset 2", messages[0][1]["text"])
        self.assertEqual(self.run_cell("%reset 2")[0]["status"], "ok")

    def test_commands(self):
        _, messages = self.run_cell("%select 0\ntile")
        self.assertEqual([content["text"] for _, content in messages], ["Commands go to 1 tile of 8: 0\n", "0\n"])
        self.assertEqual(self.run_cell("%select all")[0]["status"], "ok")
        reply, messages = self.run_cell("%fly")
        self.assertEqual((reply["status"], reply["ename"]), ("error", "UsageError"))
        self.assertIn("no such command", reply["evalue"])

    def test_completion(self):
        self.assertEqual(self.ask("complete", "par", 3)["matches"], ["parity"])
        self.assertEqual(self.ask("complete", "x = 1\nt", 7), {"matches": ["tile", "tally"], "cursor_start": 6, "cursor_end": 7,
                                                                "metadata": {}, "status": "ok"})
        self.assertEqual(["%select"], self.ask("complete", "%se", 3)["matches"])

    def test_is_complete(self):
        self.assertEqual(self.ask("is_complete", "for x:"), {"status": "incomplete", "indent": "    "})
        self.assertEqual(self.ask("is_complete", "all x")["status"], "complete")

    def test_interrupt(self):
        reply, _ = self.run_cell("loop", then=self.interrupt_soon)
        self.assertEqual((reply["status"], reply["ename"]), ("error", "KeyboardInterrupt"))
        self.assertEqual(self.run_cell("all still")[1][0][1]["text"], "still\n")


class OnTiles(Notebook):
    """What was installed, as it is."""
    options = ("--tiles", "8")

    def test_a_notebook(self):
        reply, messages = self.run_cell("def f(x):\n    return x % 2\n\nf(__tileid)\nprint('and', f(3))")
        self.assertEqual(reply["status"], "ok")
        self.assertIn("---------- [4x] ---------- tiles 1,3,5,7\n1\nand 1\n", messages[0][1]["data"]["text/plain"])
        self.assertEqual(self.run_cell("alltoall(1)")[1], [("stream", {"name": "stdout", "text": "[1, 1, 1, 1, 1, 1, 1, 1]\n"})])

    def test_errors(self):
        reply, _ = self.run_cell("1 // (__tileid - 3)")
        self.assertEqual(reply["ename"], "ZeroDivisionError")
        self.assertIn("tile 3", reply["traceback"][0])
        self.assertTrue(any("In [" in line for line in reply["traceback"]))

    def test_interrupt(self):
        reply, _ = self.run_cell("while True: pass", then=self.interrupt_soon)
        self.assertEqual(reply["ename"], "KeyboardInterrupt")
        self.assertEqual(self.run_cell("__ntiles")[1][0][1]["text"], "8\n")

    def test_completion(self):
        self.assertEqual(self.run_cell("import sys")[0]["status"], "ok")
        self.assertEqual(self.ask("complete", "x = sys.exi", 11)["matches"], ["exit"])
        self.assertIn("exit", self.ask("complete", "sys.ex", 6)["matches"])


class Installing(unittest.TestCase):
    def test_says_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            done = install(folder, python="false")
            self.assertEqual(done.returncode, 1)
            self.assertIn("-m pip install ipykernel", done.stderr)
            self.assertEqual(os.listdir(folder), [])

    def test_for_a_user(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([os.path.join(BIN, "pando"), "jupyter", "install", "--user", "--python", sys.executable, "--tiles", "64"],
                                  capture_output=True, text=True, env=dict(os.environ, JUPYTER_DATA_DIR=folder))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            with open(os.path.join(folder, "kernels", "pando", "kernel.json")) as file:
                spec = json.load(file)
            self.assertEqual(json.loads(spec["env"]["PANDO_KERNEL_COMMAND"])[1:], ["repl", "--json", "--tiles", "64"])

    def test_one_place_at_a_time(self):
        done = install("x", "--user")
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    del Notebook
    sys.exit(unittest.main())

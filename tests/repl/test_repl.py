"""What a person at a terminal, a pipe and another program see of `pando repl`: on a machine without tiles that answers at once."""
import os
import subprocess
import sys
import tempfile
import unittest

from terminal import Terminal

BIN = os.environ["PANDO_BIN"]
WITHOUT_TILES = os.path.join(BIN, "repl_without_tiles")


class OnTerminal(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.env = dict(os.environ, XDG_STATE_HOME=self.folder.name, TERM="xterm", LC_ALL="C.UTF-8")

    def start(self, *arguments):
        terminal = Terminal([WITHOUT_TILES, *arguments], self.env)
        self.addCleanup(terminal.close)
        terminal.expect(">>> ")
        return terminal

    def say(self, terminal, text, wanted):
        terminal.type(text)
        return terminal.expect(wanted)

    def test_banner_answers_and_leaving(self):
        terminal = Terminal([WITHOUT_TILES], self.env)
        self.addCleanup(terminal.close)
        terminal.expect(r"8 Python interpreters \(MicroPython\) on 1 IPU.*%help.*>>> ")
        self.say(terminal, "all hello\r", r"all hello\nhello\n>>> ")
        self.say(terminal, "parity\r", r"-{10} \[4x\] -{10} tiles 0,2,4,6\n0\n-{10} \[4x\] -{10} tiles 1,3,5,7\n1\n>>> ")
        terminal.type("\x04")
        self.assertEqual(terminal.status(), 0)

    def test_colours_can_be_switched_off(self):
        for name, coloured in (("TERM", True), ("NO_COLOR", False)):
            self.env[name] = "xterm"
            terminal = self.start()
            self.say(terminal, "parity\r", "1,3,5,7\n1\n>>> ")
            self.assertEqual(b"\x1b[1;34m" in terminal.raw, coloured)

    def test_a_block_goes_on_until_a_blank_line_and_is_indented(self):
        terminal = self.start()
        self.say(terminal, "for x in y:\r", r"\.\.\.     ")
        self.say(terminal, "all z\r", r"\.\.\.     ")
        self.say(terminal, "\r", r">>> ")
        self.say(terminal, "%history\r", r"for x in y:\n    all z\n>>> ")

    def test_ctrl_c_at_the_prompt_drops_the_block(self):
        terminal = self.start()
        self.say(terminal, "for x in y:\r", r"\.\.\.     ")
        self.say(terminal, "\x03", r"KeyboardInterrupt\n>>> ")
        self.say(terminal, "all a\r", r"\na\n>>> ")
        self.say(terminal, "all wrong\x03", r"KeyboardInterrupt\n>>> ")
        self.say(terminal, "all b\r", r"\nb\n>>> ")

    def test_ctrl_c_ends_what_runs(self):
        terminal = self.start()
        self.say(terminal, "loop\r", "loop\n")
        self.say(terminal, "\x03", r"KeyboardInterrupt: \n>>> ")
        self.say(terminal, "all again\r", r"\nagain\n>>> ")

    def test_completion(self):
        terminal = self.start()
        self.say(terminal, "par\t", "parity")
        self.say(terminal, "\r", r"1,3,5,7\n1\n>>> ")
        self.say(terminal, "t\t", r"tile +tally.*>>> t")
        self.say(terminal, "ile\r", "tile 7\n7\n>>> ")
        self.say(terminal, "%sel\t0\r", r"1 tile of 8: 0\n\[0\] >>> ")
        self.say(terminal, "%select a\tll\r", r"all 8 tiles\n>>> ")

    def test_tab_indents_and_backspace_takes_it_back(self):
        terminal = self.start()
        self.say(terminal, "\t\t\x7fall a\r", r"\na\n>>> ")
        self.say(terminal, "%history\r", r"\n    all a\n>>> ")

    def test_a_timed_cell(self):
        terminal = self.start()
        self.say(terminal, "%%time\rall a\rall b\r\r", r"\na\nb\nWall time: .*\n>>> ")

    def test_history_lasts(self):
        first = self.start()
        self.say(first, "all one\r", r"\none\n>>> ")
        self.say(first, "for x:\rall two\r\r", r"\.\.\. .*\.\.\. .*>>> ")
        self.say(first, "parity\r", r">>> ")
        first.type("\x04")
        self.assertEqual(first.status(), 0)
        second = self.start()
        self.say(second, "\x1b[A\r", r"parity\n.*\n1\n>>> ")
        self.say(second, "all\x1b[A\r", r"all ?one\none\n>>> ")     # entries that begin like this
        self.say(second, "fo\x1b[A\r", r"for x:\n    all two.*>>> ")  # a block at once
        self.say(second, "\x12one\x1b\r", r"bck:.*\none\n>>> ")           # searched for

    def test_pasting(self):
        terminal = self.start()
        self.say(terminal, "\x1b[200~all a\rall b\r\x1b[201~", r"all a\nall b")
        self.say(terminal, "\r", r"\na\nb\n>>> ")
        self.say(terminal, "\x05", r"paste mode.*=== ")
        self.say(terminal, "all c\r", "=== ")
        self.say(terminal, "\tall d\r", "=== ")
        self.say(terminal, "\x04", r"\nc\nd\n>>> ")
        self.say(terminal, "\x05", r"=== ")
        self.say(terminal, "all e\r\x03", r"KeyboardInterrupt\n>>> ")
        self.say(terminal, "all f\x01\x05\r", r"\nf\n>>> ")  # elsewhere Ctrl-E is the end of the line

    def test_utf8(self):
        terminal = self.start()
        self.say(terminal, "all grün✓\x7f!\r", r"\ngrün!\n>>> ")

    def test_the_selection_stands_before_the_prompt(self):
        terminal = self.start("--select", "0-2")
        self.say(terminal, "for x:\r", r"\n      \.\.\.     ")
        self.say(terminal, "\r", r"\[0-2\] >>> ")
        self.say(terminal, "%select all\r", r"\n>>> ")

    def test_system_exit_of_all_ends_the_session(self):
        terminal = self.start()
        terminal.type("exit 5\r")
        self.assertEqual(terminal.status(), 5)

    def test_keys(self):
        terminal = self.start()
        self.say(terminal, "%keys\r", r"leaves\.\n.*>>> ")
        self.say(terminal, "x", "x")
        self.say(terminal, "\r", r"\[4x\] -{10} tiles 0,2,4,6\n0\n.*\n1\n>>> ")
        self.say(terminal, "\x03", "\x03")
        self.say(terminal, "\x1d", r"\n>>> ")
        self.say(terminal, "all a\r", r"\na\n>>> ")
        self.say(terminal, "%keys\r", r">>> ")
        self.say(terminal, "\x04", r"\n>>> ")
        self.say(terminal, "exit\r", "")
        self.assertEqual(terminal.status(), 0)

    def test_a_prompt_after_a_script(self):
        terminal = self.start("-i", "-c", "all before")
        self.say(terminal, "all after\r", r"\nafter\n>>> ")


class WithoutTerminal(unittest.TestCase):
    def run_it(self, *arguments, given=""):
        done = subprocess.run([WITHOUT_TILES, *arguments], input=given, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def test_a_pipe(self):
        self.assertEqual(self.run_it(given="all a\n%select 0\ntile\n"), (0, "a\nCommands go to 1 tile of 8: 0\n0\n", ""))
        self.assertEqual(self.run_it(given=""), (0, "", ""))

    def test_statuses(self):
        self.assertEqual(self.run_it("-c", "all a"), (0, "a\n", ""))
        status, out, err = self.run_it("-c", "all a\nraise 3")
        self.assertEqual((status, out), (1, "a\n"))
        self.assertIn("[1x] ---------- tile 3\nTraceback", err)
        self.assertEqual(self.run_it("-c", "exit 4")[0], 4)

    def test_a_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write("tile\n" * 40)
            file.flush()
            status, out, _ = self.run_it(file.name)
        self.assertEqual((status, out.count("\n")), (0, 8 * 41))  # not folded

    def test_json(self):
        status, out, err = self.run_it("--json", given='{"id": 1, "run": "all a"}\n')
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out.splitlines()[1],
                         '{"id":1,"plain":"a\\n","groups":[{"count":8,"tiles":"0-7","text":"a\\n","ending":"done","status":0}]}')


if __name__ == "__main__":
    sys.exit(unittest.main())

"""What a person at a terminal, a pipe and another program see of `pando repl`: most of it on a machine without tiles that answers at once."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from terminal import Terminal

BIN = os.environ["PANDO_BIN"]
WITHOUT_TILES = os.path.join(BIN, "repl_without_tiles")
PANDO = os.path.join(BIN, "pando")


class WithoutCache(unittest.TestCase):
    """Where what was compiled cannot be kept, the machine starts all the same, and says so once."""

    def start(self, folder, **places):
        env = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME", "POPLAR_EXECUTABLE_CACHE_DIR")}
        return subprocess.run([PANDO, "repl", "--tiles", "2", "-c", "print(6 * 7)"], env=dict(env, XDG_STATE_HOME=folder, **places),
                              capture_output=True, text=True, timeout=120)

    def test_starts_and_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            taken, shared = os.path.join(folder, "taken"), os.path.join(folder, "shared")
            with open(taken, "w") as file:
                file.write("a file where a folder is meant")
            os.mkdir(shared)
            os.chmod(shared, 0o777)
            before = sorted(os.listdir(folder))
            for places in ({}, {"HOME": "/proc/none"}, {"HOME": taken}, {"XDG_CACHE_HOME": taken}, {"XDG_CACHE_HOME": "", "HOME": taken},
                           {"XDG_CACHE_HOME": shared}, {"POPLAR_EXECUTABLE_CACHE_DIR": taken}):
                done = self.start(folder, **places)
                self.assertEqual((done.stdout, done.returncode), ("42\n", 0), (places, done.stderr))
                self.assertEqual(done.stderr.count("not kept for later runs"), 1, (places, done.stderr))
            self.assertEqual(sorted(os.listdir(folder)), before)
            self.assertEqual(os.listdir(shared), [])

    def test_is_kept_for_the_user_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            for umask in (0o000, 0o077):
                before = os.umask(umask)
                try:
                    done = self.start(folder, HOME=folder)
                finally:
                    os.umask(before)
                self.assertEqual((done.stdout, done.stderr), ("42\n", ""))
                kept = os.path.join(folder, ".cache", "pando", "python")
                self.assertEqual([os.stat(os.path.join(kept, name)).st_mode & 0o777 for name in os.listdir(kept)], [0o600])


class CommandLine(unittest.TestCase):
    """What is wrong with it is said before there is a machine."""

    def complaint(self, *arguments):
        done = subprocess.run([PANDO, "repl", *arguments], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        self.assertEqual((done.stdout, done.returncode), ("", 2), done.stderr)
        return done.stderr

    def test_what_a_terminal_would_obey_is_escaped(self):
        self.assertEqual(self.complaint("no\x1b[1mfile"), "pando repl: cannot read no\\x1b[1mfile: No such file or directory [no-such-file]\n")
        self.assertTrue(self.complaint("--ipus", "\x1b[1m").startswith("pando repl: --ipus: '\\x1b[1m': a whole number from 1 to "))

    def test_folders(self):
        self.assertEqual(self.complaint("/"), "pando repl: cannot read /: it is a folder [no-such-file]\n")
        self.assertEqual(self.complaint("--data", "/", "-c", "1"), "pando repl: --data: cannot read /: it is a folder [no-such-file]\n")

    def test_numbers(self):
        for option, value in (("--ipus", "0"), ("--tiles", "07"), ("--fuel", "-1"), ("--fuel", "1e3"), ("--disk-kib", "-1"), ("--disk-kib", "4294967296")):
            self.assertRegex(self.complaint(option, value), f"^pando repl: {option}: '{value}': a whole number from [01] to [0-9]+ is expected\n")


class Output(unittest.TestCase):
    """What a command writes is shown while it runs."""

    def start(self, code):
        program = subprocess.Popen([PANDO, "repl", "--tiles", "4", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def end():
            program.kill()
            program.communicate()

        self.addCleanup(end)
        return program

    def test_endless_output_is_shown_and_is_not_kept(self):
        program = self.start("i = 0\nwhile True:\n  print('line', i, 'x' * 100)\n  i += 1")
        seen = 0
        while seen < 50000:
            self.assertTrue(program.stdout.readline().startswith("line"))
            seen += 1
        with open(f"/proc/{program.pid}/status") as status:
            memory = int(next(line for line in status if line.startswith("VmRSS")).split()[1])
        program.send_signal(signal.SIGINT)
        began = time.monotonic()
        program.communicate(timeout=20)
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(program.returncode, 130)
        self.assertLess(memory, 400 * 1024)

    def test_output_appears_while_a_program_runs(self):
        program = self.start("import time\nfor i in range(3):\n  print(i)\n  time.sleep(0.5)\nwhile True: pass")
        for i in range(3):
            self.assertEqual(program.stdout.readline(), f"{i}\n")
        self.assertIsNone(program.poll())  # it goes on until it is told to end
        program.send_signal(signal.SIGINT)
        self.assertEqual(program.communicate(timeout=60)[0], "")
        self.assertEqual(program.returncode, 130)

    def test_python_that_catches_everything_can_be_stopped(self):
        program = self.start("print('here')\nwhile True:\n  try:\n    while True: pass\n  except BaseException: print('caught')")
        self.assertEqual(program.stdout.readline(), "here\n")
        for _ in range(3):
            time.sleep(0.7)
            program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=30)
        self.assertEqual(out.count("caught"), 2)
        self.assertIn("interrupted three times", err + out)
        self.assertEqual(program.returncode, 130)


class Fuzz(unittest.TestCase):
    def test_keys_and_sizes(self):
        done = subprocess.run([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "fuzz_terminal.py"), "60"],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)


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
        time.sleep(0.3)  # until it runs: sooner, Ctrl-C is for the line
        self.say(terminal, "\x03", r"KeyboardInterrupt: \n>>> ")
        self.say(terminal, "all again\r", r"\nagain\n>>> ")

    def test_completion(self):
        terminal = self.start()
        self.say(terminal, "par\t", "parity")
        self.say(terminal, "\r", r"1,3,5,7\n1\n>>> ")
        self.say(terminal, "t\t", r"tile +tally.*>>> t")
        self.say(terminal, "ile\r", "tile 7\n7\n>>> ")
        self.say(terminal, "%sel\t 0\r", r"1 tile of 8: 0\n\[0\] >>> ")
        self.say(terminal, "%select a\tll\r", r"all 8 tiles\n>>> ")

    def test_tab_indents_and_backspace_takes_it_back(self):
        terminal = self.start()
        self.say(terminal, "\t\t\x7fall a\r", r"\na\n>>> ")
        self.say(terminal, "%history\r", r"\n    all a\n>>> ")

    def test_a_timed_cell(self):
        terminal = self.start()
        self.say(terminal, "%%time\rall a\rall b\r\r", r"\na\nb\nWall time: .*\n>>> ")

    def test_tiles_read_lines(self):
        terminal = self.start()
        self.say(terminal, "ask\r", r"\n\? $")
        self.say(terminal, "a line\r", r"\na line\n>>> ")
        self.say(terminal, "ask\r", r"\n\? $")
        self.say(terminal, "\x04", r"EOF\n>>> ")

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


class OnTiles(unittest.TestCase):
    """The real one."""
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.env = dict(os.environ, XDG_STATE_HOME=cls.folder.name, XDG_CACHE_HOME=cls.folder.name, TERM="xterm", LC_ALL="C.UTF-8")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_it(self, *arguments, given=""):
        done = subprocess.run([PANDO, "repl", "--tiles", "8", *arguments], input=given, capture_output=True, text=True, timeout=120, env=self.env)
        return done.returncode, done.stdout, done.stderr

    def start(self, *arguments):
        terminal = Terminal([PANDO, "repl", "--tiles", "8", *arguments], self.env)
        self.addCleanup(terminal.close)
        terminal.expect(r"8 Python interpreters.*>>> ", 120)
        return terminal

    def say(self, terminal, text, wanted):
        terminal.type(text)
        return terminal.expect(wanted)

    def test_a_session(self):
        terminal = self.start()
        self.say(terminal, "__tileid % 2\r", r"\[4x\] -{10} tiles 0,2,4,6\n0\n.*tiles 1,3,5,7\n1\n>>> ")
        self.say(terminal, "def f(x):\r", r"\.\.\.     ")
        self.say(terminal, "return [x, alltoall(__tileid)]\r", r"\.\.\. ")
        self.say(terminal, "\r", ">>> ")
        self.say(terminal, "f('a')\r", r"\n\['a', \[0, 1, 2, 3, 4, 5, 6, 7\]\]\n>>> ")
        self.say(terminal, "1 // (__tileid - 3)\r", r"\[1x\] -{10} tile 3\nTraceback.*ZeroDivisionError: .*\n>>> ")
        self.say(terminal, "import sy\t\r", r"import sys.*>>> ")
        self.say(terminal, "sys.exi\t", r"sys\.exit")
        self.say(terminal, "(2)\r", "")
        self.assertEqual(terminal.status(), 2)

    def test_ctrl_c_ends_an_endless_loop(self):
        terminal = self.start()
        self.say(terminal, "while True: pass\r", r"\.\.\. ")
        self.say(terminal, "\r", "\n")
        terminal.expect_raw(rb"\r\x1b\[K8 tiles are running, 3 s \(Ctrl-C interrupts\)")
        self.say(terminal, "\x03", r"KeyboardInterrupt.*>>> ")
        self.say(terminal, "__ntiles\r", r"\n8\n>>> ")
        terminal.type("\x04")
        self.assertEqual(terminal.status(), 0)

    def test_ended_interpreters(self):
        terminal = self.start()
        self.say(terminal, "import uctypes\r", ">>> ")
        self.say(terminal, "uctypes.bytearray_at(1 << 30, 4)[0] if __tileid == 2 else 'fine'\r", r"\[7x\].*fine.*\[1x\].*%reset 2 .*>>> ")
        self.say(terminal, "%tiles\r", r"7 alive.*tile 2: .*>>> ")
        self.say(terminal, "%reset 2\r", ">>> ")
        self.say(terminal, "__tileid >= 0\r", r"\nTrue\n>>> ")

    def test_keys(self):
        terminal = self.start()
        self.say(terminal, "%keys\r", r"leaves\.\n.*>>> ")
        for key in "__ti\t":
            terminal.type(key)
        terminal.expect("__tileid")
        self.say(terminal, "//4\r", r"\[4x\] -{10} tiles 0-3\n0\n.*tiles 4-7\n1\n>>> ")
        self.say(terminal, "\x04", r">>> ")
        self.say(terminal, "'out'\r", r"\n'out'\n>>> ")

    def test_statuses(self):
        self.assertEqual(self.run_it("-c", "print(__ntiles)"), (0, "8\n", ""))
        status, out, err = self.run_it("-c", "print('before')\nif __tileid == 3: raise ValueError(1)")
        self.assertEqual((status, out), (1, "before\n"))
        self.assertIn("[1x] ---------- tile 3\nTraceback", err)
        self.assertEqual(self.run_it("-c", "import sys; sys.exit(__tileid)")[0], 7)
        self.assertEqual(self.run_it(given="__ntiles\n"), (0, "8\n", ""))
        self.assertEqual(self.run_it("--fuel", "10000", "-c", "while True: pass")[0], 1)

    def test_what_is_piped_in_behind_a_script(self):
        self.assertEqual(self.run_it("-i", "-c", "x = 5", given="x\nx + __ntiles\n"), (0, "5\n13\n", ""))
        self.assertEqual(self.run_it("-i", "-c", "x = 5"), (0, "", ""))

    def test_no_standard_input(self):
        command = f"exec {PANDO} repl --json --tiles 8 <&-"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120, env=self.env)
        self.assertEqual(done.returncode, 0)
        self.assertIn('"ready":true', done.stdout)

    def test_input(self):
        self.assertEqual(self.run_it("-c", "print(input('? ') + '!')", given="a line\n"), (0, "? a line!\n", ""))
        terminal = self.start()
        self.say(terminal, "int(input('number: ')) * 2\r", r"\nnumber: $")
        self.say(terminal, "21\r", r"\n42\n>>> ")
        self.say(terminal, "input('again: ')\r", r"\nagain: $")
        self.say(terminal, "\x03", r"\n>>> ")
        self.say(terminal, "__ntiles\r", r"\n8\n>>> ")

    def test_disks(self):
        disk = os.path.join(self.folder.name, "disks")
        write = "with open('/note', 'w') as f: f.write('tile %d' % (__tileid // 4))"
        self.assertEqual(self.run_it("--disk", disk, "--disk-kib", "32", "-c", write)[0], 0)
        read = ("--disk", disk, "-c", "print(open('/note').read())")
        self.assertIn("tiles 4-7\ntile 1\n", self.run_it(*read)[1])
        with open(disk, "rb") as file:
            whole = file.read()

        # A flipped bit: rejected, and the file stays as it is.
        with open(disk, "wb") as file:
            file.write(whole[:-100] + bytes([whole[-100] ^ 4]) + whole[-99:])
        status, out, err = self.run_it(*read)
        self.assertEqual((status, out), (2, ""))
        self.assertRegex(err, r"pando repl: .*disks is damaged: group 0, from byte 64 on, does not fit its checksum; what is before it is whole; nothing was written to it \[disk-image-damaged\]")
        with open(disk, "rb") as file:
            self.assertEqual(file.read(), whole[:-100] + bytes([whole[-100] ^ 4]) + whole[-99:])

        # A write that was cut off: it is kept, standard error and the status say so, once.
        with open(disk, "wb") as file:
            file.write(whole[:-100])
        status, out, err = self.run_it("--disk", disk, "-c", "print('here')")
        self.assertEqual((status, out), (3, "here\n"))
        self.assertRegex(err, r"pando repl: warning: the last write to .*disks was cut off after \d+ bytes: they are in .*disks.tail;")
        with open(disk, "rb") as file, open(disk + ".tail", "rb") as tail:
            self.assertEqual(file.read() + tail.read(), whole[:-100])
        self.assertEqual(self.run_it("--disk", disk, "-c", "print('here')"), (0, "here\n", ""))

    def test_files_and_their_arguments(self):
        script = os.path.join(self.folder.name, "script.py")
        with open(script, "w") as file:
            file.write("import sys\n\ndef main():\n    x = 1\n\n    return x\n\nprint(main(), sys.argv[1:])\n'not printed'\n")
        self.assertEqual(self.run_it(script, "a b", "-x"), (0, "1 ['a b', '-x']\n", ""))
        with open(script) as file:
            self.assertEqual(self.run_it(given=file.read()), (0, "1 []\n'not printed'\n", ""))  # as if it were typed

    def test_interrupted(self):
        with subprocess.Popen([PANDO, "repl", "--tiles", "8", "-c", "print('on')\nwhile True: pass"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=self.env) as process:
            time.sleep(3)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn(b"KeyboardInterrupt", err)

    def test_data(self):
        data = os.path.join(self.folder.name, "data")
        with open(data, "w") as file:
            file.write("one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n")
        self.assertEqual(self.run_it("--data", data, "-c", "print(sum(allgather(len(__tiledata.split()))), __tiledata[-1] == '\\n')")[:2],
                         (0, "8 True\n"))
        self.assertEqual(self.run_it("--data", data, "--cut", "bytes", "-c", "print(sum(allgather(len(__tiledata))))")[:2], (0, "40\n"))

    def test_an_ipu_waits_for_others_only_when_all_its_tiles_have_answered(self):
        env = dict(self.env, POPLAR_EXECUTABLE_CACHE_DIR=self.folder.name, LD_LIBRARY_PATH=os.path.join(BIN, "..", "lib"))
        self.assertEqual(subprocess.run([PANDO, "repl", "--ipus", "2", "--tiles", "1600", "-c", "pass"], env=env, timeout=120).returncode, 0)
        with open(os.path.join(self.folder.name, "python", "2x1600-0-0-0.poplar_exec"), "rb") as file:
            cached = file.read()
        executable = os.path.join(self.folder.name, "session.poplar_exec")
        with open(executable, "wb") as file:
            file.write(cached[cached.index(b"\n") + 1:])
        for tile in ("0", "1472"):
            text = subprocess.run([PANDO, "dump", "--level", "tile", "--tile", tile, executable], capture_output=True, text=True, env=env, timeout=120).stdout
            alone = text[text.index('"InterpreterAct"'):text.index('"ExchangeDecide"')].splitlines()
            self.assertIn('"ExchangeJoin"', "".join(alone))
            self.assertEqual([line for line in alone[:-1] if " sync " in line], [])
            self.assertIn(" sync ", alone[-1])  # then all IPUs' answers come together

    def test_wrong_command_lines(self):
        for arguments, wanted in ((["--fly"], "--fly"), (["--tiles", "none"], "--tiles"), (["--cut", "words"], "--cut"),
                                  (["no.py"], "cannot read no.py"), (["--data", "no"], "--data: cannot read no"), (["--ipus", "3"], "IPUs"),
                                  (["--select", "8", "-c", "1"], "0 to 7"), (["--cut", "bytes"], "--data"),
                                  (["--tiles", "0"], "'0': a whole number from 1 to "), (["/"], "cannot read /: it is a folder")):
            status, _, err = self.run_it(*arguments)
            self.assertEqual(status, 2, arguments)
            self.assertIn(wanted, err)
        self.assertIn("--data", self.run_it("--help")[1])

    def test_json(self):
        status, out, _ = self.run_it("--json", given='{"id": 1, "run": "__tileid // 4"}\n{"id": 2, "is_complete": "for x in y:"}\n')
        first, second = [json.loads(line) for line in out.splitlines()[-2:]]
        self.assertEqual([group["tiles"] for group in first["groups"]], ["0-3", "4-7"])
        self.assertEqual((status, second), (0, {"id": 2, "is_complete": False, "indent": "    "}))


if __name__ == "__main__":
    sys.exit(unittest.main())

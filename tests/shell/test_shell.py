"""`pando shell` as a person and a pipe use it, on real tiles. `python3 test_shell.py --write` makes the transcript anew."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "repl"))
from terminal import Terminal  # noqa: E402

SHELL = os.path.join(os.environ["PANDO_BIN"], "pando")
TRANSCRIPT = os.path.join(HERE, "transcript.txt")


def run(lines, *options, folder=None):
    env = dict(os.environ, XDG_STATE_HOME=folder or "/nonexistent")
    return subprocess.run([SHELL, "shell", "--tiles", "4", *options], input=lines, capture_output=True, text=True, env=env, timeout=120)


def without_figures(text):
    """What another version of MicroPython has otherwise."""
    text = re.sub(r"its Python has \d+ KiB, of which \d+ KiB", "its Python has N KiB, of which N KiB", text)
    return re.sub(r"(?m)^python    .*$", "python    MicroPython", text)


def transcript():
    with open(os.path.join(HERE, "script.txt")) as script:
        return run(script.read(), "-v", "--disk-kib", "32")


class Pipe(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_transcript(self):
        done = transcript()
        self.assertEqual(done.stderr, "")
        with open(TRANSCRIPT) as golden:
            self.assertEqual(without_figures(done.stdout), golden.read())
        self.assertEqual(done.returncode, 3)

    def test_status_is_that_of_the_last_line(self):
        for lines, status in (("frob\npwd", 0), ("frob", 127), ("rm x", 1), ("exit 9\nfrob", 9), ("rm x\nexit", 1), ("ls -q", 2), ("", 0)):
            self.assertEqual(run(lines).returncode, status, lines)
        self.assertEqual(run("", "-c", "echo a\nrm x").returncode, 1)
        self.assertEqual(run("cat > a.py << E\nimport sys\nsys.exit(__tileid + 4)\nE\n@1-2 ./a.py").returncode, 6)

    def test_what_a_terminal_would_obey_is_escaped(self):
        done = run("", "--disk", "/none\x1b[1m/disk")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertTrue(done.stderr.startswith("pando shell: cannot write /none\\x1b[1m/disk"), done.stderr)

    def test_numbers(self):
        for option, value in (("--ipus", "-1"), ("--tiles", "0x4"), ("--disk-kib", "0"), ("--lent-kib", "-1")):
            self.assertRegex(run("", option, value).stderr, f"{option}: '{value}': a whole number from [01] to [0-9]+ is expected")

    def test_files_are_kept(self):
        disk = os.path.join(self.folder, "disk")
        run("echo kept > a\nmkdir d", "--disk", disk, "--disk-kib", "16")
        done = run("ls\ncat a\ndf", "--disk", disk)
        self.assertRegex(done.stdout, r"^a\nd/\nkept\n\d+ of 16 KiB are free\n$")
        self.assertEqual(run("ls", "--disk", __file__).returncode, 2)
        self.assertIn("is no image of tiles' disks", run("ls", "--disk", __file__).stderr)

    def test_modules_come_from_the_disk(self):
        done = run("mkdir lib\necho 'n = 6' > lib/six.py\necho 'import six; print(six.n)' > a.py\n./a.py")
        self.assertEqual(done.stdout, "6\n")

    def test_the_host_has_to_allow_its_commands(self):
        done = run("!exit 4", "--allow-host")
        self.assertEqual((done.stdout, done.returncode), ("", 4))
        self.assertEqual(run("pwd\n!echo $((6 * 7))\npwd", "--allow-host").stdout, "/\n42\n/\n")
        rejected = run("!touch " + os.path.join(self.folder, "made"))
        self.assertIn("--allow-host", rejected.stdout)
        self.assertEqual(rejected.returncode, 126)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_program_on_a_tile_starts_no_command_of_the_host(self):
        made = os.path.join(self.folder, "made")
        hostile = ("cat > a.py << E\nimport sys\n_shell.request = 'touch %s'\n_shell.line = lambda text: sys.exit(254)\nprint('!touch %s')\nE\n"
                   % (made, made))
        done = run(hostile + "./a.py\npwd\nls\n!echo typed\n", "--allow-host")
        self.assertIn("typed", done.stdout)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_disk_on_other_tiles(self):
        program = ("cat > far.py << END\nimport os, tile\nfar = tile.RemoteBlockDevice([1, 2, 3])\nos.VfsLfs2.mkfs(far)\n"
                   "os.mount(os.VfsLfs2(far), '/far')\nEND\n./far.py\n")
        done = run(program + "echo hello > /far/a\nls / /far\ncat /far/a", "--lent-kib", "8")
        self.assertEqual(done.stdout, "/:\nfar/\nfar.py\n/far:\na\nhello\n")

    def test_a_full_disk(self):
        done = run("cat > a.py << E\nf = open('x', 'w')\nfor i in range(99): f.write('y' * 500)\nE\n./a.py\necho more > z\nls -l x", "--disk-kib", "8")
        self.assertIn("OSError: 28", done.stdout)

    def test_interpreters_that_end_come_back(self):
        done = run("echo 'import uctypes; uctypes.bytearray_at(1 << 30, 4)[0]' > a.py\n@1-2 ./a.py\n./a.py\nls\n@2 ./a.py", )
        self.assertIn("an access outside the tile's memory", done.stdout)
        self.assertIn("Tiles 1-2 have a new interpreter.\n", done.stdout)
        self.assertIn("Tile 0 has a new interpreter.\na.py\n", done.stdout)

    def test_wrong_command_lines(self):
        for options in (["--disk-kib", "3"], ["--tiles", "9999"], ["--frob"]):
            self.assertEqual(run("", *options).returncode, 2, options)


class OnTerminal(unittest.TestCase):
    def start(self, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        env = dict(os.environ, XDG_STATE_HOME=folder.name, TERM="xterm", LC_ALL="C.UTF-8", NO_COLOR="1")
        terminal = Terminal([SHELL, "shell", "--tiles", "4", *options], env)
        self.addCleanup(terminal.close)
        terminal.expect(r"/ \$ ")
        return terminal

    def say(self, terminal, text, wanted):
        terminal.type(text)
        return terminal.expect(wanted)

    def test_lines_and_leaving(self):
        t = self.start()
        self.say(t, "mkdir d\r", r"/ \$ ")
        self.say(t, "cd d\r", r"/d \$ ")
        self.say(t, "echo one > f\r", r"/d \$ ")
        self.say(t, "cat f\r", r"\none\n/d \$ ")
        self.say(t, "\x1b[A\x1b[A\r", r"echo one > f\n/d \$ ")
        self.say(t, "cat > g << E\r", r"> ")
        self.say(t, "two\r", r"> ")
        self.say(t, "E\r", r"/d \$ ")
        self.say(t, "cat g\r", r"\ntwo\n/d \$ ")
        self.say(t, "rm x\r", r"no such file or directory\n/d \$ ")
        t.type("\x04")
        self.assertEqual(t.status(), 1)

    def test_completion(self):
        t = self.start()
        self.say(t, "mkdir directory\r", r"/ \$ ")
        self.say(t, "cd dir\t", r"cd directory/")
        self.say(t, "\r", r"/directory \$ ")
        self.say(t, "hi\t", r"history ")
        self.say(t, "\r", r"   3  history *\n/directory \$ ")

    def test_programs_ask(self):
        t = self.start()
        self.say(t, "echo 'print(input(\"name? \") + \"!\")' > a.py\r", r"/ \$ ")
        self.say(t, "@3 ./a.py\r", r"\nname\? ")
        self.say(t, "me\r", r"me!\n/ \$ ")

    def test_ctrl_c(self):
        t = self.start()
        self.say(t, "echo 'print(5)\nwhile True: pass' > a.py\r", r"/ \$ ")
        self.say(t, "ls\x03", r"/ \$ ")
        self.say(t, "cat > b.py << E\r", "> ")
        self.say(t, "while True: pass\r", "> ")
        self.say(t, "E\r", r"/ \$ ")
        t.type("@1 ./b.py\r")
        t.expect(r"b\.py\n")
        import time
        time.sleep(0.3)
        self.say(t, "\x03", r"KeyboardInterrupt.*/ \$ ")
        self.say(t, "pwd\r", r"\n/\n/ \$ ")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        with open(TRANSCRIPT, "w") as golden:
            golden.write(without_figures(transcript().stdout))
    else:
        unittest.main()

"""A pseudo-terminal with a program behind it, as a person would use it: type, and wait for what has to appear."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

NOTICE = re.compile(r"\r\x1b\[K\d+ tiles? (is|are) running, \d+ s [^\r]*")
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z~]|\x1b[=>()][0-9A-B]?|\x07")


class Terminal:
    def __init__(self, command, env, columns=100):
        self.seen = ""  # all of it, without what moves the cursor or sets colours
        self.raw = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))

    def type(self, text):
        os.write(self.fd, text.encode())

    def expect(self, pattern, seconds=30):
        """The text up to and with the first match of the pattern in what has not been expected yet."""
        deadline = time.monotonic() + seconds
        while not (match := re.search(pattern, self.seen, re.DOTALL)):
            if time.monotonic() > deadline or not self._read(0.1):
                raise AssertionError(f"no /{pattern}/ in what the terminal shows:\n{self.seen}")
        text, self.seen = self.seen[:match.end()], self.seen[match.end():]
        return text

    def expect_raw(self, pattern, seconds=30):
        """Waits for bytes that need not stay on the screen."""
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.raw):
            if time.monotonic() > deadline or not self._read(0.1):
                raise AssertionError(f"no /{pattern}/ in {self.raw}")

    def _read(self, seconds):
        """False at the end of the output."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.raw += data
        self.seen += CONTROL.sub("", NOTICE.sub("", data.decode(errors="replace"))).replace("\r", "")
        return bool(data)

    def status(self, seconds=30):
        """Waits for the end; the exit status."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
        raise AssertionError(f"still runs after {seconds} s:\n{self.seen}")

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)
